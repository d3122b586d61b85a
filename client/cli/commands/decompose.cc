// sinew decompose: a skeleton, weights and poses, or a clip, from the animation of a mesh.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/bake/files/output_file.h"
#include "client/bake/formats/npy.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/character/read_options.h"
#include "client/cli/character/skinned_file.h"
#include "client/cli/commands/commands.h"
#include "client/decompose/decompose_cache.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kRigEnding[] = ".sinewrig";
constexpr double kDefaultFps = 24;

struct Options {
  bake::ReadOptions read = {.allow_no_skin = true};
  std::string cache, rest, out;
  bool no_clobber = false;
  std::optional<double> meters_per_unit, fps;
  DecomposeOptions decompose;
};

bool EndsIn(const Options& options, const char* ending) {
  return absl::EndsWith(absl::AsciiStrToLower(options.out), ending);
}

bool IsGlb(const Options& options) {
  return EndsIn(options, ".glb");
}

// "hero.sinewrig" -> "hero.poses.npy".
std::string PosesPath(const std::string& rig) {
  return absl::StrCat(rig.substr(0, rig.size() - std::size(kRigEnding) + 1), ".poses.npy");
}

// The poses as a clip with the name of the cache: "walk.####.obj" -> "walk".
client::ClipData ClipOf(const bake::DecomposedCache& result, const Options& options) {
  const std::string name = std::filesystem::path(options.cache).filename();
  return {.name = name.substr(0, name.find('.', 1)),
          .fps = options.fps.value_or(result.fps.value_or(kDefaultFps)),
          .frames = result.frames,
          .frame_numbers = result.frame_numbers,
          .joint_transforms = result.poses,
          .controls = {}};
}

// What holds the motion.
Json MotionJson(const client::ClipData& clip, const Options& options) {
  if (!IsGlb(options)) return {{"rig", options.out}, {"poses", PosesPath(options.out)}};
  const double frames = clip.FrameNumber(clip.frames - 1) - clip.FrameNumber(0);
  return {{"rig", options.out},
          {"clip", {{"name", clip.name}, {"fps", clip.fps}, {"seconds", frames / clip.fps}}}};
}

Json ReportJson(const bake::DecomposedCache& result, const Options& options, Json report) {
  const auto length = [&](double units) -> Json {
    return {{"units", units}, {"percent", 100 * units / result.diagonal}};
  };
  const Distances& all = result.error.all;
  Json joints = Json::array(), frames = Json::array(), notes = Json::array();
  for (const client::Joint& joint : result.rig.joints) {
    joints.push_back(
        {{"name", joint.name},
         {"parent",
          joint.parent < 0 ? Json() : Json(result.rig.joints[std::size_t(joint.parent)].name)}});
  }
  for (std::size_t f = 0; f < result.frames; ++f) {
    frames.push_back(
        {{"rms", result.error.frame_rms[f]}, {"largest", result.error.frame_largest[f]}});
  }
  for (const Problem& problem : result.problems) {
    notes.push_back(absl::StrCat(problem.field, ": ", problem.message));
  }
  report.update(Json{{"frames", result.frames},
                     {"vertices", result.rig.vertices()},
                     {"joints_asked", options.decompose.joints},
                     {"joints", joints},
                     {"diagonal", result.diagonal},
                     {"error",
                      {{"rms", length(all.rms)},
                       {"p99", length(all.p99)},
                       {"largest", length(all.largest)},
                       {"e_rms", 1000 * all.rms / result.diagonal / std::sqrt(3.0)},
                       {"worst_frame", all.frame},
                       {"worst_vertex", all.vertex}}},
                     {"joint_gap", length(result.gap)},
                     {"rms_by_iteration", result.iterations},
                     {"rms_by_connected_iteration", result.connected_iterations},
                     {"by_frame", frames},
                     {"notes", notes}});
  return report;
}

std::string ReportText(const Json& report) {
  Table table({{"error"}, {"% of diagonal"}, {"units"}});
  const auto add = [&](const char* label, const Json& length) {
    const double percent = length["percent"], units = length["units"];
    table.Add({label, Cell(percent, absl::StrFormat("%.4f", percent)),
               Cell(units, absl::StrFormat("%.4g", units))});
  };
  const auto& error = report["error"];
  add("rms", error["rms"]);
  add("99 % of vertices", error["p99"]);
  add("largest", error["largest"]);
  add("gap at joints", report["joint_gap"]);
  const Json clip = report.value("clip", Json());
  const std::string motion =
      clip.is_null() ? report["poses"].get<std::string>()
                     : absl::StrFormat("clip \"%s\": %.4g s at %.6g frames per second",
                                       clip["name"].get<std::string>(),
                                       clip["seconds"].get<double>(), clip["fps"].get<double>());
  return absl::StrFormat(
      "%s\n%s\njoints: %d of %d asked for; frames: %d\n%sworst: vertex %d in frame %d\n",
      report["rig"].get<std::string>(), motion, report["joints"].size(),
      report["joints_asked"].get<std::size_t>(), report["frames"].get<std::size_t>(), table.Text(),
      error["worst_vertex"].get<std::size_t>(), error["worst_frame"].get<std::size_t>());
}

// The files of a result, without their names until Commit.
struct Files {
  bake::OutputFile rig;
  std::optional<bake::OutputFile> poses;  // beside a .sinewrig
};

absl::StatusOr<Files> CreateFiles(const Options& options) {
  SINEW_ASSIGN_OR_RETURN(bake::OutputFile rig,
                         bake::OutputFile::Create(options.out, !options.no_clobber));
  Files files{.rig = std::move(rig), .poses = {}};
  if (IsGlb(options)) return files;
  SINEW_ASSIGN_OR_RETURN(bake::OutputFile poses,
                         bake::OutputFile::Create(PosesPath(options.out), !options.no_clobber));
  files.poses.emplace(std::move(poses));
  return files;
}

absl::Status Write(const Context& context, const bake::CharacterFile& rest,
                   const bake::DecomposedCache& result, const client::ClipData& clip, Files files) {
  SkinnedFile file;
  if (files.poses) {
    SINEW_ASSIGN_OR_RETURN(file.bytes, client::EncodeRig(result.rig));
  } else {
    SINEW_ASSIGN_OR_RETURN(
        file, EncodeSkinnedFile(context, rest, {.rig = &result.rig, .clips = {&clip, 1}}));
  }
  SINEW_RETURN_IF_ERROR(files.rig.Write(file.bytes));
  if (files.poses) {
    const std::uint64_t shape[] = {result.frames, result.rig.joints.size(), 12};
    SINEW_RETURN_IF_ERROR(files.poses->Write(bake::EncodeNpy(shape, result.poses)));
  }
  SINEW_RETURN_IF_ERROR(files.rig.Close());
  if (files.poses) SINEW_RETURN_IF_ERROR(files.poses->Commit());
  return files.rig.Commit();
}

absl::Status RunDecompose(const Context& context, const Options& options) {
  if (!IsGlb(options) && !EndsIn(options, kRigEnding)) {
    return UsageError(absl::StrCat("--out: got \"", options.out, "\", need .glb or .sinewrig"));
  }
  if (options.fps && !IsGlb(options)) {
    return UsageError("--fps: got it for .sinewrig, whose poses have no times; need --out of .glb");
  }
  SINEW_ASSIGN_OR_RETURN(bake::CharacterFile rest,
                         ReadAndWarn(context, options.rest, options.read));
  if (rest.rig.vertices() == 0) {
    return InvalidArgument(rest.label, ": no mesh, need one");
  }
  if (rest.rig.meters_per_unit == 0) {
    rest.rig.meters_per_unit = options.meters_per_unit.value_or(1);
    if (!options.meters_per_unit) {
      context.Note(
          absl::StrCat(rest.label, " names no unit: taken for metres, see ", "--meters-per-unit"));
    }
  } else if (options.meters_per_unit) {
    return UsageError(absl::StrCat("--meters-per-unit: got it for ", rest.label,
                                   ", which names its unit; need none"));
  }
  SINEW_ASSIGN_OR_RETURN(Files files, CreateFiles(options));
  SINEW_ASSIGN_OR_RETURN(const bake::DecomposedCache result,
                         bake::DecomposeCache(options.cache, rest, options.decompose, context));
  const client::ClipData clip = ClipOf(result, options);
  SINEW_RETURN_IF_ERROR(Write(context, rest, result, clip, std::move(files)));
  for (const Problem& problem : result.problems) {
    const std::string text = absl::StrCat(problem.field, ": ", problem.message);
    problem.severity == Severity::kInfo ? context.Note(text) : context.Warn(text);
  }
  if (IsGlb(options)) {
    NoteInfluences(context, options.decompose.influences);
    if (!result.fps && !options.fps) {
      context.Note(absl::StrCat(options.cache, " does not say its frames per second: taken for ",
                                kDefaultFps, ", see --fps"));
    }
  }
  const Json report = ReportJson(result, options, MotionJson(clip, options));
  context.PrintResult(report, ReportText(report));
  return absl::OkStatus();
}

}  // namespace

void AddDecompose(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "decompose", "Make a skeleton, weights and a clip from the animation of a mesh",
      RunDecompose);
  DecomposeOptions& decompose = options.decompose;
  set.AddText("CACHE", options.cache,
              "Animated points: .pc2, .mdd, .npy, .usda of `sinew bake`, or hero.####.obj")
      .Required();
  set.AddText("--rest", options.rest,
              "The mesh at rest, with the vertices of the cache in their order and unit")
      .Required();
  set.AddNumber("--joints", decompose.joints, 1, kMaxDecomposedJoints,
                "Joints at most, 1 to 256 (20)");
  set.AddNumber("--influences", decompose.influences, 1, 8,
                "Joints of a vertex at most, 1 to 8 (4)");
  set.AddNumber("--iterations", decompose.iterations, 1, 1000,
                "Improvements at most, 1 to 1000; ends when they gain little (60)");
  set.AddFlag("--connected", decompose.connected,
              "Joints stay together: for posing and engines; the error is larger");
  set.AddNumber("--meters-per-unit", options.meters_per_unit, 1e-6, 1e6,
                "Unit of a --rest that names none, such as .obj, in metres (1)");
  set.AddNumber("--fps", options.fps, 0.001, 100'000,
                "Frames per second of the clip in a .glb (default: as the cache says, or 24)");
  AddStrictOption(set, options.read);
  set.AddText(
         "--out", options.out,
         "The mesh with its skeleton: .glb with a clip, for engines; or NAME.sinewrig, whose poses "
         "go to NAME.poses.npy")
      .Required();
  set.AddFlag("--no-clobber", options.no_clobber, "Fail if a file of that name exists");
  set.SetFooter(
      R"(Bones are rigid: a part that moves by itself can get one, and several follow what bends or stretches. The error falls
with more joints; with few frames, weights fit these frames only. Joints lie where neighbouring bones hinge on each
other, and the gap says how well they do; --connected closes it. Needs no server. With --json there are errors of every
frame and iteration.
Examples:
  sinew decompose walk.pc2 --rest hero.obj --joints 30 --out walk.glb
  sinew decompose walk.pc2 --rest hero.obj --joints 30 --out walk.sinewrig
  sinew bake walk.sinewrig --poses walk.poses.npy --deformer lbs --out again.pc2
  sinew render walk.sinewrig --weights all --out weights.png
See also: sinew bake, sinew export, sinew fit-skeleton, sinew weights.)");
}

}  // namespace sinew::cli
