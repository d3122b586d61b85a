// stream_clients - many clients that stream through a balancer while servers behind it fail, and
// compare every frame with that of a server that meets no fault.
//
//   stream_clients --server 127.0.0.1:7000 --clients 40 --rigs 24 --seconds 1800 --seed 1
//
// Prints one line of JSON: frames, what was wrong, and how long streams paused when they
// changed servers. Exit code: 0, 1 after a violation, 64 usage.
#include <absl/strings/str_cat.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fault/checked_stream.h"
#include "tests/fault/motions.h"
#include "tests/fault/suite.h"

namespace sinew::testing {
namespace {

using Steady = std::chrono::steady_clock;

struct Options {
  std::string server;
  std::uint64_t clients = 40, rigs = 24;
  double seconds = 60, frames_per_second = 24;
  std::uint32_t seed = 1, window = 2;
};

// Without a label of their own, rigs of one size would be one rig.
constexpr Size kSizes[] = {Size::kSmall, Size::kMedium, Size::kLarge};
constexpr const char* kRecipes[] = {"lbs", "dqs", "ddm", "lbs | relax(iterations=4)"};

// What all clients have measured.
struct Totals {
  std::mutex mutex;
  std::vector<double> pauses;  // in seconds
  std::uint64_t resumed = 0, streams = 0, refused = 0;
};

// The longest time between two frames around each change of server, as a viewer sees it: frames in
// flight may hide it.
class Pauses {
 public:
  // A frame has come; `changes`: of server, so far.
  void Frame(Steady::time_point now, std::uint32_t changes) {
    const std::chrono::duration<double> gap = now - last_;
    last_ = now;
    gaps_.emplace_back(now, gap.count());
    while (now - gaps_.front().first > kAround) gaps_.pop_front();
    if (changes != changes_ && !change_) change_ = now;
    changes_ = changes;
    if (change_ && now - *change_ > kAround / 2) End();
  }
  void End() {
    if (!change_) return;
    double longest = 0;
    for (const auto& [time, gap] : gaps_) longest = std::max(longest, gap);
    found.push_back(longest);
    change_.reset();
  }
  std::vector<double> found;

 private:
  static constexpr std::chrono::seconds kAround{2};
  Steady::time_point last_ = Steady::now();
  std::deque<std::pair<Steady::time_point, double>> gaps_;
  std::optional<Steady::time_point> change_;  // around which gaps are being collected
  std::uint32_t changes_ = 0;
};

class StreamClient {
 public:
  StreamClient(Suite& suite, Undisturbed& undisturbed, Totals& totals, const Options& options,
               std::uint64_t number)
      : suite_(suite),
        totals_(totals),
        options_(options),
        dice_(suite.Dice(absl::StrCat("client ", number))),
        rig_(number % options.rigs),
        motion_(undisturbed.Get(kSizes[rig_ % std::size(kSizes)],
                                kRecipes[rig_ / std::size(kSizes) % std::size(kRecipes)])),
        bytes_(LabelledRig(motion_.rig, absl::StrCat("rig ", rig_))),
        client_(Connected(suite, Patient(options.server))) {}

  void Run(Steady::time_point end) {
    while (Steady::now() < end && !suite_.failed()) OneStream(end);
  }

 private:
  void OneStream(Steady::time_point end) {
    const auto character = client::Character::Create(client_, bytes_, motion_.recipe, {});
    if (!character.ok()) return Refused(character.status(), "Character::Create");
    auto opened = character->OpenStream(CheckedOptions(options_.window));
    if (!opened.ok()) return Refused(opened.status(), "OpenStream");
    CheckedStream stream(suite_, motion_, *std::move(opened));
    const std::uint64_t frames = 200 + dice_.Below(2000);
    const std::chrono::duration<double> period(1 / options_.frames_per_second);
    absl::Status status;
    Pauses pauses;
    while (status.ok() && stream.taken() < frames && Steady::now() < end && !suite_.failed()) {
      status = stream.Advance(stream.taken() + 1);
      if (status.ok()) pauses.Frame(Steady::now(), stream.stream().info().resumed);
      std::this_thread::sleep_for(period);
    }
    pauses.End();
    if (status.ok()) status = stream.Finish();
    {
      const std::lock_guard lock(totals_.mutex);
      totals_.resumed += stream.stream().info().resumed;
      totals_.pauses.insert(totals_.pauses.end(), pauses.found.begin(), pauses.found.end());
      ++totals_.streams;
    }
    if (!status.ok()) Refused(status, "stream");
    static_cast<void>(character->Release());
  }

  // All servers are away for longer than the client waits: it tries again.
  void Refused(const absl::Status& status, const std::string& what) {
    suite_.CheckEnd(status, what, {absl::StatusCode::kUnavailable});
    const std::lock_guard lock(totals_.mutex);
    ++totals_.refused;
  }

  Suite& suite_;
  Totals& totals_;
  const Options& options_;
  Random dice_;
  const std::uint64_t rig_;
  const Motion& motion_;
  const std::string bytes_;
  const client::Client client_;
};

double Quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(part * last + 0.5)];
}

int Run(const Options& options) {
  Suite suite({.seed = options.seed, .kills = 0, .frames = 0, .seconds = 1e9, .only = {}});
  Totals totals;
  try {
    suite.Begin("streams");
    Undisturbed undisturbed(suite);
    std::vector<std::unique_ptr<StreamClient>> clients;
    for (std::uint64_t i = 0; i < options.clients; ++i) {
      clients.push_back(std::make_unique<StreamClient>(suite, undisturbed, totals, options, i));
    }
    const auto end = Steady::now() + std::chrono::duration_cast<Steady::duration>(
                                         std::chrono::duration<double>(options.seconds));
    std::vector<std::thread> threads;
    for (const auto& client : clients) {
      threads.push_back(suite.Thread([&client, end] { client->Run(end); }));
    }
    for (std::thread& thread : threads) thread.join();
  } catch (const Abandoned&) {
  }
  const nlohmann::json report = {{"frames", suite.frames.load()},
                                 {"streams", totals.streams},
                                 {"changes_of_server", totals.resumed},
                                 {"refused", totals.refused},
                                 {"pause_p50", Quantile(totals.pauses, 0.5)},
                                 {"pause_p99", Quantile(totals.pauses, 0.99)},
                                 {"pause_longest", Quantile(totals.pauses, 1)},
                                 {"violated", suite.failed()}};
  std::printf("%s\n", report.dump().c_str());
  return suite.failed() ? 1 : 0;
}

}  // namespace
}  // namespace sinew::testing

int main(int argc, char** argv) {
  sinew::testing::Options options;
  CLI::App app("Streams through a balancer and compares every frame with that of another server.");
  app.add_option("--server", options.server, "address of the balancer")->required();
  app.add_option("--clients", options.clients, "that stream at a time")->capture_default_str();
  app.add_option("--rigs", options.rigs, "different rigs")->capture_default_str();
  app.add_option("--seconds", options.seconds, "time of the run")->capture_default_str();
  app.add_option("--fps", options.frames_per_second, "frames of a client in a second")
      ->capture_default_str();
  app.add_option("--window", options.window, "frames in flight of a client")->capture_default_str();
  app.add_option("--seed", options.seed, "decides lengths of streams")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGPIPE, SIG_IGN);
  ::setenv("GRPC_VERBOSITY", "NONE", 0);  // connections fail on purpose
  return sinew::testing::Run(options);
}
