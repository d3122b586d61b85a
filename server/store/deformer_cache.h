// deformer_cache.h - bound data by tenant, rig and determinism digest: bound once, shared by all
// sessions of the tenant, kept while it fits.
//
// Data in use is never dropped: a use that would not fit beside it, or in its client's share, is
// refused. Unused data is dropped in order of last use; first of all go the parts of rigs that a
// bind leaves for the next one of its rig. With a data folder, bound data is also kept
// as files, which are loaded instead of binding again. With a shared store it is fetched from there
// and written there, and of several servers one binds while the others wait for the result.
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
#include "server/shared/object_store.h"
#include "server/shared/shared_store.h"
#include "server/store/bound_deformer.h"
#include "server/store/bound_files.h"
#include "server/store/lru.h"
#include "server/store/rig_key.h"
#include "server/threads/arena.h"
#include "server/threads/timers.h"
#include "server/threads/workers.h"

namespace sinew::server {

class DeformerCache {
 public:
  // What several servers have in common; both may be missing.
  struct Sharing {
    SharedStore* store = nullptr;  // outlives the cache
    // Behaves like ObjectStore::TakeClaim.
    std::function<absl::StatusOr<std::unique_ptr<ObjectStore::Claim>>(const std::string&)>
        take_claim = {};
  };

  // Threads that bind.
  struct Pools {
    Pool &shorts, &longs;
  };

  // client_share: of waiting binds and of data in use; see Quota. data_dir: empty = memory only.
  // kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<DeformerCache>> Open(
      const BindConfig& config, double client_share, const std::string& data_dir, Sharing sharing,
      Pools pools, Arenas& arenas, Timers& timers, Metrics& metrics, Log log);
  // Cancels running and waiting binds and waits for them. Uses must not outlive the cache.
  ~DeformerCache();

  // Memory and time of a bind, within their limits, and warnings. Blocks, unless it IsKnown.
  // kInvalidArgument: the recipe does not fit the rig; kResourceExhausted: memory or time;
  // kCancelled: `stop`; kUnavailable: after Drain.
  absl::StatusOr<std::shared_ptr<const Forecast>> Foresee(const RigKey& name, const Rig& rig,
                                                          const Recipe& recipe,
                                                          const std::string& determinism_digest,
                                                          const std::stop_token& stop);
  // Whether a forecast or bound data for this rig and recipe is kept.
  bool IsKnown(const RigKey& name, const Rig& rig, const std::string& determinism_digest) const;

  // A use of bound data that exists, is being bound, or starts to be bound now; it keeps the rig.
  // When the last use of data that is still being bound is released, its bind is cancelled. client:
  // whose turn a bind waits for, and whose share the data and its rig count against until their
  // last use is released, whoever else uses them. Blocks and fails as Foresee; kResourceExhausted:
  // also too much bound data in use, or too many waiting binds.
  using Use = std::shared_ptr<BoundDeformer>;
  absl::StatusOr<Use> Acquire(const RigKey& name, const std::shared_ptr<const Rig>& rig,
                              const Recipe& recipe, const std::string& determinism_digest,
                              const std::string& client, const std::stop_token& stop);

  // Drops what was derived from a rig: files now, data in memory once it is unused.
  void Forget(const RigKey& name);
  const BoundFiles& files() const { return files_; }
  // Moves a damaged file aside; a later request binds again.
  void SetAside(const std::filesystem::path& file);

  // Drops unused data beyond a limit that is lower now.
  void Trim();
  // Ends forecasts in progress and makes new ones fail, unless they are kept.
  void Drain() { draining_.request_stop(); }

  std::size_t entries() const;
  std::uint64_t bytes() const;        // of entries with their rigs
  std::uint64_t parts_bytes() const;  // kept for later binds
  // Only bound data in use counts: the rest gives way to new binds.
  std::vector<Quota*> quotas() { return {&waiting_, &used_bytes_}; }
  std::size_t binds_queued() const { return short_.queued() + long_.queued(); }
  std::size_t binds_running() const { return short_.running() + long_.running(); }

 private:
  // What data in use takes of max-bound-bytes, also after a failed bind.
  struct Room {
    const std::string client;
    Quota::Permit permit;
  };
  struct Entry {
    std::shared_ptr<BoundDeformer> bound;
    Workers* lane = nullptr;  // of its bind
    Workers::Ticket ticket = 0;
    std::size_t uses = 0;
    std::weak_ptr<Room> room = {};  // held by its uses
    bool over = false;              // the bind succeeded
    bool forgotten = false;         // its rig was deleted
  };
  class Holder;
  using Claim = std::unique_ptr<ObjectStore::Claim>;

  DeformerCache(const BindConfig& config, double client_share, Sharing sharing, Pools pools,
                Arenas& arenas, Timers& timers, Metrics& metrics, Log log);
  absl::StatusOr<Use> MakeUse(Entry& entry, std::shared_ptr<Holder> holder)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<Room>> TakeRoom(const std::string& client, std::uint64_t bytes);
  std::shared_ptr<const Forecast> Known(const std::string& key) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<const Forecast> Keep(const std::string& key, const BindPlan& plan, const Rig& rig,
                                       const Recipe& recipe) ABSL_LOCKS_EXCLUDED(mutex_);
  void Release(const std::shared_ptr<BoundDeformer>& bound);
  // Drops parts of rigs, then unused data, until `bytes` fit beside the rest.
  void MakeRoom(std::uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Parts that an earlier bind of the rig has left, or null.
  std::shared_ptr<const RigParts> PartsOf(const RigKey& name, const Rig& rig)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void KeepParts(const BoundDeformer& bound, std::shared_ptr<const RigParts> parts)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<BindPlan> Plan(const RigKey& name, const Rig& rig, const Recipe& recipe,
                                const std::stop_token& stop);
  // plan: none = plan again.
  void Run(const std::shared_ptr<BoundDeformer>& bound, std::optional<BindPlan> plan);
  absl::StatusOr<Deformer> LoadOrBind(BoundDeformer& bound, std::optional<BindPlan> plan);
  // Runs it again a moment later: another server binds it.
  void RunLater(const std::shared_ptr<BoundDeformer>& bound);
  // False: no session waits for it any more.
  bool PostAgain(const std::shared_ptr<BoundDeformer>& bound);
  // From a file or the shared store. kNotFound.
  absl::StatusOr<Deformer> Load(const BoundDeformer& bound);
  void Save(const BoundDeformer& bound, const std::string& bytes);
  void Share(const std::shared_ptr<BoundDeformer>& bound);
  // No longer listed, or its rig was deleted; the latter alone.
  bool IsForgotten(const BoundDeformer& bound) const;
  bool IsDeleted(const BoundDeformer& bound) const;

  const BindConfig config_;
  const Sharing sharing_;
  std::stop_source draining_;
  Arenas& arenas_;
  Timers& timers_;
  Metrics& metrics_;
  const Log log_;
  BoundFiles files_;
  Quota waiting_, used_bytes_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // Bytes: the estimate while binding, then the actual size, each with the rig.
  LruOrder order_ ABSL_GUARDED_BY(mutex_);
  // By BoundKey without a determinism digest; they have what order_ leaves of max-bound-bytes.
  std::map<std::string, std::shared_ptr<const RigParts>> parts_ ABSL_GUARDED_BY(mutex_);
  LruOrder parts_order_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<const Forecast>> forecasts_ ABSL_GUARDED_BY(mutex_);
  LruOrder forecast_order_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Claim> claims_ ABSL_GUARDED_BY(mutex_);  // of binds that are being written
  // Binds that probably take less than config_.short_seconds, and the others; one at a time each.
  Workers short_, long_;
};

}  // namespace sinew::server
