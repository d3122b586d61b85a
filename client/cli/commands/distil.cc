// sinew distil: what a deformer does, as weights and shapes that engines play by themselves, or as
// coefficients for a shader.
#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/character/recipe_argument.h"
#include "client/bake/distil/distil.h"
#include "client/bake/distil/shape_fit.h"
#include "client/bake/files/output_file.h"
#include "client/bake/files/skinned_glb.h"
#include "client/bake/passes/bound_character.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/picture_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/character/skinned_file.h"
#include "client/cli/commands/commands.h"
#include "client/rig/rest_pose.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kRandom[] = "random";
constexpr double kDegrees = 180 / std::numbers::pi;

struct Options {
  bake::ReadOptions read;
  std::string file, deformer, to, out, picture;
  std::optional<std::uint64_t> influences;
  std::vector<std::string> poses;
  std::optional<std::uint64_t> max_shapes;
  bake::DistilRequest request;
  PictureRequest drawing;
};

absl::Status ReadRequest(const bake::CharacterFile& character, Options& options) {
  bake::DistilRequest& request = options.request;
  request.shapes = options.to == "shapes";
  request.space = options.to == "animation_space";
  request.influences = options.influences.value_or(request.space ? 8 : 4);
  request.max_shapes = options.max_shapes.value_or(0);
  if (options.max_shapes && !request.shapes) {
    return UsageError(
        absl::StrCat("--max-shapes: got it with --to ", options.to, ", need --to shapes"));
  }
  if (options.poses.empty()) return absl::OkStatus();
  if (options.poses[0] == kRandom) {
    if (options.poses.size() > 1) {
      return UsageError(absl::StrCat("--poses: got random and \"", options.poses[1],
                                     "\", need random alone, or names of clips"));
    }
    request.poses.random = true;
    return absl::OkStatus();
  }
  std::set<std::size_t> clips;
  for (const std::string& name : options.poses) {
    if (bake::ClipNames(character, {}).empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--poses: got \"", name, "\", but ", character.label,
                       " has no clip: need random, or clips of --clip-file"));
    }
    // An error for an unknown clip, before anything is bound.
    const auto found = bake::ClipIndex(character, {.clip = name, .poses = {}});
    if (!found.ok()) return bake::Prefixed("--poses", found.status());
    // Its poses would be fitted to and held out at once.
    if (!clips.insert(*found).second) {
      return absl::InvalidArgumentError(absl::StrCat("--poses: got clip ", *found, " '",
                                                     character.clips[*found].name,
                                                     "' twice, need it once"));
    }
  }
  request.poses.clips = options.poses;
  return absl::OkStatus();
}

Json DistancesJson(const Distances& distances, double diagonal) {
  const auto part = [&](double value) {
    return Json{{"units", value}, {"percent", 100 * value / diagonal}};
  };
  return {{"rms", part(distances.rms)},
          {"p99", part(distances.p99)},
          {"largest", part(distances.largest)}};
}

Json ErrorsJson(const bake::DistilErrors& errors, const bake::DistilReport& report,
                const client::RigData& rig) {
  Json json = DistancesJson(errors.all, report.diagonal);
  const auto is_random = [&](std::size_t k) { return k <= report.random; };
  if (std::ranges::any_of(report.held_out, is_random))
    json["random_poses"] = DistancesJson(errors.random, report.diagonal);
  if (!std::ranges::all_of(report.held_out, is_random)) {
    json["clip_poses"] = DistancesJson(errors.clips, report.diagonal);
  }
  json["worst_pose"] = report.pose_names[errors.worst_pose];
  Json poses = Json::array();
  for (std::size_t k = 0; k < errors.poses.size(); ++k) {
    poses.push_back({{"name", report.pose_names[report.held_out[k]]}, {"rms", errors.poses[k]}});
  }
  json["poses"] = std::move(poses);
  json["farthest"] = {{"vertex", errors.all.vertex}, {"pose", report.pose_names[errors.all.frame]}};
  Json joints = Json::array();
  for (std::size_t j = 0; j < errors.joints.size(); ++j) {
    if (errors.joints[j] == 0) continue;
    joints.push_back(
        {{"name", rig.joints[j].name}, {"rms_percent", 100 * errors.joints[j] / report.diagonal}});
  }
  json["joints"] = std::move(joints);
  return json;
}

const char* Verdict(const bake::DistilReport& report) {
  if (report.is_exact()) return "exact";
  if (report.is_worse()) return "worse";
  return report.no_gain() ? "no gain" : "gain";
}

Json RangesJson(const bake::DistilReport& report, const client::RigData& rig) {
  Json ranges = Json::array();
  const auto degrees = [](const Vec3d& v) {
    return Json::array({v.x * kDegrees, v.y * kDegrees, v.z * kDegrees});
  };
  for (std::size_t j = 0; j < report.ranges.size(); ++j) {
    const TurnRange& range = report.ranges[j];
    if (range.fixed()) continue;
    ranges.push_back({{"joint", rig.joints[j].name},
                      {"low", degrees(range.low)},
                      {"high", degrees(range.high)},
                      {"longest", range.most * kDegrees}});
  }
  return ranges;
}

Json ReportJson(const bake::CharacterFile& character, const Options& options,
                const bake::DistilReport& report) {
  const client::RigData& rig = character.rig;
  Json json = {{"character", character.label},
               {"deformer", options.deformer},
               {"to", options.to},
               {"influences", options.request.influences},
               {"vertices", rig.vertices()},
               {"diagonal", report.diagonal},
               {"poses",
                {{"all", report.poses},
                 {"random", report.random},
                 {"held_out", report.held_out.size()},
                 {"seed", report.seed}}},
               {"verdict", Verdict(report)},
               {"gain", report.gain()},
               {"training_rms_percent", 100 * report.training_rms / report.diagonal},
               {"own_weights", ErrorsJson(report.own, report, rig)}};
  if (report.own_cut) json["own_weights_cut"] = ErrorsJson(*report.own_cut, report, rig);
  json["fitted_weights"] = ErrorsJson(report.linear, report, rig);
  if (report.shapes) {
    json["with_shapes"] = ErrorsJson(*report.shapes, report, rig);
    json["shapes"] = report.shape_count;
    json["shapes_left_out"] = report.dropped_shapes;
    if (report.normals) {
      json["normals_degrees"] = {{"mean", kDegrees * report.normals->mean},
                                 {"mean_without_shapes", kDegrees * report.normals->mean_without}};
    }
  }
  if (report.space) json["with_coefficients"] = ErrorsJson(*report.space, report, rig);
  json["points"] = report.points;
  json["points_with_their_own_weights"] = report.kept_rows;
  json["ranges_degrees"] = RangesJson(report, rig);
  json["warnings"] = bake::ImportWarnings(character);  // and those of the command, by PrintResult
  return json;
}

// What to do where the result is not better.
const char* Instead(const Options& options) {
  return options.to == "lbs" ? "--to shapes can hold what weights cannot"
                             : "`sinew bake` writes what the deformer itself does";
}

std::string ReportText(const bake::CharacterFile& character, const Options& options,
                       const bake::DistilReport& report) {
  Table table({{"weights"},
               {"rms"},
               {"99 %"},
               {"largest"},
               {"rms in units"},
               {"worst pose"},
               {"worst joint"}});
  const auto add = [&](const std::string& label, const bake::DistilErrors& errors) {
    const auto percent = [&](double value) {
      return Cell(value, absl::StrFormat("%.4f %%", 100 * value / report.diagonal));
    };
    const std::size_t joint =
        static_cast<std::size_t>(std::ranges::max_element(errors.joints) - errors.joints.begin());
    table.Add({label, percent(errors.all.rms), percent(errors.all.p99), percent(errors.all.largest),
               Cell(errors.all.rms, absl::StrFormat("%.4g", errors.all.rms)),
               report.pose_names[errors.worst_pose], character.rig.joints[joint].name});
  };
  add("own weights, lbs", report.own);
  if (report.own_cut) {
    add(absl::StrCat("the strongest ", options.request.influences, ", lbs"), *report.own_cut);
  }
  add("fitted weights, lbs", report.linear);
  if (report.shapes) {
    add(absl::StrCat("with ", CountedText(report.shape_count, "shape")), *report.shapes);
  }
  if (report.space) add("animation space", *report.space);
  std::string gain;
  if (report.is_exact()) {
    gain = "exact: within rounding of the deformer\n";
  } else if (report.no_gain()) {
    gain = absl::StrCat("no gain: the rig's own weights are as good, within 2 %; ",
                        Instead(options), "\n");
  } else {
    gain = absl::StrFormat("gain: %.1f %% of the rms\n", 100 * report.gain());
  }
  if (report.normals) {
    absl::StrAppendFormat(
        &gain, "normals: %.2g degrees from the deformer's in the mean, %.2g without shapes\n",
        kDegrees * report.normals->mean, kDegrees * report.normals->mean_without);
  }
  return absl::StrCat("distance from ", bake::RecipeLabel(options.deformer), " in ",
                      bake::CountText(report.held_out.size()), " of ",
                      bake::CountText(report.poses), " poses that were held out (seed ",
                      report.seed, "), % of the bounding-box diagonal at rest\n\n", table.Text(),
                      gain);
}

// What a file says of itself, in its skin.
Json Extras(const Options& options, const bake::Distilled& distilled) {
  const bake::DistilReport& report = distilled.report;
  Json json = {{"version", 3},
               {"deformer", options.deformer},
               {"held_out_poses", report.held_out.size()},
               {"error", DistancesJson(report.result().all, report.diagonal)},
               {"error_of_source_weights", DistancesJson(report.own.all, report.diagonal)}};
  if (!distilled.shapes.is_null()) {
    json["drivers_help"] =
        "turn of a joint: rotation vector (axis times angle in radians, 0 to pi: negate the "
        "quaternion if w < 0) of inverse(from) * rotation of the joint's node, clamped to "
        "low..high and then shortened to `longest`, as `turns` has them; weight of the target = "
        "sum over the samples of the joint's turn of weights[k] * |turn - samples[k]|; with "
        "`products`, sum over them of dot(turn of the driver's joint, matrix (by rows) * turn of "
        "the product's joint); with `negative_of`, minus such a sum of another driver, which may "
        "have no target itself; all clamped to 0..1";
    json.update(distilled.shapes);
  }
  if (report.space) {
    json["error_without_attributes"] = DistancesJson(report.linear.all, report.diagonal);
    json["animation_space"] = {
        {"attributes", "_SINEW_AS_"},
        {"formula",
         "position = sum over k of (M_k * vec4(a_k.w * POSITION + a_k.xyz, a_k.w)).xyz; a_k = "
         "_SINEW_AS_k, for every k that the primitive has; M_k = the joint matrix (joint's global "
         "transform * inverse bind matrix) of component k % 4 of JOINTS_n, n = floor(k / 4); "
         "WEIGHTS_n are not used, they are for linear blend"},
        {"normals",
         "about normalize(transpose(inverse(mat3(sum over k of a_k.w * M_k))) * NORMAL)"}};
  }
  return Json{{"sinew_distil", std::move(json)}};
}

void WarnOfJumps(const Context& context, const client::RigData& rig,
                 const bake::DistilReport& report) {
  for (const bake::ShapeJump& jump : report.jumps) {
    context.Warn(absl::StrFormat(
        "joint \"%s\" turns to 180 degrees from the bind pose, where its shapes jump by up to "
        "%.2g %% of the diagonal",
        rig.joints[jump.joint].name, 100 * jump.distance / report.diagonal));
  }
}

// What the file has that the result has not.
void NoteLosses(const Context& context, const bake::CharacterFile& character, bool has_paint,
                bool has_clips) {
  const client::RigData& rig = character.rig;
  std::vector<std::string> lost;
  if (!rig.muscles.empty()) lost.push_back("muscles");
  const bool has_shapes = std::ranges::any_of(
      rig.meshes, [](const client::Mesh& mesh) { return !mesh.shapes.empty(); });
  if (has_shapes) lost.push_back("the morph targets of the file");
  if (!has_clips && !bake::ClipNames(character, {}).empty()) lost.push_back("clips");
  lost.push_back(has_paint ? "materials but for base colours and their images" : "materials");
  context.Note(absl::StrCat("not in the result: ", absl::StrJoin(lost, ", ")));
}

bool IsRig(const Options& options) {
  return absl::EndsWith(absl::AsciiStrToLower(options.out), ".sinewrig");
}

// Without a name yet: OutputFile::Commit.
absl::Status Write(const Context& context, const bake::CharacterFile& character,
                   const Options& options, const bake::Distilled& distilled,
                   bake::OutputFile& out) {
  SkinnedFile file;
  if (IsRig(options)) {
    SINEW_ASSIGN_OR_RETURN(file.bytes, client::EncodeRig(distilled.rig));
  } else {
    SINEW_ASSIGN_OR_RETURN(file, EncodeSkinnedFile(context, character,
                                                   {.rig = &distilled.rig,
                                                    .clips = distilled.clips,
                                                    .skin_extras = Extras(options, distilled)}));
  }
  SINEW_RETURN_IF_ERROR(out.Write(file.bytes));
  NoteLosses(context, character, file.has_paint, !IsRig(options));
  return absl::OkStatus();
}

absl::Status Draw(const Context& context, const bake::CharacterFile& character,
                  const Options& options, const bake::Distilled& distilled, bake::OutputFile& out) {
  PictureRequest drawing = options.drawing;
  SINEW_RETURN_IF_ERROR(AimPicture(character.rig, distilled.worst_joints, drawing));
  const bake::DistilReport& report = distilled.report;
  drawing.options.title =
      absl::StrCat(character.label, ", ", report.pose_names[report.result().worst_pose],
                   ", the worst of those held out");
  std::vector<bake::PosedPanel> panels(3);
  panels[0] = {.label = bake::RecipeLabel(options.deformer), .positions = distilled.worst_target};
  panels[1] = {.label = "own weights, lbs", .positions = distilled.worst_own};
  panels[2] = {.label = "distilled", .positions = distilled.worst_result};
  drawing.options.diagonal = report.diagonal;
  bake::ColourByDistance(panels, drawing.options);
  return DrawPicture(context, character.rig, panels, drawing.options, out).status();
}

absl::Status Distil(Context& context, Options options) {
  const bool rigs = options.to != "shapes";  // whose values a .sinewrig cannot key
  if (!absl::EndsWith(absl::AsciiStrToLower(options.out), ".glb") && !(rigs && IsRig(options))) {
    return UsageError(absl::StrCat("--out: got \"", options.out, "\", need .glb",
                                   rigs ? " or .sinewrig" : " for shapes"));
  }
  SINEW_RETURN_IF_ERROR(ReadPictureSize(options.drawing));
  if (!options.picture.empty()) SINEW_RETURN_IF_ERROR(CheckPng("--picture", options.picture));
  SINEW_ASSIGN_OR_RETURN(const std::string recipe, bake::ReadRecipe(options.deformer));
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  SINEW_RETURN_IF_ERROR(ReadRequest(character, options));
  SINEW_RETURN_IF_ERROR(
      AimPicture(character.rig, client::RestJoints(character.rig), options.drawing));
  std::vector<client::ClipData> clips;
  const bake::DistilRequest& request = options.request;
  const std::size_t shapes =
      request.shapes ? bake::MostShapes(character.rig.joints.size(), request.max_shapes) : 0;
  if (!IsRig(options)) {
    SINEW_ASSIGN_OR_RETURN(clips, bake::ReadClips(character, request.poses, request.fps, shapes));
    SINEW_RETURN_IF_ERROR(bake::CheckGlbMotion(character.rig, clips));
  }
  SINEW_ASSIGN_OR_RETURN(bake::OutputFile out, bake::OutputFile::Create(options.out));
  std::optional<bake::OutputFile> picture;
  if (!options.picture.empty()) {
    absl::StatusOr<bake::OutputFile> created = bake::OutputFile::Create(options.picture);
    if (!created.ok()) return NameOutput(created.status(), "--picture");
    picture.emplace(*std::move(created));
  }
  std::optional<client::Character> bound;
  const auto bind = [&]() -> absl::StatusOr<const client::Character*> {
    SINEW_ASSIGN_OR_RETURN(bound,
                           bake::BindCharacter(context.Connect(), context, character, recipe));
    return &*bound;
  };
  SINEW_ASSIGN_OR_RETURN(const bake::Distilled distilled,
                         bake::Distil(context, character, std::move(clips), bind, options.request));
  bake::ReleaseCharacter(context, *bound);
  const bake::DistilReport& report = distilled.report;
  if (report.shapes) WarnOfJumps(context, character.rig, report);
  Json json = ReportJson(character, options, report);
  if (report.is_worse()) {
    context.PrintResult(json, ReportText(character, options, report));
    return absl::FailedPreconditionError(absl::StrFormat(
        "nothing is written: on held-out poses the rms is %.4f %% of the diagonal, with the rig's "
        "own weights %.4f %%; %s",
        100 * report.result().all.rms / report.diagonal,
        100 * report.baseline().all.rms / report.diagonal, Instead(options)));
  }
  SINEW_RETURN_IF_ERROR(Write(context, character, options, distilled, out));
  if (picture) {
    SINEW_RETURN_IF_ERROR(
        NameOutput(Draw(context, character, options, distilled, *picture), "--picture"));
  }
  SINEW_RETURN_IF_ERROR(out.Commit());
  json["out"] = options.out;
  if (picture) json["picture"] = options.picture;
  context.PrintResult(json, ReportText(character, options, report));
  if (!IsRig(options)) NoteInfluences(context, options.request.influences);
  return absl::OkStatus();
}

}  // namespace

void AddDistil(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "distil", "Put what a deformer does into weights, shapes or attributes that engines play",
      [](Context& context, const Options& given) {
        return context.Lost(Distil(context, given), "no file was written");
      });
  set.AddText("FILE", options.file, "Character file, .sinewrig or model:NAME").Required();
  set.AddText("--deformer", options.deformer, "Recipe or @recipe.json").Required();
  set.AddChoice("--to", options.to, {"lbs", "shapes", "animation_space"},
                "lbs: new weights for linear blend; shapes: also corrective shapes for joints; "
                "animation_space: also vertex attributes for a shader of your own")
      .Required();
  set.AddNumber(
      "--influences", options.influences, 1, 8,
      "Largest number of joints of a vertex, 1 to 8; many engines play 4 (animation_space 8, "
      "others 4)");
  set.AddList(
      "--poses", options.poses,
      "random, or clips by name or number: random poses within what these do, and their own "
      "(default: all clips; without clips random)");
  set.AddNumber("--max-shapes", options.max_shapes, 1, 10'000,
                "Keep so many shapes, those that do most (default: all)");
  set.AddNumber("--seed", options.request.poses.seed, 0, 1e9,
                "Chooses the random poses and those held out");
  AddClipFileOption(set, options.read);
  set.AddNumber("--fps", options.request.fps, 0.001, 100'000, "Keys per second of the clips");
  AddReadOptions(set, options.read);
  set.AddText("--out", options.out,
              "The character with its clips, .glb; or without them, .sinewrig")
      .Required();
  const Option picture = set.AddText(
      "--picture", options.picture,
      "The worst held-out pose: deformer, own weights and result, coloured by distance");
  AddPictureOptions(set, options.drawing, picture);
  set.SetFooter(
      R"(The character is posed by max(60, 2 joints) random poses (180 instead of 60 without clips), by its clips at 10 poses a
second, and at rest. A third of the poses is held out: the errors are of those. Random poses turn each joint within the range of
the clips, widened by 20 %; with --poses random, or without clips, by up to 35 degrees. Where the result is worse than the weights of FILE, nothing is written.
Poses outside of these ranges (--json has them) are not covered by the errors.
Shapes are morph targets; each clip has keys for them, and the extras of the skin tell how joints drive them.
For ddm and delta_mush, animation_space is several times closer than weights. An engine needs a vertex shader for it: the extras of the skin have the
formula; players without it show the weights. `--deformer animation_space` plays the .sinewrig.
Examples:
  sinew distil hero.glb --deformer ddm --to lbs --out hero_lbs.glb
  sinew distil hero.glb --deformer ddm --to shapes --max-shapes 64 --picture worst.png --out hero_shapes.glb
  sinew distil hero.glb --deformer ddm --to animation_space --out hero_space.glb
  sinew distil model:hand --deformer delta_mush --to lbs --poses random --local --out hand.glb
See also: sinew compare, sinew bake.)");
}

}  // namespace sinew::cli
