#include "client/cli/pictures/posed_frame.h"

#include <absl/strings/str_cat.h>

#include <memory>
#include <utility>

namespace sinew::cli {

absl::Status PosedFrame(const Context& context, const CharacterFile& character,
                        const client::Character& bound, MotionRequest motion,
                        const client::ClipData& clip, const client::OutputOptions& output,
                        const FrameSink& sink) {
  const auto whole = [&] {
    motion.frames = {.first = 0, .last = clip.first_frame};
    return ReadMotion(character, motion);
  };
  std::shared_ptr<Progress> line;
  const auto lead = [&](std::size_t done, std::size_t of) {
    if (line == nullptr) line = context.MakeProgress("Pose");
    line->Update(static_cast<double>(done) / static_cast<double>(of + 1),
                 absl::StrCat("frame ", done, " of ", of));
  };
  absl::Status status = StreamClip(context, bound, clip, whole, output, lead, sink);
  if (line != nullptr) line->Close();
  return status;
}

}  // namespace sinew::cli
