// posed_frame.h - one frame of a motion, with the vertices it has in a bake of the whole.
#pragma once

#include "client/cli/character/character_file.h"
#include "client/cli/character/clip_stream.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

// Hands the only frame of `clip` to `sink`, which `motion` was asked for. Where frames depend on
// those before them, all from frame 0 of the motion on are computed, with a note and progress.
// Errors are those of StreamClip.
absl::Status PosedFrame(const Context& context, const CharacterFile& character,
                        const client::Character& bound, MotionRequest motion,
                        const client::ClipData& clip, const client::OutputOptions& output,
                        const FrameSink& sink);

}  // namespace sinew::cli
