#include "client/cli/character/motion_options.h"

#include <absl/strings/str_cat.h>

#include "core/base/status.h"

namespace sinew::cli {

void AddClipFileOption(OptionSet& set, bake::ReadOptions& read) {
  set.AddList("--clip-file", read.clip_files,
              "Also the clips of this file, by the names of its joints; may be given several times")
      .OneEach();
  set.AddFlag(
      "--retarget", read.retarget,
      "--clip-file has another skeleton: turn joints as its joints turn, which are found by "
      "common names or --joint-map");
  set.AddMap("--joint-map", read.joint_map,
             "Of --retarget: a joint and the one of --clip-file that it follows, such as "
             "chest=Bip01_Spine3; may be given several times");
}

Option AddClipOptions(OptionSet& set, bake::ReadOptions& read, bake::MotionRequest& request) {
  AddClipFileOption(set, read);
  const Option clip =
      set.AddText("--clip", request.clip,
                  "Clip by name or number (default: the first of --clip-file, or else of FILE)");
  set.AddNumber("--fps", request.fps, 0.001, 100'000,
                "Frames per second; frame k is at time k / fps");
  return clip;
}

void AddMotionOptions(OptionSet& set, bake::ReadOptions& read, bake::MotionRequest& request) {
  const Option clip = AddClipOptions(set, read, request);
  const Option poses =
      set.AddText(
             "--poses", request.poses,
             "Poses instead of a clip: .npy of frames x joints x 12, joint to model, 3x4 row-major")
          .Excludes(clip);
  set.AddText("--controls", request.controls,
              "Control values of these poses: .npy of frames x controls")
      .Needs(poses);
}

Option AddFramesOption(OptionSet& set, std::optional<std::string>& frames, bool fractions) {
  const char* more = fractions ? "; with fractions 10.25, 0.25- or 10-12x0.25" : "";
  return set.AddText(
      "--frames", frames,
      absl::StrCat("Such as 0-99, 0-99x2, 10- (to the end) or 1,5,8-20", more, " (default: all)"));
}

absl::StatusOr<client::ClipData> ChooseMotion(const Context& context,
                                              const bake::CharacterFile& character,
                                              const bake::MotionRequest& request) {
  SINEW_ASSIGN_OR_RETURN(client::ClipData clip, bake::ReadMotion(character, request));
  if (request.clip.empty() && request.poses.empty() && character.clips.size() > 1) {
    const bool other = bake::DefaultClip(character) > 0;
    context.Note(absl::StrCat("clip '", clip.name, "', the first of ",
                              other ? "--clip-file; there are " : "", character.clips.size(),
                              " (choose with --clip, list with `sinew inspect",
                              other ? " --clip-file" : "", "`)"));
  }
  return clip;
}

}  // namespace sinew::cli
