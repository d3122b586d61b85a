// runtime.h - everything the services share: stores, caches, threads, limits. One a server; no
// globals.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <memory>
#include <vector>

#include "server/access/access.h"
#include "server/base/audit_log.h"
#include "server/base/clock.h"
#include "server/base/config.h"
#include "server/base/files.h"
#include "server/base/log.h"
#include "server/base/log_limit.h"
#include "server/base/metrics.h"
#include "server/frames/evaluator.h"
#include "server/frames/frame_pool.h"
#include "server/store/deformer_cache.h"
#include "server/store/rig_store.h"
#include "server/store/scrubber.h"
#include "server/store/session_table.h"
#include "server/store/upload_table.h"
#include "server/threads/arena.h"
#include "server/threads/quota.h"
#include "server/threads/timers.h"
#include "server/threads/workers.h"

namespace sinew::server {

// An open call that lasts. Called by the timer thread or by Runtime::Drain.
class LiveCall {
 public:
  virtual ~LiveCall() = default;
  // Several times a second: ends the call if its client has stalled or its session is gone.
  virtual void Tick(Clock::Time now) = 0;
  // The server drains: notifies the client, answers what has been received, ends.
  virtual void Drain() = 0;
};

class Runtime {
 public:
  // Opens the stores. kFailedPrecondition: data_dir cannot be used, or another
  // server uses it.
  static absl::StatusOr<std::unique_ptr<Runtime>> Create(const Config& config,
                                                         Clock& clock = RealClock());
  ~Runtime();

  Clock& clock;
  Descriptor data_lock;  // outlives everything that writes under data_dir
  const Config config;
  const std::unique_ptr<LogOutput> output;  // of `log`
  const Log log;
  std::unique_ptr<AuditLog> audit;  // or null
  LogLimit failures;                // lines about failed calls
  Metrics metrics;
  Quota work;           // calls that a drain waits for; closed by it
  Quota connections;    // from the network
  Quota streams;        // StreamDeform
  Quota deforms;        // Deform, DeformClip
  Quota compares;       // CompareDeformers
  Quota watches;        // WatchSession
  Quota weights;        // ComputeWeights
  Quota transfers;      // UploadRig, DownloadRig
  Quota frame_bytes;    // frame buffers of all calls
  Quota compare_bytes;  // of all CompareDeformers calls
  std::unique_ptr<Access> access;
  Timers timers;
  Arenas arenas;
  const std::shared_ptr<FramePool> frames;
  const EvaluatorContext evaluators;
  std::unique_ptr<RigStore> rigs;
  std::unique_ptr<UploadTable> uploads;
  std::unique_ptr<DeformerCache> bound;
  std::unique_ptr<Scrubber> scrubber;  // with a data folder
  SessionTable sessions;
  Workers workers;

  // From now on the call is ticked and notified of a drain.
  void AddCall(const std::shared_ptr<LiveCall>& call);
  // Begins draining: closes `work` and notifies open calls. Idempotent.
  void Drain();
  v1::ServerStats Stats() const;

  // Takes over what can change while serving: log level and the limits of calls, streams, frames
  // and comparisons. Reopens the audit log. The log names what needs a restart.
  void Reload(const Config& wanted);
  // As created or last reloaded.
  Config Current() const;

 private:
  Runtime(const Config& config, Clock& clock);
  void AddReadings();  // to the metrics
  void Tick();
  std::vector<std::shared_ptr<LiveCall>> LiveCalls();

  const Clock::Time started_;
  mutable absl::Mutex mutex_;
  std::vector<std::weak_ptr<LiveCall>> live_ ABSL_GUARDED_BY(mutex_);
  Config current_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
