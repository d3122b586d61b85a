// Short work beside long work: how long binds, look-ups and opening streams take while binds,
// estimates, computed weights and frames run that take seconds.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <optional>
#include <stop_token>
#include <thread>

#include "client/models/models.h"
#include "tests/load/bounds.h"
#include "tests/load/cast.h"
#include "tests/load/load_server.h"
#include "tests/load/pace.h"
#include "tests/load/parts.h"
#include "tests/load/statistics.h"
#include "tests/support/heavy_recipe.h"

namespace sinew::testing {
namespace {

constexpr int kShortBinds = 20, kLookUps = 500, kEstimates = 60, kOpenings = 20, kCreations = 64;

// Calls that are still in progress when the measurement is over, and are then cancelled.
class LongCalls {
 public:
  explicit LongCalls(Report& report) : report_(report) {}
  ~LongCalls() { stop_.request_stop(); }

  // call: returns when this token is stopped.
  template <class Call>
  void Start(Call call) {
    threads_.emplace_back([this, call = std::move(call)] {
      const absl::Status status = call(stop_.get_token());
      ++ended_;
      if (!stop_.stop_requested()) report_.Check(status, "a long call");
    });
  }
  // None has ended before this: what was measured ran beside all of them.
  void ExpectRunning(const std::string& what) const {
    if (ended_ > 0) {
      report_.Error(absl::StrCat(what, ": ", ended_.load(), " of ", threads_.size(),
                                 " long calls ended before the measurement did"));
    }
  }

 private:
  Report& report_;
  std::stop_source stop_;
  std::atomic<std::size_t> ended_{0};
  std::list<std::jthread> threads_;
};

class Targets {
 public:
  explicit Targets(Report& report)
      : report_(report),
        server_(report, {"--set", "max-bind-bytes=1000000000000"}),
        client_(server_.Client()) {
    small_ = LoadMotion(true, 0.25, "lbs");
    small_rig_ = Upload(small_.rig);
    // Binds and weights of seconds.
    slow_rig_ =
        Upload(client::Tube({.rings = 800, .segments = 50, .joints = 250, .frames = 1}).rig);
    const auto session = report_.Need(
        client_.CreateSession({.rig = small_rig_, .recipe = small_.recipe}), "CreateSession");
    report_.Need(client_.WaitSession(session.name), "WaitSession");
    session_ = session.name;
    report_.Need(RecordSums(client_, session_, small_), "DeformClip");
  }

  void Run() {
    ShortBinds();
    Creations();
    LookUps();
    Openings();
    server_.Stop();
  }

 private:
  std::string Upload(const client::RigData& rig) {
    return report_.Need(client_.UploadRig(rig), "UploadRig").rig.name;
  }
  static std::string SlowRecipe(int number) {
    return absl::StrFormat("ddm(smoothing=explicit, lambda=1, iterations=%d, truncation=0)",
                           1000 - number);
  }
  // Waits until the server says so; an error after a minute.
  template <class Done>
  void Await(const std::string& what, const Done& done) {
    const auto deadline = After(60);
    while (!done(server_.Stats(client_))) {
      if (LoadClock::now() > deadline) {
        report_.Error(absl::StrCat(what, ": not within a minute"));
        throw Abandoned();
      }
      WaitTill(After(0.01), {});
    }
  }
  // Milliseconds from CreateSession to READY of binds that are new.
  std::vector<double> BindTimes(int first) {
    std::vector<double> times;
    for (int k = 0; k < kShortBinds; ++k) {
      const auto start = LoadClock::now();
      const auto session = report_.Need(
          client_.CreateSession(
              {.rig = small_rig_,
               .recipe = absl::StrFormat("ddm(lambda=%.4f)", 10 + 1e-4 * (first + k))}),
          "CreateSession");
      report_.Need(client_.WaitSession(session.name), "WaitSession");
      times.push_back(1e3 * SecondsSince(start));
      report_.Need(client_.DeleteSession(session.name), "DeleteSession");
    }
    return times;
  }

  void ShortBinds() {
    report_.Note("bind of 2,000 vertices alone, to READY: p50", Percentile(BindTimes(0), 0.5),
                 "ms");
    std::vector<std::string> sessions;
    {
      LongCalls calls(report_);
      calls.Start([this](const std::stop_token& stop) {
        return client_
            .ComputeWeights(
                {.rig = slow_rig_, .method = client::WeightMethod::kGeodesic, .resolution = 512},
                {}, {.deadline = absl::Minutes(10), .stop = stop})
            .status();
      });
      for (int k = 0; k < 4; ++k) {
        sessions.push_back(
            report_
                .Need(client_.CreateSession({.rig = slow_rig_, .recipe = SlowRecipe(k)}),
                      "CreateSession of a long bind")
                .name);
      }
      Await("a long bind runs", [](const auto& stats) { return stats.binds_running > 0; });
      const std::vector<double> times = BindTimes(kShortBinds);
      calls.ExpectRunning("binds beside ComputeWeights");
      for (const std::string& name : sessions) {
        const auto session = report_.Need(client_.GetSession(name), "GetSession");
        if (session.state != client::SessionState::kBinding) {
          report_.Error("a long bind ended before the measurement did");
        }
      }
      report_.Note("the same beside ComputeWeights and four long binds: p50",
                   Percentile(times, 0.5), "ms");
      report_.AtMost("longest of 20", Percentile(times, 1) / 1e3, "s", bounds::kShortBindSeconds,
                     Report::Kind::kTime);
    }
    for (const std::string& name : sessions) {
      report_.Check(client_.DeleteSession(name), "DeleteSession of a long bind");
    }
  }

  // Only the first of the long binds, which keeps the lane, must be left.
  void Creations() {
    Await("cancelled binds end",
          [](const auto& stats) { return stats.binds_running == 0 && stats.binds_queued == 0; });
    const auto first = report_.Need(
        client_.CreateSession({.rig = slow_rig_, .recipe = SlowRecipe(0)}), "CreateSession");
    Await("a long bind runs", [](const auto& stats) { return stats.binds_running > 0; });
    const auto start = LoadClock::now();
    for (int k = 1; k <= kCreations; ++k) {
      const auto session = report_.Need(
          client_.CreateSession({.rig = slow_rig_, .recipe = SlowRecipe(k)}), "CreateSession");
      report_.Need(client_.DeleteSession(session.name), "DeleteSession");
    }
    const client::ServerStats stats = server_.Stats(client_);
    report_.Note("create + delete of 64 sessions with long binds", SecondsSince(start), "s");
    report_.AtMost("waiting binds after it", static_cast<double>(stats.binds_queued), "",
                   bounds::kQueuedBinds);
    if (stats.binds_running != 1) report_.Error("the long bind ended before the measurement did");
    report_.Check(client_.DeleteSession(first.name), "DeleteSession");
  }

  void LookUps() {
    // Every joint reaches the whole mesh, so that an estimate takes seconds.
    const std::string rig =
        Upload(client::Tube({.rings = 3000, .segments = 10, .joints = 1000, .frames = 1}).rig);
    std::atomic<int> asked{0};
    LongCalls calls(report_);
    for (int k = 0; k < kEstimates; ++k) {
      calls.Start([this, &rig, &asked](const std::stop_token& stop) {
        return Estimates(rig, asked, stop);
      });
    }
    while (asked < kEstimates) WaitTill(After(0.01), {});
    WaitTill(After(0.5), {});  // they have arrived
    std::vector<double> times;
    for (int i = 0; i < kLookUps; ++i) {
      const auto start = LoadClock::now();
      report_.Check(client_.GetRig(i % 2 == 0 ? small_rig_ : slow_rig_).status(), "GetRig");
      times.push_back(1e3 * SecondsSince(start));
    }
    calls.ExpectRunning("GetRig beside estimates");
    report_.Note("GetRig beside 60 estimates: p50", Percentile(times, 0.5), "ms");
    report_.AtMost("GetRig beside 60 estimates: p99 of 500", Percentile(times, 0.99), "ms",
                   bounds::kGetRigMilliseconds, Report::Kind::kTime);
    report_.Note("longest", Percentile(times, 1), "ms");
  }

  // One after the other, each of another recipe, so that none is known.
  absl::Status Estimates(const std::string& rig, std::atomic<int>& asked,
                         const std::stop_token& stop) {
    while (true) {
      const std::string recipe =
          absl::StrFormat("ddm(lambda=%.3f, iterations=1000)", 1000 - 1e-2 * asked++);
      const auto session =
          client_.CreateSession({.rig = rig, .recipe = recipe, .validate_only = true},
                                {.deadline = absl::Minutes(10), .stop = stop});
      if (!session.ok()) return session.status();
    }
  }

  void Openings() {
    client::Model model = client::Tube({.rings = 2000, .segments = 100, .joints = 2, .frames = 1});
    const std::string rig = Upload(model.rig);
    const Motion motion = MotionOf(std::move(model), HeavyRecipe(15));
    const auto session =
        report_.Need(client_.CreateSession({.rig = rig, .recipe = motion.recipe}), "CreateSession");
    report_.Need(client_.WaitSession(session.name), "WaitSession");
    const auto begin = LoadClock::now();
    LongCalls calls(report_);
    for (int k = 0; k < 4; ++k) {
      calls.Start([this, &motion, name = session.name](const std::stop_token& stop) {
        return LongFrame(motion, name, stop);
      });
    }
    Await("four streams", [](const auto& stats) { return stats.streams == 4; });
    WaitTill(After(0.2), {});  // their poses have arrived
    std::vector<double> times;
    for (int i = 0; i < kOpenings; ++i) {
      const client::Target by_name = {.session = session_};
      const client::Target by_recipe = {.rig = small_rig_, .recipe = small_.recipe};
      const auto start = LoadClock::now();
      client::Stream stream = report_.Need(
          client_.OpenStream(i % 2 == 0 ? by_name : by_recipe, {.output = CheckedOutput()}),
          "OpenStream");
      times.push_back(1e3 * SecondsSince(start));
      report_.Need(stream.Send({.joint_transforms = small_.Pose(1)}).status(), "Send");
      const auto item = report_.Need(stream.Next(absl::Minutes(1)), "Next");
      first_frames_.push_back(1e3 * SecondsSince(start));
      if (!item || SumOf(item->view) != small_.Sum(1)) {
        report_.Error("the first frame has other bits than without load");
      }
    }
    calls.ExpectRunning("streams beside long frames");
    for (const auto deadline = After(120); long_frames_ < 1 && LoadClock::now() < deadline;) {
      WaitTill(After(0.01), {});
    }
    report_.AtLeast("the first of four long frames", SecondsSince(begin), "s",
                    bounds::kLongFrameSeconds, Report::Kind::kTime);
    report_.AtMost("opening a stream beside them: longest of 20", Percentile(times, 1), "ms",
                   bounds::kOpenMilliseconds, Report::Kind::kTime);
    report_.Note("to its first frame: longest", Percentile(first_frames_, 1), "ms");
  }

  absl::Status LongFrame(const Motion& motion, const std::string& session,
                         const std::stop_token& stop) {
    auto opened = client_.OpenStream({.session = session}, {});
    if (!opened.ok()) return opened.status();
    client::Stream& stream = *opened;
    const std::stop_callback cancel(stop, [&] { stream.Cancel(); });
    const auto sent = stream.Send({.joint_transforms = motion.Pose(1)});
    if (!sent.ok()) return sent.status();
    const auto next = stream.Next(absl::Minutes(2));
    if (!next.ok()) return next.status();
    if (!next->has_value()) return absl::InternalError("the stream ended without a frame");
    ++long_frames_;
    return (*next)->problem;
  }

  Report& report_;
  LoadServer server_;
  const client::Client client_;
  Motion small_;
  std::string small_rig_, slow_rig_, session_;
  std::vector<double> first_frames_;
  std::atomic<int> long_frames_{0};
};

}  // namespace

void MeasureTargets(Report& report, const LoadOptions& /*options*/) {
  Targets(report).Run();
}

}  // namespace sinew::testing
