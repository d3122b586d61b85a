// sinew render: a picture of one frame, several deformers side by side.
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/bound_character.h"
#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/motion_options.h"
#include "client/cli/number_range.h"
#include "client/cli/output_file.h"
#include "client/cli/posed_picture.h"
#include "client/cli/spec_argument.h"
#include "client/cpp/status_macros.h"
#include "client/render/render.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string file, out, size;
  std::vector<std::string> deformers;
  MotionRequest motion;
  std::int64_t frame = 0;
  PictureOptions picture;
};

absl::Status ReadSize(const std::string& text, PictureOptions& picture) {
  if (text.empty()) return absl::OkStatus();
  const std::vector<std::string> sides = absl::StrSplit(text, 'x');
  if (sides.size() != 2 || !absl::SimpleAtoi(sides[0], &picture.width) ||
      !absl::SimpleAtoi(sides[1], &picture.height) || picture.width < 16 || picture.height < 16 ||
      picture.width > client::kMaxRenderSide || picture.height > client::kMaxRenderSide) {
    return UsageError(absl::StrCat("--size: got \"", text, "\", need WIDTHxHEIGHT, each 16 to ",
                                   client::kMaxRenderSide, ", e.g. 1280x720"));
  }
  return absl::OkStatus();
}

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

std::string TitleOf(const CharacterFile& character, const client::ClipData& clip) {
  if (clip.name.empty()) return character.label;
  return absl::StrFormat("%s, %s, frame %d (%.2f s)", character.label, clip.name, clip.first_frame,
                         static_cast<double>(clip.first_frame) / clip.fps);
}

absl::Status CheckOut(const std::string& out) {
  const std::string extension = std::filesystem::path(out).extension().string();
  if (absl::EqualsIgnoreCase(extension, ".png")) return absl::OkStatus();
  return UsageError(absl::StrCat("--out: got \"", out, "\", need .png"));
}

absl::Status Render(Context& context, Options options) {
  SINEW_RETURN_IF_ERROR(ReadSize(options.size, options.picture));
  SINEW_RETURN_IF_ERROR(CheckOut(options.out));
  options.motion.frames = {.first = options.frame, .last = options.frame};
  SINEW_ASSIGN_OR_RETURN(const CharacterFile character, ReadCharacter(options.file));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip, PoseToDraw(context, character, options));
  SINEW_ASSIGN_OR_RETURN(OutputFile out, OutputFile::Create(options.out));
  std::vector<PosedPanel> panels;
  for (const std::string& deformer : options.deformers) {
    SINEW_RETURN_IF_ERROR(context.CheckStop());
    SINEW_ASSIGN_OR_RETURN(panels.emplace_back(), Deformed(context, character, clip, deformer));
  }
  options.picture.title = TitleOf(character, clip);
  SINEW_ASSIGN_OR_RETURN(const client::Image image,
                         DrawPanels(character.rig, panels, options.picture));
  SINEW_RETURN_IF_ERROR(context.CheckStop());
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
                     {"title", options.picture.title},
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
  sub->add_option("--size", options->size, "Of each panel, WIDTHxHEIGHT (default 800x800)");
  sub->add_option("--azimuth", options->picture.azimuth,
                  "Camera around the up axis, degrees; 0 = the front")
      ->capture_default_str()
      ->check(NumberFrom(-360.0, 360.0));
  sub->add_option("--elevation", options->picture.elevation, "Camera above the horizon, degrees")
      ->capture_default_str()
      ->check(NumberFrom(-85.0, 85.0));
  sub->add_flag("--wire", options->picture.wire, "Draw the edges of the faces");
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
