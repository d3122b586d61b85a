// sinew weights: computes the skin weights of a character, or of a mesh with the joints of another.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/character/joint_suggestion.h"
#include "client/bake/character/skeleton_file.h"
#include "client/bake/files/output_file.h"
#include "client/bake/passes/bound_character.h"
#include "client/bake/pictures/weights_table.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/character/read_options.h"
#include "client/cli/character/weight_methods.h"
#include "client/cli/commands/commands.h"
#include "client/rig/rig_units.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  bake::ReadOptions read = {.allow_no_skin = true};
  std::string file, skeleton, method, out;
  bool all_joints = false;
  client::WeightsRequest request;
};

// Refuses options of other methods than --method.
absl::Status CheckMethodOptions(const Options& options) {
  const client::WeightsRequest& r = options.request;
  const struct {
    const char *option, *method;
    bool given;
  } rows[] = {{"--inner", "capsule", r.inner.has_value()},
              {"--outer", "capsule", r.outer.has_value()},
              {"--heat", "heat", r.heat.has_value()},
              {"--resolution", "geodesic", r.resolution.has_value()},
              {"--smoothness", "geodesic", r.smoothness.has_value()}};
  for (const auto& row : rows) {
    if (!row.given || options.method == row.method) continue;
    return UsageError(absl::StrCat(row.option, ": got it with --method ", options.method,
                                   ", need --method ", row.method));
  }
  return absl::OkStatus();
}

// The joints with weights; none for a character without weights.
std::vector<std::string> Carriers(const client::RigData& rig) {
  std::vector<std::string> names;
  for (const bake::JointShare& share : bake::JointShares(rig)) {
    if (share.vertices > 0) names.push_back(rig.joints[share.joint].name);
  }
  return names;
}

// The character, and in `carriers` the joints that have weights in the file.
absl::StatusOr<bake::CharacterFile> ReadInput(const Context& context, const Options& options,
                                              std::vector<std::string>& carriers) {
  SINEW_ASSIGN_OR_RETURN(bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  if (character.rig.vertices() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(character.label, ": no mesh, need one"));
  }
  carriers = Carriers(character.rig);
  if (!options.skeleton.empty()) {
    SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile skeleton,
                           ReadAndWarn(context, options.skeleton, options.read));
    SINEW_ASSIGN_OR_RETURN(const std::vector<std::string> notes,
                           bake::AttachSkeleton(skeleton, character));
    for (const std::string& note : notes) context.Note(note);
    carriers = Carriers(skeleton.rig);
  } else if (character.rig.joints.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(character.label,
                     " has no joints, need --skeleton FILE2, a character file that has some; or "
                     "`sinew fit-skeleton` first"));
  }
  const std::string doubt = client::SuspiciousUnits(character.rig);
  if (!doubt.empty()) context.Warn(doubt);
  return character;
}

// The new rig as a character, for the following steps.
absl::StatusOr<bake::CharacterFile> Fetch(const Context& context, const client::Client& connection,
                                          const std::string& label, const std::string& name) {
  bake::CharacterFile weighted;
  weighted.kind = bake::CharacterFile::Kind::kSerialised;
  weighted.label = label;
  SINEW_ASSIGN_OR_RETURN(weighted.rig_bytes, connection.DownloadRig(name, {}, context.call()));
  SINEW_ASSIGN_OR_RETURN(weighted.rig, client::DecodeRig(weighted.rig_bytes));
  return weighted;
}

void NoteReport(const Context& context, const client::RigData& rig,
                const client::WeightsReport& report,
                const std::optional<bake::WeightDifference>& difference) {
  context.Warn(report.warnings);
  if (report.unseen_count > 0) {  // a warning says which bones they follow
    std::string list;
    for (std::size_t i = 0; i < std::min<std::size_t>(5, report.unseen_vertices.size()); ++i) {
      absl::StrAppend(&list, i == 0 ? "" : ", ", report.unseen_vertices[i]);
    }
    context.Note(absl::StrCat(
        "vertices that no bone sees or reaches: ", bake::CountText(report.unseen_count), " of ",
        bake::CountText(rig.vertices()), " (", list,
        report.unseen_count > 5 ? ", ...; --json lists up to 1000)" : ")"));
  }
  std::string idle;
  for (const std::uint32_t joint : report.idle_joints) {
    if (joint < rig.joints.size()) {
      absl::StrAppend(&idle, idle.empty() ? "" : ", ", rig.joints[joint].name);
    }
  }
  if (!idle.empty()) context.Note(absl::StrCat("joints without weights: ", idle));
  if (difference) {
    context.Note(absl::StrFormat(
        "against the file's own weights: mean absolute difference %.4f, %.1f %% of a vertex's "
        "weight moved to other joints",
        difference->mean_absolute, difference->moved * 100));
  }
}

nlohmann::ordered_json ReportJson(const Options& options, const std::string& source,
                                  const bake::CharacterFile& weighted,
                                  const client::WeightedRig& result,
                                  const std::vector<std::string>& import_warnings,
                                  const std::optional<bake::WeightDifference>& difference) {
  using Json = nlohmann::ordered_json;
  Json joints = Json::array(), idle = Json::array();
  for (const bake::JointShare& share : bake::JointShares(weighted.rig)) {
    joints.push_back({{"name", weighted.rig.joints[share.joint].name},
                      {"vertices", share.vertices},
                      {"share", share.share},
                      {"largest", share.largest}});
  }
  for (const std::uint32_t joint : result.report.idle_joints) {
    if (joint < weighted.rig.joints.size()) idle.push_back(weighted.rig.joints[joint].name);
  }
  std::vector<std::string> warnings;
  for (const client::Problem& warning : result.report.warnings) warnings.push_back(warning.message);
  warnings.insert(warnings.end(), import_warnings.begin(), import_warnings.end());
  Json json = {
      {"rig", result.rig.name},
      {"source_rig", source},
      {"method", options.method},
      {"vertices", weighted.rig.vertices()},
      {"joints", joints},
      {"unseen",
       {{"count", result.report.unseen_count}, {"vertices", result.report.unseen_vertices}}},
      {"idle_joints", idle},
      {"warnings", warnings}};
  if (difference) {
    json["difference"] = {{"mean_absolute", difference->mean_absolute},
                          {"moved", difference->moved}};
  }
  if (!options.out.empty()) json["out"] = options.out;
  return json;
}

// The joints that carry something, largest share first.
std::string WeightsText(const client::RigData& rig) {
  std::vector<bake::JointShare> shares = bake::JointShares(rig);
  std::stable_sort(
      shares.begin(), shares.end(),
      [](const bake::JointShare& a, const bake::JointShare& b) { return a.share > b.share; });
  Table table({{"joint"}, {"vertices"}, {"share"}, {"largest"}});
  for (const bake::JointShare& share : shares) {
    if (share.vertices == 0) break;
    table.Add({rig.joints[share.joint].name, share.vertices,
               Cell(share.share, absl::StrFormat("%.2f %%", share.share * 100)),
               Cell(share.largest, absl::StrFormat("%.3f", share.largest))});
  }
  return table.Text();
}

absl::Status Weigh(Context& context, Options options) {
  if (!options.out.empty() && !absl::EndsWith(absl::AsciiStrToLower(options.out), ".sinewrig")) {
    return UsageError(absl::StrCat("--out: got \"", options.out, "\", need .sinewrig"));
  }
  SINEW_ASSIGN_OR_RETURN(options.request.method, ReadWeightMethod("--method", options.method));
  SINEW_RETURN_IF_ERROR(CheckMethodOptions(options));
  std::vector<std::string> carriers;
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         ReadInput(context, options, carriers));
  for (const std::string& joint : options.request.joints) {
    const absl::StatusOr<std::size_t> found = bake::FindJoint(character.rig, joint, "--all-joints");
    if (!found.ok()) return bake::Prefixed("--joints", found.status());
  }
  if (options.request.joints.empty() && !options.all_joints) options.request.joints = carriers;
  std::optional<bake::OutputFile> out;
  if (!options.out.empty()) {  // before the server starts to work
    SINEW_ASSIGN_OR_RETURN(bake::OutputFile created, bake::OutputFile::Create(options.out));
    out.emplace(std::move(created));
  }
  SINEW_ASSIGN_OR_RETURN(const client::UploadedRig uploaded,
                         bake::UploadCharacter(context.Connect(), context, character));
  options.request.rig = uploaded.rig.name;
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  SINEW_ASSIGN_OR_RETURN(const client::WeightedRig result,
                         ComputeWeights(context, connection, options.request));
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile weighted,
                         Fetch(context, connection, character.label, result.rig.name));
  const auto difference = bake::CompareWeights(character.rig, weighted.rig);
  if (out) SINEW_RETURN_IF_ERROR(out->Write(weighted.rig_bytes));
  if (out) SINEW_RETURN_IF_ERROR(out->Commit());
  NoteReport(context, weighted.rig, result.report, difference);
  context.PrintResult(ReportJson(options, uploaded.rig.name, weighted, result,
                                 bake::ImportWarnings(character), difference),
                      absl::StrCat(result.rig.name, "\n", WeightsText(weighted.rig)));
  return absl::OkStatus();
}

void AddMethodOptions(OptionSet& set, client::WeightsRequest& request) {
  set.AddNumber("--max-influences", request.max_influences, 1, 255,
                "Maximum joints of a vertex, 1 to 255 (4)");
  set.AddNumber("--prune", request.prune, 0, 0.5, "Drop smaller weights, 0 to 0.5 (0.01)");
  set.AddNumber("--smooth", request.smooth, 0, 100,
                "Passes of averaging over neighbours, 0 to 100 (0)");
  set.AddNumber("--inner", request.inner, 0.1, 10,
                "capsule: radius of full weight, in median distances of a bone's vertices, 0.1 to "
                "10 (1.05)");
  set.AddNumber("--outer", request.outer, 0.1, 20,
                "capsule: radius where the weight reaches 0, up to 20 (1.8)");
  set.AddNumber("--heat", request.heat, 0.01, 100,
                "heat: strength of the bones, 0.01 to 100; larger = sharper borders (4)");
  set.AddNumber("--resolution", request.resolution, 16, 512,
                "geodesic: voxels along the longest side, 16 to 512 (192)");
  set.AddNumber("--smoothness", request.smoothness, 0, 1,
                "geodesic: 0 = wide transitions, 1 = narrow, 0 to 1 (0.5)");
}

}  // namespace

void AddWeights(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "weights", "Compute skin weights for a character with or without any; print its joints",
      [](Context& context, const Options& given) {
        return context.Lost(Weigh(context, given), "no weights were written");
      });
  set.AddText("FILE", options.file, "Character or mesh file (.obj too), .sinewrig or model:NAME")
      .Required();
  set.AddText("--method", options.method, "capsule, heat or geodesic").Required();
  AddMethodOptions(set, options.request);
  set.AddText("--skeleton", options.skeleton,
              "Take the joints, in their rest pose, from this file; for a FILE without joints");
  const Option joints = set.AddList(
      "--joints", options.request.joints,
      "Joints that may get weights (default: those with weights in the file; else all)");
  set.AddFlag("--all-joints", options.all_joints, "Every joint may get weights").Excludes(joints);
  AddStrictOption(set, options.read);
  set.AddText("--out", options.out, "The character with its new weights, .sinewrig");
  set.SetFooter(
      R"(capsule is fast and rough. heat is smooth, and needs bones inside the mesh. geodesic handles gaps, overlaps and open
meshes. Weights in the file are replaced. A mesh without joints is converted to the units of --skeleton; an .obj states
none and must be in them. The .sinewrig replaces the character file in every command; it has no clips, so commands that
need a motion need --poses.
Examples:
  sinew weights hero.glb --method heat --out hero.sinewrig
  sinew render hero.sinewrig --weights all --out weights.png
  sinew weights statue.obj --skeleton hero.glb --method geodesic --out statue.sinewrig
  sinew weights model:hand --method capsule --max-influences 2 --local
See also: sinew inspect, sinew bind, sinew render.)");
}

}  // namespace sinew::cli
