// deformer_cache.h - bound data by tenant, rig and determinism digest: bound once, shared by all
// sessions of the tenant, kept while it fits.
//
// Data in use is never dropped: a use that would not fit beside it, or in its client's share, is
// refused. Unused data is dropped in order of last use. With a data folder, bound data is also kept
// as files, which are loaded instead of binding again; a file holds its key, so that it is used for
// no other.
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
  // client_share: of waiting binds and of data in use; see Quota. data_dir: empty = memory only.
  // kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<DeformerCache>> Open(const BindConfig& config,
                                                             double client_share,
                                                             const std::string& data_dir,
                                                             Arenas& arenas, Timers& timers,
                                                             Metrics& metrics, Log log);
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
  // Its files, and where they are; empty: memory only.
  std::vector<std::filesystem::path> Files() const;
  const std::filesystem::path& folder() const { return folder_; }
  // Moves a damaged file aside; a later request binds again.
  void SetAside(const std::filesystem::path& file);
  // Removes the files of rigs for which keep(rig) is false, and of interrupted writes. Call it
  // before the first Acquire.
  void RemoveOrphans(const std::function<bool(const RigKey&)>& keep);

  // Drops unused data beyond a limit that is lower now.
  void Trim();
  // Ends forecasts in progress and makes new ones fail, unless they are kept.
  void Drain() { draining_.request_stop(); }

  std::size_t entries() const;
  std::uint64_t bytes() const;
  // Of bound data only what is in use counts: the rest gives way to new binds.
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
  class Claim;

  DeformerCache(const BindConfig& config, double client_share, Arenas& arenas, Timers& timers,
                Metrics& metrics, Log log);
  absl::StatusOr<Use> MakeUse(Entry& entry, std::shared_ptr<Claim> claim)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<std::shared_ptr<Room>> TakeRoom(const std::string& client, std::uint64_t bytes);
  std::shared_ptr<const Forecast> Known(const std::string& key) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<const Forecast> Keep(const std::string& key, const BindPlan& plan, const Rig& rig,
                                       const Recipe& recipe) ABSL_LOCKS_EXCLUDED(mutex_);
  void Release(const std::shared_ptr<BoundDeformer>& bound);
  // Drops unused data until `bytes` fit beside the rest.
  void MakeRoom(std::uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
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
  std::stop_source draining_;
  Arenas& arenas_;
  Timers& timers_;
  Metrics& metrics_;
  const Log log_;
  std::filesystem::path folder_;
  Quota waiting_, used_bytes_;
  mutable absl::Mutex mutex_;
  std::map<std::string, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  // Bytes: the estimate while binding, then the actual size, each with the rig.
  LruOrder order_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<const Forecast>> forecasts_ ABSL_GUARDED_BY(mutex_);
  LruOrder forecast_order_ ABSL_GUARDED_BY(mutex_);
  // Binds that probably take less than config_.short_seconds, and the others; one at a time each.
  Workers short_, long_;
};

}  // namespace sinew::server
