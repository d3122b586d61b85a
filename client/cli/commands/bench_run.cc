#include "client/cli/commands/bench_run.h"

#include <absl/strings/str_cat.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <latch>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/status.h"

namespace sinew::cli {
namespace {

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

struct Sample {
  double latency, queue, evaluate, encode, copy;  // ms
  std::uint64_t bytes;
  Clock::time_point received;
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// One stream on a thread of its own.
class Worker {
 public:
  Worker(const Context& context, const client::Character& character, const client::ClipData& clip,
         const LoadOptions& options)
      : context_(context), character_(character), clip_(clip), options_(options) {}

  absl::Status Open() {
    client::StreamOptions stream;
    stream.output = options_.output;
    stream.window = options_.depth;
    stream.max_queued = options_.depth;
    SINEW_ASSIGN_OR_RETURN(stream_, character_.OpenStream(stream, context_.call()));
    const std::size_t values = stream_->info().vertices * 3;
    positions_.resize(values);
    sent_at_.resize(options_.depth);
    return absl::OkStatus();
  }

  // Keeps `depth` poses under way until `end`, then drains.
  void Run(Clock::time_point warm, Clock::time_point end) {
    const std::stop_callback cancel(context_.stop(), [this] { stream_->Cancel(); });
    status_ = Pump(warm, end);
    resumed_ = stream_->info().resumed;
  }

  const absl::Status& status() const { return status_; }
  const std::vector<Sample>& samples() const { return samples_; }
  std::uint32_t resumed() const { return resumed_; }

 private:
  absl::Status Pump(Clock::time_point warm, Clock::time_point end) {
    std::uint64_t sent = 0, received = 0;
    bool finished = false;
    while (true) {
      while (!finished && sent - received < options_.depth && stream_->room() > 0) {
        const Clock::time_point now = Clock::now();
        if (now >= end) {
          stream_->Finish();
          finished = true;
          break;
        }
        client::Pose pose = PoseOf(clip_, sent % clip_.frames);
        pose.frame = ++sent;
        sent_at_[sent % options_.depth] = now;
        if (const auto queued = stream_->Send(pose); !queued.ok()) return queued.status();
      }
      SINEW_ASSIGN_OR_RETURN(const std::optional<client::StreamItem> item, stream_->Next());
      if (!item) return context_.CheckStop();
      if (!item->problem.ok()) return item->problem;
      ++received;
      SINEW_RETURN_IF_ERROR(Record(*item, warm));
    }
  }

  absl::Status Record(const client::StreamItem& item, Clock::time_point warm) {
    const Clock::time_point arrived = Clock::now();
    const Clock::time_point sent = sent_at_[item.frame % options_.depth];
    const client::FrameView& view = item.view;
    SINEW_RETURN_IF_ERROR(view.CopyPositions(positions_));
    if (!view.normals().empty()) {
      normals_.resize(positions_.size());
      SINEW_RETURN_IF_ERROR(view.CopyNormals(normals_));
    }
    const Clock::time_point copied = Clock::now();
    if (sent < warm) return absl::OkStatus();
    const client::FrameTiming timing = view.timing();
    samples_.push_back({Milliseconds(arrived - sent), absl::ToDoubleMilliseconds(timing.queue),
                        absl::ToDoubleMilliseconds(timing.evaluate),
                        absl::ToDoubleMilliseconds(timing.encode), Milliseconds(copied - arrived),
                        view.positions().size() + view.normals().size(), arrived});
    return absl::OkStatus();
  }

  const Context& context_;
  const client::Character& character_;
  const client::ClipData& clip_;
  const LoadOptions& options_;
  std::optional<client::Stream> stream_;
  std::vector<float> positions_, normals_;
  std::vector<Clock::time_point> sent_at_;  // by frame number modulo depth
  std::vector<Sample> samples_;
  absl::Status status_;
  std::uint32_t resumed_ = 0;
};

LoadResult Gathered(const std::vector<Sample>& samples, Clock::time_point warm) {
  LoadResult result;
  const auto spread = [&](auto&& value) {
    std::vector<double> values;
    values.reserve(samples.size());
    for (const Sample& sample : samples) values.push_back(value(sample));
    return SpreadOf(std::move(values));
  };
  Clock::time_point last = warm;
  for (const Sample& sample : samples) {
    result.bytes += sample.bytes;
    last = std::max(last, sample.received);
  }
  result.frames = samples.size();
  result.seconds = Milliseconds(last - warm) / 1000;
  result.latency = spread([](const Sample& s) { return s.latency; });
  result.queue = spread([](const Sample& s) { return s.queue; });
  result.evaluate = spread([](const Sample& s) { return s.evaluate; });
  result.encode = spread([](const Sample& s) { return s.encode; });
  result.copy = spread([](const Sample& s) { return s.copy; });
  result.wire = spread(
      [](const Sample& s) { return std::max(0.0, s.latency - s.queue - s.evaluate - s.encode); });
  return result;
}

}  // namespace

Spread SpreadOf(std::vector<double> values) {
  Spread spread;
  if (values.empty()) return spread;
  std::sort(values.begin(), values.end());
  const auto rank = [&](double part) {
    const double k = std::ceil(part * static_cast<double>(values.size()));
    return values[static_cast<std::size_t>(std::max(1.0, k)) - 1];
  };
  spread.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  spread.p50 = rank(0.5);
  spread.p90 = rank(0.9);
  spread.p99 = rank(0.99);
  spread.p999 = rank(0.999);
  spread.maximum = values.back();
  return spread;
}

absl::StatusOr<LoadResult> RunLoad(const Context& context, const client::Character& character,
                                   const client::ClipData& clip, const LoadOptions& options) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::uint32_t k = 0; k < options.streams; ++k) {
    workers.push_back(std::make_unique<Worker>(context, character, clip, options));
    SINEW_RETURN_IF_ERROR(workers.back()->Open());
  }
  const Clock::time_point warm = Clock::now() + absl::ToChronoNanoseconds(options.warmup);
  const Clock::time_point end = warm + absl::ToChronoNanoseconds(options.duration);
  std::latch running(static_cast<std::ptrdiff_t>(workers.size()));
  std::vector<std::jthread> threads;
  for (auto& worker : workers) {
    threads.emplace_back([&worker, &running, warm, end] {
      worker->Run(warm, end);
      running.count_down();
    });
  }
  const auto line = context.MakeProgress("Bench");
  double cpu_before = CpuSeconds();
  bool warming = true;
  while (!running.try_wait()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const Clock::time_point now = Clock::now();
    if (warming && now >= warm) {
      cpu_before = CpuSeconds();
      warming = false;
    }
    line->Update(Milliseconds(now - warm) / absl::ToDoubleMilliseconds(options.duration));
  }
  threads.clear();
  const double cpu = CpuSeconds() - cpu_before;
  line->Close();
  std::vector<Sample> samples;
  std::uint32_t resumed = 0;
  for (const auto& worker : workers) {
    SINEW_RETURN_IF_ERROR(worker->status());
    samples.insert(samples.end(), worker->samples().begin(), worker->samples().end());
    resumed += worker->resumed();
  }
  LoadResult result = Gathered(samples, warm);
  result.client_cpu_seconds = cpu;
  result.resumed = resumed;
  return result;
}

}  // namespace sinew::cli
