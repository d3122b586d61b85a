// deformer_cache.h - bound data by tenant, rig and determinism digest: bound once, shared by all
// sessions of the tenant, kept while it fits.
//
// Data in use is never dropped: a new bind that would not fit beside it is refused. Unused data is
// dropped in order of last use. With a data folder, bound data is also kept as files, which are
// loaded instead of binding again; a file holds its key, so that it is used for no other.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "server/base/config.h"
#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/store/bound_deformer.h"
#include "server/store/lru.h"
#include "server/store/rig_key.h"
#include "server/threads/arena.h"
#include "server/threads/timers.h"
#include "server/threads/workers.h"

namespace sinew::server {

class DeformerCache {
 public:
  // data_dir: empty = memory only. kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<DeformerCache>> Open(const BindConfig& config,
                                                             const std::string& data_dir,
                                                             Arenas& arenas, Timers& timers,
                                                             Metrics& metrics, Log log);
  // Cancels running and waiting binds and waits for them. Uses must not outlive the cache.
  ~DeformerCache();

  // Memory and time of a bind, within their limits. Blocks. kInvalidArgument: the
  // recipe does not fit the rig; kResourceExhausted: memory or time; kCancelled: `stop`.
  absl::StatusOr<BindEstimate> Estimate(const Rig& rig, const Recipe& recipe,
                                        const std::stop_token& stop) const;

  // A use of bound data that exists, is being bound, or starts to be bound now. When the last use
  // of data that is still being bound is released, its bind is cancelled. Blocks for the estimate,
  // which `stop` cancels. Errors: those of Estimate; kResourceExhausted: too much bound data in
  // memory, or too many waiting binds.
  using Use = std::shared_ptr<BoundDeformer>;
  absl::StatusOr<Use> Acquire(const RigKey& name, const std::shared_ptr<const Rig>& rig,
                              const Recipe& recipe, const std::string& determinism_digest,
                              const std::stop_token& stop);

  // Drops what was derived from a rig: files now, data in memory once it is unused.
  void Forget(const RigKey& name);
  // Its files, and where they are; empty: memory only.
  std::vector<std::filesystem::path> Files() const;
  const std::filesystem::path& folder() const { return folder_; }
  // Moves a damaged file aside; a later request binds again.
  void SetAside(const std::filesystem::path& file);
  // Removes the files of rigs for which keep(rig) is false, and of interrupted writes. Call it
  // before the first Acquire.
  void RemoveOrphans(const std::function<bool(const RigKey&)>& keep);

  // Queues `job`, which must not throw, with the binds and calls it on their thread and arena.
  // kResourceExhausted: too many are waiting.
  absl::Status Enqueue(std::function<void()> job);

  std::size_t entries() const;
  std::uint64_t bytes() const;
  std::size_t binds_queued() const { return queue_.queued(); }
  std::size_t binds_running() const { return queue_.running(); }

 private:
  struct Entry {
    std::shared_ptr<BoundDeformer> bound;
    std::size_t uses = 0;
    bool over = false;       // the bind succeeded
    bool forgotten = false;  // its rig was deleted
  };
  class Claim;

  DeformerCache(const BindConfig& config, Arenas& arenas, Timers& timers, Metrics& metrics,
                Log log);
  static Use MakeUse(Entry& entry, std::shared_ptr<Claim> claim);
  void Release(const std::shared_ptr<BoundDeformer>& bound);
  absl::Status MakeRoom(std::uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<BindPlan> Plan(const Rig& rig, const Recipe& recipe,
                                const std::stop_token& stop) const;
  // plan: none = plan again.
  void Run(const std::shared_ptr<BoundDeformer>& bound, std::optional<BindPlan> plan);
  absl::StatusOr<Deformer> LoadOrBind(BoundDeformer& bound, std::optional<BindPlan> plan);
  absl::StatusOr<Deformer> Load(const BoundDeformer& bound) const;
  void Save(const BoundDeformer& bound, const Deformer& deformer);
  bool IsForgotten(const BoundDeformer& bound) const;
  std::filesystem::path PathOf(const std::string& key) const;

  const BindConfig config_;
  Arenas& arenas_;
  Timers& timers_;
  Metrics& metrics_;
  const Log log_;
  std::filesystem::path folder_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // Bytes: the estimate while binding, then the actual size.
  LruOrder order_ ABSL_GUARDED_BY(mutex_);
  Workers queue_;  // binds, one at a time
};

}  // namespace sinew::server
