#include "server/runtime.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "core/simd/target.h"
#include "server/base/config_options.h"
#include "server/base/status.h"
#include "server/base/version.h"
#include "server/store/data_folder.h"

namespace sinew::server {
namespace {

constexpr std::size_t kControlThreads = 2, kStorageThreads = 2;
constexpr std::uint64_t kIdleFrameBytes = std::uint64_t{256} << 20;
constexpr std::size_t kFetchThreads = 4, kUpkeepThreads = 2;
// Threads besides those of the arenas and those that gRPC has for each core: lanes of work 18,
// writers of the shared store 2, log, audit log, timers, listener, and 7 of gRPC.
constexpr std::size_t kOtherThreads = 31;
constexpr std::chrono::milliseconds kTick{250};
constexpr std::chrono::seconds kUpkeep{2};  // of what servers share
constexpr std::chrono::seconds kFlush{5};   // for what waits to be written to the shared store
constexpr std::chrono::seconds kPause{5};
constexpr std::chrono::seconds kFilesPeriod{1};  // of looking for changed tokens and certificates

// Fewer threads for frames if the process cannot start all.
absl::Status FitThreads(ComputeConfig& compute) {
  // gRPC has threads for each core of the machine, whether or not this process may use it: from 2
  // to 16 that serve calls, from 2 to 32 that wait for sockets.
  const long cores = ::sysconf(_SC_NPROCESSORS_CONF);
  const auto of_grpc =
      static_cast<std::size_t>(std::clamp(cores, 2L, 16L) + std::clamp(cores, 2L, 32L));
  const auto needed = [of_grpc](std::uint64_t threads) {
    return Arenas::MostThreads(threads) + kOtherThreads + of_grpc;
  };
  const std::uint64_t startable = StartableThreads(needed(compute.threads), compute.memory_bytes);
  while (compute.threads > 1 && needed(compute.threads) > startable) --compute.threads;
  if (needed(compute.threads) <= startable) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("threads: this process can start ", startable, " threads beside ",
                   compute.memory_bytes / 1'000'000, " MB of memory, and needs ", needed(1),
                   "; limits that are set: ", ThreadLimits()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Runtime>> Runtime::Create(const Config& config, Clock& clock) {
  Config fitted = config;
  SINEW_RETURN_IF_ERROR(fitted.FitTo(ReadMachine()));
  const std::uint64_t wanted = fitted.compute.threads;
  SINEW_RETURN_IF_ERROR(FitThreads(fitted.compute));
  std::unique_ptr<Runtime> runtime(new Runtime(fitted, clock));
  if (fitted.compute.threads < wanted) {
    runtime->most_threads_ = fitted.compute.threads;
    runtime->log->warn(
        "threads: {} instead of {}, because this process can start no more; limits that are set: "
        "{}",
        fitted.compute.threads, wanted, ThreadLimits());
  }
  if (const std::string& folder = config.rigs.data_dir; !folder.empty()) {
    SINEW_ASSIGN_OR_RETURN(runtime->data_lock, OpenDataFolder(folder, runtime->log));
  }
  if (const std::string& file = config.log.audit; !file.empty()) {
    SINEW_ASSIGN_OR_RETURN(runtime->audit, AuditLog::Open(file));
  }
  SINEW_ASSIGN_OR_RETURN(runtime->access, Access::Create(config.access, clock, runtime->log));
  SINEW_RETURN_IF_ERROR(runtime->OpenStores(config.access.client_share));
  runtime->AddReadings();
  Runtime* self = runtime.get();
  if (runtime->rigs->files() != nullptr && config.scrub.bytes_per_second > 0) {
    runtime->scrubber = std::make_unique<Scrubber>(
        config.scrub, *runtime->rigs, *runtime->bound, runtime->timers,
        [self](std::function<void()> step) {
          return self->storage.Post({}, [step = std::move(step)](const absl::Status&) { step(); })
              .status();
        },
        runtime->metrics, runtime->log);
    runtime->scrubber->Start();
  }
  runtime->timers.Every(kTick, [self] { self->Tick(); });
  if (runtime->shared != nullptr || runtime->records != nullptr) {
    runtime->timers.Every(kUpkeep, [self] { self->PostUpkeep(); });
  }
  runtime->timers.Every(kFilesPeriod, [self] {
    if (!self->access->FilesChanged()) return;
    self->storage.PostStep({}, [self](const absl::Status&) { self->access->Reload(); });
  });
  return runtime;
}

absl::Status Runtime::OpenStores(double share) {
  if (!config.shared.store.empty()) {
    SINEW_ASSIGN_OR_RETURN(shared, SharedStore::Open(config.shared, metrics, log));
  }
  SINEW_ASSIGN_OR_RETURN(records, SessionRecords::Open(config.shared, log));
  SINEW_ASSIGN_OR_RETURN(rigs, RigStore::Open(config.rigs, share, shared.get(), metrics, log));
  SINEW_ASSIGN_OR_RETURN(uploads, UploadTable::Open(config.rigs, share, *rigs, log, clock.Now()));
  DeformerCache::Sharing sharing{.store = shared.get()};
  // Without a store there is nowhere to put what another server waits for.
  if (shared != nullptr) {
    sharing.take_claim = [this](const std::string& name) { return TakeClaim(name); };
  }
  SINEW_ASSIGN_OR_RETURN(
      bound, DeformerCache::Open(config.binds, share, config.rigs.data_dir, std::move(sharing),
                                 {pools.shorts, pools.longs}, arenas, timers, metrics, log));
  // With a store, rigs are not here because others were used more: their bound data is still good.
  bound->files().RemoveOrphans(
      [this](const RigKey& rig) { return shared != nullptr || rigs->Has(rig); });
  return absl::OkStatus();
}

Runtime::Runtime(const Config& c, Clock& server_clock)
    : clock(server_clock),
      config(c),
      output(LogOutput::ToStderr(c.log)),
      log(output->log()),
      metrics(kVersion, std::string(IsaName(ActiveIsa()))),
      calls(c.network.calls_per_second, "max-calls-per-second", "calls"),
      work(std::numeric_limits<std::uint64_t>::max(), 1, "", "calls"),
      connections(c.network.connections, c.access.client_share, "max-connections", "connections"),
      streams(c.streams.count, c.access.client_share, "max-streams", "streams"),
      deforms(c.compute.deforms, c.access.client_share, "max-deforms", "calls"),
      compares(c.compare.count, c.access.client_share, "max-compares", "calls"),
      watches(c.sessions.watches, c.access.client_share, "max-watches", "calls"),
      weights(c.weights.count, c.access.client_share, "max-weight-calls", "calls"),
      transfers(c.rigs.transfers, c.access.client_share, "max-transfers", "calls"),
      arriving(c.network.arriving_messages, c.access.client_share, "max-arriving-messages",
               "messages"),
      frame_bytes(c.compute.frame_bytes, c.access.client_share, "max-frame-bytes", "bytes",
                  "frames"),
      held_bytes(c.network.held_bytes, c.access.client_share, "max-held-bytes", "bytes", "call"),
      compare_bytes(c.compare.bytes, c.access.client_share, "max-compare-bytes", "bytes",
                    "comparisons"),
      arrivals(arriving),
      timers(clock),
      arenas(c.compute.threads),
      frames(FramePool::Create(kIdleFrameBytes)),
      evaluators{config.streams, config.compute.inline_microseconds, metrics, *frames},
      broadcasts(c.streams, c.access.client_share),
      sessions(c.sessions, c.access.client_share),
      waiting_calls(c.compute.waiting, c.access.client_share, "max-waiting-calls", "waiting calls"),
      control(pools.control, kControlThreads, waiting_calls, metrics.AddLane("control")),
      storage(pools.io, kStorageThreads, waiting_calls, metrics.AddLane("storage")),
      fetches(pools.io, c.shared.IsUsed() ? kFetchThreads : 0, waiting_calls,
              metrics.AddLane("fetches")),
      upkeep(pools.io, c.shared.IsUsed() ? kUpkeepThreads : 0, waiting_calls,
             metrics.AddLane("upkeep")),
      estimates(pools.shorts, 1, waiting_calls, metrics.AddLane("estimates")),
      weighing(pools.background, 1, waiting_calls, metrics.AddLane("weights")),
      started_(clock.Now()),
      last_tick_(started_),
      last_trim_(started_),
      current_(c) {}

std::vector<Quota*> Runtime::Quotas() {
  std::vector<Quota*> quotas = {
      &connections,   &streams,       &deforms,          &compares,          &watches,
      &weights,       &transfers,     &arriving,         &frame_bytes,       &held_bytes,
      &compare_bytes, &waiting_calls, &sessions.quota(), &broadcasts.quota()};
  for (const auto& stored : {rigs->quotas(), uploads->quotas(), bound->quotas()}) {
    quotas.insert(quotas.end(), stored.begin(), stored.end());
  }
  return quotas;
}

void Runtime::AddReadings() {
  for (const Quota* of : Quotas()) {
    const prometheus::Labels labels = {{"limit", std::string(of->name())}};
    metrics.AddGauge(
        "sinew_limit", "Limits of what all clients hold together",
        [of] { return static_cast<double>(of->limit()); }, labels);
    metrics.AddGauge(
        "sinew_limit_used", "What clients hold of these limits",
        [of] { return static_cast<double>(of->count()); }, labels);
  }
  const auto count = [](std::size_t value) { return static_cast<double>(value); };
  const auto lane = [&](const char* name, const Workers& workers) {
    const prometheus::Labels labels = {{"lane", name}};
    metrics.AddGauge(
        "sinew_worker_queue", "Work that waits for a thread",
        [=, &workers] { return count(workers.queued()); }, labels);
    metrics.AddGauge(
        "sinew_workers_running", "Threads at work",
        [=, &workers] { return count(workers.running()); }, labels);
  };
  lane("control", control);
  lane("storage", storage);
  lane("fetches", fetches);
  lane("estimates", estimates);
  lane("weights", weighing);
  metrics.AddGauge("sinew_arrivals_queue", "Calls that wait to receive a message",
                   [=, this] { return count(arrivals.waiting()); });
  metrics.AddGauge("sinew_arena_jobs", "Frames that wait for, or run in, an arena",
                   [=, this] { return count(arenas.posted()); });
  metrics.AddCounter("sinew_log_lines_dropped_total",
                     "Lines of the log that were lost because its reader was too slow",
                     [=, this] { return count(output->dropped()); });
  if (records != nullptr) {
    metrics.AddGauge("sinew_records_up", "Whether the sessions that servers share can be reached",
                     [=, this] { return records->up() ? 1.0 : 0.0; });
  }
  if (audit != nullptr) {
    metrics.AddCounter("sinew_audit_lines_dropped_total", "Lines of the audit log that were lost",
                       [=, this] { return count(audit->dropped()); });
  }
}

Runtime::~Runtime() {
  timers.Stop();
  // Ends requests that lanes wait for, too. It calls back into rigs and bound data.
  if (shared != nullptr) shared->Stop(kFlush);
  for (Workers* lane : {&control, &storage, &fetches, &upkeep, &estimates, &weighing}) lane->Stop();
  arenas.Wait();
  sessions.Clear();  // uses of bound data end before the cache does
  bound.reset();
  arenas.Wait();  // for what the last binds have posted
  LogSuppressed(Clock::Time::max());
}

void Runtime::AddCall(const std::shared_ptr<LiveCall>& call) {
  const absl::MutexLock lock(&mutex_);
  live_.emplace(call.get(), call);
}

void Runtime::RemoveCall(const LiveCall* call) {
  const absl::MutexLock lock(&mutex_);
  live_.erase(call);
}

std::vector<std::shared_ptr<LiveCall>> Runtime::LiveCalls() {
  std::vector<std::shared_ptr<LiveCall>> found;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [key, known] : live_) {
    if (auto call = known.lock()) found.push_back(std::move(call));
  }
  return found;
}

void Runtime::Drain() {
  if (work.closed()) return;
  work.Close();
  log->info("draining");
  for (const auto& call : LiveCalls()) call->Drain();
  bound->Drain();
  estimates.Drop(Draining());
}

void Runtime::EndCalls() {
  for (const auto& call : LiveCalls()) call->EndNow();
}

void Runtime::LogSuppressed(Clock::Time now) {
  for (const auto& [kind, lines] : failures.TakeEnded(now)) {
    log->info("{} {}: {} more failed calls in {} s, suppressed", kind.client,
              kind.code ? absl::StatusCodeToString(*kind.code) : "all codes", lines,
              LogLimit::kPeriod.count());
  }
  if (audit == nullptr) return;
  for (const auto& [kind, lines] : denials.TakeEnded(now)) {
    audit->WriteSuppressed(clock.WallNow(), kind, lines);
  }
  const std::uint64_t dropped = audit->dropped();
  if (dropped == audit_dropped_ || now < next_audit_warning_) return;
  log->error("audit-log: {} lost: its disk is full or too slow",
             CountedText(dropped - audit_dropped_, "line was", "lines were"));
  audit_dropped_ = dropped;
  next_audit_warning_ = clock.Now() + LogLimit::kPeriod;
}

void Runtime::Tick() {
  const Clock::Time now = clock.Now();
  LogSuppressed(now);
  // After a pause of the process or the machine, what arrived meanwhile comes first: it would look
  // as if clients had stalled.
  const bool paused = now - last_tick_ > kPause;
  last_tick_ = now;
  if (!paused || was_paused_) TickCalls(now);
  was_paused_ = paused && !was_paused_;
  if (const std::size_t ended = sessions.Expire(now); ended > 0) {
    metrics.sessions_expired.Increment(static_cast<double>(ended));
    log->info("{} session(s) expired", ended);
  }
  uploads->Expire(now);
  for (Pool* pool : {&pools.control, &pools.io, &pools.shorts, &pools.longs, &pools.background}) {
    pool->StartThreads();
  }
  GiveBackMemory(now);
}

void Runtime::TickCalls(Clock::Time now) {
  for (auto& call : LiveCalls()) {
    if (call->TryTick(now)) continue;
    // The timer thread waits for no call.
    control.PostStep({}, [call = std::move(call), now](const absl::Status&) { call->Tick(now); });
  }
}

void Runtime::CountCall() {
  ++calls_;
}

void Runtime::GiveBackMemory(Clock::Time now) {
  const std::chrono::duration<double> period(config.compute.trim_seconds);
  const std::uint64_t done = calls_.load() + static_cast<std::uint64_t>(metrics.frames.Value());
  if (done == done_at_trim_ || now - last_trim_ < period) return;
  storage.PostStep({}, [pool = frames](const absl::Status&) {
    pool->Trim();
    ::malloc_trim(0);
  });
  done_at_trim_ = done;
  last_trim_ = now;
}

void Runtime::Reload(Config wanted) {
  std::vector<std::string> changed, waiting;
  {
    const absl::MutexLock lock(&mutex_);
    const Config before = current_;
    wanted.network.connections = std::min(wanted.network.connections, most_connections_);
    wanted.compute.threads = std::min(wanted.compute.threads, most_threads_);
    std::map<std::string_view, std::uint64_t> values;
    VisitOptions(wanted, [&](const Option& option, const auto& member) {
      if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::uint64_t>) {
        values[option.name] = member;
      }
    });
    std::map<std::string_view, Quota*> quotas;
    for (Quota* quota : Quotas()) quotas[quota->name()] = quota;
    VisitOptions(current_, [&](const Option& option, auto& member) {
      if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::uint64_t>) {
        if (const auto quota = quotas.find(option.name); quota != quotas.end()) {
          member = values[option.name];
          quota->second->SetLimit(member);
        }
      }
    });
    current_.network.calls_per_second = wanted.network.calls_per_second;
    calls.SetRate(wanted.network.calls_per_second);
    current_.log.level = wanted.log.level;
    log->set_level(spdlog::level::from_str(wanted.log.level));
    changed = ChangedOptions(before, current_);
    waiting = ChangedOptions(current_, wanted);
  }
  bound->Trim();
  log->info("configuration read again; changed: {}",
            changed.empty() ? "nothing" : absl::StrJoin(changed, ", "));
  if (!waiting.empty()) log->warn("need a restart: {}", absl::StrJoin(waiting, ", "));
  if (audit == nullptr) return;
  if (const absl::Status status = audit->Reopen(); !status.ok()) {
    log->error("audit-log: {}", std::string(status.message()));
  }
}

void Runtime::SetMostConnections(std::uint64_t most) {
  const absl::MutexLock lock(&mutex_);
  most_connections_ = most;
  current_.network.connections = std::min(config.network.connections, most);
  connections.SetLimit(current_.network.connections);
}

Config Runtime::Current() const {
  const absl::MutexLock lock(&mutex_);
  return current_;
}

v1::ServerStats Runtime::StatsFor(const Caller& caller) const {
  if (caller.admin) return Stats();
  v1::ServerStats stats;
  const RigStore::Usage usage = rigs->UsageOf(caller.tenant);
  stats.set_rigs(usage.rigs);
  stats.set_rig_bytes(usage.bytes);
  stats.set_sessions(sessions.count(caller.tenant));
  stats.set_tenant_only(true);
  return stats;
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
  stats.set_binds_running(bound->binds_running() + weighing.running());
  stats.set_binds_queued(bound->binds_queued() + weighing.queued());
  return stats;
}

}  // namespace sinew::server
