#include "server/base/metrics.h"

#include <absl/status/status.h>
#include <prometheus/text_serializer.h>

#include <algorithm>

#include "server/base/status.h"

namespace sinew::server {
namespace {

prometheus::Histogram::BucketBoundaries TimeBuckets() {
  return {2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02,
          0.05, 0.1,  0.5,  1,    5,    30,   120,  600,  3600};
}

}  // namespace

Metrics::Metrics(const std::string& version, const std::string& simd)
    : frames(Count("sinew_frames_total", "Frames sent")),
      frame_bytes(Count("sinew_frame_bytes_total", "Bulk bytes of frames sent")),
      skipped(Count("sinew_poses_skipped_total", "Poses replaced by newer ones")),
      viewer_skipped(Count("sinew_viewer_frames_skipped_total",
                           "Frames of published streams that a viewer missed")),
      frame_problems(Count("sinew_frame_problems_total", "Poses answered by a problem")),
      queue_seconds(
          Seconds("sinew_frame_queue_seconds", "Time from receiving a pose to evaluating it")),
      evaluate_seconds(Seconds("sinew_frame_evaluate_seconds", "Time to evaluate a frame")),
      encode_seconds(
          Seconds("sinew_frame_encode_seconds", "Time to compute the checksums of a frame")),
      send_seconds(
          Seconds("sinew_frame_send_seconds", "Time from write to hand-over to the kernel")),
      bind_seconds(Seconds("sinew_bind_seconds", "Time to compute a bind")),
      binds_bound(Count("sinew_binds_total", "Binds by outcome", {{"outcome", "bound"}})),
      binds_loaded(Count("sinew_binds_total", "Binds by outcome", {{"outcome", "loaded"}})),
      binds_fetched(Count("sinew_binds_total", "Binds by outcome", {{"outcome", "fetched"}})),
      binds_failed(Count("sinew_binds_total", "Binds by outcome", {{"outcome", "failed"}})),
      damaged_rigs(Count("sinew_damaged_files_total", "Damaged files found", {{"kind", "rig"}})),
      damaged_bound(Count("sinew_damaged_files_total", "Damaged files found", {{"kind", "bound"}})),
      evicted_bound(Count("sinew_evictions_total", "Unused data dropped from memory to make room",
                          {{"kind", "bound"}})),
      evicted_parsed(Count("sinew_evictions_total", "Unused data dropped from memory to make room",
                           {{"kind", "parsed"}})),
      evicted_rigs(Count("sinew_evictions_total", "Unused data dropped from memory to make room",
                         {{"kind", "rig"}})),
      scrubbed_bytes(Count("sinew_scrubbed_bytes_total", "Bytes reread to find damage")),
      scrub_passes(Count("sinew_scrub_passes_total", "Complete passes over all stored files")),
      sessions_expired(Count("sinew_sessions_expired_total", "Sessions whose lease ended")),
      sessions_restored(Count("sinew_sessions_restored_total",
                              "Sessions of other servers that this one continued")),
      rigs_fetched(Count("sinew_rigs_fetched_total", "Rigs read from the shared store")),
      store_fetched_bytes(
          Count("sinew_store_fetched_bytes_total", "Bytes read from the shared store")),
      store_written_bytes(
          Count("sinew_store_written_bytes_total", "Bytes written to the shared store")),
      failures_(prometheus::BuildCounter()
                    .Name("sinew_failures_total")
                    .Help("Failed calls by the reason in their details")
                    .Register(registry_)),
      refusals_(prometheus::BuildCounter()
                    .Name("sinew_refusals_total")
                    .Help("Calls refused because a limit was reached, by its option")
                    .Register(registry_)),
      store_requests_(prometheus::BuildCounter()
                          .Name("sinew_store_requests_total")
                          .Help("Requests to the shared store by operation and outcome")
                          .Register(registry_)),
      store_seconds_(
          Seconds("sinew_store_request_seconds", "Time of requests to the shared store")) {
  prometheus::BuildGauge()
      .Name("sinew_build_info")
      .Help("Version and instruction set; always 1")
      .Register(registry_)
      .Add({{"version", version}, {"simd", simd}})
      .Set(1);
  for (int reason = v1::REASON_UNSPECIFIED + 1; reason < v1::Reason_ARRAYSIZE; ++reason) {
    if (v1::Reason_IsValid(reason)) failures_.Add({{"reason", NameOf(v1::Reason(reason))}});
  }
  const auto gauge = [&](const char* name, const char* help, auto field) {
    gauges_.emplace_back(
        field, &prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add({}));
  };
  gauge("sinew_rigs", "Stored rigs", &v1::ServerStats::rigs);
  gauge("sinew_rig_bytes", "Bytes of stored rigs", &v1::ServerStats::rig_bytes);
  gauge("sinew_sessions", "Sessions", &v1::ServerStats::sessions);
  gauge("sinew_bound_entries", "Bound rigs in memory", &v1::ServerStats::bound_entries);
  gauge("sinew_bound_bytes", "Bytes of bound data in memory", &v1::ServerStats::bound_bytes);
  gauge("sinew_streams", "Open StreamDeform calls", &v1::ServerStats::streams);
  gauge("sinew_uptime_seconds", "Time since start", &v1::ServerStats::uptime_seconds);
  gauge("sinew_binds_running", "Running binds", &v1::ServerStats::binds_running);
  gauge("sinew_binds_queued", "Waiting binds", &v1::ServerStats::binds_queued);
}

prometheus::Counter& Metrics::Count(const char* name, const char* help,
                                    const prometheus::Labels& labels) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry_).Add(labels);
}

prometheus::Histogram& Metrics::Seconds(const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_).Add({},
                                                                                    TimeBuckets());
}

prometheus::Histogram& Metrics::AddLane(const std::string& lane) {
  return prometheus::BuildHistogram()
      .Name("sinew_worker_wait_seconds")
      .Help("Time that work waits for a thread")
      .Register(registry_)
      .Add({{"lane", lane}}, TimeBuckets());
}

void Metrics::CountFailure(v1::Reason reason, const std::string& limit) {
  if (reason != v1::REASON_UNSPECIFIED) failures_.Add({{"reason", NameOf(reason)}}).Increment();
  if (!limit.empty()) refusals_.Add({{"limit", limit}}).Increment();
}

void Metrics::StoreRequest(const std::string& operation, const std::string& outcome,
                           double seconds) {
  store_requests_.Add({{"operation", operation}, {"outcome", outcome}}).Increment();
  store_seconds_.Observe(seconds);
}

void Metrics::AddGauge(const char* name, const char* help, std::function<double()> read,
                       const prometheus::Labels& labels) {
  auto& gauge = prometheus::BuildGauge().Name(name).Help(help).Register(registry_).Add(labels);
  const absl::MutexLock lock(&reading_);
  readings_.push_back([&gauge, read = std::move(read)] { gauge.Set(read()); });
}

void Metrics::AddCounter(const char* name, const char* help, std::function<double()> read,
                         const prometheus::Labels& labels) {
  auto& counter = Count(name, help, labels);
  const absl::MutexLock lock(&reading_);
  readings_.push_back([&counter, read = std::move(read)] {
    counter.Increment(std::max(0.0, read() - counter.Value()));
  });
}

MethodMetrics Metrics::AddMethod(const std::string& name) {
  auto& calls = prometheus::BuildCounter()
                    .Name("sinew_rpcs_total")
                    .Help("Finished calls by method and code")
                    .Register(registry_);
  auto& seconds = prometheus::BuildHistogram()
                      .Name("sinew_rpc_seconds")
                      .Help("Duration of calls")
                      .Register(registry_);
  auto& in_flight = prometheus::BuildGauge()
                        .Name("sinew_rpcs_in_flight")
                        .Help("Running calls")
                        .Register(registry_);
  // From the start, so that Prometheus sees the first one increase them.
  for (const char* code : {"INTERNAL", "DATA_LOSS"}) calls.Add({{"method", name}, {"code", code}});
  return {.name = name,
          .calls = &calls,
          .seconds = &seconds.Add({{"method", name}}, TimeBuckets()),
          .in_flight = &in_flight.Add({{"method", name}})};
}

void MethodMetrics::Finished(int grpc_code, double elapsed_seconds) const {
  const auto code = static_cast<absl::StatusCode>(grpc_code);
  calls->Add({{"method", name}, {"code", absl::StatusCodeToString(code)}}).Increment();
  seconds->Observe(elapsed_seconds);
  in_flight->Decrement();
}

std::uint64_t Observe(std::chrono::nanoseconds time, prometheus::Histogram& seconds) {
  seconds.Observe(std::chrono::duration<double>(time).count());
  return static_cast<std::uint64_t>(time.count());
}

std::string Metrics::Text(const v1::ServerStats& stats) {
  for (const auto& [field, gauge] : gauges_) gauge->Set(static_cast<double>((stats.*field)()));
  const absl::MutexLock lock(&reading_);
  for (const auto& read : readings_) read();
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace sinew::server
