// deformer_cache.h - bound data by rig digest and determinism digest: made once, shared by all who
// ask, kept while it fits.
//
// What somebody uses is never dropped: a new bind that would not fit beside it is refused. What
// nobody uses goes by age of last use. With a data folder, bound data is also kept as files and
// read back instead of bound again.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "server/base/config.h"
#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/store/bound_deformer.h"
#include "server/store/lru.h"
#include "server/threads/bind_queue.h"
#include "server/threads/timers.h"

namespace sinew::server {

class DeformerCache {
 public:
  // data_dir: empty = memory only. kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<DeformerCache>> Open(const BindConfig& config,
                                                             const std::string& data_dir,
                                                             Arenas& arenas, Timers& timers,
                                                             Metrics& metrics, Log log);
  // Cancels what binds and waits for it. Uses must not outlive the cache.
  ~DeformerCache();

  // What a bind would take, within its limits of memory and time. Blocks. kInvalidArgument: the
  // recipe does not fit the rig; kResourceExhausted: memory or time; kCancelled: `stop`.
  absl::StatusOr<BindEstimate> Estimate(const Rig& rig, const Recipe& recipe,
                                        const std::stop_token& stop) const;

  // A use of bound data that is there, being made, or started now. When the last use of data that
  // is still being made goes, its bind is cancelled. Blocks for the estimate, which `stop` ends.
  // Errors: those of Estimate; kResourceExhausted: bound data in memory, or too many binds wait.
  using Use = std::shared_ptr<BoundDeformer>;
  absl::StatusOr<Use> Acquire(const std::shared_ptr<const Rig>& rig, const Recipe& recipe,
                              const std::string& determinism_digest, const std::stop_token& stop);

  // Calls `job`, which must not throw, on the thread and arena of binds, queued with them.
  // kResourceExhausted: too many wait.
  absl::Status Enqueue(std::function<void()> job);

  std::size_t entries() const;
  std::uint64_t bytes() const;
  std::size_t binds_queued() const { return queue_.queued(); }
  std::size_t binds_running() const { return queue_.running() ? 1 : 0; }

 private:
  struct Entry {
    std::shared_ptr<BoundDeformer> bound;
    std::size_t uses = 0;
    bool over = false;  // bind ended well
  };

  DeformerCache(const BindConfig& config, Arenas& arenas, Timers& timers, Metrics& metrics,
                Log log);
  Use MakeUse(Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Release(const std::shared_ptr<BoundDeformer>& bound);
  absl::Status MakeRoom(std::uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<BindPlan> Plan(const Rig& rig, const Recipe& recipe,
                                const std::stop_token& stop) const;
  // plan: null = plan again.
  void Run(const std::shared_ptr<BoundDeformer>& bound, BindPlan* plan);
  absl::StatusOr<Deformer> LoadOrBind(BoundDeformer& bound, BindPlan* plan);
  absl::StatusOr<Deformer> Load(const BoundDeformer& bound) const;
  void Save(const BoundDeformer& bound, const Deformer& deformer);
  std::filesystem::path PathOf(const BoundDeformer& bound) const;

  const BindConfig config_;
  Timers& timers_;
  Metrics& metrics_;
  const Log log_;
  std::filesystem::path folder_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // Bytes: the estimate while binding, then the actual size.
  LruOrder order_ ABSL_GUARDED_BY(mutex_);
  BindQueue queue_;
};

}  // namespace sinew::server
