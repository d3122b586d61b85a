// sinew fit-skeleton: places the joints of a template in a mesh that has none.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/character/template_file.h"
#include "client/bake/files/output_file.h"
#include "client/bake/passes/bound_character.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/character/read_options.h"
#include "client/cli/character/weight_methods.h"
#include "client/cli/commands/commands.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  bake::ReadOptions read = {.allow_no_skin = true};
  std::string file, skeleton, weights, out;
  std::vector<std::string> hints;
  client::FitRequest request;
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

// The template: a built-in one by its name, or that of a file.
absl::Status ReadTemplate(const std::string& name, client::FitRequest& request) {
  if (!absl::EndsWith(absl::AsciiStrToLower(name), ".json")) {
    request.built_in = name;
    return absl::OkStatus();
  }
  SINEW_ASSIGN_OR_RETURN(request.skeleton, bake::ReadTemplateFile(name));
  return absl::OkStatus();
}

// The mesh with a root, for a rig has at least one joint.
absl::StatusOr<bake::CharacterFile> ReadMesh(const Context& context, const Options& options) {
  SINEW_ASSIGN_OR_RETURN(bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  client::RigData& rig = character.rig;
  if (rig.vertices() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(character.label, ": no mesh, need one"));
  }
  for (const client::Mesh& mesh : rig.meshes) {
    if (mesh.skin.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(character.label, ": mesh \"", mesh.name,
                     "\" has a skin, need meshes without, such as an .obj"));
  }
  rig.joints = {{.name = "root"}};
  rig.rest_local = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  SINEW_ASSIGN_OR_RETURN(character.rig_bytes, client::EncodeRig(rig));
  return character;
}

std::string AxisName(const std::array<float, 3>& axis) {
  const std::size_t k = axis[0] != 0 ? 0 : axis[1] != 0 ? 1 : 2;
  return absl::StrCat(axis[k] < 0 ? "-" : "+", std::string(1, "xyz"[k]));
}

nlohmann::ordered_json ReportJson(const client::FittedRig& fitted, const client::RigData& rig,
                                  const std::string& name, const std::string& out) {
  using Json = nlohmann::ordered_json;
  const auto facing = [](const client::FitFacing& from) -> Json {
    return {{"residual", from.residual}, {"up", from.up}, {"forward", from.forward}};
  };
  Json joints = Json::array(), warnings = Json::array();
  std::vector<std::array<float, 3>> places;
  for (std::size_t j = 0; j < rig.joints.size(); ++j) {
    std::array<float, 3>& at = places.emplace_back();
    const std::int32_t parent = rig.joints[j].parent;
    for (std::size_t k = 0; k < 3; ++k) {
      at[k] = rig.rest_local[j * 12 + 4 * k + 3] +
              (parent < 0 ? 0 : places[static_cast<std::size_t>(parent)][k]);
    }
    joints.push_back({{"name", rig.joints[j].name}, {"at", at}});
  }
  for (const client::Problem& warning : fitted.report.warnings) warnings.push_back(warning.message);
  Json json = {{"rig", name},
               {"facing", facing(fitted.report.facing)},
               {"joints", joints},
               {"warnings", warnings}};
  if (fitted.report.other) json["other_facing"] = facing(*fitted.report.other);
  if (!out.empty()) json["out"] = out;
  return json;
}

std::string JointsText(const nlohmann::ordered_json& report) {
  Table table({{"joint"}, {"x"}, {"y"}, {"z"}});
  for (const auto& joint : report["joints"]) {
    const auto number = [&](int k) {
      const double x = joint["at"][static_cast<std::size_t>(k)];
      return Cell(x, absl::StrFormat("%.4g", x));
    };
    table.Add({joint["name"].get<std::string>(), number(0), number(1), number(2)});
  }
  return table.Text();
}

absl::Status Fit(Context& context, Options options) {
  if (!options.out.empty() && !absl::EndsWith(absl::AsciiStrToLower(options.out), ".sinewrig")) {
    return UsageError(absl::StrCat("--out: got \"", options.out, "\", need .sinewrig"));
  }
  std::optional<client::WeightMethod> method;
  if (!options.weights.empty()) {
    SINEW_ASSIGN_OR_RETURN(method, ReadWeightMethod("--weights", options.weights));
  }
  for (const std::string& hint : options.hints) {
    SINEW_ASSIGN_OR_RETURN(options.request.hints.emplace_back(), ReadHint(hint));
  }
  SINEW_RETURN_IF_ERROR(ReadTemplate(options.skeleton, options.request));
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character, ReadMesh(context, options));
  std::optional<bake::OutputFile> out;
  if (!options.out.empty()) {  // before the server starts to work
    SINEW_ASSIGN_OR_RETURN(bake::OutputFile created, bake::OutputFile::Create(options.out));
    out.emplace(std::move(created));
  }
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig uploaded,
                         bake::UploadCharacter(context.Connect(), context, character));
  options.request.rig = uploaded.rig.name;
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  client::CallOptions call = context.call();
  call.deadline = absl::InfiniteDuration();  // Ctrl-C ends it
  const auto line = context.MakeProgress("Fit");
  SINEW_ASSIGN_OR_RETURN(const client::FittedRig fitted,
                         connection.FitSkeleton(
                             options.request, [line](double part) { line->Update(part); }, call));
  std::string name = fitted.rig.name;
  std::vector<client::Problem> warnings = fitted.report.warnings;
  if (method) {
    const auto weights_line = context.MakeProgress("Weights");
    SINEW_ASSIGN_OR_RETURN(const client::WeightedRig weighted,
                           connection.ComputeWeights(
                               {.rig = name, .method = *method},
                               [weights_line](double part) { weights_line->Update(part); }, call));
    name = weighted.rig.name;
    warnings.insert(warnings.end(), weighted.report.warnings.begin(),
                    weighted.report.warnings.end());
  }
  SINEW_ASSIGN_OR_RETURN(const std::string bytes, connection.DownloadRig(name, {}, context.call()));
  SINEW_ASSIGN_OR_RETURN(const client::RigData rig, client::DecodeRig(bytes));
  if (out) SINEW_RETURN_IF_ERROR(out->Write(bytes));
  if (out) SINEW_RETURN_IF_ERROR(out->Commit());
  context.Warn(warnings);
  const nlohmann::ordered_json report = ReportJson(fitted, rig, name, options.out);
  const client::FitFacing& facing = fitted.report.facing;
  context.PrintResult(
      report, absl::StrFormat("%s\nresidual %.3f, faces %s, up is %s\n%s", name, facing.residual,
                              AxisName(facing.forward), AxisName(facing.up), JointsText(report)));
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
  set.AddFlag("--faces-forward", request.faces_forward,
              "The character faces +Z (-Y if Z is up): try no other direction");
  set.AddText("--weights", options.weights, "Also compute skin weights: capsule, heat or geodesic");
  AddStrictOption(set, options.read);
  set.AddText("--out", options.out, "The mesh with its skeleton, .sinewrig");
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
  sinew fit-skeleton fox.obj --template quadruped --at tail=0,0.4,-0.9 --local --out fox.sinewrig
See also: sinew weights, sinew render.)");
}

}  // namespace sinew::cli
