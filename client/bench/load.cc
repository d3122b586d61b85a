#include "client/bench/load.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "client/bench/rounds.h"
#include "core/base/status.h"

namespace sinew::bench {
namespace {

constexpr double kWarmSeconds = 0.1;  // of a round of the warm-up
constexpr std::size_t kWarmPoses = 5, kWarmRounds = 3;
constexpr double kWarmTolerance = 0.1, kWarmMilliseconds = 0.02;

Clock::duration Seconds(double seconds) {
  return std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(seconds));
}

double SecondsSince(Clock::time_point start, Clock::time_point end = Clock::now()) {
  return std::chrono::duration<double>(end - start).count();
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

absl::StatusOr<Load> Load::Open(const client::Character& character, const client::ClipData& clip,
                                const LoadOptions& options, const client::CallOptions& call) {
  Load load(clip, options);
  for (std::uint32_t k = 0; k < options.streams; ++k) {
    SINEW_ASSIGN_OR_RETURN(
        client::Stream stream,
        character.OpenStream(
            {.output = options.output, .window = options.depth, .max_queued = options.depth},
            call));
    load.streams_.push_back(std::move(stream));
  }
  return load;
}

absl::StatusOr<Round> Load::Run(double seconds, std::size_t least, const std::stop_token& stop) {
  const std::stop_callback cancel(stop, [&] {
    for (client::Stream& stream : streams_) stream.Cancel();
  });
  const Clock::duration period =
      options_.rate > 0 ? Seconds(options_.streams / options_.rate) : Clock::duration::zero();
  const double cpu_before = CpuSeconds();
  const Clock::time_point start = Clock::now();
  std::vector<absl::StatusOr<Driven>> driven(streams_.size(), Driven());
  {
    std::vector<std::jthread> threads;
    for (std::size_t k = 0; k < streams_.size(); ++k) {
      threads.emplace_back([&, k] {
        driven[k] =
            Drive(streams_[k], {.depth = options_.depth,
                                .period = period,
                                .first = start + period * k / streams_.size(),  // they take turns
                                .end = start + Seconds(seconds),
                                .least = least,
                                .pose = [&](std::uint64_t number) {
                                  return client::PoseOf(*clip_, (number - 1) % clip_->frames);
                                }});
      });
    }
  }
  Round round{.seconds = seconds, .cpu_seconds = CpuSeconds() - cpu_before};
  for (const absl::StatusOr<Driven>& each : driven) {
    SINEW_RETURN_IF_ERROR(each.status());
    round.samples.insert(round.samples.end(), each->samples.begin(), each->samples.end());
    round.bytes += each->bytes;
    round.unsent += each->unsent;
    round.seconds = std::max(round.seconds, SecondsSince(start, each->last));
  }
  return round;
}

absl::StatusOr<WarmUp> Load::Warm(double longest, const std::stop_token& stop) {
  const Clock::time_point start = Clock::now();
  std::vector<double> medians;
  while (true) {
    SINEW_ASSIGN_OR_RETURN(const Round round, Run(kWarmSeconds, kWarmPoses, stop));
    std::vector<double> latencies;
    for (const Sample& sample : round.samples) latencies.push_back(sample.latency);
    medians.push_back(QuartilesOf(std::move(latencies)).median);
    if (medians.size() >= kWarmRounds) {
      const auto [low, high] = std::minmax_element(medians.end() - kWarmRounds, medians.end());
      if (*high - *low <= std::max(kWarmTolerance * *low, kWarmMilliseconds)) {
        return WarmUp{.seconds = SecondsSince(start), .stable = true};
      }
    }
    if (SecondsSince(start) >= longest) return WarmUp{.seconds = SecondsSince(start)};
  }
}

std::uint32_t Load::resumed() const {
  std::uint32_t resumed = 0;
  for (const client::Stream& stream : streams_) resumed += stream.info().resumed;
  return resumed;
}

}  // namespace sinew::bench
