// sinew bench: a load generator; prints latencies, rates and where the time goes.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "client/bake/base/quantity.h"
#include "client/bake/character/recipe_argument.h"
#include "client/bake/passes/bound_character.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "client/models/models.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string file, deformer;
  bake::ReadOptions read;
  bake::MotionRequest motion;
  std::uint32_t vertices = 10'000;
  std::uint32_t streams = 1;
  std::uint32_t depth = 8;  // poses in flight per stream
  double seconds = 5, warmup = 0.5;
  bool normals = false, compact = false, compressed = false;
  client::OutputOptions output;
};

// The times of one frame, in ms.
struct Part {
  const char *label, *key;
};
constexpr Part kParts[] = {
    {"latency, sent to received", "latency_ms"},
    {"  server: queue", "server_queue_ms"},
    {"  server: evaluate", "server_evaluate_ms"},
    {"  server: encode", "server_encode_ms"},
    {"  wire and waiting", "wire_ms"},  // network, gRPC, waiting behind the frames before
    {"client: copy out", "client_copy_ms"},
};

struct Sample {
  std::array<double, std::size(kParts)> parts;
  std::uint64_t bytes;
  Clock::time_point received;
};

// One stream, on a thread of its own.
struct Worker {
  client::Stream stream;
  std::vector<Sample> samples = {};  // of the poses sent after the warm-up
  absl::Status status = {};
};

struct Load {
  std::vector<Sample> samples;
  double seconds = 0;      // from the end of the warm-up to the last sample
  double cpu_seconds = 0;  // of this process meanwhile (with --local the server's too)
  std::uint32_t resumed = 0;
};

double Milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A tube of about `vertices` vertices, four influences each.
absl::StatusOr<bake::CharacterFile> SyntheticTube(std::uint32_t vertices) {
  client::TubeOptions tube;
  tube.segments = vertices < 512 ? 8 : 32;
  tube.rings = std::max(2U, (vertices - 2) / tube.segments);
  tube.influences = 4;
  return bake::FromModel(client::Tube(tube), "synthetic tube");
}

absl::StatusOr<Sample> Measure(const client::FrameView& view, Clock::time_point sent,
                               std::vector<float>& copy) {
  const Clock::time_point received = Clock::now();
  copy.resize(view.vertices() * 3);
  SINEW_RETURN_IF_ERROR(view.CopyPositions(copy));
  const std::size_t normals = view.bytes(client::Attribute::kNormals).size();
  if (normals > 0) SINEW_RETURN_IF_ERROR(view.CopyNormals(copy));
  const double copying = Milliseconds(Clock::now() - received);
  const client::FrameTiming timing = view.timing();
  const double latency = Milliseconds(received - sent),
               queue = absl::ToDoubleMilliseconds(timing.queue),
               evaluate = absl::ToDoubleMilliseconds(timing.evaluate),
               encode = absl::ToDoubleMilliseconds(timing.encode),
               wire = std::max(0.0, latency - queue - evaluate - encode);
  return Sample{.parts = {latency, queue, evaluate, encode, wire, copying},
                .bytes = view.received_bytes(),
                .received = received};
}

// Keeps `depth` poses in flight until `end`, then drains.
absl::Status Pump(const Context& context, const client::ClipData& clip, std::uint32_t depth,
                  Clock::time_point warm, Clock::time_point end, Worker& worker) {
  client::Stream& stream = worker.stream;
  const std::stop_callback cancel(context.stop(), [&] { stream.Cancel(); });
  std::vector<Clock::time_point> sent_at(depth);  // by frame number modulo depth
  std::vector<float> copy;
  std::uint64_t sent = 0, received = 0;
  bool finished = false;
  while (true) {
    while (!finished && sent - received < depth && stream.room() > 0) {
      const Clock::time_point now = Clock::now();
      if (now >= end) {
        stream.Finish();
        finished = true;
        break;
      }
      client::Pose pose = client::PoseOf(clip, sent % clip.frames);
      pose.frame = ++sent;
      sent_at[sent % depth] = now;
      SINEW_RETURN_IF_ERROR(stream.Send(pose).status());
    }
    SINEW_ASSIGN_OR_RETURN(const std::optional<client::StreamItem> item, stream.Next());
    if (!item) return context.CheckStop();
    if (!item->problem.ok()) return item->problem;
    ++received;
    const Clock::time_point sent_time = sent_at[item->frame % depth];
    SINEW_ASSIGN_OR_RETURN(const Sample sample, Measure(item->view, sent_time, copy));
    if (sent_time >= warm) worker.samples.push_back(sample);
  }
}

absl::StatusOr<Load> Run(const Context& context, const client::Character& character,
                         const client::ClipData& clip, const Options& options) {
  std::vector<Worker> workers;
  for (std::uint32_t k = 0; k < options.streams; ++k) {
    SINEW_ASSIGN_OR_RETURN(
        client::Stream stream,
        character.OpenStream(
            {.output = options.output, .window = options.depth, .max_queued = options.depth},
            context.call()));
    workers.push_back({.stream = std::move(stream)});
  }
  const Clock::time_point warm =
      Clock::now() + absl::ToChronoNanoseconds(absl::Seconds(options.warmup));
  const Clock::time_point end = warm + absl::ToChronoNanoseconds(absl::Seconds(options.seconds));
  std::atomic<std::size_t> running = workers.size();
  std::vector<std::jthread> threads;
  for (Worker& worker : workers) {
    threads.emplace_back([&] {
      worker.status = Pump(context, clip, options.depth, warm, end, worker);
      --running;
    });
  }
  const auto line = context.MakeProgress("Bench");
  double cpu_before = CpuSeconds();
  while (running > 0) {
    const bool warming = Clock::now() < warm;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (warming) cpu_before = CpuSeconds();
    line->Update(Milliseconds(Clock::now() - warm) / 1000 / options.seconds);
  }
  threads.clear();
  line->Close();
  Load load;
  load.cpu_seconds = CpuSeconds() - cpu_before;
  for (const Worker& worker : workers) {
    SINEW_RETURN_IF_ERROR(worker.status);
    load.samples.insert(load.samples.end(), worker.samples.begin(), worker.samples.end());
    load.resumed += worker.stream.info().resumed;
  }
  for (const Sample& sample : load.samples) {
    load.seconds = std::max(load.seconds, Milliseconds(sample.received - warm) / 1000);
  }
  return load;
}

void PrintLoad(const Context& context, const bake::CharacterFile& character, const Options& options,
               const Load& load) {
  std::uint64_t bytes = 0;
  for (const Sample& sample : load.samples) bytes += sample.bytes;
  const double seconds = std::max(load.seconds, 1e-9);
  const std::size_t frames = load.samples.size(), vertices = character.rig.vertices();
  const double frame_rate = static_cast<double>(frames) / seconds,
               megabytes = static_cast<double>(bytes) / seconds / 1e6,
               cores = load.cpu_seconds / seconds;
  nlohmann::ordered_json json = {{"character", character.label},
                                 {"vertices", vertices},
                                 {"deformer", bake::RecipeLabel(options.deformer)},
                                 {"streams", options.streams},
                                 {"depth", options.depth},
                                 {"normals", options.normals},
                                 {"compact", options.compact},
                                 {"compressed", options.compressed},
                                 {"frames", frames},
                                 {"bytes", bytes},
                                 {"seconds", load.seconds},
                                 {"frames_per_second", frame_rate},
                                 {"megabytes_per_second", megabytes},
                                 {"client_cores", cores},
                                 {"resumed", load.resumed}};
  Table table({{"milliseconds"},
               {"mean", "mean"},
               {"p50", "p50"},
               {"p90", "p90"},
               {"p99", "p99"},
               {"p99.9", "p999"},
               {"max", "max"}});
  for (std::size_t k = 0; k < std::size(kParts); ++k) {
    std::vector<double> values;
    for (const Sample& sample : load.samples) values.push_back(sample.parts[k]);
    const bake::Spread s = bake::SpreadOf(std::move(values));
    const auto ms = [](double value) { return Cell(value, absl::StrFormat("%.3f", value)); };
    table.Add(
        {kParts[k].label, ms(s.mean), ms(s.p50), ms(s.p90), ms(s.p99), ms(s.p999), ms(s.maximum)});
    json[kParts[k].key] = table.Json().back();
  }
  if (load.resumed > 0) {
    context.Warn(absl::StrCat("streams were opened again ", CountedText(load.resumed, "time")));
  }
  context.PrintResult(
      json,
      absl::StrFormat(
          "%s, %s vertices, %s, %s of depth %d%s\n%s frames in %.2f s: %.1f "
          "frames/s, %.1f MB/s, %.1f million vertices/s, %.2f cores used here\n\n%s",
          character.label, bake::CountText(vertices), bake::RecipeLabel(options.deformer),
          CountedText(options.streams, "stream"), options.depth,
          absl::StrCat(options.normals ? ", with normals" : "", options.compact ? ", compact" : "",
                       options.compressed ? ", compressed" : ""),
          bake::CountText(frames), load.seconds, frame_rate, megabytes,
          frame_rate * static_cast<double>(vertices) / 1e6, cores, table.Text()));
}

absl::Status Bench(Context& context, Options options) {
  if (options.file.empty() && !options.read.clip_files.empty()) {
    return UsageError("--clip-file: needs a FILE, the synthetic tube has a clip of its own");
  }
  SINEW_ASSIGN_OR_RETURN(const std::string recipe_text, bake::ReadRecipe(options.deformer));
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         options.file.empty() ? SyntheticTube(options.vertices)
                                              : ReadAndWarn(context, options.file, options.read));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                         ChooseMotion(context, character, options.motion));
  if (options.normals) {
    options.output.attributes = {client::Attribute::kPositions, client::Attribute::kNormals};
  }
  if (options.compact) options.output.MakeCompact();
  if (options.compressed) options.output.MakeCompressed();
  SINEW_ASSIGN_OR_RETURN(const client::Character bound,
                         bake::BindCharacter(context.Connect(), context, character, recipe_text));
  SINEW_ASSIGN_OR_RETURN(const Load load, Run(context, bound, clip, options));
  PrintLoad(context, character, options, load);
  return absl::OkStatus();
}

}  // namespace

void AddBench(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "bench", "Load the server with streams; print latencies, rates and where the time goes",
      Bench);
  const Option file =
      set.AddText("FILE", options.file, "Character file or model:NAME (default: a synthetic tube)");
  AddReadOptions(set, options.read);
  set.AddText("--deformer", options.deformer, "Recipe such as ddm, or @recipe.json").Required();
  AddMotionOptions(set, options.read, options.motion);
  set.AddNumber("--vertices", options.vertices, 64, 16'000'000,
                "Approximate size of the synthetic tube")
      .Excludes(file);
  set.AddNumber("--streams", options.streams, 1, 1024, "Concurrent streams");
  set.AddNumber("--depth", options.depth, 1, 256,
                "Poses in flight per stream; 1 measures the latency of a single pose");
  set.AddNumber("--seconds", options.seconds, 0.1, 86'400, "Duration of the measurement");
  set.AddNumber("--warmup", options.warmup, 0, 3600, "Seconds before it that do not count");
  set.AddFlag("--normals", options.normals, "Request normals too");
  set.AddFlag("--compact", options.compact,
              "Positions as 16-bit numbers: half the bytes; normals as two bytes: a third of all");
  set.AddFlag("--compressed", options.compressed, "The same vertices in fewer bytes");
  set.SetFooter(
      R"(Latency is from handing a pose to the stream until its frame is complete and verified. With --local there is no network.
Examples:
  sinew bench --deformer lbs --vertices 50000 --depth 1
  sinew bench hero.glb --deformer ddm --streams 8 --depth 4 --seconds 10 --json
See also: sinew stats, sinew methods.)");
}

}  // namespace sinew::cli
