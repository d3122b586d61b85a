// motion_options.h - the options that choose poses, the same in every command.
#pragma once

#include <optional>
#include <string>

#include "client/bake/character/character_file.h"
#include "client/cli/base/options.h"
#include "client/cli/run/context.h"

namespace sinew::cli {

// Adds --clip-file.
void AddClipFileOption(OptionSet& set, bake::ReadOptions& read);
// Adds --clip-file, --clip and --fps; returns --clip.
Option AddClipOptions(OptionSet& set, bake::ReadOptions& read, bake::MotionRequest& request);
// Also --poses and --controls.
void AddMotionOptions(OptionSet& set, bake::ReadOptions& read, bake::MotionRequest& request);
// Adds --frames, for ParseFrames. fractions: whether the command takes frames with them.
Option AddFramesOption(OptionSet& set, std::optional<std::string>& frames, bool fractions = true);

// ReadMotion, with a note where a choice was made for the user.
absl::StatusOr<client::ClipData> ChooseMotion(const Context& context,
                                              const bake::CharacterFile& character,
                                              const bake::MotionRequest& request);

}  // namespace sinew::cli
