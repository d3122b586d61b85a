// sinew bench: a load generator; prints latencies, rates and where the time goes.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <nlohmann/json.hpp>

#include "client/cli/base/exit_code.h"
#include "client/cli/base/quantity.h"
#include "client/cli/base/table.h"
#include "client/cli/character/bound_character.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/muscle_file.h"
#include "client/cli/character/recipe_argument.h"
#include "client/cli/commands/bench_run.h"
#include "client/cli/commands/commands.h"
#include "client/models/models.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

struct Options {
  std::string file, muscles, deformer;
  MotionRequest motion;
  std::uint32_t vertices = 10'000;
  double seconds = 5, warmup = 0.5;
  bool normals = false, no_checksums = false;
  LoadOptions load;
};

// A tube of about `vertices` vertices, four influences each.
absl::StatusOr<CharacterFile> SyntheticTube(std::uint32_t vertices) {
  client::TubeOptions tube;
  tube.segments = vertices < 512 ? 8 : 32;
  tube.rings = std::max(2U, (vertices - 2) / tube.segments);
  tube.influences = 4;
  client::Model model = client::Tube(tube);
  CharacterFile character;
  character.kind = CharacterFile::Kind::kModel;
  character.label = "synthetic tube";
  character.clips.push_back({.name = model.clip.name, .end = 0, .channels = 0, .keys = 0});
  character.model_clip = std::move(model.clip);
  character.rig = std::move(model.rig);
  SINEW_ASSIGN_OR_RETURN(character.rig_bytes, client::EncodeRig(character.rig));
  return character;
}

nlohmann::ordered_json SpreadJson(const Spread& spread) {
  return {{"mean", spread.mean}, {"p50", spread.p50},   {"p90", spread.p90},
          {"p99", spread.p99},   {"p999", spread.p999}, {"max", spread.maximum}};
}

struct Rates {
  double frames, megabytes, vertices, cpu;
};

Rates RatesOf(const LoadResult& result, std::size_t vertices) {
  const double seconds = std::max(result.seconds, 1e-9);
  const double frames = static_cast<double>(result.frames) / seconds;
  return {frames, static_cast<double>(result.bytes) / seconds / 1e6,
          frames * static_cast<double>(vertices) / 1e6, result.client_cpu_seconds / seconds};
}

void PrintText(const Context& context, const CharacterFile& character, const Options& options,
               const LoadResult& result) {
  const Rates rates = RatesOf(result, character.rig.vertices());
  std::string text = absl::StrFormat(
      "%s, %s vertices, %s, %d streams of depth %d%s\n%s frames in %.2f s: %.1f frames/s, %.1f "
      "MB/s, "
      "%.1f million vertices/s, %.2f cores used here\n\n",
      character.label, CountText(character.rig.vertices()), RecipeLabel(options.deformer),
      options.load.streams, options.load.depth, options.normals ? ", with normals" : "",
      CountText(result.frames), result.seconds, rates.frames, rates.megabytes, rates.vertices,
      rates.cpu);
  using enum Table::Align;
  Table table({{"milliseconds"},
               {"mean", kRight},
               {"p50", kRight},
               {"p90", kRight},
               {"p99", kRight},
               {"p99.9", kRight},
               {"max", kRight}});
  const auto add = [&](const std::string& name, const Spread& s) {
    const auto ms = [](double value) { return absl::StrFormat("%.3f", value); };
    table.Add({name, ms(s.mean), ms(s.p50), ms(s.p90), ms(s.p99), ms(s.p999), ms(s.maximum)});
  };
  add("latency, sent to received", result.latency);
  add("  server: queue", result.queue);
  add("  server: evaluate", result.evaluate);
  add("  server: encode", result.encode);
  add("  wire and waiting", result.wire);
  add("client: copy out", result.copy);
  context.Print(text + table.Text());
}

void PrintResult(const Context& context, const CharacterFile& character, const Options& options,
                 const LoadResult& result) {
  if (result.resumed > 0)
    context.Warn(absl::StrCat("streams were opened again ", result.resumed, " times"));
  if (!context.json()) {
    PrintText(context, character, options, result);
    return;
  }
  const Rates rates = RatesOf(result, character.rig.vertices());
  context.PrintJson({{"character", character.label},
                     {"vertices", character.rig.vertices()},
                     {"deformer", RecipeLabel(options.deformer)},
                     {"streams", options.load.streams},
                     {"depth", options.load.depth},
                     {"normals", options.normals},
                     {"frames", result.frames},
                     {"bytes", result.bytes},
                     {"seconds", result.seconds},
                     {"frames_per_second", rates.frames},
                     {"megabytes_per_second", rates.megabytes},
                     {"client_cores", rates.cpu},
                     {"resumed", result.resumed},
                     {"latency_ms", SpreadJson(result.latency)},
                     {"server_queue_ms", SpreadJson(result.queue)},
                     {"server_evaluate_ms", SpreadJson(result.evaluate)},
                     {"server_encode_ms", SpreadJson(result.encode)},
                     {"wire_ms", SpreadJson(result.wire)},
                     {"client_copy_ms", SpreadJson(result.copy)}});
}

absl::Status Bench(Context& context, Options options) {
  SINEW_ASSIGN_OR_RETURN(const std::string recipe_text, ReadRecipe(options.deformer));
  SINEW_ASSIGN_OR_RETURN(const CharacterFile character,
                         options.file.empty() ? SyntheticTube(options.vertices)
                                              : ReadCharacter(options.file, options.muscles));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                         ChooseMotion(context, character, options.motion));
  client::OutputOptions& output = options.load.output;
  output.checksums = !options.no_checksums;
  if (options.normals)
    output.attributes = {client::Attribute::kPositions, client::Attribute::kNormals};
  options.load.duration = absl::Seconds(options.seconds);
  options.load.warmup = absl::Seconds(options.warmup);
  SINEW_ASSIGN_OR_RETURN(const client::Character bound,
                         BindCharacter(context, character, recipe_text));
  SINEW_ASSIGN_OR_RETURN(const LoadResult result, RunLoad(context, bound, clip, options.load));
  PrintResult(context, character, options, result);
  return absl::OkStatus();
}

}  // namespace

void AddBench(CommandList& commands) {
  auto options = std::make_shared<Options>();
  OptionSet set = commands.Add(
      "bench", "Load the server with streams; print latencies, rates and where the time goes",
      [options](Context& context) { return Bench(context, *options); });
  const Option file = set.AddText("FILE", options->file,
                                  "Character file or model:NAME (default: a synthetic tube)");
  AddMusclesOption(set, options->muscles);
  set.AddText("--deformer", options->deformer, "Recipe such as ddm, or @recipe.json").Required();
  AddMotionOptions(set, options->motion);
  set.AddWhole("--vertices", options->vertices, 64, 16'000'000,
               "Approximate size of the synthetic tube")
      .Excludes(file);
  set.AddWhole("--streams", options->load.streams, 1, 1024, "Concurrent streams");
  set.AddWhole("--depth", options->load.depth, 1, 256,
               "Poses in flight per stream; 1 measures the latency of a single pose");
  set.AddNumber("--seconds", options->seconds, 0.1, 86'400, "Duration of the measurement");
  set.AddNumber("--warmup", options->warmup, 0, 3600, "Seconds before it that do not count");
  set.AddWhole("--chunk-bytes", options->load.output.chunk_bytes, 4096, 2'000'000'000,
               "Maximum payload of one message (default: the server's)");
  set.AddFlag("--normals", options->normals, "Request normals too");
  set.AddFlag("--no-checksums", options->no_checksums, "Neither compute nor verify checksums");
  set.SetFooter(
      R"(Latency is from handing a pose to the stream until its frame is complete and verified. With --local there is no network.
Examples:
  sinew bench --deformer lbs --vertices 50000 --depth 1
  sinew bench hero.glb --deformer ddm --streams 8 --depth 4 --seconds 10 --json
See also: sinew stats, sinew methods.)");
}

}  // namespace sinew::cli
