// sinew bench: loads a server with streams, side by side in several ways; prints rates, latencies
// and where the time goes.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "client/bake/base/errors.h"
#include "client/bake/base/quantity.h"
#include "client/bake/character/recipe_argument.h"
#include "client/bake/passes/bound_character.h"
#include "client/bench/latency_plot.h"
#include "client/bench/load.h"
#include "client/bench/rounds.h"
#include "client/cli/base/exit_code.h"
#include "client/cli/base/table.h"
#include "client/cli/character/motion_options.h"
#include "client/cli/character/picture_options.h"
#include "client/cli/character/read_options.h"
#include "client/cli/commands/commands.h"
#include "client/cli/run/local.h"
#include "client/lib/rpc/address.h"
#include "client/models/models.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::cli {
namespace {

constexpr std::size_t kMostRows = 24;  // more take minutes, and are not read
constexpr char kInProcess[] = "local";

// How vertices travel. One more row here is one more choice of --encoding.
struct Encoding {
  const char* name;
  void (*request)(client::OutputOptions& output);
};
constexpr Encoding kEncodings[] = {
    {"float32", [](client::OutputOptions&) {}},
    {"compact", [](client::OutputOptions& output) { output.MakeCompact(); }},
    {"compressed",
     [](client::OutputOptions& output) {
       output.MakeCompact();
       output.MakeCompressed();
     }},
    {"auto",
     [](client::OutputOptions& output) {
       output.MakeCompact();
       output.MakeCompressedIfSlow();
     }},
};

std::vector<std::string> EncodingNames() {
  std::vector<std::string> names;
  for (const Encoding& encoding : kEncodings) names.emplace_back(encoding.name);
  return names;
}

struct Options {
  std::string file;
  bake::ReadOptions read;
  bake::MotionRequest motion;
  std::uint32_t vertices = 10'000;
  // Lists: a row for every combination.
  std::vector<std::string> deformers, servers, encodings = {kEncodings[0].name};
  std::vector<std::uint32_t> streams = {1}, depths = {8};
  std::vector<double> rates;  // empty = a closed loop
  double seconds = 1;         // of a row in a round
  std::uint32_t rounds = 5;
  bool normals = false;
  std::string plot;
  PictureRequest picture;
};

// What a row measures, as in the lists of the options.
struct Setup {
  std::string deformer, server, encoding;
  bench::LoadOptions load;
  std::optional<std::size_t> twin_of = {};  // the row that this one repeats
};

struct Row {
  Setup setup;
  bench::Load load;
  bench::WarmUp warm_up = {};
  std::vector<bench::Round> rounds = {};
};

// The servers of the rows, with the characters bound there.
struct Bound {
  std::string server, deformer;
  client::Character character;
};

// A tube of about `vertices` vertices, four influences each.
absl::StatusOr<bake::CharacterFile> SyntheticTube(std::uint32_t vertices) {
  client::TubeOptions tube;
  tube.segments = vertices < 512 ? 8 : 32;
  tube.rings = std::max(2U, (vertices - 2) / tube.segments);
  tube.influences = 4;
  return bake::FromModel(client::Tube(tube), "synthetic tube");
}

// Every combination, and a twin of the first if there are several: what differs between the two is
// noise.
std::vector<Setup> Setups(const Options& options) {
  const std::vector<double> rates = options.rates.empty() ? std::vector<double>{0} : options.rates;
  std::vector<Setup> setups;
  for (const std::string& deformer : options.deformers) {
    for (const std::string& server : options.servers) {
      for (const std::string& encoding : options.encodings) {
        for (const std::uint32_t streams : options.streams) {
          for (const std::uint32_t depth : options.depths) {
            for (const double rate : rates) {
              Setup& setup = setups.emplace_back(
                  Setup{.deformer = deformer,
                        .server = server,
                        .encoding = encoding,
                        .load = {.streams = streams, .depth = depth, .rate = rate}});
              client::OutputOptions& output = setup.load.output;
              if (options.normals) {
                output.attributes = {client::Attribute::kPositions, client::Attribute::kNormals};
              }
              std::ranges::find(kEncodings, encoding, &Encoding::name)->request(output);
            }
          }
        }
      }
    }
  }
  if (setups.size() > 1) setups.emplace_back(setups.front()).twin_of = 0;
  return setups;
}

absl::StatusOr<std::vector<Bound>> BindAll(Context& context, const Options& options,
                                           const bake::CharacterFile& character,
                                           std::shared_ptr<void>& in_process) {
  std::vector<Bound> all;
  for (const std::string& server : options.servers) {
    absl::StatusOr<client::Client> client;
    if (server == kInProcess) {
      SINEW_ASSIGN_OR_RETURN(const LocalService service, StartLocalService());
      in_process = service.server;
      client = service.client;
    } else if (options.servers.size() == 1 && server == context.globals().server) {
      client = context.Connect();
    } else {
      client = context.ConnectTo(server);
    }
    for (const std::string& deformer : options.deformers) {
      SINEW_ASSIGN_OR_RETURN(const std::string recipe, bake::ReadRecipe(deformer));
      absl::StatusOr<client::Character> bound =
          bake::BindCharacter(client, context, character, recipe);
      if (!bound.ok()) {
        return options.servers.size() > 1 ? bake::Prefixed(server, bound.status()) : bound.status();
      }
      all.push_back({.server = server, .deformer = deformer, .character = *std::move(bound)});
    }
  }
  return all;
}

absl::StatusOr<std::vector<Row>> Measure(const Context& context, const Options& options,
                                         const client::ClipData& clip,
                                         const std::vector<Bound>& bound) {
  std::vector<Row> rows;
  const auto line = context.MakeProgress("Bench");
  const std::vector<Setup> setups = Setups(options);
  for (const Setup& setup : setups) {
    const auto character = std::ranges::find_if(bound, [&](const Bound& each) {
      return each.server == setup.server && each.deformer == setup.deformer;
    });
    SINEW_ASSIGN_OR_RETURN(bench::Load load, bench::Load::Open(character->character, clip,
                                                               setup.load, context.call()));
    rows.push_back({.setup = setup, .load = std::move(load)});
    // Not longer than what follows.
    SINEW_ASSIGN_OR_RETURN(rows.back().warm_up,
                           rows.back().load.Warm(options.seconds * options.rounds, context.stop()));
    line->Update(0, absl::StrCat("warm-up, row ", rows.size(), " of ", setups.size()));
  }
  std::size_t done = 0;
  const std::size_t all = rows.size() * options.rounds;
  SINEW_RETURN_IF_ERROR(
      bench::TakeTurns(rows.size(), options.rounds, [&](std::size_t k) -> absl::Status {
        SINEW_ASSIGN_OR_RETURN(bench::Round round,
                               rows[k].load.Run(options.seconds, 1, context.stop()));
        rows[k].rounds.push_back(std::move(round));
        ++done;
        line->Update(static_cast<double>(done) / static_cast<double>(all),
                     absl::StrCat("round ", (done - 1) / rows.size() + 1, " of ", options.rounds));
        return absl::OkStatus();
      }));
  line->Close();
  return rows;
}

std::vector<bench::Sample> SamplesOf(const Row& row) {
  std::vector<bench::Sample> samples;
  for (const bench::Round& round : row.rounds) {
    samples.insert(samples.end(), round.samples.begin(), round.samples.end());
  }
  return samples;
}

std::vector<double> LatenciesOf(const std::vector<bench::Sample>& samples) {
  std::vector<double> latencies;
  for (const bench::Sample& sample : samples) latencies.push_back(sample.latency);
  return latencies;
}

// One value of every round.
template <class Value>
bench::Quartiles OfRounds(const Row& row, const Value& value) {
  std::vector<double> values;
  for (const bench::Round& round : row.rounds) values.push_back(value(round));
  return bench::QuartilesOf(std::move(values));
}

nlohmann::ordered_json JsonOf(const bench::Quartiles& q) {
  return {{"median", q.median}, {"lower_quartile", q.low}, {"upper_quartile", q.high}};
}

// "1.20 (1.18 to 1.31)"
Cell QuartilesCell(const bench::Quartiles& q, int digits) {
  return {JsonOf(q),
          absl::StrFormat("%.*f (%.*f to %.*f)", digits, q.median, digits, q.low, digits, q.high)};
}

Cell Milliseconds(double value) {
  return {value, absl::StrFormat("%.3f", value)};
}

// The columns that say what a row is. In text, those that differ between rows.
std::vector<Table::Column> SetupColumns(const Options& options) {
  const auto shown = [](const char* title, std::size_t values, const char* key) {
    return Table::Column{values > 1 ? title : "", key};
  };
  return {{"row", "row"},
          shown("deformer", options.deformers.size(), "deformer"),
          shown("server", options.servers.size(), "server"),
          shown("encoding", options.encodings.size(), "encoding"),
          shown("streams", options.streams.size(), "streams"),
          shown("depth", options.depths.size(), "depth"),
          shown("rate", options.rates.size(), "rate")};
}

std::vector<Cell> SetupCells(const Setup& setup, std::size_t index) {
  const bench::LoadOptions& load = setup.load;
  const std::string name =
      setup.twin_of ? absl::StrCat("twin of ", *setup.twin_of + 1) : absl::StrCat(index + 1);
  return {name,
          bake::RecipeLabel(setup.deformer),
          setup.server,
          setup.encoding,
          load.streams,
          load.depth,
          load.rate > 0 ? Cell(load.rate, bake::NumberText(load.rate)) : Cell(nullptr, "-")};
}

// "2: compact, depth 8" for the plot.
std::string LabelOf(const Options& options, const Setup& setup, std::size_t index) {
  std::vector<std::string> words;
  const auto add = [&](std::size_t values, const std::string& word) {
    if (values > 1) words.push_back(word);
  };
  add(options.deformers.size(), bake::RecipeLabel(setup.deformer));
  add(options.servers.size(), setup.server);
  add(options.encodings.size(), setup.encoding);
  add(options.streams.size(), CountedText(setup.load.streams, "stream"));
  add(options.depths.size(), absl::StrCat("depth ", setup.load.depth));
  add(options.rates.size(), absl::StrCat(bake::NumberText(setup.load.rate), " poses/s"));
  if (setup.twin_of) return absl::StrCat("twin of ", *setup.twin_of + 1);
  return absl::StrCat(index + 1, words.empty() ? "" : ": ", absl::StrJoin(words, ", "));
}

void AddRates(const Row& row, std::vector<Cell> cells, Table& table) {
  const std::vector<bench::Sample> samples = SamplesOf(row);
  const bake::Spread s = bake::SpreadOf(LatenciesOf(samples));
  std::uint64_t bytes = 0;
  double seconds = 0, cpu_seconds = 0;
  for (const bench::Round& round : row.rounds) {
    bytes += round.bytes;
    seconds += round.seconds;
    cpu_seconds += round.cpu_seconds;
  }
  const auto fps = OfRounds(row, [](const bench::Round& round) {
    return static_cast<double>(round.samples.size()) / round.seconds;
  });
  const auto p50 = OfRounds(row, [](const bench::Round& round) {
    return bake::SpreadOf(LatenciesOf(round.samples)).p50;
  });
  const double frame_bytes =
      static_cast<double>(bytes) / static_cast<double>(std::max<std::size_t>(1, samples.size()));
  const double megabytes = fps.median * frame_bytes / 1e6;
  const std::array<Cell, 15> figures = {
      QuartilesCell(fps, 1),
      Cell(megabytes, absl::StrFormat("%.1f", megabytes)),
      QuartilesCell(p50, 3),
      Milliseconds(s.p50),
      Milliseconds(s.p90),
      Milliseconds(s.p99),
      Milliseconds(s.p999),
      Milliseconds(s.maximum),
      Milliseconds(s.mean),
      Cell(cpu_seconds / seconds, absl::StrFormat("%.2f", cpu_seconds / seconds)),
      samples.size(),
      bytes,
      std::accumulate(row.rounds.begin(), row.rounds.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const auto& round) { return sum + round.unsent; }),
      row.load.resumed(),
      Cell({{"seconds", row.warm_up.seconds}, {"stable", row.warm_up.stable}}, ""),
  };
  cells.insert(cells.end(), figures.begin(), figures.end());
  table.Add(std::move(cells));
}

// Mean parts of all poses, or of the slowest hundredth.
void AddParts(const Row& row, bool slowest, std::vector<Cell> cells, Table& table) {
  std::vector<bench::Sample> samples = SamplesOf(row);
  if (slowest) {
    const double limit = bake::SpreadOf(LatenciesOf(samples)).p99;
    std::erase_if(samples, [&](const bench::Sample& s) { return s.latency < limit; });
  }
  const auto mean = [&](const auto& value) {
    double sum = 0;
    for (const bench::Sample& sample : samples) sum += value(sample);
    return sum / static_cast<double>(std::max<std::size_t>(1, samples.size()));
  };
  cells.push_back(slowest ? "slowest 1 %" : "all");
  for (std::size_t part = 0; part < bench::kPartNames.size(); ++part) {
    cells.push_back(Milliseconds(mean([&](const bench::Sample& s) { return s.parts[part]; })));
  }
  cells.push_back(Milliseconds(mean([](const bench::Sample& s) { return s.latency; })));
  table.Add(std::move(cells));
}

void WarnOf(const Context& context, const Row& row, const std::string& name) {
  std::uint64_t unsent = 0, sent = 0;
  for (const bench::Round& round : row.rounds) {
    unsent += round.unsent;
    sent += round.samples.size();
  }
  const std::string label = absl::StrCat("row ", name, ": ");
  if (!row.warm_up.stable) {
    context.Warn(absl::StrCat(label, "the latency was not stable after a warm-up of ",
                              bake::DurationText(absl::Seconds(row.warm_up.seconds))));
  }
  if (unsent > 0) {
    context.Warn(absl::StrCat(label, "too many poses a second: ", bake::CountText(unsent), " of ",
                              bake::CountText(unsent + sent),
                              " that were due were not sent within twice the time"));
  }
  if (row.load.resumed() > 0) {
    context.Warn(
        absl::StrCat(label, "streams were opened again ", CountedText(row.load.resumed(), "time")));
  }
}

// What all rows have in common, for people.
std::string Heading(const bake::CharacterFile& character, const Options& options,
                    const std::vector<Row>& rows) {
  std::vector<std::string> words = {
      character.label, absl::StrCat(bake::CountText(character.rig.vertices()), " vertices")};
  const Setup& setup = rows.front().setup;
  const auto add = [&](std::size_t values, const std::string& word) {
    if (values == 1) words.push_back(word);
  };
  add(options.deformers.size(), bake::RecipeLabel(setup.deformer));
  add(options.servers.size(), setup.server == kInProcess ? "in this process" : setup.server);
  if (options.normals) words.emplace_back("with normals");
  add(options.encodings.size(), setup.encoding);
  add(options.streams.size(), CountedText(setup.load.streams, "stream"));
  add(options.depths.size(), absl::StrCat("depth ", setup.load.depth));
  words.push_back(options.rates.empty() ? "closed loop" : "open loop");
  add(options.rates.size(), absl::StrCat(bake::NumberText(setup.load.rate), " poses a second"));
  double warm = 0;
  for (const Row& row : rows) warm = std::max(warm, row.warm_up.seconds);
  return absl::StrFormat("%s\n%s of %s; warm-up of %s at most\n\n", absl::StrJoin(words, ", "),
                         CountedText(options.rounds, "round"),
                         bake::DurationText(absl::Seconds(options.seconds)),
                         bake::DurationText(absl::Seconds(warm)));
}

void PrintRows(const Context& context, const bake::CharacterFile& character, const Options& options,
               const std::vector<Row>& rows) {
  std::vector<Table::Column> columns = SetupColumns(options);
  Table parts = [&] {
    std::vector<Table::Column> all = columns;
    all.push_back({"mean ms of", "poses"});
    for (const char* part : bench::kPartNames) all.push_back({part, part});
    all.push_back({"sum", "latency"});
    return Table(all);
  }();
  columns.insert(columns.end(), {{"frames/s", "frames_per_second"},
                                 {"MB/s", "megabytes_per_second"},
                                 {"p50 ms", "p50_ms_of_rounds"},
                                 {"", "p50_ms"},
                                 {"p90", "p90_ms"},
                                 {"p99", "p99_ms"},
                                 {"p99.9", "p999_ms"},
                                 {"max", "max_ms"},
                                 {"", "mean_ms"},
                                 {"cores here", "client_cores"},
                                 {"", "frames"},
                                 {"", "bytes"},
                                 {"", "unsent"},
                                 {"", "resumed"},
                                 {"", "warm_up"}});
  Table rates(columns);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::vector<Cell> cells = SetupCells(rows[k].setup, k);
    AddRates(rows[k], cells, rates);
    for (const bool slowest : {false, true}) AddParts(rows[k], slowest, cells, parts);
    WarnOf(context, rows[k], absl::StrCat(k + 1));
  }
  nlohmann::ordered_json json = {
      {"character", character.label}, {"vertices", character.rig.vertices()},
      {"normals", options.normals},   {"rounds", options.rounds},
      {"seconds", options.seconds},   {"loop", options.rates.empty() ? "closed" : "open"},
      {"rows", rates.Json()},         {"parts_ms", parts.Json()}};
  if (!options.plot.empty()) json["plot"] = options.plot;
  context.PrintResult(
      json, absl::StrCat(Heading(character, options, rows), rates.Text(), "\n", parts.Text()));
}

absl::Status Plot(const bake::CharacterFile& character, const Options& options,
                  const std::vector<Row>& rows, bake::OutputFile& out) {
  std::vector<bench::LatencyCurve> curves;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    bench::LatencyCurve& curve = curves.emplace_back();
    curve.label = LabelOf(options, rows[k].setup, k);
    for (const bench::Sample& sample : SamplesOf(rows[k])) {
      curve.latencies.push_back(sample.latency);
    }
  }
  const std::string title = absl::StrCat("Latency of a pose, ", character.label, ", ",
                                         bake::CountText(character.rig.vertices()), " vertices, ",
                                         options.rates.empty() ? "closed" : "open", " loop");
  SINEW_ASSIGN_OR_RETURN(const client::Image image,
                         bench::PlotLatency(curves, title, options.picture.options.width,
                                            options.picture.options.height));
  SINEW_ASSIGN_OR_RETURN(const std::string png, client::EncodePng(image));
  SINEW_RETURN_IF_ERROR(out.Write(png));
  return out.Commit();
}

// Reads what the parser cannot check.
absl::Status CheckOptions(const Context& context, Options& options) {
  if (options.file.empty() && !options.read.clip_files.empty()) {
    return UsageError("--clip-file: needs a FILE, the synthetic tube has a clip of its own");
  }
  if (!options.servers.empty() && (context.globals().names_server || context.globals().local)) {
    return UsageError("--servers: got --server or --local too, need one of them");
  }
  for (std::string& server : options.servers) {
    if (server == kInProcess) continue;
    const auto target = client::TargetOf("--servers", server);
    if (!target.ok()) return UsageError(std::string(target.status().message()));
    server = *target;
  }
  if (options.servers.empty()) {
    options.servers = {context.globals().local ? kInProcess : context.globals().server};
  }
  if (const std::size_t rows = Setups(options).size(); rows > kMostRows) {
    return UsageError(absl::StrCat("the lists of options make ", rows, " rows, need at most ",
                                   kMostRows, ", with the twin"));
  }
  if (options.plot.empty()) return absl::OkStatus();
  SINEW_RETURN_IF_ERROR(CheckPng("--plot", options.plot));
  const bake::PictureOptions& picture = options.picture.options;
  SINEW_RETURN_IF_ERROR(ReadPictureSize(options.picture));
  if (picture.width < bench::kLeastPlotWidth || picture.height < bench::kLeastPlotHeight) {
    return UsageError(absl::StrCat("--size: got ", options.picture.size, ", need at least ",
                                   bench::kLeastPlotWidth, "x", bench::kLeastPlotHeight));
  }
  return absl::OkStatus();
}

absl::Status Bench(Context& context, Options options) {
  SINEW_RETURN_IF_ERROR(CheckOptions(context, options));
  for (const std::string& deformer : options.deformers) {
    SINEW_RETURN_IF_ERROR(bake::ReadRecipe(deformer).status());
  }
  SINEW_ASSIGN_OR_RETURN(const bake::CharacterFile character,
                         options.file.empty() ? SyntheticTube(options.vertices)
                                              : ReadAndWarn(context, options.file, options.read));
  SINEW_ASSIGN_OR_RETURN(const client::ClipData clip,
                         ChooseMotion(context, character, options.motion));
  std::optional<bake::OutputFile> out;
  if (!options.plot.empty()) {
    absl::StatusOr<bake::OutputFile> created = bake::OutputFile::Create(options.plot);
    if (!created.ok()) return NameOutput(created.status(), "--plot");
    out.emplace(*std::move(created));
  }
  std::shared_ptr<void> in_process;  // outlives what is bound there
  SINEW_ASSIGN_OR_RETURN(const std::vector<Bound> bound,
                         BindAll(context, options, character, in_process));
  SINEW_ASSIGN_OR_RETURN(const std::vector<Row> rows, Measure(context, options, clip, bound));
  if (out) SINEW_RETURN_IF_ERROR(Plot(character, options, rows, *out));
  for (const Bound& each : bound) bake::ReleaseCharacter(context, each.character);
  PrintRows(context, character, options, rows);
  return absl::OkStatus();
}

}  // namespace

void AddBench(CommandList& commands) {
  auto [set, options] = commands.Add<Options>(
      "bench", "Load the server with streams; print rates, latencies and where the time goes",
      Bench);
  const Option file =
      set.AddText("FILE", options.file, "Character file or model:NAME (default: a synthetic tube)");
  AddReadOptions(set, options.read);
  set.AddList("--deformer", options.deformers, "Recipes such as ddm, or @recipe.json").Required();
  AddMotionOptions(set, options.read, options.motion);
  set.AddNumber("--vertices", options.vertices, 64, 16'000'000,
                "Approximate size of the synthetic tube")
      .Excludes(file);
  set.AddList("--servers", options.servers,
              "Several servers, as in --server, e.g. one by TCP and by unix:/path; `local` is the "
              "service in this process")
      .Placeholder("ADDR ...");
  set.AddList("--encoding", options.encodings,
              "How vertices travel. compact: positions as 16-bit numbers, half the bytes; normals "
              "as two bytes, a third of all; compressed: the same vertices in half of these; "
              "auto: compact, and compressed below 1 Gbit/s",
              EncodingNames());
  set.AddNumbers("--streams", options.streams, 1, 1024, "Concurrent streams");
  set.AddNumbers("--depth", options.depths, 1, 256,
                 "Poses in flight per stream at most; 1 measures the latency of a single pose");
  set.AddNumbers("--rate", options.rates, 0.1, 1'000'000,
                 "Poses a second of all streams together, due at regular times whatever the server "
                 "does: an open loop. Default: each pose as soon as --depth allows, a closed loop");
  set.AddFlag("--normals", options.normals, "Request normals too");
  set.AddNumber("--seconds", options.seconds, 0.1, 600, "Of each row in each round");
  set.AddNumber("--rounds", options.rounds, 1, 100, "How often every row has its turn");
  const Option plot = set.AddText("--plot", options.plot, "Also draw percentiles of latency, PNG");
  options.picture.options.width = 960;
  options.picture.options.height = 540;
  set.AddText("--size", options.picture.size, "Of the plot, WIDTHxHEIGHT (default 960x540)")
      .Needs(plot);
  set.SetFooter(
      R"(--deformer, --servers, --encoding, --streams, --depth and --rate take lists: a row for every combination. Rows take turns
in each round, in random order; with several, a twin repeats the first: differences below those of the two are noise.
How many frames a server delivers is found by the closed loop; its latency includes waiting behind the frames before. How
long users wait at 24 poses a second each, say, is found by --rate: every pose is timed from when it was due, so that a
server that stops for 300 ms is late with all poses of that time.
Warm-up: rounds of 0.1 s until the medians of three are within a tenth (or 20 us), at most as long as all rounds.
  frames/s, p50     medians of rounds, in parentheses the quartiles; other percentiles and max are of all poses
  cores here        CPU time of this process over time, with `local` the server's too
  hold              from when a pose was due until the stream took it: behind --depth others, or this process was late
  queue, evaluate, encode   on the server; send: until its network library took the bytes, as measured for the message before
  wait              the rest: network, and frames in front of it; decode: copied out as float32
Examples:
  sinew bench --deformer lbs --vertices 50000 --depth 1 8 --encoding float32 compact
  sinew bench hero.glb --deformer ddm --streams 8 --rate 192 --seconds 10 --plot latency.png     # 8 users at 24 fps
  sinew bench --deformer lbs --servers 127.0.0.1:50051 unix:/run/sinew.sock local
See also: sinew stats, sinew methods.)");
}

}  // namespace sinew::cli
