#include "client/cli/character/motion_options.h"

#include <absl/strings/str_cat.h>

#include "client/cli/base/number_range.h"
#include "client/lib/codec/status_macros.h"

namespace sinew::cli {

void AddMotionOptions(CLI::App& app, MotionRequest& request) {
  auto* clip =
      app.add_option("--clip", request.clip, "Clip by name or number (default: the first)");
  app.add_option(
         "--poses", request.poses,
         "Poses instead of a clip: .npy of frames x joints x 12, joint to model, 3x4 row-major")
      ->excludes(clip);
  app.add_option("--fps", request.fps, "Frames per second; frame k is the time k / fps")
      ->capture_default_str()
      ->check(NumberFrom(0.001, 100'000.0));
}

absl::StatusOr<client::ClipData> ChooseMotion(const Context& context,
                                              const CharacterFile& character,
                                              const MotionRequest& request) {
  SINEW_ASSIGN_OR_RETURN(client::ClipData clip, ReadMotion(character, request));
  if (request.clip.empty() && request.poses.empty() && character.clips.size() > 1) {
    context.Note(absl::StrCat("clip '", clip.name, "', the first of ", character.clips.size(),
                              " (choose with --clip, list with `sinew inspect`)"));
  }
  return clip;
}

}  // namespace sinew::cli
