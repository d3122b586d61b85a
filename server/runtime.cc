#include "server/runtime.h"

#include <algorithm>
#include <limits>

#include "core/base/status.h"
#include "core/simd/target.h"
#include "server/base/version.h"
#include "server/store/data_folder.h"

namespace sinew::server {
namespace {

constexpr std::size_t kWorkers = 2;          // blocking work: disk, parsing
constexpr std::size_t kWaitingCalls = 1024;  // for a worker
constexpr std::uint64_t kIdleFrameBytes = std::uint64_t{256} << 20;
constexpr std::chrono::milliseconds kTick{250};
constexpr std::chrono::seconds kFilesPeriod{1};  // of looking for changed tokens and certificates

}  // namespace

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Create(const Config& config, Clock& clock) {
  std::unique_ptr<Runtime> runtime(new Runtime(config, clock));
  if (const std::string& folder = config.rigs.data_dir; !folder.empty()) {
    SINEW_ASSIGN_OR_RETURN(runtime->data_lock, OpenDataFolder(folder, runtime->log));
  }
  SINEW_ASSIGN_OR_RETURN(runtime->access, Access::Create(config.access, clock, runtime->log));
  const double share = config.access.client_share;
  SINEW_ASSIGN_OR_RETURN(runtime->rigs, RigStore::Open(config.rigs, share, runtime->log));
  SINEW_ASSIGN_OR_RETURN(runtime->uploads, UploadTable::Open(config.rigs, share, *runtime->rigs,
                                                             runtime->log, clock.Now()));
  SINEW_ASSIGN_OR_RETURN(runtime->bound,
                         DeformerCache::Open(config.binds, config.rigs.data_dir, runtime->arenas,
                                             runtime->timers, runtime->metrics, runtime->log));
  Runtime* self = runtime.get();
  self->bound->RemoveOrphans([self](const RigKey& rig) { return self->rigs->Has(rig); });
  runtime->timers.Every(kTick, [self] { self->Tick(); });
  runtime->timers.Every(kFilesPeriod, [self] {
    if (!self->access->FilesChanged()) return;
    // A full queue: the next period tries again.
    self->workers.Post([self] { self->access->Reload(); }).IgnoreError();
  });
  return runtime;
}

Runtime::Runtime(const Config& c, Clock& server_clock)
    : clock(server_clock),
      config(c),
      log(MakeLog(c.log)),
      metrics(kVersion, std::string(IsaName(ActiveIsa()))),
      work(std::numeric_limits<std::uint64_t>::max(), 1, "", "calls"),
      streams(c.streams.count, c.access.client_share, "max-streams", "streams"),
      deforms(c.compute.deforms, c.access.client_share, "max-deforms", "calls"),
      compares(c.compare.count, c.access.client_share, "max-compares", "calls"),
      watches(c.sessions.watches, c.access.client_share, "max-watches", "calls"),
      weights(c.weights.count, c.access.client_share, "max-weight-calls", "calls"),
      transfers(c.rigs.transfers, c.access.client_share, "max-transfers", "calls"),
      frame_bytes(c.compute.frame_bytes, c.access.client_share, "max-frame-bytes", "bytes",
                  "frames"),
      compare_bytes(c.compare.bytes, c.access.client_share, "max-compare-bytes", "bytes",
                    "comparisons"),
      timers(clock),
      arenas(c.Threads()),
      frames(FramePool::Create(kIdleFrameBytes)),
      evaluators{config.streams, config.compute.inline_microseconds, metrics, *frames},
      sessions(c.sessions, c.access.client_share),
      workers(kWorkers, {.capacity = kWaitingCalls,
                         .subject = "server",
                         .unit = "waiting calls",
                         .option = "workers",
                         .retry = absl::Seconds(1)}),
      started_(clock.Now()) {}

Runtime::~Runtime() {
  timers.Stop();
  workers.Stop();
  arenas.Wait();
  sessions.Clear();  // uses of bound data end before the cache does
  bound.reset();
  arenas.Wait();  // for what the last binds have posted
}

void Runtime::AddCall(const std::shared_ptr<LiveCall>& call) {
  const absl::MutexLock lock(&mutex_);
  std::erase_if(live_, [](const auto& known) { return known.expired(); });
  live_.push_back(call);
}

std::vector<std::shared_ptr<LiveCall>> Runtime::LiveCalls() {
  std::vector<std::shared_ptr<LiveCall>> calls;
  const absl::MutexLock lock(&mutex_);
  for (const auto& known : live_) {
    if (auto call = known.lock()) calls.push_back(std::move(call));
  }
  return calls;
}

void Runtime::Drain() {
  if (work.closed()) return;
  work.Close();
  log->info("draining");
  for (const auto& call : LiveCalls()) call->Drain();
}

void Runtime::Tick() {
  const Clock::Time now = clock.Now();
  for (const auto& call : LiveCalls()) call->Tick(now);
  if (const std::size_t ended = sessions.Expire(now); ended > 0) {
    log->info("{} session(s) expired", ended);
  }
  uploads->Expire(now);
}

v1::ServerStats Runtime::Stats() const {
  v1::ServerStats stats;
  stats.set_rigs(rigs->count());
  stats.set_rig_bytes(rigs->stored_bytes());
  stats.set_sessions(sessions.count());
  stats.set_bound_entries(bound->entries());
  stats.set_bound_bytes(bound->bytes());
  stats.set_streams(streams.count());
  stats.set_frames_sent(static_cast<std::uint64_t>(metrics.frames.Value()));
  const auto up = clock.Now() - started_;
  stats.set_uptime_seconds(
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(up).count()));
  stats.set_binds_running(bound->binds_running());
  stats.set_binds_queued(bound->binds_queued());
  return stats;
}

}  // namespace sinew::server
