// sinew inspect: contents of a character file, and its problems.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <filesystem>
#include <map>
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

Table Meshes(const Report& report) {
  Table table({{"mesh", "name"},
               {"vertices", "vertices"},
               {"faces", "faces"},
               {"triangles", "triangles"},
               {"joints", "skin_joints"},
               {"influences", "max_influences"},
               {"over 4", "vertices_over_four_influences"},
               {"morphs", "morph_targets"}});
  for (const client::MeshTraits& mesh : report.facts.meshes) {
    table.Add({mesh.name, mesh.vertices, mesh.faces, mesh.triangles, mesh.skin_joints,
               mesh.max_influences, mesh.over_four, mesh.morphs});
  }
  return table;
}

// The name of the other file that a clip is from, or empty.
std::string ClipFile(const bake::CharacterFile& character, std::size_t clip) {
  if (clip >= character.clip_files.size()) return {};
  return std::filesystem::path(character.clip_files[clip]).filename().string();
}

Table Clips(const bake::CharacterFile& character, double fps) {
  const bool others = bake::DefaultClip(character) > 0 || !ClipFile(character, 0).empty();
  Table table({{"clip"},
               {"name", "name"},
               {"from", "start_seconds"},
               {"to", "end_seconds"},
               {absl::StrCat("frames at ", bake::NumberText(fps), " fps"), "frames"},
               {"channels", "channels"},
               {"keys", "keys"},
               {others ? "file" : "", "file"}});
  const auto seconds = [](double time) { return Cell(time, absl::StrFormat("%.3f s", time)); };
  for (std::size_t k = 0; k < character.clips.size(); ++k) {
    const client::ClipInfo& clip = character.clips[k];
    table.Add({Cell(k, absl::StrCat(k)), clip.name, seconds(clip.start), seconds(clip.end),
               static_cast<std::uint64_t>(client::ClipFrames(clip, fps)), clip.channels, clip.keys,
               ClipFile(character, k)});
  }
  return table;
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

Cell Number(double value) {
  return {value, bake::NumberText(value)};
}

Table Muscles(const client::RigData& rig) {
  Table table({{"muscle", "name"},
               {"joints", "joints"},
               {"", "via_points"},
               {"wrap", "wrap"},
               {"", "tendons"},
               {"width", "width"},
               {"depth", "depth"},
               {"profile", "profile"},
               {"activation", "activation"}});
  for (const client::Muscle& muscle : rig.muscles) {
    table.Add({muscle.name, JointsOf(rig, muscle), muscle.via.size(), WrapName(muscle),
               Cell({muscle.origin_tendon, muscle.insertion_tendon}, ""), Number(muscle.width),
               Number(muscle.depth), bake::MuscleProfileName(muscle.profile), muscle.activation});
  }
  return table;
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

Table Problems(const Report& report) {
  Table table({{"problem", "severity"}, {"where", "where"}, {"what", "message"}, {"", "reason"}});
  for (const client::Problem& problem : report.problems) {
    const std::string severity = client::SeverityName(problem.severity);
    table.Add({Cell(severity, problem.reason == client::kLostReason ? "lost" : severity),
               problem.field, problem.message, problem.reason});
  }
  return table;
}

// A table with a blank line before it, or what stands for an empty one.
std::string Section(const Table& table, const std::string& empty) {
  return table.rows() == 0 ? empty : absl::StrCat("\n", table.Text());
}

std::string ReportText(const Report& report, const Options& options) {
  Table problems = Problems(report);
  const std::size_t idle = report.facts.joints_without_weights.size();
  // Importers report it themselves.
  if (idle > 0 && report.character.kind != bake::CharacterFile::Kind::kImported) {
    problems.Add({"info", "joints", absl::StrCat(bake::CountText(idle), " without weights")});
  }
  return absl::StrCat(Overview(report), "\n", Meshes(report).Text(),
                      Section(Muscles(report.character.rig), ""),
                      Section(Clips(report.character, options.fps),
                              "\nno clips: bake needs --poses, render draws the rest pose\n"),
                      options.joints ? JointTree(report.character.rig) : "", ProjectionLine(report),
                      Section(problems, "\nno problems\n"));
}

Json ReportJson(const Report& report, double fps) {
  const bake::CharacterFile& character = report.character;
  Json joints = Json::array(), controls = Json::array(), idle = Json::array();
  for (const client::Joint& joint : character.rig.joints) {
    joints.push_back({{"name", joint.name}, {"parent", joint.parent}, {"helper", joint.helper}});
  }
  for (const client::Control& control : character.rig.controls) controls.push_back(control.name);
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
          {"meshes", Meshes(report).Json()},
          {"joints", joints},
          {"joints_without_weights", idle},
          {"controls", controls},
          {"muscles", Muscles(character.rig).Json()},
          {"fps", fps},
          {"clips", Clips(character, fps).Json()},
          {"unprojected_percent", unprojected},
          {"problems", Problems(report).Json()}};
}

// Binds implicit: how much of the skin it does not project, and a warning if that is because bones
// are not inside the skin that follows them. Of sane characters at most one joint in eight has no
// field; of those with bones of another scale, place or axis two in five or more.
absl::Status FindUnprojected(Context& context, const client::Client& connection,
                             const std::string& rig, Report& report) {
  constexpr double kManyJoints = 1. / 3;
  SINEW_ASSIGN_OR_RETURN(
      client::Session session,
      connection.CreateSession({.rig = rig, .recipe = "dqs | implicit"}, context.call()));
  SINEW_ASSIGN_OR_RETURN(session, bake::WaitUntilBound(context, connection, session.name));
  std::map<std::string, double> values;
  for (const client::BindStatistic& statistic : session.statistics) {
    values[statistic.name] = statistic.value;
  }
  report.unprojected = values["unprojected_points"];
  const double without = values["parts_without_field"], joints = values["parts"] + without;
  if (without <= kManyJoints * joints) return absl::OkStatus();
  report.problems.push_back(
      {.message = absl::StrCat(
           without, " of ", joints, " joints have skin that implicit cannot project; likely ",
           "causes: mesh and skeleton differ in unit, up axis or bind pose, bones are outside ",
           "the skin that they move, or weights are those of other joints"),
       .field = "joints"});
  return absl::OkStatus();
}

// Uploads the rig to a server in this process, which checks it, and binds its muscles for their
// warnings.
absl::Status AskServer(Context& context, bool projection, Report& report) {
  const bake::CharacterFile& character = report.character;
  SINEW_ASSIGN_OR_RETURN(const LocalService service, StartLocalService());
  const auto rig = service.client.UploadRig(std::string_view(character.rig_bytes));
  if (!rig.ok()) return bake::PlacedInMuscleFile(character.muscles, rig.status());
  if (projection) {
    SINEW_RETURN_IF_ERROR(FindUnprojected(context, service.client, rig->rig.name, report));
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
void CheckClips(double fps, Report& report) {
  for (std::size_t k = 0; k < report.character.clips.size(); ++k) {
    const client::ClipInfo& clip = report.character.clips[k];
    const std::int64_t last = client::ClipFrames(clip, fps) - 1;
    bake::MotionRequest motion{.clip = clip.name, .poses = {}, .fps = fps};
    for (const std::int64_t frame : {std::int64_t{0}, last / 2, last}) {
      const auto number = static_cast<double>(frame);
      motion.frames.ranges.push_back({.first = number, .last = number});
    }
    const absl::StatusOr<client::ClipData> poses = bake::ReadMotion(report.character, motion);
    std::string doubt = poses.ok() ? client::SuspiciousSize(report.character.rig, *poses)
                                   : std::string(poses.status().message());
    if (!doubt.empty()) report.problems.push_back({.message = std::move(doubt)});
  }
}

absl::Status Inspect(Context& context, const Options& options) {
  Report report;
  SINEW_ASSIGN_OR_RETURN(report.character, bake::ReadCharacter(options.file, options.read));
  report.facts = client::CountRig(report.character.rig);
  report.problems = report.character.problems;
  CheckClips(options.fps, report);
  const absl::Status accepted = CheckRig(context, options.projection, report);
  context.PrintResult(ReportJson(report, options.fps), ReportText(report, options));
  const std::vector<std::string> warnings = bake::ImportWarnings(report.character);
  if (!accepted.ok() || !options.read.strict || warnings.empty()) return accepted;
  return absl::InvalidArgumentError(absl::StrCat(report.character.label, ": ",
                                                 CountedText(warnings.size(), "warning"),
                                                 " of the importer, --strict allows none"));
}

}  // namespace

void AddInspect(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "inspect", "Meshes, joints, muscles, clips and weights of a character file, and its problems",
      Inspect);
  set.AddText("FILE", options.file, "Character file, .sinewrig or model:NAME").Required();
  AddReadOptions(set, options.read);
  AddClipFileOption(set, options.read);
  set.AddFlag("--joints", options.joints, "Print the joint tree");
  set.AddFlag("--projection", options.projection,
              "Bind implicit and print how much of the skin it does not project");
  set.AddNumber("--fps", options.fps, 0.001, 100'000, "Rate at which frames are counted");
  set.SetFooter(R"(Needs no server. Exit code 65 if the file is damaged or a server would refuse it.
Examples:
  sinew inspect hero.glb --joints
  sinew inspect hero.glb --projection
  sinew inspect hero.fbx --json | jq .problems
See also: sinew bake, sinew render, sinew upload.)");
}

}  // namespace sinew::cli
