// sinew fit-weights: weights, or more than weights, that reproduce the frames of a cache.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/files/animation_file.h"
#include "client/bake/files/output_file.h"
#include "client/bake/fit/fit_weights.h"
#include "client/bake/passes/cache_motion.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "client/rig/rest_pose.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  bake::ReadOptions read;
  bake::MotionRequest motion;
  std::string file, examples, model, out;
  std::optional<std::string> frames;
  std::optional<std::uint32_t> influences;
  bake::FitWeightsRequest request;
};

// The frames of a character in its own place.
absl::Status CheckSpace(const std::string& path, const bake::Animation& examples) {
  if (!examples.manifest ||
      (examples.manifest->space == "model" && examples.manifest->layout_digest.empty())) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      path,
      ": its points are not those of the whole character in model space; bake it without other "
      "spaces, meshes or texture coordinates");
}

// Weights would be fitted to what morph targets do, and playing them would add it again.
absl::Status CheckShapes(const Context& context, const Options& options,
                         const bake::CharacterFile& character, const bake::Animation& examples) {
  const bool has_shapes = std::ranges::any_of(
      character.rig.meshes, [](const client::Mesh& mesh) { return !mesh.shapes.empty(); });
  if (!has_shapes) return absl::OkStatus();
  if (!examples.manifest) {
    context.Warn("the character has morph targets: if the examples show them, the result is wrong");
    return absl::OkStatus();
  }
  if (!absl::StartsWith(examples.manifest->recipe, "shapes")) return absl::OkStatus();
  return InvalidArgument(
      options.examples, ": its recipe, ", examples.manifest->recipe,
      ", moves morph targets, which weights cannot follow; need one without `shapes`");
}

// The poses of the examples: those that the manifest names, or those of the options.
absl::StatusOr<client::ClipData> ReadPoses(const Context& context, Options& options,
                                           const bake::CharacterFile& character,
                                           const bake::Animation& examples) {
  const bool named = !options.motion.clip.empty() || !options.motion.poses.empty();
  if (examples.manifest && !named && options.frames) {
    return InvalidArgument(
        "--frames: needs --clip or --poses; without them, the poses are those of ",
        options.examples, ", clip '", examples.manifest->clip, "'");
  }
  const double fps = options.motion.fps;
  if (examples.manifest && !named && fps != bake::MotionRequest{}.fps &&
      fps != examples.manifest->fps) {
    return InvalidArgument("--fps: got ", fps, ", ", options.examples, " has ",
                           examples.manifest->fps, "; give --clip or --poses for another one");
  }
  if (examples.manifest && options.motion.clip.empty() && !options.frames) {
    return bake::ReadCacheMotion(options.examples, *examples.manifest, character, options.motion);
  }
  SINEW_ASSIGN_OR_RETURN(client::ClipData clip, ChooseMotion(context, character, options.motion));
  const std::size_t frames = examples.points.frames;
  if (clip.frames != frames) {
    return InvalidArgument(options.examples, ": got ", frames, " frames, '", clip.name, "' has ",
                           clip.frames,
                           "; choose the poses with --clip, --fps and --frames, or --poses");
  }
  return clip;
}

// One row of errors, in percent of the diagonal and in units.
class ErrorTable {
 public:
  explicit ErrorTable(double diagonal) : diagonal_(diagonal) {}
  void Add(const std::string& frames, const std::string& of, const Distances& errors) {
    const auto both = [&](double value) {
      const double percent = diagonal_ > 0 ? 100 * value / diagonal_ : 0;
      return Cell({{"percent", percent}, {"units", value}},
                  absl::StrFormat("%.4f %% (%.3g)", percent, value));
    };
    table_.Add({frames, of, both(errors.rms), both(errors.p99), both(errors.largest),
                static_cast<std::uint64_t>(errors.frame),
                static_cast<std::uint64_t>(errors.vertex)});
  }
  const Table& table() const { return table_; }

 private:
  double diagonal_;
  Table table_{{{"frames", "frames"},
                {"of", "of"},
                {"rms", "rms"},
                {"99 % below", "p99"},
                {"largest", "largest"},
                {"at example", "example"},
                {"vertex", "vertex"}}};
};

void WarnOf(const Context& context, const bake::FitReport& report, const std::string& model) {
  const auto is_far = [&](const Distances& own) {  // farther than deformers and simulations go
    return own.rms > 0.1 * report.diagonal || own.largest > report.diagonal;
  };
  const Distances& own =
      report.own_held_out && !is_far(report.own) ? *report.own_held_out : report.own;
  if (is_far(own)) {
    const double percent = 100 / report.diagonal;
    context.Warn(absl::StrFormat(
        "the examples are far from the rig in these poses, %.3g %% (rms) of its diagonal, vertex "
        "%d of example %d %.3g %%: are they of other poses, or in another place?",
        percent * own.rms, own.vertex, own.frame, percent * own.largest));
  }
  if (report.fitted_frames < report.least_frames) {
    context.Warn(absl::StrCat(CountedText(report.fitted_frames, "frame"), " fitted, ", model,
                              " needs about ", report.least_frames,
                              " or more that move every joint, or it follows these and no others"));
  }
  if (!report.fitted_held_out) {
    context.Warn("no frame was held out, so nothing says how well other poses are met");
  } else if (report.fitted_held_out->rms > (1 - bake::kLeastGain) * report.own_held_out->rms) {
    context.Warn("no gain: on frames held out the result is not closer than the rig's own weights");
  }
}

absl::Status Fit(Context& context, Options options) {
  if (!options.out.empty() && !absl::EndsWith(absl::AsciiStrToLower(options.out), ".sinewrig")) {
    return UsageError(absl::StrCat("--out: got \"", options.out, "\", need .sinewrig"));
  }
  const auto model = bake::ParseFitModel(options.model);
  if (!model.ok()) return UsageError(absl::StrCat("--", model.status().message()));
  options.request.model = *model;
  options.request.influences = options.influences.value_or(*model == bake::FitModel::kLbs ? 4 : 8);
  if (options.request.hold_out == 1) {
    return UsageError("--hold-out: got 1, need 0, or 2 to 1000");
  }
  if (options.frames) {
    SINEW_ASSIGN_OR_RETURN(options.motion.frames, bake::ParseFrames(*options.frames));
  }
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  if (!options.motion.clip.empty() || !options.motion.poses.empty()) {  // before the examples
    SINEW_RETURN_IF_ERROR(bake::LastFrame(character, options.motion).status());
  }
  std::optional<bake::OutputFile> out;
  if (!options.out.empty()) {
    SINEW_ASSIGN_OR_RETURN(bake::OutputFile created, bake::OutputFile::Create(options.out));
    out.emplace(std::move(created));
  }
  SINEW_ASSIGN_OR_RETURN(const bake::Animation examples,
                         bake::ReadAnimation(options.examples, client::MergedMesh(character.rig),
                                             bake::kMaxExamplePoints, context));
  for (const client::Problem& problem : examples.problems) {
    context.Warn(absl::StrCat(options.examples, ": ", problem.message));
  }
  SINEW_RETURN_IF_ERROR(CheckSpace(options.examples, examples));
  SINEW_RETURN_IF_ERROR(CheckShapes(context, options, character, examples));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                         ReadPoses(context, options, character, examples));
  SINEW_ASSIGN_OR_RETURN(
      const bake::FittedWeights fitted,
      bake::FitWeights(context, character.rig, clip, examples.points.values, options.request));
  if (out) {
    SINEW_ASSIGN_OR_RETURN(const std::string bytes, client::EncodeRig(fitted.rig));
    SINEW_RETURN_IF_ERROR(out->Write(bytes));
    SINEW_RETURN_IF_ERROR(out->Commit());
  }
  const bake::FitReport& report = fitted.report;
  WarnOf(context, report, options.model);
  ErrorTable errors(report.diagonal);
  errors.Add("fitted", "own weights", report.own);
  errors.Add("fitted", options.model, report.fitted);
  if (report.fitted_held_out) {
    errors.Add("held out", "own weights", *report.own_held_out);
    errors.Add("held out", options.model, *report.fitted_held_out);
  }
  nlohmann::ordered_json json = {{"model", options.model},
                                 {"influences", options.request.influences},
                                 {"frames", clip.frames},
                                 {"fitted_frames", report.fitted_frames},
                                 {"held_out_frames", report.held_out_frames},
                                 {"diagonal", report.diagonal},
                                 {"errors", errors.table().Json()},
                                 {"warnings", bake::ImportWarnings(character)}};
  if (!options.out.empty()) json["out"] = options.out;
  const std::string held = report.held_out_frames == 0
                               ? ""
                               : absl::StrCat(", ", report.held_out_frames, " held out (one of ",
                                              options.request.hold_out, ")");
  context.PrintResult(
      json, absl::StrCat(character.label, ", ", clip.name, ": ",
                         CountedText(report.fitted_frames, "frame"), " fitted", held,
                         "; distances in % of the diagonal (units)\n\n", errors.table().Text()));
  return absl::OkStatus();
}

}  // namespace

void AddFitWeights(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "fit-weights", "Fit weights, or more than weights, to the frames of a point cache",
      [](Context& context, const Options& given) {
        return context.Lost(Fit(context, given), "nothing was written");
      });
  set.AddText("FILE", options.file, "Character file with skin weights, .sinewrig or model:NAME")
      .Required();
  set.AddText("--examples", options.examples,
              "What the character should look like: a cache of `sinew bake`, or a .pc2, .mdd, .npy "
              "of (frames, vertices, 3) or .obj sequence of another program")
      .Required();
  set.AddText("--model", options.model, "lbs, animation_space or multi_weight").Required();
  set.AddNumber("--influences", options.influences, 1, 16,
                "Maximum joints of a vertex, 1 to 16 (lbs 4, others 8)");
  set.AddNumber("--hold-out", options.request.hold_out, 0, 1000,
                "Hold out one frame in so many, to measure on; 0 = fit all (3)");
  AddMotionOptions(set, options.read, options.motion);
  AddFramesOption(set, options.frames, false);
  AddReadOptions(set, options.read);
  set.AddText("--out", options.out, "The character with what was fitted, .sinewrig");
  set.SetFooter(
      R"(Needs no server. The examples may come from any deformer, simulation or sculpt; their poses are those that the cache's
manifest names, else those of --clip, or --poses, as many as there are frames.
lbs replaces the weights, for game engines. animation_space adds an offset to each influence, for the method of that
name: nearly as fast as lbs, and much closer to `ddm` and `delta_mush`. multi_weight has a weight for each coordinate and
needs more examples. Random poses of all joints are better examples than a walk: see client/docs/weights.md.
Examples:
  sinew bake hero.glb --deformer ddm --poses range.npy --out range.pc2
  sinew fit-weights hero.glb --examples range.pc2 --poses range.npy --model animation_space --out fitted.sinewrig
  sinew compare fitted.sinewrig --poses range.npy --deformer lbs animation_space ddm
See also: sinew weights, sinew bake, sinew compare.)");
}

}  // namespace sinew::cli
