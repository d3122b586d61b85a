// sinew fit-skeleton: places the joints of a template in a mesh that has none.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/character/template_file.h"
#include "client/bake/files/output_file.h"
#include "client/bake/passes/bound_character.h"
#include "client/bake/pictures/fit_picture.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/picture_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/character/weight_methods.h"
#include "client/cli/commands/commands.h"
#include "client/rig/rest_pose.h"
#include "client/rig/rig_traits.h"
#include "core/base/status.h"
#include "sinew/clip_files.h"

namespace sinew::cli {
namespace {

struct Options {
  bake::ReadOptions read = {.allow_no_skin = true};
  bake::ReadOptions clips = {.retarget = true};  // of the new character
  bake::MotionRequest motion;
  std::string file, skeleton, weights, out;
  std::vector<std::string> hints;
  std::optional<double> meters_per_unit;
  client::FitRequest request;
  std::string picture;
  PictureRequest drawing;
};

// NAME=X,Y,Z.
absl::StatusOr<client::JointHint> ReadHint(const std::string& text) {
  const std::vector<std::string> sides = absl::StrSplit(text, absl::MaxSplits('=', 1));
  client::JointHint hint{.joint = sides[0]};
  const std::vector<std::string> numbers =
      sides.size() == 2 ? std::vector<std::string>(absl::StrSplit(sides[1], ','))
                        : std::vector<std::string>();
  bool read = numbers.size() == 3 && !hint.joint.empty();
  for (std::size_t k = 0; read && k < 3; ++k) read = absl::SimpleAtod(numbers[k], &hint.place[k]);
  if (!read) return UsageError(absl::StrCat("--at: got \"", text, "\", need JOINT=X,Y,Z"));
  return hint;
}

double LongestSide(const client::RigData& rig) {
  const client::Bounds box = client::CountRig(rig).bounds;
  return std::max({box[3] - box[0], box[4] - box[1], box[5] - box[2]});
}

std::string AxisName(const std::array<float, 3>& axis) {
  const std::size_t k = axis[0] != 0 ? 0 : axis[1] != 0 ? 1 : 2;
  return absl::StrCat(axis[k] < 0 ? "-" : "+", std::string(1, "xyz"[k]));
}

nlohmann::ordered_json ReportJson(const client::FittedRig& fitted, const client::RigData& rig,
                                  const std::string& name, const Options& options) {
  using Json = nlohmann::ordered_json;
  const auto facing = [](const client::FitFacing& from) -> Json {
    return {{"residual", from.residual}, {"up", from.up}, {"forward", from.forward}};
  };
  Json joints = Json::array(), warnings = Json::array();
  const std::vector<float> rest = client::RestJoints(rig);
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    const float* m = &rest[j * 12];
    joints.push_back({{"name", rig.joints[j].name}, {"at", {m[3], m[7], m[11]}}});
  }
  for (const client::Problem& warning : fitted.report.warnings) warnings.push_back(warning.message);
  Json json = {{"rig", name},
               {"facing", facing(fitted.report.facing)},
               {"joints", joints},
               {"warnings", warnings}};
  if (fitted.report.other) json["other_facing"] = facing(*fitted.report.other);
  if (!options.out.empty()) json["out"] = options.out;
  if (!options.picture.empty()) json["picture"] = options.picture;
  return json;
}

// Places to a thousandth of the body, wherever it stands.
std::string JointsText(const nlohmann::ordered_json& report, double longest) {
  const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(longest))), 0, 9);
  Table table({{"joint"}, {"x"}, {"y"}, {"z"}});
  for (const auto& joint : report["joints"]) {
    const auto number = [&](int k) {
      const double x = joint["at"][static_cast<std::size_t>(k)];
      return Cell(x, absl::StrFormat("%.*f", decimals, x));
    };
    table.Add({joint["name"].get<std::string>(), number(0), number(1), number(2)});
  }
  return table.Text();
}

// The skeleton from the front and the side, and moments of the clip.
absl::Status Draw(const Context& context, const bake::CharacterFile& character,
                  const client::FitReport& report, const Options& options, bake::OutputFile& out) {
  client::RigData rig = character.rig;
  rig.up_axis = client::UpAxis::kY;  // as the panels are turned
  const std::vector<float> rest = client::RestJoints(rig);
  std::vector<bake::PosedPanel> panels = {
      bake::FitPanel(rig, rest, report.facing, 0, "front"),
      bake::FitPanel(rig, rest, report.facing, 90, "its left side")};
  bake::PictureOptions picture = options.drawing.options;
  picture.framing.azimuth = 0;
  picture.framing.elevation = 4;
  picture.title = absl::StrCat(character.label, ", ", options.skeleton, " skeleton");
  if (!character.clips.empty()) {
    SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                           ChooseMotion(context, character, options.motion));
    for (const std::size_t frame : {clip.frames / 4, 3 * clip.frames / 4}) {
      panels.push_back(bake::FitPanel(rig, client::PoseOf(clip, frame).joint_transforms,
                                      report.facing, 60,
                                      absl::StrCat(clip.name, ", frame ", frame)));
    }
  }
  return DrawPicture(context, rig, panels, picture, out).status();
}

absl::StatusOr<client::FittedRig> Place(const Context& context, const client::Client& connection,
                                        const client::FitRequest& request) {
  const auto line = context.MakeProgress("Fit");
  client::CallOptions call = context.call();
  call.deadline = absl::InfiniteDuration();  // Ctrl-C ends it
  return connection.FitSkeleton(
      request, [line](double part) { line->Update(part); }, call);
}

absl::Status CheckFiles(const Options& options) {
  if (!options.out.empty() && !absl::EndsWith(absl::AsciiStrToLower(options.out), ".sinewrig")) {
    return UsageError(absl::StrCat("--out: got \"", options.out, "\", need .sinewrig"));
  }
  return options.picture.empty() ? absl::OkStatus() : CheckPng("--picture", options.picture);
}

// Finds out before the server starts to work whether --clip is in the files. Clips of several files
// may get other names when they come together, see client::AddClips: what may be one of those is
// checked then.
absl::Status CheckClip(const Options& options) {
  SINEW_RETURN_IF_ERROR(bake::CheckClipFiles(options.clips.clip_files));
  const std::string& wanted = options.motion.clip;
  client::ImportedScene all;
  const std::string base = wanted.substr(0, wanted.rfind('.'));  // of "walk.2"
  bool may_be_new = false;
  for (const std::string& file : options.clips.clip_files) {
    SINEW_ASSIGN_OR_RETURN(const client::ImportedScene clips, client::ImportClips(file));
    all.clips.insert(all.clips.end(), clips.clips.begin(), clips.clips.end());
    const std::string stem = std::filesystem::path(file).stem().string();
    may_be_new |= wanted == stem || base == stem;
  }
  may_be_new |= base != wanted && std::ranges::count(all.clips, base, &client::ClipInfo::name) > 0;
  if (wanted.empty() || (may_be_new && options.clips.clip_files.size() > 1)) {
    return absl::OkStatus();
  }
  return client::FindClip(all, wanted).status();
}

// Creates the file before the server starts to work; none without a name.
absl::StatusOr<std::optional<bake::OutputFile>> CreateFile(const std::string& option,
                                                           const std::string& name) {
  if (name.empty()) return std::nullopt;
  absl::StatusOr<bake::OutputFile> created = bake::OutputFile::Create(name);
  if (!created.ok()) return NameOutput(created.status(), option);
  return *std::move(created);
}

absl::Status Fit(Context& context, Options options) {
  SINEW_RETURN_IF_ERROR(CheckFiles(options));
  SINEW_RETURN_IF_ERROR(ReadPictureSize(options.drawing));
  std::optional<client::WeightMethod> method;
  if (!options.weights.empty()) {
    SINEW_ASSIGN_OR_RETURN(method, ReadWeightMethod("--weights", options.weights));
  }
  for (const std::string& hint : options.hints) {
    SINEW_ASSIGN_OR_RETURN(options.request.hints.emplace_back(), ReadHint(hint));
  }
  SINEW_RETURN_IF_ERROR(CheckClip(options));
  SINEW_RETURN_IF_ERROR(bake::ChooseTemplate(options.skeleton, options.request));
  SINEW_ASSIGN_OR_RETURN(bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  const bool names_unit = character.rig.meters_per_unit > 0;
  SINEW_RETURN_IF_ERROR(bake::PrepareForFit(options.meters_per_unit, character));
  if (!names_unit && !options.meters_per_unit) {
    context.Note(
        absl::StrFormat("%s names no unit: taken for metres, it is %.4g m long; see "
                        "--meters-per-unit",
                        character.label, LongestSide(character.rig)));
  }
  SINEW_ASSIGN_OR_RETURN(std::optional<bake::OutputFile> out, CreateFile("--out", options.out));
  SINEW_ASSIGN_OR_RETURN(std::optional<bake::OutputFile> picture,
                         CreateFile("--picture", options.picture));
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig uploaded,
                         bake::UploadCharacter(context.Connect(), context, character));
  options.request.rig = uploaded.rig.name;
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  absl::StatusOr<client::FittedRig> placed = Place(context, connection, options.request);
  if (!placed.ok()) return bake::OfTemplate(options.skeleton, placed.status());
  const client::FittedRig fitted = *std::move(placed);
  std::string name = fitted.rig.name;
  std::vector<client::Problem> warnings = fitted.report.warnings;
  if (method) {
    const absl::StatusOr<client::WeightedRig> weighted =
        ComputeWeights(context, connection, {.rig = name, .method = *method});
    if (absl::IsResourceExhausted(weighted.status())) {
      return bake::Reworded(weighted.status(),
                            absl::StrCat(weighted.status().message(),
                                         "; without --weights, --out keeps the skeleton alone"));
    }
    SINEW_RETURN_IF_ERROR(weighted.status());
    name = weighted->rig.name;
    warnings.insert(warnings.end(), weighted->report.warnings.begin(),
                    weighted->report.warnings.end());
  }
  bake::CharacterFile result;
  result.kind = bake::CharacterFile::Kind::kSerialised;
  result.label = character.label;
  SINEW_ASSIGN_OR_RETURN(result.rig_bytes, connection.DownloadRig(name, {}, context.call()));
  SINEW_ASSIGN_OR_RETURN(result.rig, client::DecodeRig(result.rig_bytes));
  context.Warn(warnings);
  SINEW_RETURN_IF_ERROR(bake::AddClipsToSerialised(options.clips, result));
  WarnOfImport(context, result);
  if (out) SINEW_RETURN_IF_ERROR(out->Write(result.rig_bytes));
  if (picture) {
    SINEW_RETURN_IF_ERROR(
        NameOutput(Draw(context, result, fitted.report, options, *picture), "--picture"));
  }
  if (out) SINEW_RETURN_IF_ERROR(out->Commit());
  const nlohmann::ordered_json report = ReportJson(fitted, result.rig, name, options);
  if (!out) context.Note("the skeleton is not kept: give --out FILE.sinewrig");
  const client::FitFacing& facing = fitted.report.facing;
  context.PrintResult(
      report, absl::StrFormat("%s\nresidual %.3f, faces %s, up is %s\n%s", name, facing.residual,
                              AxisName(facing.forward), AxisName(facing.up),
                              JointsText(report, LongestSide(result.rig))));
  return absl::OkStatus();
}

}  // namespace

void AddFitSkeleton(CommandList& commands) {
  auto [set, options] =
      commands.Add<Options>("fit-skeleton", "Place a skeleton in a mesh that has none",
                            [](Context& context, const Options& given) {
                              return context.Lost(Fit(context, given), "no skeleton was written");
                            });
  client::FitRequest& request = options.request;
  set.AddText("FILE", options.file, "Mesh file without skins: .obj, .glb, .gltf, .fbx, .dae")
      .Required();
  set.AddText("--template", options.skeleton, "human, quadruped, horse, centaur, or TEMPLATE.json")
      .Required();
  set.AddList("--at", options.hints, "Known places, JOINT=X,Y,Z in the space of the mesh");
  set.AddNumber("--scale", request.scale, 0.5, 2,
                "Size of the template against the body's, 0.5 to 2 (1)");
  set.AddNumber("--resolution", request.resolution, 64, 384,
                "Cells along the longest side, 64 to 384; more for thin limbs (192)");
  set.AddNumber("--meters-per-unit", options.meters_per_unit, 1e-6, 1e6,
                "Unit of a FILE that names none, such as .obj, in metres (1)");
  set.AddFlag("--faces-forward", request.faces_forward,
              "The character faces +Z with +Y up, or -Y with +Z up: try no other direction");
  const Option weights = set.AddText("--weights", options.weights,
                                     "Also compute skin weights: capsule, heat or geodesic");
  AddStrictOption(set, options.read);
  set.AddText("--out", options.out, "The mesh with its skeleton, .sinewrig");
  const Option picture =
      set.AddText("--picture", options.picture, "The skeleton in the mesh, from two sides, PNG");
  set.AddText("--size", options.drawing.size, "Of each panel, WIDTHxHEIGHT (default 800x800)")
      .Needs(picture);
  const Option clip_file =
      set.AddList("--clip-file", options.clips.clip_files,
                  "In the picture also two moments of a clip of this file, whose skeleton may be "
                  "another one, as with --retarget of other commands")
          .Needs(weights)
          .Needs(picture);
  set.AddMap("--joint-map", options.clips.joint_map,
             "A joint and the one of --clip-file that it follows, such as chest=Bip01_Spine3")
      .Needs(clip_file);
  set.AddText("--clip", options.motion.clip, "Clip of --clip-file by name or number (default: 0)")
      .Needs(clip_file);
  set.SetFooter(
      R"(The mesh need not be closed, but must have an inside. It stands upright, in about the pose of the template: a human
with arms and legs apart. A residual above 0.1 is often wrong: look at the picture, and give places of joints that are
not in their limbs with --at. More limbs or other proportions: a template of your own, such as
  {"joints": [{"name": "body", "at": [0, 0, 0], "wide": true},
              {"name": "left_foot", "parent": "body", "at": [0.2, -0.8, 0], "foot": true, "partner": "right_foot"},
              {"name": "right_foot", "parent": "body", "at": [-0.2, -0.8, 0], "foot": true, "partner": "left_foot"}]}
Examples:
  sinew fit-skeleton statue.obj --template human --weights heat --out statue.sinewrig
  sinew render statue.sinewrig --weights all --out statue.png
  sinew fit-skeleton dwarf.obj --template human --weights heat --clip-file walk.fbx --out dwarf.sinewrig --picture dwarf.png
  sinew bake dwarf.sinewrig --clip-file walk.fbx --retarget --deformer ddm --out dwarf.usda
  sinew fit-skeleton fox.obj --template quadruped --at tail=0,0.4,-0.9 --local --out fox.sinewrig
See also: sinew weights, sinew render.)");
}

}  // namespace sinew::cli
