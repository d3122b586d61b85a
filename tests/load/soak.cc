// Streams, uploads, deletes, binds, computed weights and look-ups at a time, for a long time.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <thread>

#include "tests/integration/server/resident_memory.h"
#include "tests/load/bounds.h"
#include "tests/load/cast.h"
#include "tests/load/churn.h"
#include "tests/load/load_server.h"
#include "tests/load/pace.h"
#include "tests/load/parts.h"
#include "tests/load/process_sampler.h"
#include "tests/load/statistics.h"
#include "tests/load/stream_load.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

constexpr std::size_t kStreamsPerConnection = 20;
constexpr double kWarmUp = 0.25;  // of the time
constexpr double kFullRun = 60;   // s; shorter ones do not fill caches first

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

class SoakRun {
 public:
  SoakRun(Report& report, const LoadOptions& options)
      : report_(report),
        options_(options),
        server_(report, Flags(folder_.path().string())),
        client_(server_.Client()) {}

  void Run() {
    heap_before_ = server_.HeapBytes();
    const auto start = LoadClock::now();
    const Cast cast(report_, client_, options_.sessions);
    std::printf("%zu sessions of %zu binds of %zu rigs after %.1f s\n", cast.sessions().size(),
                cast.pairs(), cast.rigs(), SecondsSince(start));
    report_.Note("sessions", static_cast<double>(cast.sessions().size()));
    report_.Note("rigs x recipes", static_cast<double>(cast.pairs()));
    sampler_.emplace(server_.pid());
    Load(cast);
    CheckRest(cast);
    server_.Stop();
  }

 private:
  // The sessions use 30 MB of bound data, binds in progress some more, and one client may use half;
  // the other half is for FillCache.
  static std::vector<std::string> Flags(const std::string& folder) {
    return {"--data-dir", folder, "--set", "max-bound-bytes=160000000", "--max-bound-disk-bytes",
            "100000000"};
  }

  void Load(const Cast& cast) {
    std::vector<client::Client> clients;
    for (std::size_t i = 0; i < options_.streams; i += kStreamsPerConnection) {
      clients.push_back(server_.Client());
    }
    Churn churn(report_, server_.address(), cast, options_.seed);
    if (options_.seconds >= kFullRun) FillCache(churn);
    begin_ = sampler_->Sample().seconds;
    StreamLoad streams(report_, clients, cast, options_.streams, options_.seed);
    churn.Start();
    std::vector<double> round_trips;
    const client::Client watched = server_.Client();
    std::jthread paced([&](const std::stop_token& stop) {
      round_trips =
          RoundTrips(report_, watched, cast.sessions()[0].name, *cast.sessions()[0].motion,
                     std::chrono::duration<double>(1.0 / 60), stop);
    });
    Pass(streams, churn, kWarmUp * options_.seconds);
    warm_ = sampler_->Sample().seconds;
    const double bound = BoundMegabytes();
    const std::vector<double> before = streams.Frames();
    streams.ForgetWaits();
    Pass(streams, churn, options_.seconds);
    end_ = sampler_->Sample().seconds;
    report_.Note("bound data after the warm-up", bound, "MB");
    report_.Note("bound data at the end", BoundMegabytes(), "MB");
    std::vector<double> frames = streams.Frames();
    for (std::size_t i = 0; i < frames.size(); ++i) frames[i] -= before[i];
    paced.request_stop();
    paced.join();
    streams.Finish();
    churn.Stop();
    ReportFrames(streams, frames);
    report_.Note("longest wait of a stream for a frame", streams.LongestWait(), "ms");
    report_.Note("60 poses a second beside all this: p50", Percentile(round_trips, 0.5), "ms");
    report_.Note("60 poses a second beside all this: p99", Percentile(round_trips, 0.99), "ms");
    ReportChurn(churn.counts());
    ReportProcess();
  }

  // Bound data that no session uses is kept while it fits. What is kept must not be mistaken for a
  // leak: binds until there is no more of it.
  void FillCache(Churn& churn) {
    double most = 0;
    for (int unchanged = 0; unchanged < 3 && report_.errors() == 0;) {
      churn.BindNow(20);
      const double now = BoundMegabytes();
      unchanged = now > most ? 0 : unchanged + 1;
      most = std::max(most, now);
    }
    std::printf("%.0f MB of bound data are kept at most\n", most);
  }

  // Prints progress until so many seconds after the begin, or until everything has failed.
  void Pass(const StreamLoad& streams, const Churn& churn, double until) {
    const double step = std::clamp(options_.seconds / 8, 1.0, 10.0);
    while (true) {
      const ProcessSample now = sampler_->Sample();
      const double elapsed = now.seconds - begin_;
      const std::vector<double> frames = streams.Frames();
      const auto [fewest, most] = std::ranges::minmax(frames);
      const auto& counts = churn.counts();
      std::printf(
          "%6.0f s  %9.0f frames, %.0f to %.0f a stream  %6.0f MB, %.0f bound  %3.0f files  %3.0f "
          "threads"
          "  %llu uploads  %llu binds  %llu weights  %llu look-ups  %llu errors\n",
          elapsed, Sum(frames), fewest, most, now.kilobytes / 1024, BoundMegabytes(), now.files,
          now.threads, Count(counts.uploads), Count(counts.binds), Count(counts.weights),
          Count(counts.look_ups), static_cast<unsigned long long>(report_.errors()));
      std::fflush(stdout);
      if (elapsed >= until) return;
      WaitTill(After(std::min(step, until - elapsed)), {});
    }
  }

  double BoundMegabytes() const {
    return static_cast<double>(server_.Stats(client_).bound_bytes) / (1 << 20);
  }
  static unsigned long long Count(const std::atomic<std::uint64_t>& count) { return count.load(); }

  void ReportFrames(const StreamLoad& streams, const std::vector<double>& frames) {
    std::map<std::string, std::vector<double>> groups;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      groups[streams.GroupOf(i)].push_back(frames[i]);
    }
    std::printf(
        "\n| streams of | number | fewest | most | fewest / most |\n|---|--:|--:|--:|--:|\n");
    double worst = 1;
    for (const auto& [name, counts] : groups) {
      const auto [fewest, most] = std::ranges::minmax(counts);
      std::printf("| %s | %zu | %.0f | %.0f | %.2f |\n", name.c_str(), counts.size(), fewest, most,
                  Fairness(counts));
      worst = std::min(worst, Fairness(counts));
    }
    std::printf("\n");
    const double seconds = end_ - warm_;
    report_.Note("streams", static_cast<double>(frames.size()));
    report_.Note("frames checked a second", Sum(frames) / seconds);
    report_.Note("fewest frames of a stream a second", std::ranges::min(frames) / seconds);
    report_.Note("most frames of a stream a second", std::ranges::max(frames) / seconds);
    report_.Note("fewest over most frames, all streams", Fairness(frames));
    report_.AtLeast("fewest over most frames, same recipe and size", worst, "", bounds::kFairness,
                    Report::Kind::kTime);
  }

  void ReportChurn(const Churn::Counts& counts) {
    const auto note = [&](const char* name, std::uint64_t count) {
      report_.Note(name, static_cast<double>(count));
    };
    note("rigs uploaded, bound and deformed beside them", counts.uploads);
    note("rigs deleted", counts.deletes);
    note("binds of new recipes", counts.binds);
    note("ComputeWeights", counts.weights);
    note("look-ups and Deform calls of sessions", counts.look_ups);
  }

  void ReportProcess() {
    std::vector<double> minutes, kilobytes;
    double files = 0, threads = 0;
    std::optional<ProcessSample> first;
    for (const ProcessSample& sample : sampler_->Samples()) {
      if (sample.seconds < warm_ || sample.seconds > end_) continue;
      if (!first) first = sample;
      minutes.push_back(sample.seconds / 60);
      kilobytes.push_back(sample.kilobytes);
      files = std::max(files, sample.files - first->files);
      threads = std::max(threads, sample.threads - first->threads);
    }
    if (!first)
      return report_.Error("no sample of the server after the warm-up: need more seconds");
    const double measured = (end_ - warm_) / 60;
    report_.Note("resident memory after the warm-up", first->kilobytes / 1024, "MB");
    report_.Note("resident memory at the end", kilobytes.back() / 1024, "MB");
    report_.Note("resident memory at its peak", sampler_->Sample().peak_kilobytes / 1024, "MB");
    const double slope = Slope(minutes, kilobytes);
    if (kMemoryIsJudged) {
      report_.AtMost("slope of resident memory after the warm-up", slope, "kB/min",
                     bounds::kMemorySlope + bounds::kResidentNoiseKilobytes / measured);
    } else {
      report_.Note("slope of resident memory after the warm-up", slope, "kB/min");
    }
    report_.Note("open files after the warm-up", first->files);
    report_.AtMost("more open files later", files, "", bounds::kMoreFiles);
    report_.Note("threads after the warm-up", first->threads);
    report_.AtMost("more threads later", threads, "", bounds::kMoreThreads);
  }

  // What the server still holds once all calls have ended: only what was not deleted.
  void CheckRest(const Cast& cast) {
    Expect("rigs", &client::ServerStats::rigs, static_cast<double>(cast.rigs()));
    Expect("sessions", &client::ServerStats::sessions, static_cast<double>(cast.sessions().size()));
    Expect("streams", &client::ServerStats::streams, 0);
    Expect("waiting binds", &client::ServerStats::binds_queued, 0);
    cast.Remove(report_, client_);
    Expect("sessions after all were deleted", &client::ServerStats::sessions, 0);
    Expect("rigs after all were deleted", &client::ServerStats::rigs, 0);
    Expect("bytes of bound data after all rigs were deleted", &client::ServerStats::bound_bytes, 0);
    report_.Note("resident memory after all was deleted", sampler_->Sample().kilobytes / 1024,
                 "MB");
    const double most = bounds::kLeftKilobytes + bounds::kMemorySlope * options_.seconds / 60;
    const auto start = LoadClock::now();
    double grown = (server_.HeapBytes() - heap_before_) / 1024;
    while (grown > bounds::kLeftKilobytes && SecondsSince(start) < bounds::kGivenBackSeconds) {
      WaitTill(After(1), {});
      grown = (server_.HeapBytes() - heap_before_) / 1024;
    }
    const char figure[] = "allocated memory that all this has left";
    if (kMemoryIsJudged) {
      report_.AtMost(figure, grown, "kB", most);
    } else {
      report_.Note(figure, grown, "kB");
    }
  }

  // The last calls may hold their part for a moment after the client has their answer.
  void Expect(const std::string& what, std::uint64_t client::ServerStats::*field, double count) {
    double found = -1;
    for (int attempt = 0; attempt < 100 && found != count; ++attempt) {
      if (attempt > 0) WaitTill(After(0.05), {});
      found = static_cast<double>(server_.Stats(client_).*field);
    }
    report_.AtMost(absl::StrCat("left at the end: ", what), found, "", count);
  }

  Report& report_;
  const LoadOptions options_;
  const TemporaryFolder folder_;
  LoadServer server_;
  const client::Client client_;
  std::optional<ProcessSampler> sampler_;
  double heap_before_ = 0;                 // bytes
  double begin_ = 0, warm_ = 0, end_ = 0;  // in the sampler's time
};

}  // namespace

void Soak(Report& report, const LoadOptions& options) {
  SoakRun(report, options).Run();
}

}  // namespace sinew::testing
