// sinew render: a picture of one frame, several deformers side by side.
#include <absl/strings/str_cat.h>

#include <nlohmann/json.hpp>

#include "client/cli/bound_character.h"
#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/motion_options.h"
#include "client/cli/number_range.h"
#include "client/cli/output_file.h"
#include "client/cli/picture_options.h"
#include "client/cli/posed_picture.h"
#include "client/cli/spec_argument.h"
#include "client/cpp/status_macros.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string file, out;
  std::vector<std::string> deformers;
  MotionRequest motion;
  std::int64_t frame = 0;
  PictureRequest picture;
};

absl::StatusOr<PosedPanel> Deformed(Context& context, const CharacterFile& character,
                                    const client::ClipData& clip, const std::string& argument) {
  SINEW_ASSIGN_OR_RETURN(const std::string spec, ReadSpec(argument));
  SINEW_ASSIGN_OR_RETURN(const client::Character bound, BindCharacter(context, character, spec));
  WarnUnusedControls(context, bound, clip);
  SINEW_ASSIGN_OR_RETURN(const client::FrameView frame,
                         bound.Deform({}, PoseOf(clip, 0), {}, context.call()));
  PosedPanel panel;
  panel.label = SpecLabel(argument);
  panel.positions.resize(character.rig.vertices() * 3);
  SINEW_RETURN_IF_ERROR(frame.CopyPositions(panel.positions));
  ReleaseCharacter(context, bound);
  return panel;
}

// The pose to draw; a file without clips is drawn as it stands.
absl::StatusOr<client::ClipData> PoseToDraw(const Context& context, const CharacterFile& character,
                                            const Options& options) {
  if (character.clips.empty() && options.motion.poses.empty() && character.scene) {
    context.Note(absl::StrCat(character.label, " has no clip: drawn as it stands in the file"));
    return client::RestPose(*character.scene);
  }
  return ChooseMotion(context, character, options.motion);
}

absl::Status Render(Context& context, Options options) {
  SINEW_RETURN_IF_ERROR(ReadPictureSize(options.picture));
  SINEW_RETURN_IF_ERROR(CheckPng("--out", options.out));
  options.motion.frames = {.first = options.frame, .last = options.frame};
  SINEW_ASSIGN_OR_RETURN(const CharacterFile character, ReadCharacter(options.file));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip, PoseToDraw(context, character, options));
  SINEW_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Create(options.out));
  std::vector<PosedPanel> panels;
  for (const std::string& deformer : options.deformers) {
    SINEW_RETURN_IF_ERROR(context.CheckStop());
    SINEW_ASSIGN_OR_RETURN(panels.emplace_back(), Deformed(context, character, clip, deformer));
  }
  options.picture.options.title = PictureTitle(character.label, clip);
  SINEW_ASSIGN_OR_RETURN(const client::Image image,
                         DrawPicture(context, character.rig, panels, options.picture.options));
  SINEW_ASSIGN_OR_RETURN(const std::string png, client::EncodePng(image));
  SINEW_RETURN_IF_ERROR(out.Write(png));
  SINEW_RETURN_IF_ERROR(out.Commit());
  if (!context.json()) {
    context.Print(options.out + "\n");
    return absl::OkStatus();
  }
  nlohmann::ordered_json labels = nlohmann::ordered_json::array();
  for (const PosedPanel& panel : panels) labels.push_back(panel.label);
  context.PrintJson({{"out", options.out},
                     {"width", image.width},
                     {"height", image.height},
                     {"title", options.picture.options.title},
                     {"panels", labels}});
  return absl::OkStatus();
}

}  // namespace

void AddRender(CLI::App& app, Command& command) {
  auto* sub = app.add_subcommand("render",
                                 "Draw one frame, one panel per deformer, without GPU or display");
  auto options = std::make_shared<Options>();
  sub->add_option("FILE", options->file, "Character file, .sinewrig (with --poses) or model:NAME")
      ->required();
  sub->add_option("--deformer", options->deformers,
                  "Spec or @recipe.json; repeat for panels side by side")
      ->required()
      ->expected(1, 64);
  AddMotionOptions(*sub, options->motion);
  sub->add_option("--frame", options->frame, "Frame of the clip")
      ->capture_default_str()
      ->check(NumberFrom(0.0, 1e9));
  sub->add_option("--out", options->out, "The picture, PNG")->required();
  AddPictureOptions(*sub, options->picture);
  sub->footer(R"(All panels share pose and camera; each says how far it lies from the first.
Examples:
  sinew render hero.glb --deformer ddm --frame 12 --out hero.png
  sinew render hero.glb --deformer lbs dqs ddm enhanced_ddm --clip Run --frame 7 --size 640x720 --out run.png
  sinew render model:hand --deformer lbs --deformer ddm --frame 24 --out hand.png --local
See also: sinew methods, sinew bake.)");
  sub->callback([options, &command] {
    command = [options](Context& context) { return Render(context, *options); };
  });
}

}  // namespace sinew::cli
