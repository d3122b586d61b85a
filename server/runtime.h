// runtime.h - everything the services share: stores, caches, threads, limits. One a server; no
// globals.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/access/access.h"
#include "server/base/audit_log.h"
#include "server/base/clock.h"
#include "server/base/config.h"
#include "server/base/files.h"
#include "server/base/log.h"
#include "server/base/log_limit.h"
#include "server/base/metrics.h"
#include "server/frames/broadcast.h"
#include "server/frames/evaluator.h"
#include "server/frames/frame_pool.h"
#include "server/shared/session_records.h"
#include "server/shared/shared_store.h"
#include "server/store/deformer_cache.h"
#include "server/store/rig_store.h"
#include "server/store/scrubber.h"
#include "server/store/session_table.h"
#include "server/store/upload_table.h"
#include "server/threads/arena.h"
#include "server/threads/quota.h"
#include "server/threads/rate_limit.h"
#include "server/threads/timers.h"
#include "server/threads/turns.h"
#include "server/threads/workers.h"

namespace sinew::server {

// An open call.
class LiveCall {
 public:
  virtual ~LiveCall() = default;
  // Several times a second: ends the call if its client has stalled or its session is gone.
  virtual void Tick(Clock::Time now) = 0;
  // Calls Tick unless the call is busy: then false.
  virtual bool TryTick(Clock::Time now) = 0;
  // The server drains: notifies the client, answers what has been received, ends.
  virtual void Drain() = 0;
  // The time to drain is over: ends.
  virtual void EndNow() = 0;
};

class Runtime {
 public:
  // Opens the stores. kFailedPrecondition: data_dir cannot be used, or another
  // server uses it.
  static absl::StatusOr<std::unique_ptr<Runtime>> Create(const Config& config,
                                                         Clock& clock = RealClock());
  ~Runtime();

  Clock& clock;
  FolderLock data_lock;  // outlives everything that writes under data_dir
  const Config config;
  const std::unique_ptr<LogOutput> output;  // of `log`
  const Log log;
  std::unique_ptr<AuditLog> audit;  // or null
  LogLimit failures;                // lines about failed calls
  LogLimit denials;                 // failed calls in the audit log
  Metrics metrics;
  RateLimit calls;      // of one client
  Quota work;           // calls that a drain waits for; closed by it
  Quota connections;    // from the network
  Quota streams;        // StreamDeform
  Quota deforms;        // Deform, DeformClip
  Quota compares;       // CompareDeformers
  Quota watches;        // WatchSession
  Quota weights;        // ComputeWeights
  Quota transfers;      // UploadRig, DownloadRig
  Quota arriving;       // messages whose last byte has not been received
  Quota frame_bytes;    // frame buffers of all calls
  Quota held_bytes;     // everything else that calls hold
  Quota compare_bytes;  // of all CompareDeformers calls
  Turns arrivals;       // of `arriving`
  std::unique_ptr<Access> access;
  Timers timers;
  // Threads of the lanes below, of bound data and of the HTTP port.
  struct Pools {
    Pool control{"control", Pool::Start::kAtOnce}, io{"io", Pool::Start::kAtOnce},
        shorts{"short binds", Pool::Start::kWhenPosted},
        longs{"long binds", Pool::Start::kWhenPosted},
        background{"background", Pool::Start::kWhenPosted};
  } pools;
  Arenas arenas;
  const std::shared_ptr<FramePool> frames;
  const EvaluatorContext evaluators;
  Broadcasts broadcasts;
  // What several servers share, or null. They outlive what uses them.
  std::unique_ptr<SharedStore> shared;
  std::unique_ptr<SessionRecords> records;
  std::unique_ptr<RigStore> rigs;
  std::unique_ptr<UploadTable> uploads;
  std::unique_ptr<DeformerCache> bound;
  std::unique_ptr<Scrubber> scrubber;  // with a data folder
  SessionTable sessions;
  Quota waiting_calls;  // work of unary calls that waits for one of these
  Workers control;      // look-ups, opening of streams and sessions: nothing that takes long
  Workers storage;      // disk, parsing rigs
  Workers fetches;      // what other servers know: rigs, sessions
  Workers upkeep;       // leases and claims, deleted rigs
  Workers estimates;    // and planning of binds
  Workers weighing;     // ComputeWeights
  std::atomic<std::uint64_t> steps{0};  // numbers given to the steps of calls

  // Until it is removed, the call is ticked and notified of a drain.
  void AddCall(const std::shared_ptr<LiveCall>& call);
  void RemoveCall(const LiveCall* call);
  // The records could not be reached: the session's is deleted once they can be.
  void DeleteRecordLater(const std::string& tenant, const std::string& session);
  // For giving memory back after some.
  void CountCall();
  // Begins draining: closes `work` and notifies open calls. Idempotent.
  void Drain();
  // Calls that are still open end with UNAVAILABLE, reason DRAINING.
  void EndCalls();
  v1::ServerStats Stats() const;
  // Without what concerns other tenants, unless the caller is an administrator.
  v1::ServerStats StatsFor(const Caller& caller) const;

  // Takes over what can change while serving: log level, calls per second, and the limits of what
  // all clients hold together. Reopens the audit log. The log names what needs a restart.
  void Reload(Config wanted);
  // The configuration as created or last reloaded.
  Config Current() const;
  // What the limit of open files allows, whatever is configured.
  void SetMostConnections(std::uint64_t most);

 private:
  Runtime(const Config& config, Clock& clock);
  absl::Status OpenStores(double share);
  absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> TakeClaim(const std::string& name) const;
  // Posts the two functions below, every few seconds.
  void PostUpkeep();
  void Guarded(const char* what, const std::function<void()>& task) const;
  void RenewRecords();
  void DropDeletedRigs();
  void AddReadings();  // to the metrics
  std::vector<Quota*> Quotas();
  void Tick();
  // How many lines were suppressed in the periods that have ended.
  void LogSuppressed(Clock::Time now);
  void TickCalls(Clock::Time now);
  // Each arena of the heap keeps the memory of its peaks for itself, a server that always has work
  // that of every thread's largest bind.
  void GiveBackMemory(Clock::Time now);
  std::vector<std::shared_ptr<LiveCall>> LiveCalls();

  const Clock::Time started_;
  std::atomic<std::uint64_t> calls_{0};
  // Used by the timer thread.
  Clock::Time last_tick_;
  bool was_paused_ = false;  // at the last tick
  Clock::Time last_trim_;
  std::uint64_t done_at_trim_ = 0;   // calls and frames
  std::uint64_t audit_dropped_ = 0;  // lines whose loss has been logged
  Clock::Time next_audit_warning_;
  mutable absl::Mutex mutex_;
  std::unordered_map<const LiveCall*, std::weak_ptr<LiveCall>> live_ ABSL_GUARDED_BY(mutex_);
  Config current_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::pair<std::string, std::string>> deleted_records_ ABSL_GUARDED_BY(mutex_);
  // What the process could start.
  std::uint64_t most_threads_ = std::numeric_limits<std::uint64_t>::max();
  std::atomic<bool> renewing_{false}, dropping_{false};
  std::map<std::string, std::int64_t> deleted_rigs_;  // marks that have been seen; of one thread
  std::uint64_t most_connections_ ABSL_GUARDED_BY(mutex_) =
      std::numeric_limits<std::uint64_t>::max();
};

}  // namespace sinew::server
