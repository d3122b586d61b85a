// Round trips of one stream: alone, and beside binds without a pause.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "client/bench/drive.h"
#include "client/models/models.h"
#include "tests/load/bounds.h"
#include "tests/load/cast.h"
#include "tests/load/load_server.h"
#include "tests/load/pace.h"
#include "tests/load/parts.h"
#include "tests/load/statistics.h"

namespace sinew::testing {
namespace {

using Seconds = std::chrono::duration<double>;

// Two clients that bind new recipes of a rig of 10,000 vertices, one after the other: one method
// whose bind is mostly a sparse solve, and one that fits surfaces.
class Binds {
 public:
  Binds(Report& report, const LoadServer& server, const std::string& rig)
      : report_(report), rig_(rig) {
    for (const bool implicit : {false, true}) {
      threads_.emplace_back([this, &server, implicit](const std::stop_token& stop) {
        const client::Client client = server.Client();
        while (!stop.stop_requested()) BindOne(client, implicit);
      });
    }
  }
  std::uint64_t count() const { return count_; }

 private:
  void BindOne(const client::Client& client, bool implicit) {
    const double shift = 1e-5 * static_cast<double>(++number_);
    const std::string recipe =
        implicit ? absl::StrFormat("dqs(blend=%.5f) | bulge_free | implicit | relax", 0.5 + shift)
                 : absl::StrFormat("ddm(lambda=%.5f)", 10 + shift);
    const auto session = client.CreateSession({.rig = rig_, .recipe = recipe});
    if (!report_.Check(session.status(), "CreateSession")) return;
    if (report_.Check(client.WaitSession(session->name).status(), "WaitSession")) ++count_;
    report_.Check(client.DeleteSession(session->name), "DeleteSession");
  }

  Report& report_;
  const std::string rig_;
  std::atomic<std::uint64_t> count_{0}, number_{0};
  std::vector<std::jthread> threads_;
};

struct Tail {
  double p50 = 0, p99 = 0;
};

Tail Measure(Report& report, const client::Client& client, const std::string& session,
             const Motion& motion, Seconds period, double seconds, const std::string& name) {
  const auto measure = [&](double time) {
    std::stop_source stop;
    std::jthread timer([&](const std::stop_token& ended) {
      WaitTill(After(time), ended);
      stop.request_stop();
    });
    return RoundTrips(report, client, session, motion, period, stop.get_token());
  };
  measure(std::min(1.0, seconds / 4));  // connections, caches and the cost of a frame are known
  const std::vector<double> times = measure(seconds);
  const Tail tail = {.p50 = Percentile(times, 0.5), .p99 = Percentile(times, 0.99)};
  report.Note(absl::StrCat(name, ": frames"), static_cast<double>(times.size()));
  report.Note(absl::StrCat(name, ": p50"), tail.p50, "ms");
  report.Note(absl::StrCat(name, ": p99"), tail.p99, "ms");
  report.Note(absl::StrCat(name, ": longest"), Percentile(times, 1), "ms");
  report.AtMost(absl::StrCat(name, ": p99 over p50"), tail.p99 / tail.p50, "", bounds::kTailRatio,
                Report::Kind::kTime);
  return tail;
}

}  // namespace

std::vector<double> RoundTrips(Report& report, const client::Client& client,
                               const std::string& session, const Motion& motion,
                               std::chrono::duration<double> period, const std::stop_token& stop) {
  std::vector<double> times;
  auto opened = client.OpenStream({.session = session}, {.output = CheckedOutput()});
  if (!report.Check(opened.status(), "OpenStream")) return times;
  const auto driven = bench::Drive(
      *opened, {.depth = 1,
                .period = std::chrono::duration_cast<LoadClock::duration>(period),
                .stop = stop,
                .patience = absl::Minutes(1),
                .pose =
                    [&](std::uint64_t number) {
                      return client::Pose{.joint_transforms = motion.Pose(number)};
                    },
                .check =
                    [&](std::uint64_t number, const client::FrameView& view) {
                      if (view.frame() == number && SumOf(view) == motion.Sum(number)) {
                        return absl::OkStatus();
                      }
                      return absl::DataLossError(
                          absl::StrCat("frame ", number, ": other bits than without load"));
                    }});
  if (!report.Check(driven.status(), "a stream with one pose in flight")) return times;
  // Without the time before: how late a busy machine wakes this process is not the server's.
  for (const bench::Sample& sample : driven->samples) {
    times.push_back(sample.latency - sample.parts[bench::kHold]);
  }
  return times;
}

void MeasureLatency(Report& report, const LoadOptions& options) {
  // 60 s give 3,600 poses at 60 a second, of which the slowest 36 are beyond p99.
  const double seconds = std::clamp(options.seconds / 20, 1.0, 60.0);
  LoadServer server(report, {"--set", "max-bound-bytes=500000000"});
  const client::Client client = server.Client();
  Motion motion = LoadMotion(true, 0.25, "lbs");
  const auto character =
      report.Need(client::Character::Create(client, motion.rig, motion.recipe), "Character");
  const std::string session = character.session().name;
  report.Need(RecordSums(client, session, motion), "DeformClip");
  const auto large = report.Need(
      client.UploadRig(client::Tube({.rings = 100, .segments = 100, .joints = 8, .frames = 1}).rig),
      "UploadRig");
  for (const bool paced : {true, false}) {
    const Seconds period(paced ? 1.0 / 60 : 0);
    const std::string name = paced ? "60 poses a second" : "one pose after the other";
    Measure(report, client, session, motion, period, seconds, name);
    const Binds binds(report, server, large.rig.name);
    const auto start = LoadClock::now();
    Measure(report, client, session, motion, period, seconds, name + ", beside binds");
    report.Note(name + ": binds a second",
                static_cast<double>(binds.count()) / SecondsSince(start));
  }
  server.Stop();
}

}  // namespace sinew::testing
