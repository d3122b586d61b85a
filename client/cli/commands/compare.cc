// sinew compare: the same poses through several deformers, measured; and a picture of one of them.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/import_warnings.h"
#include "client/bake/character/recipe_argument.h"
#include "client/bake/files/output_file.h"
#include "client/bake/passes/bound_character.h"
#include "client/bake/passes/clip_stream.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/picture_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  bake::ReadOptions read;
  std::string file, picture;
  std::optional<std::string> frames;
  std::vector<std::string> deformers;
  bake::MotionRequest motion;
  std::optional<std::int64_t> frame;
  bool no_self_intersections = false;
  PictureRequest drawing;
};

struct BoundMethod {
  std::string label;
  client::Character character;
};

struct ComparedMethod {
  std::string label;
  client::TargetMetrics metrics;
};

std::int64_t ClipFrame(const client::ClipData& clip, std::uint64_t number) {
  return clip.first_frame + static_cast<std::int64_t>(number - 1) * clip.step;
}

template <class T>
Cell Measured(const std::optional<T>& value, const std::string& text) {
  return value ? Cell(*value, text) : Cell(nullptr, "-");
}

Cell Percent(const std::optional<double>& value, int digits = 2) {
  return Measured(value, absl::StrFormat("%.*f %%", digits, 100 * value.value_or(0)));
}

Cell Plain(const std::optional<double>& value, int digits = 4) {
  return Measured(value, absl::StrFormat("%.*f", digits, value.value_or(0)));
}

// Rows of metrics: of `method` in text, of `frame` in JSON.
class Metrics {
 public:
  void Add(Cell frame, const std::string& method, const client::FrameMetrics& m,
           double mean_seconds = 0) {
    table_.Add({frame,
                method,
                Percent(m.volume_ratio),
                Percent(m.minimum_thickness),
                Percent(m.bulge),
                Plain(m.edge_distortion),
                Plain(m.worst_edge),
                Plain(m.area_distortion),
                Percent(m.flipped_fraction),
                Percent(m.flipped_beyond_linear),
                Measured(m.self_intersections, bake::CountText(m.self_intersections.value_or(0))),
                Percent(m.overlap, 3),
                Plain(m.roughness, 2),
                Plain(m.roughness_999),
                Percent(m.rough_fraction, 3),
                Measured(m.jerk, absl::StrFormat("%.4g", m.jerk.value_or(0))),
                Plain(m.pop),
                Plain(m.pop_999),
                Plain(m.evaluate_seconds),
                Plain(1000 * mean_seconds, 3)});
  }
  const Table& table() const { return table_; }

 private:
  Table table_{{{"", "frame"},
                {"method"},
                {"volume", "volume_ratio"},
                {"thickness", "minimum_thickness"},
                {"bulge", "bulge"},
                {"edges rms", "edge_distortion"},
                {"", "worst_edge"},
                {"areas rms", "area_distortion"},
                {"flipped", "flipped_fraction"},
                {"beyond lbs", "flipped_beyond_linear"},
                {"crossings", "self_intersections"},
                {"overlap", "overlap"},
                {"roughness", "roughness"},
                {"", "roughness_999"},
                {"over 1", "rough_fraction"},
                {"jerk", "jerk"},
                {"pop", "pop"},
                {"", "pop_999"},
                {"", "evaluate_seconds"},
                {"ms/frame"}}};
};

nlohmann::ordered_json MetricsJson(const client::FrameMetrics& metrics) {
  Metrics row;
  row.Add({}, "", metrics);
  return row.table().Json()[0];
}

// One line per method, the worst of its frames, with a line above that says so.
std::string CompareText(const bake::CharacterFile& character, const client::ClipData& clip,
                        const std::vector<ComparedMethod>& methods) {
  Metrics rows;
  for (const auto& [label, metrics] : methods) {
    rows.Add({}, label, metrics.worst, metrics.mean.evaluate_seconds);
  }
  return absl::StrCat(
      character.label, ", ", bake::CountText(character.rig.vertices()), " vertices, ", clip.name,
      ", ", clip.frames,
      clip.frames == 1 ? " frame" : " frames; worst frame shown, ms/frame is the mean", "\n\n",
      rows.table().Text());
}

// The summary and every frame. Frames carry the numbers of the clip; what is absent is null.
nlohmann::ordered_json CompareJson(const bake::CharacterFile& character,
                                   const client::ClipData& clip,
                                   const std::vector<ComparedMethod>& methods) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& [label, metrics] : methods) {
    Metrics frames;
    for (const client::FrameMetrics& frame : metrics.frames) {
      frames.Add(Cell(ClipFrame(clip, frame.frame), ""), "", frame);
    }
    list.push_back({{"deformer", label},
                    {"determinism_digest", metrics.determinism_digest},
                    {"bind_seconds", metrics.bind_seconds},
                    {"bound_bytes", metrics.bound_bytes},
                    {"worst", MetricsJson(metrics.worst)},
                    {"mean", MetricsJson(metrics.mean)},
                    {"frames", frames.table().Json()}});
  }
  return {{"character", character.label},
          {"vertices", character.rig.vertices()},
          {"clip", clip.name},
          {"frames", clip.frames},
          {"first_frame", clip.first_frame},
          {"frame_step", clip.step},
          {"fps", clip.fps},
          {"methods", std::move(list)}};
}

// Position in the clip of the frame that some method distorts most (edges, root mean square).
std::size_t WorstFrame(const std::vector<ComparedMethod>& methods) {
  std::size_t worst = 0;
  double most = -1;
  for (const ComparedMethod& method : methods) {
    for (const client::FrameMetrics& frame : method.metrics.frames) {
      if (frame.edge_distortion.value_or(0) <= most) continue;
      most = frame.edge_distortion.value_or(0);
      worst = static_cast<std::size_t>(frame.frame - 1);
    }
  }
  return worst;
}

// Before binding, which may take long.
absl::Status CheckCount(Context& context, std::size_t deformers) {
  SINEW_ASSIGN_OR_RETURN(const client::Client connection, context.Connect());
  SINEW_ASSIGN_OR_RETURN(const client::ServerInfo info, connection.GetServerInfo(context.call()));
  for (const client::Limit& limit : info.limits) {
    if (limit.name != "max-compare-targets" || deformers <= limit.value) continue;
    return absl::InvalidArgumentError(absl::StrCat("--deformers: got ", deformers,
                                                   ", the server compares up to ", limit.value,
                                                   " at a time (max-compare-targets)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<BoundMethod>> BindAll(Context& context,
                                                 const bake::CharacterFile& character,
                                                 const client::ClipData& clip,
                                                 const std::vector<std::string>& arguments,
                                                 const std::vector<std::string>& recipes) {
  std::vector<BoundMethod> bound;
  for (std::size_t k = 0; k < recipes.size(); ++k) {
    absl::StatusOr<client::Character> one =
        bake::BindCharacter(context.Connect(), context, character, recipes[k]);
    if (!one.ok()) {
      return bake::OfDeformer(
          arguments[k], character,
          context.NameOptions(context.Lost(one.status(), "nothing is measured")));
    }
    bake::WarnOfClip(context, character.rig, *one, clip);
    bound.push_back({bake::RecipeLabel(arguments[k]), *std::move(one)});
  }
  return bound;
}

absl::StatusOr<std::vector<ComparedMethod>> Measure(Context& context, const client::ClipData& clip,
                                                    const std::vector<BoundMethod>& bound,
                                                    bool self_intersections) {
  std::size_t measured = 0, wanted = clip.frames * bound.size();
  std::vector<client::Character> characters;
  for (const BoundMethod& method : bound) characters.push_back(method.character);
  client::ClipPoses poses;
  poses.joint_transforms = clip.joint_transforms;
  poses.controls = clip.controls;
  poses.frames = clip.frames;
  client::CompareOptions options;
  options.frames_per_second = clip.fps / static_cast<double>(clip.step);
  options.self_intersections = self_intersections;
  client::CallOptions call = context.call();
  call.deadline = absl::InfiniteDuration();  // Ctrl-C ends it
  const auto line = context.MakeProgress("Measure");
  options.progress = [&](std::size_t done, std::size_t total) {
    measured = done;
    wanted = total;
    line->Update(static_cast<double>(done) / static_cast<double>(total),
                 absl::StrCat("frame ", done, " of ", total));
  };
  auto compared = client::Character::Compare(characters, poses, options, call);
  if (!compared.ok()) {
    return context.Lost(compared.status(),
                        absl::StrCat(measured, " of ", CountedText(wanted, "frame"),
                                     measured == 1 ? " was" : " were", " measured, none is kept"));
  }
  auto& metrics = *compared;
  line->Close();
  std::vector<ComparedMethod> methods;
  for (std::size_t k = 0; k < metrics.size(); ++k) {
    if (!metrics[k].problems.empty()) {
      const client::PoseProblem& first = metrics[k].problems.front();
      const auto frame = clip.first_frame + static_cast<std::int64_t>(first.frame - 1) * clip.step;
      return bake::Prefixed(absl::StrCat(bound[k].label, ": frame ", frame), first.problem);
    }
    methods.push_back({bound[k].label, std::move(metrics[k])});
  }
  return methods;
}

// Position in the clip of the frame to draw.
absl::StatusOr<std::size_t> FrameToDraw(const Options& options, const client::ClipData& clip,
                                        const std::vector<ComparedMethod>& methods) {
  if (!options.frame) return WorstFrame(methods);
  const std::int64_t offset = *options.frame - clip.first_frame;
  const auto frames = static_cast<std::int64_t>(clip.frames);
  if (offset >= 0 && offset % clip.step == 0 && offset / clip.step < frames) {
    return static_cast<std::size_t>(offset / clip.step);
  }
  return absl::OutOfRangeError(
      absl::StrCat("--frame: got ", *options.frame, ", which is not measured; need ",
                   clip.first_frame, " to ", clip.first_frame + (frames - 1) * clip.step,
                   clip.step == 1 ? std::string() : absl::StrCat(" in steps of ", clip.step)));
}

absl::Status Draw(Context& context, const bake::CharacterFile& character,
                  bake::MotionRequest motion, std::int64_t number,
                  const std::vector<BoundMethod>& bound, PictureRequest request,
                  bake::OutputFile& out) {
  motion.frames = bake::FrameSet::One(static_cast<double>(number));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip, bake::ReadMotion(character, motion));
  SINEW_RETURN_IF_ERROR(
      AimPicture(character.rig, client::PoseOf(clip, 0).joint_transforms, request));
  bake::PictureOptions& drawing = request.options;
  std::vector<bake::PosedPanel> panels;
  for (const BoundMethod& method : bound) {
    bake::PosedPanel& panel = panels.emplace_back();
    panel.label = method.label;
    const auto take = [&](const client::FrameView& frame) -> absl::Status {
      SINEW_ASSIGN_OR_RETURN(panel.positions, frame.Positions());
      return absl::OkStatus();
    };
    SINEW_RETURN_IF_ERROR(
        bake::StreamClip(context, method.character, clip, {.label = "Pose"}, take));
  }
  drawing.title = PictureTitle(character.label, clip);
  bake::ColourByDistance(panels, drawing);
  return DrawPicture(context, character.rig, panels, drawing, out).status();
}

absl::Status Compare(Context& context, Options options) {
  SINEW_RETURN_IF_ERROR(ReadPictureSize(options.drawing));
  if (!options.picture.empty()) SINEW_RETURN_IF_ERROR(CheckPng("--picture", options.picture));
  if (options.frames) {
    SINEW_ASSIGN_OR_RETURN(options.motion.frames, bake::ParseFrames(*options.frames));
  }
  std::vector<std::string> recipes;
  for (const std::string& argument : options.deformers) {
    SINEW_ASSIGN_OR_RETURN(recipes.emplace_back(), bake::ReadRecipe(argument));
  }
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         ReadAndWarn(context, options.file, options.read));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                         ChooseMotion(context, character, options.motion));
  if (!clip.frame_numbers.empty()) {
    return UsageError(absl::StrCat("--frames: got \"", options.frames.value_or(""),
                                   "\", need whole frames at even distances to compare"));
  }
  if (options.frame) SINEW_RETURN_IF_ERROR(FrameToDraw(options, clip, {}).status());
  SINEW_RETURN_IF_ERROR(
      AimPicture(character.rig, client::PoseOf(clip, 0).joint_transforms, options.drawing));
  if (const absl::Status status = CheckCount(context, recipes.size()); !status.ok()) {
    return context.Lost(status, "nothing is measured");
  }
  std::optional<bake::OutputFile> out;
  if (!options.picture.empty()) {
    absl::StatusOr<bake::OutputFile> created = bake::OutputFile::Create(options.picture);
    if (!created.ok()) return NameOutput(created.status(), "--picture");
    out.emplace(*std::move(created));
  }
  SINEW_ASSIGN_OR_RETURN(const std::vector<BoundMethod> bound,
                         BindAll(context, character, clip, options.deformers, recipes));
  SINEW_ASSIGN_OR_RETURN(const std::vector<ComparedMethod> methods,
                         Measure(context, clip, bound, !options.no_self_intersections));
  nlohmann::ordered_json json = CompareJson(character, clip, methods);
  json["warnings"] = bake::ImportWarnings(character);
  if (out) {
    SINEW_ASSIGN_OR_RETURN(const std::size_t index, FrameToDraw(options, clip, methods));
    const auto frame = clip.first_frame + static_cast<std::int64_t>(index) * clip.step;
    const absl::Status drawn =
        Draw(context, character, options.motion, frame, bound, options.drawing, *out);
    if (!drawn.ok())
      return context.Lost(NameOutput(drawn, "--picture"),
                          "no picture is drawn, nothing measured is kept");
    json["picture"] = {{"out", options.picture}, {"frame", frame}};
    context.Note(absl::StrCat(options.picture, ": frame ", frame));
  }
  for (const BoundMethod& method : bound) bake::ReleaseCharacter(context, method.character);
  context.PrintResult(json, CompareText(character, clip, methods));
  return absl::OkStatus();
}

}  // namespace

void AddCompare(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "compare",
      "Measure a clip through several deformers: volume, thickness, distortion, roughness, pop",
      Compare);
  set.AddText("FILE", options.file, "Character file, .sinewrig (with --poses) or model:NAME")
      .Required();
  AddReadOptions(set, options.read);
  set.AddList("--deformers,--deformer", options.deformers,
              "Recipes or @recipe.json; the first is the reference of the picture")
      .Required()
      .Values(1, 64);
  AddMotionOptions(set, options.read, options.motion);
  AddFramesOption(set, options.frames, /*fractions=*/false);
  set.AddFlag("--no-self-intersections", options.no_self_intersections,
              "Skip the slow measurements: crossing faces and overlap");
  const Option picture =
      set.AddText("--picture", options.picture,
                  "Also draw one frame, PNG: each method coloured by its distance from the first");
  set.AddNumber("--frame", options.frame, 0, 1'000'000'000,
                "Frame of the picture (default: the one with the most distorted edges)")
      .Needs(picture);
  AddPictureOptions(set, options.drawing, picture);
  set.SetFooter(
      R"(Columns, each the worst frame; all are relative to the rest mesh:
  volume     enclosed volume over that at rest; open borders are closed
  thickness  smallest distance from the bone over its value at rest
  bulge      how much farther skin is from the nearest of its bones than at rest, over the radius of the limb
  edges, areas   root mean square of ln(length or area / at rest)
  flipped    area of inverted faces; "beyond lbs" leaves out faces that linear blending inverts or halves too
  crossings, overlap   pairs of faces that cross, and volume enclosed twice, where not so at rest
  roughness  how far apart the ends of an edge are moved from where dqs puts them, over its length; "over 1" is the share of
             such edges. Corrections of dqs have about 1 in a crease and more at ledges; of methods that blend joints in
             another way it is also their difference from dqs
  jerk       third difference in time, in bounding-box diagonals / s^3
  pop        second difference of a vertex relative to its joint, per degree of the fastest joint, over the radius of
             the limb: a vertex that jumps has its jump; where the clip turns back at once, all skin has some
"-" means: not defined here (pop: no joint turns), or more crossings than are counted. Stretching by shapes counts as stretching.
--json has every frame. If the connection drops, waits up to 30 s for the server and says so.
Examples:
  sinew compare hero.glb --deformers lbs dqs ddm --frames 0-x2
  sinew compare model:hand --deformers lbs dqs ddm --picture hand.png --local
See also: sinew methods, sinew render, sinew bench.)");
}

}  // namespace sinew::cli
