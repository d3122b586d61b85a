// sinew inspect: contents of a character file, and its problems.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/bake/base/quantity.h"
#include "client/bake/character/character_file.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/character/muscle_file.h"
#include "client/bake/passes/bound_character.h"
#include "client/cli/base/printable.h"
#include "client/cli/base/table.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "client/cli/run/local.h"
#include "client/rig/rig_lint.h"
#include "client/rig/rig_traits.h"
#include "client/rig/rig_units.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  bake::ReadOptions read;
  std::string file;
  bool joints = false, projection = false;
  double fps = 24;
};

struct Report {
  bake::CharacterFile character;
  client::RigTraits facts;
  std::vector<client::Problem> problems;  // of the import, a server, and the rig
  std::optional<double> unprojected;      // % of the skin, if asked for
};

const char* AxisName(client::UpAxis axis) {
  return axis == client::UpAxis::kY ? "Y" : axis == client::UpAxis::kZ ? "Z" : "unknown";
}

std::string Counted(std::uint64_t count, const char* one, const char* many) {
  return absl::StrCat(bake::CountText(count), " ", count == 1 ? one : many);
}

std::string Overview(const Report& report) {
  const client::RigData& rig = report.character.rig;
  const auto& bounds = report.facts.bounds;
  std::size_t faces = 0;
  for (const client::MeshTraits& mesh : report.facts.meshes) faces += mesh.faces;
  std::string text = absl::StrCat(Printable(report.character.label), ": ", report.character.format,
                                  ", ", Counted(rig.meshes.size(), "mesh", "meshes"), ", ",
                                  Counted(rig.vertices(), "vertex", "vertices"), ", ",
                                  Counted(faces, "face", "faces"), ", ",
                                  Counted(rig.joints.size(), "joint", "joints"), ", ",
                                  Counted(rig.controls.size(), "control", "controls"), ", ",
                                  Counted(report.character.clips.size(), "clip", "clips"), "\n");
  absl::StrAppend(&text, "unit ", bake::NumberText(rig.meters_per_unit), " m, up ",
                  AxisName(rig.up_axis), "\nbind space from (", bake::NumberText(bounds[0]), ", ",
                  bake::NumberText(bounds[1]), ", ", bake::NumberText(bounds[2]), ") to (",
                  bake::NumberText(bounds[3]), ", ", bake::NumberText(bounds[4]), ", ",
                  bake::NumberText(bounds[5]), ")\n");
  absl::StrAppend(
      &text,
      report.character.keeps_file_order
          ? "vertex order is the file's\n"
          : "vertex order is NOT the file's: bake writes NAME.rest.obj to apply the cache to\n");
  return text;
}

std::string MeshTable(const Report& report) {
  using enum Table::Align;
  Table table({{"mesh"},
               {"vertices", kRight},
               {"faces", kRight},
               {"triangles", kRight},
               {"joints", kRight},
               {"influences", kRight},
               {"over 4", kRight},
               {"morphs", kRight}});
  for (const client::MeshTraits& mesh : report.facts.meshes) {
    table.Add({mesh.name, bake::CountText(mesh.vertices), bake::CountText(mesh.faces),
               bake::CountText(mesh.triangles), bake::CountText(mesh.skin_joints),
               bake::CountText(mesh.max_influences), bake::CountText(mesh.over_four),
               bake::CountText(mesh.morphs)});
  }
  return absl::StrCat("\n", table.Text());
}

// The name of the other file that a clip is from, or empty.
std::string ClipFile(const bake::CharacterFile& character, std::size_t clip) {
  if (clip >= character.clip_files.size()) return {};
  return std::filesystem::path(character.clip_files[clip]).filename().string();
}

std::string ClipTable(const Report& report, double fps) {
  if (report.character.clips.empty())
    return "\nno clips: bake needs --poses, render draws the rest pose\n";
  using enum Table::Align;
  const bool others =
      bake::DefaultClip(report.character) > 0 || !ClipFile(report.character, 0).empty();
  std::vector<Table::Column> columns = {
      {"clip", kRight},
      {"name"},
      {"from", kRight},
      {"to", kRight},
      {absl::StrCat("frames at ", bake::NumberText(fps), " fps"), kRight},
      {"channels", kRight},
      {"keys", kRight}};
  if (others) columns.push_back({"file"});
  Table table(std::move(columns));
  for (std::size_t k = 0; k < report.character.clips.size(); ++k) {
    const client::ClipInfo& clip = report.character.clips[k];
    table.Add({absl::StrCat(k), clip.name, absl::StrFormat("%.3f s", clip.start),
               absl::StrFormat("%.3f s", clip.end),
               bake::CountText(static_cast<std::uint64_t>(client::ClipFrames(clip, fps))),
               bake::CountText(clip.channels), bake::CountText(clip.keys),
               ClipFile(report.character, k)});
  }
  return absl::StrCat("\n", table.Text());
}

// "upper_arm > upper_arm > forearm": the joints the path is fixed to.
std::string JointsOf(const client::RigData& rig, const client::Muscle& muscle) {
  const auto name = [&](std::uint32_t joint) -> std::string {
    return joint < rig.joints.size() ? rig.joints[joint].name : absl::StrCat(joint);
  };
  std::string text = name(muscle.origin.joint);
  for (const client::MusclePoint& via : muscle.via) absl::StrAppend(&text, " > ", name(via.joint));
  return absl::StrCat(text, " > ", name(muscle.insertion.joint));
}

const char* WrapName(const client::Muscle& muscle) {
  if (!muscle.wrap) return "";
  return muscle.wrap->shape == client::MuscleWrap::Shape::kSphere ? "sphere" : "cylinder";
}

std::string MuscleTable(const client::RigData& rig) {
  if (rig.muscles.empty()) return "";
  using enum Table::Align;
  Table table({{"muscle"},
               {"joints"},
               {"wrap"},
               {"width", kRight},
               {"depth", kRight},
               {"profile"},
               {"activation"}});
  for (const client::Muscle& muscle : rig.muscles) {
    table.Add({muscle.name, JointsOf(rig, muscle), WrapName(muscle), bake::NumberText(muscle.width),
               bake::NumberText(muscle.depth), bake::MuscleProfileName(muscle.profile),
               muscle.activation});
  }
  return absl::StrCat("\n", table.Text());
}

Json MusclesJson(const client::RigData& rig) {
  Json muscles = Json::array();
  for (const client::Muscle& muscle : rig.muscles) {
    muscles.push_back({{"name", muscle.name},
                       {"joints", JointsOf(rig, muscle)},
                       {"via_points", muscle.via.size()},
                       {"wrap", WrapName(muscle)},
                       {"tendons", {muscle.origin_tendon, muscle.insertion_tendon}},
                       {"width", muscle.width},
                       {"depth", muscle.depth},
                       {"profile", bake::MuscleProfileName(muscle.profile)},
                       {"activation", muscle.activation}});
  }
  return muscles;
}

std::string JointTree(const client::RigData& rig) {
  std::vector<std::size_t> depth(rig.joints.size());
  std::vector<std::vector<std::size_t>> children(rig.joints.size());
  std::vector<std::size_t> open;
  for (std::size_t j = rig.joints.size(); j-- > 0;) {
    const std::int32_t parent = rig.joints[j].parent;
    const bool has_parent = parent >= 0 && static_cast<std::size_t>(parent) < j;
    (has_parent ? children[static_cast<std::size_t>(parent)] : open).push_back(j);
  }
  std::string text = "\njoints\n";
  while (!open.empty()) {
    const std::size_t j = open.back();
    open.pop_back();
    const client::Joint& joint = rig.joints[j];
    absl::StrAppend(&text, std::string(2 + 2 * depth[j], ' '), Printable(joint.name),
                    joint.helper ? " (helper)" : "", "\n");
    for (const std::size_t child : children[j]) {
      depth[child] = depth[j] + 1;
      open.push_back(child);
    }
  }
  return text;
}

std::string ProjectionLine(const Report& report) {
  if (!report.unprojected) return "";
  return absl::StrFormat(
      "\nimplicit does not project %.1f %% of the skin; `sinew bind FILE --deformer "
      "implicit_skinning` says why\n",
      *report.unprojected);
}

std::string ProblemList(const Report& report) {
  Table table({{"problem"}, {"where"}, {"what"}});
  for (const client::Problem& problem : report.problems) {
    const bool lost = problem.reason == client::kLostReason;
    table.Add(
        {lost ? "lost" : client::SeverityName(problem.severity), problem.field, problem.message});
  }
  const std::size_t idle = report.facts.joints_without_weights.size();
  // Importers report it themselves.
  if (idle > 0 && report.character.kind != bake::CharacterFile::Kind::kImported) {
    table.Add({"info", "joints", absl::StrCat(bake::CountText(idle), " without weights")});
  }
  return table.rows() == 0 ? "\nno problems\n" : absl::StrCat("\n", table.Text());
}

Json MeshesJson(const Report& report) {
  Json meshes = Json::array();
  for (const client::MeshTraits& mesh : report.facts.meshes) {
    meshes.push_back({{"name", mesh.name},
                      {"vertices", mesh.vertices},
                      {"faces", mesh.faces},
                      {"triangles", mesh.triangles},
                      {"skin_joints", mesh.skin_joints},
                      {"max_influences", mesh.max_influences},
                      {"vertices_over_four_influences", mesh.over_four},
                      {"morph_targets", mesh.morphs}});
  }
  return meshes;
}

Json ReportJson(const Report& report, double fps) {
  const bake::CharacterFile& character = report.character;
  Json joints = Json::array(), controls = Json::array(), clips = Json::array(),
       problems = Json::array(), idle = Json::array();
  for (const client::Joint& joint : character.rig.joints) {
    joints.push_back({{"name", joint.name}, {"parent", joint.parent}, {"helper", joint.helper}});
  }
  for (const client::Control& control : character.rig.controls) controls.push_back(control.name);
  for (std::size_t k = 0; k < character.clips.size(); ++k) {
    const client::ClipInfo& clip = character.clips[k];
    clips.push_back({{"name", clip.name},
                     {"file", ClipFile(character, k)},
                     {"start_seconds", clip.start},
                     {"end_seconds", clip.end},
                     {"frames", client::ClipFrames(clip, fps)},
                     {"channels", clip.channels},
                     {"keys", clip.keys}});
  }
  for (const client::Problem& problem : report.problems) {
    problems.push_back({{"severity", client::SeverityName(problem.severity)},
                        {"where", problem.field},
                        {"message", problem.message},
                        {"reason", problem.reason}});
  }
  for (const std::size_t j : report.facts.joints_without_weights)
    idle.push_back(character.rig.joints[j].name);
  const Json unprojected = report.unprojected ? Json(*report.unprojected) : Json();
  return {{"file", character.label},
          {"format", character.format},
          {"rig", client::RigName(character.rig_bytes)},
          {"vertices", character.rig.vertices()},
          {"meters_per_unit", character.rig.meters_per_unit},
          {"up_axis", AxisName(character.rig.up_axis)},
          {"bounds", report.facts.bounds},
          {"keeps_file_order", character.keeps_file_order},
          {"meshes", MeshesJson(report)},
          {"joints", joints},
          {"joints_without_weights", idle},
          {"controls", controls},
          {"muscles", MusclesJson(character.rig)},
          {"fps", fps},
          {"clips", clips},
          {"unprojected_percent", unprojected},
          {"problems", problems}};
}

// % of the skin that implicit leaves at the skinned position.
absl::StatusOr<double> FindUnprojected(Context& context, const client::Client& connection,
                                       const std::string& rig) {
  SINEW_ASSIGN_OR_RETURN(
      client::Session session,
      connection.CreateSession({.rig = rig, .recipe = "dqs | implicit"}, context.call()));
  SINEW_ASSIGN_OR_RETURN(session, bake::WaitUntilBound(context, connection, session.name));
  const auto at =
      std::ranges::find(session.statistics, "unprojected_points", &client::BindStatistic::name);
  if (at == session.statistics.end()) return absl::InternalError("no unprojected_points");
  return at->value;
}

// Uploads the rig to a server in this process, which checks it, and binds its muscles for their
// warnings.
absl::Status AskServer(Context& context, bool projection, Report& report) {
  const bake::CharacterFile& character = report.character;
  SINEW_ASSIGN_OR_RETURN(const LocalService service, StartLocalService());
  const auto rig = service.client.UploadRig(std::string_view(character.rig_bytes));
  if (!rig.ok()) return bake::PlacedInMuscleFile(character.muscles, rig.status());
  if (projection) {
    SINEW_ASSIGN_OR_RETURN(report.unprojected,
                           FindUnprojected(context, service.client, rig->rig.name));
  }
  if (character.rig.muscles.empty()) return absl::OkStatus();
  auto session = service.client.CreateSession({.rig = rig->rig.name, .recipe = "lbs | muscle"},
                                              context.call());
  if (session.ok()) session = service.client.WaitSession(session->name, {}, context.call());
  if (absl::IsResourceExhausted(session.status())) return absl::OkStatus();  // the rig is valid
  if (!session.ok()) return bake::PlacedInMuscleFile(character.muscles, session.status());
  for (client::Problem& warning : bake::PlacedInMuscleFile(character.muscles, session->warnings)) {
    report.problems.push_back({.message = std::move(warning.message)});
  }
  return absl::OkStatus();
}

// Adds what is wrong with the rig to the problems. An error: a server with default settings refuses
// it, because it is invalid or exceeds a limit.
absl::Status CheckRig(Context& context, bool projection, Report& report) {
  const absl::Status accepted = AskServer(context, projection, report);
  if (accepted.ok()) {
    for (client::Problem& problem : client::Lint(report.character.rig)) {
      // Not what the importer has said.
      if (std::ranges::count(report.character.problems, problem.message,
                             &client::Problem::message) == 0) {
        report.problems.push_back(std::move(problem));
      }
    }
  }
  const bool limit = absl::IsResourceExhausted(accepted);
  if (!limit && !absl::IsInvalidArgument(accepted)) return absl::OkStatus();
  report.problems.push_back(
      {.severity = client::Severity::kError,
       .message =
           absl::StrCat(limit ? "a server with default limits refuses " : "", accepted.message()),
       .code = accepted.code()});
  return accepted;
}

// Warns of clips in another unit, by three of their poses.
absl::Status CheckClips(double fps, Report& report) {
  for (std::size_t k = 0; k < report.character.clips.size(); ++k) {
    const client::ClipInfo& clip = report.character.clips[k];
    const std::int64_t last = client::ClipFrames(clip, fps) - 1;
    bake::MotionRequest motion{.clip = clip.name, .poses = {}, .fps = fps};
    for (const std::int64_t frame : {std::int64_t{0}, last / 2, last}) {
      motion.frames.ranges.push_back({.first = frame, .last = frame});
    }
    SINEW_ASSIGN_OR_RETURN(const client::ClipData poses,
                           bake::ReadMotion(report.character, motion));
    std::string doubt = client::SuspiciousSize(report.character.rig, poses);
    if (!doubt.empty()) report.problems.push_back({.message = std::move(doubt)});
  }
  return absl::OkStatus();
}

absl::Status Inspect(Context& context, const Options& options) {
  Report report;
  SINEW_ASSIGN_OR_RETURN(report.character, bake::ReadCharacter(options.file, options.read));
  report.facts = client::CountRig(report.character.rig);
  report.problems = report.character.problems;
  SINEW_RETURN_IF_ERROR(CheckClips(options.fps, report));
  const absl::Status accepted = CheckRig(context, options.projection, report);
  if (context.json()) {
    context.PrintJson(ReportJson(report, options.fps));
  } else {
    context.Print(absl::StrCat(Overview(report), MeshTable(report),
                               MuscleTable(report.character.rig), ClipTable(report, options.fps),
                               options.joints ? JointTree(report.character.rig) : "",
                               ProjectionLine(report), ProblemList(report)));
  }
  const std::vector<std::string> warnings = bake::ImportWarnings(report.character);
  if (!accepted.ok() || !options.read.strict || warnings.empty()) return accepted;
  return absl::InvalidArgumentError(absl::StrCat(report.character.label, ": ",
                                                 CountedText(warnings.size(), "warning"),
                                                 " of the importer, --strict allows none"));
}

}  // namespace

void AddInspect(CommandList& commands) {
  auto options = std::make_shared<Options>();
  OptionSet set = commands.Add(
      "inspect", "Meshes, joints, muscles, clips and weights of a character file, and its problems",
      [options](Context& context) { return Inspect(context, *options); });
  set.AddText("FILE", options->file, "Character file, .sinewrig or model:NAME").Required();
  AddReadOptions(set, options->read);
  AddClipFileOption(set, options->read);
  set.AddFlag("--joints", options->joints, "Print the joint tree");
  set.AddFlag("--projection", options->projection,
              "Bind implicit and print how much of the skin it does not project");
  set.AddNumber("--fps", options->fps, 0.001, 100'000, "Rate at which frames are counted");
  set.SetFooter(R"(Needs no server. Exit code 65 if the file is damaged or a server would refuse it.
Examples:
  sinew inspect hero.glb --joints
  sinew inspect hero.glb --projection
  sinew inspect hero.fbx --json | jq .problems
See also: sinew bake, sinew render, sinew upload.)");
}

}  // namespace sinew::cli
