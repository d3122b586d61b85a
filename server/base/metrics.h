// metrics.h - the server's metrics, served at /metrics. One registry per server; names start with
// sinew_, and those of the process as everywhere with process_.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sinew/v1/info_service.pb.h"
#include "sinew/v1/problem.pb.h"

namespace sinew::server {

// Counters of one RPC method; looked up once, when the server starts.
struct MethodMetrics {
  std::string name;  // "sinew.v1.DeformService/Deform"
  prometheus::Family<prometheus::Counter>* calls = nullptr;
  prometheus::Histogram* seconds = nullptr;
  prometheus::Gauge* in_flight = nullptr;

  void Finished(int grpc_code, double elapsed_seconds) const;
};

// Observes `time` as seconds and returns it in nanoseconds.
std::uint64_t Observe(std::chrono::nanoseconds time, prometheus::Histogram& seconds);

// Thread-safe.
class Metrics {
  prometheus::Registry registry_;  // declared before the metrics that refer to it

 public:
  Metrics(const std::string& version, const std::string& simd);

  MethodMetrics AddMethod(const std::string& name);

  prometheus::Counter& frames;          // sent
  prometheus::Counter& frame_bytes;     // bulk bytes of sent frames
  prometheus::Counter& skipped;         // poses replaced by newer ones in mode LATEST
  prometheus::Counter& viewer_skipped;  // frames that viewers of streams have missed
  prometheus::Counter& frame_problems;  // poses answered by a problem
  prometheus::Histogram& queue_seconds;
  prometheus::Histogram& evaluate_seconds;
  prometheus::Histogram& encode_seconds;
  prometheus::Histogram& send_seconds;
  prometheus::Histogram& bind_seconds;
  prometheus::Counter& binds_bound;
  prometheus::Counter& binds_loaded;
  prometheus::Counter& binds_fetched;  // from the shared store
  prometheus::Counter& binds_failed;
  prometheus::Counter& damaged_rigs;
  prometheus::Counter& damaged_bound;
  prometheus::Counter& evicted_bound;
  prometheus::Counter& evicted_parsed;
  prometheus::Counter& evicted_rigs;
  prometheus::Counter& scrubbed_bytes;
  prometheus::Counter& scrub_passes;
  prometheus::Counter& sessions_expired;
  prometheus::Counter& sessions_restored;
  prometheus::Counter& rigs_fetched;
  prometheus::Counter& store_fetched_bytes;
  prometheus::Counter& store_written_bytes;

  // How long work waits for a thread of a lane: "control", "storage".
  prometheus::Histogram& AddLane(const std::string& lane);

  // A request to the shared store: "get", "put"; "ok", "not_found", "refused", or "failed" if the
  // store is down.
  void StoreRequest(const std::string& operation, const std::string& outcome, double seconds);

  // A failed call: by reason, if it has one, and by the option of the limit that was reached, or
  // empty.
  void CountFailure(v1::Reason reason, const std::string& limit);

  // A value that is read whenever the metrics are: a gauge, or a counter if it only grows. `read`
  // must be valid as long as Text is called.
  void AddGauge(const char* name, const char* help, std::function<double()> read,
                const prometheus::Labels& labels = {});
  void AddCounter(const char* name, const char* help, std::function<double()> read,
                  const prometheus::Labels& labels = {});

  // All metrics in the text exposition format, with gauges from `stats`.
  std::string Text(const v1::ServerStats& stats);

 private:
  prometheus::Counter& Count(const char* name, const char* help,
                             const prometheus::Labels& labels = {});
  prometheus::Histogram& Seconds(const char* name, const char* help);

  std::vector<std::pair<std::uint64_t (v1::ServerStats::*)() const, prometheus::Gauge*>> gauges_;
  absl::Mutex reading_;  // held by Text
  std::vector<std::function<void()>> readings_ ABSL_GUARDED_BY(reading_);
  prometheus::Family<prometheus::Counter>& failures_;
  prometheus::Family<prometheus::Counter>& refusals_;
  prometheus::Family<prometheus::Counter>& store_requests_;
  prometheus::Histogram& store_seconds_;
};

}  // namespace sinew::server
