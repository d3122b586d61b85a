// stream_bench - frames per second of a stream beside what gRPC itself moves, in one run.
//
//   stream_bench [--vertices 50000] [--streams 1] [--rounds 21] [--seconds 0.5] [--positions]
//                [--only ROW...] [--pauses N] [--polls N]
//
// Two processes over loopback: one holds a Sinew server and a raw byte-buffer server, the other is
// the client of both. Rows are run in a random order within each round, on connections that stay
// open; an identical twin of the raw row says how much of a difference is noise. Figures are
// medians over the rounds, ratios are of the same round. The processor time of both processes
// bounds the ratios: where they keep all cores busy, a row that needs twice that of the raw row has
// half its rate at most.
#include <absl/strings/str_cat.h>
#include <absl/synchronization/mutex.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/bench/rounds.h"
#include "client/models/models.h"
#include "server/process/serve.h"
#include "server/process/server.h"
#include "sinew/client.h"
#include "tests/bench/raw_peer.h"

namespace sinew::bench {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

// Microseconds that the processes have run on any core.
double ProcessorTime(const std::vector<clockid_t>& processes) {
  double sum = 0;
  for (const clockid_t process : processes) {
    timespec time{};
    clock_gettime(process, &time);
    sum += static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
  }
  return sum;
}

struct Ports {
  int sinew = 0, raw = 0;
};

// The child: both servers, until the pipe from the parent closes.
[[noreturn]] void Serve(int to_parent, int from_parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  server::TuneMalloc();  // and the next line: as sinewd does
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  server::Config config;
  config.network.listen = {"127.0.0.1:0"};
  config.network.http = "off";
  config.log.level = "error";
  auto sinew_server = server::Server::Start(config);
  if (!sinew_server.ok()) {
    std::fprintf(stderr, "%s\n", std::string(sinew_server.status().message()).c_str());
    _exit(1);
  }
  RawServer raw;
  const std::string& address = (*sinew_server)->addresses().front();
  const Ports ports = {std::stoi(address.substr(address.rfind(':') + 1)), raw.port()};
  if (write(to_parent, &ports, sizeof ports) != sizeof ports) _exit(1);
  char byte;
  while (read(from_parent, &byte, 1) > 0) {
  }
  _exit(0);
}

// One row of the table: something that sends a pose and something that waits for a frame.
struct Row {
  std::string name;
  std::size_t depth = 0;  // poses in flight of each stream
  std::size_t bytes = 0;  // of a frame
  std::function<void()> send;
  std::function<void()> receive;
  std::vector<double> fps = {}, processor = {};  // [rounds] the latter in microseconds a frame

  std::string Name() const { return absl::StrCat(name, " ", depth); }
};

// Returns frames a second.
double Measure(Row& row, double seconds, std::size_t streams) {
  const std::size_t in_flight = row.depth * streams;
  for (std::size_t i = 0; i < in_flight; ++i) row.send();
  const auto start = Clock::now();
  std::size_t frames = 0;
  while (Seconds(Clock::now() - start) < seconds) {
    row.receive();
    row.send();
    ++frames;
  }
  const double elapsed = Seconds(Clock::now() - start);
  for (std::size_t i = 0; i < in_flight; ++i) row.receive();
  return static_cast<double>(frames) / elapsed;
}

void Check(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "stream_bench: %s\n", std::string(status.message()).c_str());
  std::exit(1);
}
template <class T>
T Check(absl::StatusOr<T> value) {
  Check(value.status());
  return *std::move(value);
}

struct Options {
  std::size_t vertices = 50000, streams = 1, rounds = 21;
  double seconds = 0.5;
  std::size_t pauses = 50, polls = 300;
  bool positions = false;
  std::vector<std::string> only = {};  // empty: all
};

// Streams that take turns: each pose goes to the next of them, and so does each wait for a frame.
template <class Stream>
class Turns {
 public:
  void Add(std::shared_ptr<Stream> stream) { streams_.push_back(std::move(stream)); }
  Stream& ToSend() { return *streams_[sent_++ % streams_.size()]; }
  Stream& ToReceive() { return *streams_[received_++ % streams_.size()]; }

 private:
  std::vector<std::shared_ptr<Stream>> streams_;
  std::size_t sent_ = 0, received_ = 0;
};

class Client {
 public:
  // processes: those whose processor time counts.
  Client(const Options& options, Ports ports, std::vector<clockid_t> processes)
      : options_(options), ports_(ports), processes_(std::move(processes)) {
    client::Model model = client::Tube({.rings = static_cast<std::uint32_t>(options.vertices / 50),
                                        .segments = 50,
                                        .joints = 50,
                                        .length = 10,
                                        .influences = 4});
    clip_ = std::move(model.clip);
    vertices_ = model.rig.vertices();
    const auto connection =
        Check(client::Client::Connect({.address = absl::StrCat("127.0.0.1:", ports.sinew)}));
    character_.emplace(
        Check(client::Character::Create(connection, Check(client::EncodeRig(model.rig)), "lbs")));
  }

  // False if a row of options.only does not exist.
  bool Run() {
    AddRaw("raw gRPC", 12);
    AddRaw("raw gRPC (twin)", 12);
    AddSinew("lbs positions", false, true, {});
    AddSinew("lbs positions, no checksum", false, false, {});
    if (!options_.positions) {
      AddSinew("lbs positions, compressed", false, true, {.compressed = true});
      AddRaw("raw gRPC, 24 B/vertex", 24);
      AddSinew("lbs positions + normals", true, true, {});
      AddSinew("lbs + normals, compact", true, true, {.compact = true});
      AddSinew("lbs + normals, compact, decoded", true, true, {.compact = true, .decoded = true});
      AddSinew("lbs + normals, compact, compressed", true, true,
               {.compact = true, .compressed = true});
      AddSinew("lbs + normals, compact, compressed if slow", true, true,
               {.compact = true, .by_line = true});
    }
    for (const std::string& name : options_.only) {
      if (std::ranges::count(rows_, name, &Row::Name) > 0) continue;
      std::fprintf(stderr, "--only: got \"%s\", need one of:\n", name.c_str());
      for (const Row& row : rows_) std::fprintf(stderr, "  \"%s\"\n", row.Name().c_str());
      return false;
    }
    if (!options_.only.empty()) {
      std::erase_if(rows_, [this](const Row& row) {
        return std::ranges::find(options_.only, row.Name()) == options_.only.end();
      });
    }
    for (Row& row : rows_) Measure(row, 0.2, options_.streams);
    std::size_t done = 0;
    Check(TakeTurns(rows_.size(), options_.rounds, [&](std::size_t i) {
      const double before = ProcessorTime(processes_);
      const double fps = Measure(rows_[i], options_.seconds, options_.streams);
      rows_[i].fps.push_back(fps);
      rows_[i].processor.push_back((ProcessorTime(processes_) - before) / (fps * options_.seconds));
      std::fprintf(stderr, "\rround %zu of %zu", ++done / rows_.size(), options_.rounds);
      return absl::OkStatus();
    }));
    std::fprintf(stderr, "\n");
    Print();
    PrintPauses();
    PrintPolls();
    return true;
  }

 private:
  std::size_t PoseBytes() const {
    return client::PoseOf(clip_, 0).joint_transforms.size() * sizeof(float);
  }
  client::Pose NextPose() {
    client::Pose pose = client::PoseOf(clip_, poses_++ % clip_.frames);
    pose.frame = 0;
    return pose;
  }

  // The raw row that moves as many bytes at the same depth.
  const Row& Baseline(const Row& row) const {
    for (const Row& other : rows_) {
      if (other.bytes == row.bytes && other.depth == row.depth) return other;
    }
    return row;
  }

  void AddRaw(const std::string& name, std::size_t bytes_per_vertex) {
    for (const std::size_t depth : {1, 8}) {
      const auto raw = std::make_shared<Turns<RawClient>>();
      for (std::size_t i = 0; i < options_.streams; ++i) {
        raw->Add(
            std::make_shared<RawClient>(ports_.raw, PoseBytes(), vertices_ * bytes_per_vertex));
      }
      rows_.push_back({name, depth, vertices_ * bytes_per_vertex, [raw] { raw->ToSend().Send(); },
                       [raw] { (void)raw->ToReceive().Receive(); }});
    }
  }

  // Such frames are compared with the raw row of the float32 that they stand for.
  struct Form {
    bool compact = false, decoded = false, compressed = false, by_line = false;
  };
  void AddSinew(const std::string& name, bool normals, bool checksums, const Form& form) {
    const auto values = std::make_shared<std::vector<float>>(vertices_ * 3);
    for (const std::size_t depth : {1, 8}) {
      const auto streams = std::make_shared<Turns<client::Stream>>();
      for (std::size_t i = 0; i < options_.streams; ++i) {
        streams->Add(Open(normals, checksums, form));
      }
      rows_.push_back({name, depth, vertices_ * (normals ? 24 : 12),
                       [this, streams] { Check(streams->ToSend().Send(NextPose()).status()); },
                       [streams, decoded = form.decoded, values] {
                         const auto item = Check(streams->ToReceive().Next());
                         Check(item->problem);
                         if (!decoded) return;
                         Check(item->view.CopyPositions(*values));
                         Check(item->view.CopyNormals(*values));
                       }});
    }
  }

  std::shared_ptr<client::Stream> Open(bool normals, bool checksums, const Form& form) {
    client::StreamOptions stream;
    if (form.compact) stream.output.MakeCompact();
    if (form.compressed) stream.output.MakeCompressed();
    if (form.by_line) stream.output.MakeCompressedIfSlow();
    stream.output.checksums = checksums;
    stream.output.chunk_bytes = 16 << 20;
    if (normals) {
      stream.output.attributes = {client::Attribute::kPositions, client::Attribute::kNormals};
    }
    return std::make_shared<client::Stream>(Check(character_->OpenStream(stream)));
  }

  void Print() const {
    std::printf(
        "%zu vertices, streams: %zu, %zu rounds of %.2f s; fps and GB/s (of float32) are "
        "medians, depth is of each stream, CPU us is the processor time of a frame at both ends\n",
        vertices_, options_.streams, options_.rounds, options_.seconds);
    std::printf("%-42s %5s %9s %7s %7s   %s\n", "row", "depth", "fps", "GB/s", "CPU us",
                "of raw (quartiles)");
    for (const Row& row : rows_) {
      std::vector<double> ratios;  // each to the baseline of its round
      for (std::size_t k = 0; k < row.fps.size(); ++k) {
        ratios.push_back(row.fps[k] / Baseline(row).fps[k]);
      }
      const Quartiles ratio = QuartilesOf(std::move(ratios));
      const double fps = QuartilesOf(row.fps).median;
      std::printf("%-42s %5zu %9.0f %7.2f %7.0f   %.2f (%.2f .. %.2f)\n", row.name.c_str(),
                  row.depth, fps, fps * static_cast<double>(row.bytes) / 1e9,
                  QuartilesOf(row.processor).median, ratio.median, ratio.low, ratio.high);
    }
  }

  // Latency of the first pose after a pause of more than a second.
  void PrintPauses() {
    if (options_.pauses == 0) return;
    auto stream = Open(false, true, {});
    const auto pose_ms = [&] {
      const auto start = Clock::now();
      Check(stream->Send(NextPose()).status());
      Check(Check(stream->Next())->problem);
      return Seconds(Clock::now() - start) * 1e3;
    };
    const double first = pose_ms();  // its memory is new to the server
    std::vector<double> ms;
    for (std::size_t i = 0; i < options_.pauses; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1020));
      ms.push_back(pose_ms());
    }
    std::printf(
        "first pose after a pause of 1.02 s: median %.2f ms, worst %.2f ms of %zu; first of its "
        "stream: %.2f ms\n",
        QuartilesOf(ms).median, *std::max_element(ms.begin(), ms.end()), ms.size(), first);
  }

  // What a loop at 60 Hz loses in Next if it only looks whether the frame of its pose is there.
  void PrintPolls() {
    if (options_.polls == 0) return;
    auto stream = Open(false, true, {});
    std::vector<double> ms;
    std::size_t frames = 0;
    bool in_flight = false;
    for (std::size_t i = 0; i < options_.polls; ++i) {
      if (!in_flight) Check(stream->Send(NextPose()).status());
      // Every other time at once, when there is no frame yet.
      if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(16667));
      const auto start = Clock::now();
      const auto item = stream->Next(absl::ZeroDuration());
      ms.push_back(Seconds(Clock::now() - start) * 1e3);
      in_flight = absl::IsDeadlineExceeded(item.status());
      if (!in_flight) Check(Check(item)->problem);
      frames += in_flight ? 0 : 1;
    }
    std::printf(
        "Next without waiting, in a loop at 60 Hz: median %.3f ms, worst %.3f ms of %zu, %zu of "
        "them with a frame\n",
        QuartilesOf(ms).median, *std::max_element(ms.begin(), ms.end()), ms.size(), frames);
  }

  Options options_;
  Ports ports_;
  std::vector<clockid_t> processes_;
  client::ClipData clip_;
  std::size_t poses_ = 0;
  std::size_t vertices_ = 0;
  std::optional<client::Character> character_;
  std::vector<Row> rows_;
};

}  // namespace
}  // namespace sinew::bench

int main(int argc, char** argv) {
  sinew::bench::Options options;
  CLI::App app("Stream rates beside raw gRPC, both measured now.");
  app.add_option("--vertices", options.vertices, "of the tube")
      ->check(CLI::Range(100, 16'000'000))
      ->capture_default_str();
  app.add_option("--streams", options.streams, "of every row, at a time")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  app.add_flag("--positions", options.positions, "only rows of positions in float32");
  app.add_option("--only", options.only, "these rows, by name and depth, as 'raw gRPC 8'");
  app.add_option("--rounds", options.rounds)->capture_default_str();
  app.add_option("--seconds", options.seconds, "per row and round")->capture_default_str();
  app.add_option("--pauses", options.pauses, "of 1.02 s, for the line below the table")
      ->capture_default_str();
  app.add_option("--polls", options.polls, "of 1/60 s, for the last line")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  int up[2], down[2];
  if (pipe(up) != 0 || pipe(down) != 0) return 1;
  const pid_t child = fork();  // before gRPC has threads
  if (child == 0) {
    close(down[1]);
    sinew::bench::Serve(up[1], down[0]);
  }
  close(up[1]);
  close(down[0]);
  sinew::bench::Ports ports;
  if (read(up[0], &ports, sizeof ports) != sizeof ports) return 1;
  clockid_t server = 0;
  if (clock_getcpuclockid(child, &server) != 0) return 1;
  const bool done = sinew::bench::Client(options, ports, {CLOCK_PROCESS_CPUTIME_ID, server}).Run();
  close(down[1]);
  waitpid(child, nullptr, 0);
  return done ? 0 : 64;
}
