// The load generator with the real sinewd.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "client/bench/drive.h"
#include "client/bench/load.h"
#include "client/models/models.h"
#include "sinew/local_server.h"
#include "tests/support/paths.h"

namespace sinew::bench {
namespace {

using std::chrono::milliseconds;

double Milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

class DriveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = client::LocalServer::Start({.program = testing::ProgramPath("sinewd")});
    ASSERT_TRUE(server.ok()) << server.status();
    server_.emplace(*std::move(server));
  }
  client::Character Bind(const std::string& recipe) const {
    const auto client = client::Client::Connect({.address = server_->address()});
    return client::Character::Create(*client, model_.rig, recipe).value();
  }
  // The poses of the model, one after the other.
  DriveOptions Options(std::uint32_t depth, Clock::duration period, milliseconds time) const {
    const Clock::time_point first = Clock::now() + milliseconds(20);
    return {.depth = depth,
            .period = period,
            .first = first,
            .end = first + time,
            .pose = [this](std::uint64_t number) {
              return client::PoseOf(model_.clip, number % model_.clip.frames);
            }};
  }
  // On a busy machine a process goes on for a while after the signal. The state follows the name.
  static bool Stopped(pid_t process) {
    std::string line;
    std::ifstream file(absl::StrCat("/proc/", process, "/stat"));
    std::getline(file, line);
    const std::size_t end = line.rfind(") ");
    return end == std::string::npos || line.substr(end + 2, 1) == "T";
  }
  // Stops the server, as a machine that swaps does, for 300 ms in the middle of a drive.
  struct Stall {
    Clock::time_point from, to;
    Driven driven;
  };
  Stall DriveOverStall(const DriveOptions& options) const {
    auto stream = Bind("lbs").OpenStream({.window = options.depth, .max_queued = options.depth});
    EXPECT_TRUE(stream.ok()) << stream.status();
    Stall stall;
    std::jthread stopper([&] {
      std::this_thread::sleep_until(options.first + milliseconds(500));
      kill(server_->pid(), SIGSTOP);
      while (!Stopped(server_->pid())) std::this_thread::sleep_for(std::chrono::microseconds(100));
      stall.from = Clock::now();
      std::this_thread::sleep_for(milliseconds(300));
      stall.to = Clock::now();
      kill(server_->pid(), SIGCONT);
    });
    auto driven = Drive(*stream, options);
    stopper.join();
    EXPECT_TRUE(driven.ok()) << driven.status();
    if (driven.ok()) stall.driven = *std::move(driven);
    return stall;
  }
  static std::vector<float> Sorted(const std::vector<Sample>& samples) {
    std::vector<float> latencies;
    for (const Sample& sample : samples) latencies.push_back(sample.latency);
    std::ranges::sort(latencies);
    return latencies;
  }

  const client::Model model_ = client::Tube({.rings = 60, .segments = 32});
  std::optional<client::LocalServer> server_;
};

TEST_F(DriveTest, OpenLoopShowsStallInEveryPoseDue) {
  const DriveOptions options = Options(4, milliseconds(5), milliseconds(1500));
  const Stall stall = DriveOverStall(options);
  ASSERT_EQ(stall.driven.samples.size(), 300U);
  EXPECT_EQ(stall.driven.unsent, 0U);
  std::size_t late = 0;
  for (std::size_t k = 0; k < stall.driven.samples.size(); ++k) {
    const Clock::time_point due = options.first + options.period * k;
    if (due < stall.from || due >= stall.to) continue;
    ++late;
    EXPECT_GE(stall.driven.samples[k].latency, Milliseconds(stall.to - due)) << "pose " << k;
  }
  EXPECT_GE(late, 55U);
  const std::vector<float> sorted = Sorted(stall.driven.samples);
  EXPECT_GE(sorted.back(), 295);
  EXPECT_GE(sorted[296], 270) << "p99";
}

TEST_F(DriveTest, PartsAddUpToLatency) {
  for (const char* recipe : {"lbs", "dqs | bulge_free | implicit | relax"}) {
    for (const std::uint32_t depth : {1U, 4U}) {
      auto stream = Bind(recipe).OpenStream({.window = depth, .max_queued = depth});
      ASSERT_TRUE(stream.ok()) << stream.status();
      const auto driven = Drive(*stream, Options(depth, {}, milliseconds(300)));
      ASSERT_TRUE(driven.ok()) << driven.status();
      ASSERT_GT(driven->samples.size(), 3U);
      double latency = 0, parts = 0;
      for (const Sample& sample : driven->samples) {
        latency += sample.latency;
        for (const float part : sample.parts) {
          EXPECT_GE(part, 0);
          parts += part;
        }
      }
      EXPECT_NEAR(parts, latency, 0.01 * latency) << recipe << ", depth " << depth;
    }
  }
}

TEST_F(DriveTest, WorkShowsAsEvaluation) {
  const auto evaluation = [&](const std::string& recipe) {
    auto stream = Bind(recipe).OpenStream({});
    const auto driven = Drive(*stream, Options(1, {}, milliseconds(300)));
    EXPECT_TRUE(driven.ok()) << driven.status();
    double sum = 0, all = 0;
    for (const Sample& sample : driven->samples) {
      sum += sample.parts[kEvaluate];
      all += sample.latency;
    }
    return sum / all;
  };
  EXPECT_GT(evaluation("dqs | bulge_free | implicit | relax"), 3 * evaluation("lbs"));
}

TEST_F(DriveTest, OverloadCountsPosesNotSent) {
  auto stream = Bind("dqs | bulge_free | implicit | relax").OpenStream({});
  ASSERT_TRUE(stream.ok()) << stream.status();
  const auto driven = Drive(*stream, Options(1, std::chrono::microseconds(10), milliseconds(200)));
  ASSERT_TRUE(driven.ok()) << driven.status();
  EXPECT_GT(driven->unsent, 10'000U);
  EXPECT_EQ(driven->samples.size() + driven->unsent, 20'000U);
  EXPECT_GE(driven->samples.back().parts[kHold], 100) << "it waited for those before";
}

TEST_F(DriveTest, WrongFrameEndsDrive) {
  auto stream = Bind("lbs").OpenStream({});
  ASSERT_TRUE(stream.ok()) << stream.status();
  DriveOptions options = Options(1, {}, milliseconds(300));
  options.check = [](std::uint64_t number, const client::FrameView&) {
    return number == 3 ? absl::DataLossError("not that one") : absl::OkStatus();
  };
  EXPECT_EQ(Drive(*stream, options).status().message(), "not that one");
}

TEST_F(DriveTest, LoadKeepsRateOverStreamsAndRounds) {
  auto load = Load::Open(Bind("lbs"), model_.clip, {.streams = 3, .depth = 4, .rate = 150}, {});
  ASSERT_TRUE(load.ok()) << load.status();
  for (int round = 0; round < 2; ++round) {
    const auto ran = load->Run(0.4, 1, {});
    ASSERT_TRUE(ran.ok()) << ran.status();
    EXPECT_EQ(ran->samples.size() + ran->unsent, 60U);
    EXPECT_EQ(ran->bytes, ran->samples.size() * model_.rig.vertices() * 12);
    EXPECT_GE(ran->seconds, 0.4);
  }
  const auto warm = load->Warm(0.05, {});
  ASSERT_TRUE(warm.ok()) << warm.status();
  EXPECT_GE(warm->seconds, 0.05);
  EXPECT_EQ(load->resumed(), 0U);
}

}  // namespace
}  // namespace sinew::bench
