#include "server/store/deformer_cache.h"

#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "core/base/table_io.h"
#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/rig_parts.h"
#include "server/base/catch_exceptions.h"
#include "server/base/files.h"
#include "server/base/status.h"
#include "server/store/bound_data.h"
#include "server/store/shared_rigs.h"
#include "server/threads/time_limit.h"

namespace sinew::server {
namespace {

constexpr std::uint64_t kForecastBytes = 16 << 20;  // of kept forecasts
constexpr std::chrono::seconds kRoomRetry{30};      // time for sessions to end

// Between two looks at whether another server has finished a bind.
constexpr std::chrono::milliseconds kClaimPoll{200};
// How long others wait for bound data to be written once it is bound.
constexpr std::chrono::seconds kLongestClaim{30};

// The name of bound data in the shared store: another for each format, so that servers of two
// versions do not replace each other's.
std::string SharedNameOf(const std::string& key) {
  return absl::StrCat(SharedBoundFolder(RigOfBound(key)), Sha256Hex(key), "-", kTableVersion);
}

constexpr char kBoundElsewhere[] = "sinew.bound-elsewhere";
absl::Status BoundElsewhere() {
  absl::Status status = absl::UnavailableError("another server binds it");
  status.SetPayload(kBoundElsewhere, absl::Cord());
  return status;
}
bool IsBoundElsewhere(const absl::Status& status) {
  return status.GetPayload(kBoundElsewhere).has_value();
}

absl::Status NobodyWaits() {
  return absl::CancelledError("bind cancelled: no session is waiting for it");
}

// Text from a client as one line of bounded length.
std::string ForLog(const std::string& text) {
  constexpr std::size_t kBytes = 200;
  std::string line = absl::CHexEscape(text.substr(0, kBytes));
  if (line.size() > kBytes || text.size() > kBytes) line = line.substr(0, kBytes - 3) + "...";
  return line;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeformerCache>> DeformerCache::Open(
    const BindConfig& config, double client_share, const std::string& data_dir, Sharing sharing,
    Pools pools, Arenas& arenas, Timers& timers, Metrics& metrics, Log log) {
  std::unique_ptr<DeformerCache> cache(new DeformerCache(
      config, client_share, std::move(sharing), pools, arenas, timers, metrics, std::move(log)));
  if (!data_dir.empty() && config.disk_bytes > 0) {
    SINEW_ASSIGN_OR_RETURN(
        cache->files_,
        BoundFiles::Open(std::filesystem::path(data_dir) / "bound", config.disk_bytes));
  }
  return cache;
}

DeformerCache::DeformerCache(const BindConfig& config, double client_share, Sharing sharing,
                             Pools pools, Arenas& arenas, Timers& timers, Metrics& metrics, Log log)
    : config_(config),
      sharing_(std::move(sharing)),
      arenas_(arenas),
      timers_(timers),
      metrics_(metrics),
      log_(std::move(log)),
      waiting_(config.queued, client_share, "max-queued-binds", "waiting binds", "bind"),
      used_bytes_(config.bound_bytes, client_share, "max-bound-bytes", "bytes in use", "bind",
                  kRoomRetry),
      short_(pools.shorts, 1, waiting_, metrics.AddLane("short binds")),
      long_(pools.longs, 1, waiting_, metrics.AddLane("long binds")) {}

DeformerCache::~DeformerCache() {
  {
    const absl::MutexLock lock(&mutex_);
    for (auto& [key, entry] : entries_) entry.bound->Cancel();
  }
  short_.Stop();
  long_.Stop();
}

absl::StatusOr<std::shared_ptr<const Forecast>> DeformerCache::Foresee(
    const RigKey& name, const Rig& rig, const Recipe& recipe, const std::string& determinism_digest,
    const std::stop_token& stop) {
  const std::string key = BoundKey(name, rig, determinism_digest);
  if (auto known = Known(key)) return known;
  SINEW_ASSIGN_OR_RETURN(const BindPlan plan, Plan(name, rig, recipe, stop));
  return Keep(key, plan, rig, recipe);
}

bool DeformerCache::IsKnown(const RigKey& name, const Rig& rig,
                            const std::string& determinism_digest) const {
  const std::string key = BoundKey(name, rig, determinism_digest);
  const absl::MutexLock lock(&mutex_);
  return forecasts_.count(key) + entries_.count(key) > 0;
}

std::shared_ptr<const Forecast> DeformerCache::Known(const std::string& key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = forecasts_.find(key);
  if (found == forecasts_.end()) return nullptr;
  forecast_order_.Touch(key);
  return found->second;
}

std::shared_ptr<const Forecast> DeformerCache::Keep(const std::string& key, const BindPlan& plan,
                                                    const Rig& rig, const Recipe& recipe) {
  auto forecast = std::make_shared<const Forecast>(
      Forecast{.estimate = plan.estimate(), .warnings = WarningsOf(recipe, rig)});
  const absl::MutexLock lock(&mutex_);
  forecasts_[key] = forecast;
  forecast_order_.Touch(
      key, 2 * key.size() + sizeof(Forecast) + forecast->warnings.SpaceUsedExcludingSelfLong());
  for (const std::string& old :
       forecast_order_.Over(kForecastBytes, true, [](const std::string&) { return false; })) {
    forecast_order_.Remove(old);
    forecasts_.erase(old);
  }
  return forecast;
}

absl::StatusOr<BindPlan> DeformerCache::Plan(const RigKey& name, const Rig& rig,
                                             const Recipe& recipe, const std::stop_token& stop) {
  std::stop_source source;
  const std::stop_callback cancelled(stop, [&source] { source.request_stop(); });
  const std::stop_callback draining(draining_.get_token(), [&source] { source.request_stop(); });
  const TimeLimit time(timers_, config_.seconds, "bind", "max-bind-seconds",
                       [source]() mutable { source.request_stop(); });
  const Task task({.stop = source.get_token(), .memory_limit = config_.memory_bytes});
  absl::StatusOr<BindPlan> plan;
  arenas_.Bind(Arenas::Binds::kEstimates,
               [&] { plan = Deformer::Plan(rig, recipe, task, PartsOf(name, rig)); });
  if (!plan.ok() && draining_.stop_requested()) return Draining();
  if (absl::IsResourceExhausted(plan.status())) {
    return LimitExceeded("bind", StdView(absl::StripPrefix(plan.status().message(), kNoMemory)),
                         "max-bind-bytes");
  }
  if (!plan.ok()) return WithDetails(time.Named(plan.status()));
  return plan;
}

// One use of bound data, once it has been given any. Allocated before the mutex is locked, which
// its destructor locks.
class DeformerCache::Holder {
 public:
  Holder(DeformerCache& cache, std::string user) : client(std::move(user)), cache_(cache) {}
  ~Holder() {
    if (bound != nullptr) cache_.Release(bound);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  const std::string client;
  std::shared_ptr<BoundDeformer> bound;
  std::shared_ptr<Room> room;

 private:
  DeformerCache& cache_;
};

absl::StatusOr<DeformerCache::Use> DeformerCache::Acquire(
    const RigKey& name, const std::shared_ptr<const Rig>& rig, const Recipe& recipe,
    const std::string& determinism_digest, const std::string& client, const std::stop_token& stop) {
  const std::string key = BoundKey(name, *rig, determinism_digest);
  auto holder = std::make_shared<Holder>(*this, client);
  {
    const absl::MutexLock lock(&mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      return MakeUse(found->second, std::move(holder));
    }
  }
  std::optional<BindPlan> planned;
  std::shared_ptr<const Forecast> forecast = Known(key);
  if (forecast == nullptr) {
    SINEW_ASSIGN_OR_RETURN(planned, Plan(name, *rig, recipe, stop));
    forecast = Keep(key, *planned, *rig, recipe);
  }
  const BindEstimate& estimate = forecast->estimate;
  const absl::MutexLock lock(&mutex_);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    const std::uint64_t bytes = estimate.bound_bytes + rig->bytes();
    SINEW_ASSIGN_OR_RETURN(holder->room, TakeRoom(client, bytes));
    MakeRoom(bytes);
    auto bound = std::make_shared<BoundDeformer>(key, rig, recipe, forecast);
    const bool brief = estimate.bind_seconds < config_.short_seconds;
    Workers& lane = brief ? short_ : long_;
    // A plan may take as much memory as a bind, so none waits while a bind runs: that bind plans
    // again.
    const auto plan = std::make_shared<std::optional<BindPlan>>();
    if (lane.idle()) *plan = std::move(planned);
    const auto arena = brief ? Arenas::Binds::kShort : Arenas::Binds::kLong;
    SINEW_ASSIGN_OR_RETURN(const Workers::Ticket ticket,
                           lane.Post(client, [this, arena, bound, plan](const absl::Status&) {
                             arenas_.Bind(arena,
                                          [&] { Run(bound, std::exchange(*plan, std::nullopt)); });
                           }));
    order_.Touch(key, bytes);
    Entry entry{.bound = std::move(bound), .lane = &lane, .ticket = ticket, .room = holder->room};
    found = entries_.emplace(key, std::move(entry)).first;
  }
  return MakeUse(found->second, std::move(holder));
}

absl::StatusOr<DeformerCache::Use> DeformerCache::MakeUse(Entry& entry,
                                                          std::shared_ptr<Holder> holder) {
  if (holder->room == nullptr) holder->room = entry.room.lock();
  if (holder->room == nullptr) {
    SINEW_ASSIGN_OR_RETURN(holder->room,
                           TakeRoom(holder->client, order_.bytes(entry.bound->key())));
    entry.room = holder->room;
  }
  ++entry.uses;
  entry.forgotten = false;  // the rig has been stored again
  holder->bound = entry.bound;
  return Use(std::move(holder), entry.bound.get());
}

absl::StatusOr<std::shared_ptr<DeformerCache::Room>> DeformerCache::TakeRoom(
    const std::string& client, std::uint64_t bytes) {
  SINEW_ASSIGN_OR_RETURN(Quota::Permit permit, used_bytes_.Take(client, bytes));
  return std::make_shared<Room>(Room{client, std::move(permit)});
}

void DeformerCache::Release(const std::shared_ptr<BoundDeformer>& bound) {
  Entry dropped;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = entries_.find(bound->key());
    if (found == entries_.end() || found->second.bound != bound || --found->second.uses > 0) return;
    Entry& entry = found->second;
    if (entry.over && !entry.forgotten) {
      order_.Touch(bound->key());
      return;
    }
    dropped = std::move(entry);
    order_.Remove(bound->key());
    entries_.erase(found);
  }
  bound->Cancel();
  // A bind that still waits leaves the queue at once.
  if (dropped.lane->Remove(dropped.ticket)) bound->Finish(NobodyWaits());
}

void DeformerCache::MakeRoom(std::uint64_t bytes) {
  const auto used = [this](const std::string& key) {
    mutex_.AssertHeld();
    return entries_.at(key).uses > 0;
  };
  const std::uint64_t limit = used_bytes_.limit();
  const std::uint64_t budget = bytes < limit ? limit - bytes : 0;
  for (const std::string& key : order_.Over(budget, true, used)) {
    order_.Remove(key);
    entries_.erase(key);
    metrics_.evicted_bound.Increment();
  }
  const std::uint64_t taken = bytes + order_.bytes();
  for (const std::string& rig : parts_order_.Over(taken < limit ? limit - taken : 0, true,
                                                  [](const auto&) { return false; })) {
    parts_order_.Remove(rig);
    parts_.erase(rig);
  }
}

std::shared_ptr<const RigParts> DeformerCache::PartsOf(const RigKey& name, const Rig& rig) {
  const absl::MutexLock lock(&mutex_);
  const auto found = parts_.find(BoundKey(name, rig, ""));
  if (found == parts_.end()) return nullptr;
  parts_order_.Touch(found->first);
  return found->second;
}

void DeformerCache::KeepParts(const BoundDeformer& bound, std::shared_ptr<const RigParts> parts) {
  const std::string rig = BoundKey(RigOfBound(bound.key()), bound.rig(), "");
  const std::uint64_t bytes = parts->Bytes(bound.rig());
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(bound.key());
  if (found == entries_.end() || found->second.forgotten) return;
  parts_[rig] = std::move(parts);
  parts_order_.Touch(rig, bytes);
  MakeRoom(0);
}

void DeformerCache::Trim() {
  const absl::MutexLock lock(&mutex_);
  MakeRoom(0);
}

void DeformerCache::Run(const std::shared_ptr<BoundDeformer>& bound, std::optional<BindPlan> plan) {
  const TimeLimit time(timers_, config_.seconds, "bind", "max-bind-seconds",
                       [bound] { bound->Cancel(); });
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<Deformer> result =
      CatchExceptions([&] { return LoadOrBind(*bound, std::move(plan)); });
  if (IsBoundElsewhere(result.status())) {
    RunLater(bound);
    return;
  }
  if (!result.ok()) result = time.Named(result.status());
  const std::string recipe_text = ForLog(FormatRecipe(bound->recipe()));
  if (!result.ok()) {
    metrics_.binds_failed.Increment();
    log_->warn("bind {} failed after {:.3f} s: {}", recipe_text, SecondsSince(start),
               ForLog(std::string(result.status().message())));
  } else {
    log_->info("bind {} took {:.3f} s, {} bytes", recipe_text, SecondsSince(start),
               result->bytes());
  }
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = entries_.find(bound->key());
    const bool listed = found != entries_.end() && found->second.bound == bound;
    if (listed && result.ok()) {
      Entry& entry = found->second;
      const std::uint64_t bytes = result->bytes() + bound->rig().bytes();
      entry.over = true;
      order_.Touch(bound->key(), bytes);
      if (const auto room = entry.room.lock()) {
        room->permit = used_bytes_.TakeBeyondLimit(room->client, bytes);
      }
    } else if (listed) {  // a later request may try again
      order_.Remove(bound->key());
      entries_.erase(found);
    }
  }
  const bool write = result.ok() && bound->bind_seconds > 0;
  bound->Finish(std::move(result));
  if (write) Share(bound);
}

void DeformerCache::RunLater(const std::shared_ptr<BoundDeformer>& bound) {
  timers_.After(kClaimPoll, [this, bound] {
    if (!PostAgain(bound)) bound->Finish(NobodyWaits());
  });
}

bool DeformerCache::PostAgain(const std::shared_ptr<BoundDeformer>& bound) {
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(bound->key());
  if (found == entries_.end() || found->second.bound != bound) return false;
  Entry& entry = found->second;
  const auto arena = entry.lane == &short_ ? Arenas::Binds::kShort : Arenas::Binds::kLong;
  const auto room = entry.room.lock();
  const std::string client = room == nullptr ? std::string() : room->client;
  entry.ticket = entry.lane->PostStep(client, [this, arena, bound](const absl::Status&) {
    arenas_.Bind(arena, [&] { Run(bound, std::nullopt); });
  });
  return true;
}

absl::StatusOr<Deformer> DeformerCache::LoadOrBind(BoundDeformer& bound,
                                                   std::optional<BindPlan> plan) {
  if (bound.stop_token().stop_requested()) {
    return NobodyWaits();
  }
  absl::StatusOr<Deformer> loaded = absl::NotFoundError("no bound data");
  // While another server binds it, only the claim is asked for.
  if (!bound.elsewhere) loaded = Load(bound);
  if (!absl::IsNotFound(loaded.status())) return loaded;
  Claim claim;
  // A store that is down could not bring the result.
  if (sharing_.take_claim && sharing_.store->up()) {
    auto taken = sharing_.take_claim(Sha256Hex(bound.key()));
    if (taken.ok() && *taken == nullptr) {
      bound.elsewhere = true;
      return BoundElsewhere();
    }
    if (taken.ok()) claim = *std::move(taken);
    // The server that had the claim may have just finished.
    if (claim != nullptr || bound.elsewhere) loaded = Load(bound);
    if (!absl::IsNotFound(loaded.status())) return loaded;
  }
  Task task({.stop = bound.stop_token(),
             .memory_limit = config_.memory_bytes,
             .progress = [&bound](double progress) { bound.SetProgress(progress); }});
  const auto start = std::chrono::steady_clock::now();
  if (!plan) {
    SINEW_ASSIGN_OR_RETURN(plan, Deformer::Plan(bound.rig(), bound.recipe(), task,
                                                PartsOf(RigOfBound(bound.key()), bound.rig())));
  }
  std::shared_ptr<const RigParts> parts;
  absl::StatusOr<Deformer> deformer = Deformer::Bind(*std::move(plan), task, &parts);
  if (deformer.ok()) {
    KeepParts(bound, std::move(parts));
    metrics_.binds_bound.Increment();
    bound.bind_seconds = SecondsSince(start);
    metrics_.bind_seconds.Observe(bound.bind_seconds);
    if (!files_.folder().empty()) Save(bound, EncodeBound(bound.key(), *deformer));
    const absl::MutexLock lock(&mutex_);
    if (claim != nullptr) claims_[bound.key()] = std::move(claim);
  }
  return deformer;
}

// Other servers get it before they may bind it themselves: the claim ends when it is written.
void DeformerCache::Share(const std::shared_ptr<BoundDeformer>& bound) {
  const std::string key = bound->key();
  const auto end_claim = [this, key](const absl::Status&) {
    Claim ended;  // after unlocking
    const absl::MutexLock lock(&mutex_);
    if (const auto found = claims_.find(key); found != claims_.end()) {
      ended = std::move(found->second);
      claims_.erase(found);
    }
  };
  if (sharing_.store == nullptr) return;
  const auto written = [this, end_claim, key,
                        weak = std::weak_ptr(bound)](const absl::Status& status) {
    end_claim(status);
    const auto found = weak.lock();
    const bool deleted = found != nullptr && IsDeleted(*found);
    if (status.ok() && deleted) static_cast<void>(sharing_.store->Remove(SharedNameOf(key)));
  };
  const auto bytes = [weak = std::weak_ptr(bound), key, this]() -> absl::StatusOr<std::string> {
    const auto found = weak.lock();
    // Dropped from memory while the store was down: its file may be left.
    if (found == nullptr || IsForgotten(*found)) return files_.Read(key);
    return EncodeBound(key, *found->deformer());
  };
  sharing_.store->PutLater(SharedNameOf(key), bytes, written);
  // Others wait for a store that is slow, but not for one that is down.
  if (!sharing_.store->up()) end_claim(absl::OkStatus());
  timers_.After(kLongestClaim, [end_claim] { end_claim(absl::OkStatus()); });
}

void DeformerCache::Forget(const RigKey& name) {
  std::vector<std::shared_ptr<BoundDeformer>> dropped;  // freed after unlocking
  {
    const absl::MutexLock lock(&mutex_);
    const std::string prefix = name.Text() + "/";
    for (auto it = entries_.lower_bound(prefix);
         it != entries_.end() && absl::StartsWith(it->first, prefix);) {
      const auto entry = it++;
      entry->second.forgotten = true;
      if (entry->second.uses > 0) continue;
      dropped.push_back(entry->second.bound);
      order_.Remove(entry->first);
      entries_.erase(entry);
    }
    for (auto it = parts_.lower_bound(prefix);
         it != parts_.end() && absl::StartsWith(it->first, prefix); it = parts_.erase(it)) {
      parts_order_.Remove(it->first);
    }
  }
  files_.Forget(name);
}

void DeformerCache::SetAside(const std::filesystem::path& file) {
  log_->error("{}: damaged; moved aside", file.string());
  metrics_.damaged_bound.Increment();
  server::SetAside(file);
}

bool DeformerCache::IsDeleted(const BoundDeformer& bound) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(bound.key());
  return found != entries_.end() && found->second.bound.get() == &bound && found->second.forgotten;
}

bool DeformerCache::IsForgotten(const BoundDeformer& bound) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(bound.key());
  return found == entries_.end() || found->second.bound.get() != &bound || found->second.forgotten;
}

absl::StatusOr<Deformer> DeformerCache::Load(const BoundDeformer& bound) {
  const std::string& key = bound.key();
  absl::StatusOr<std::string> bytes = files_.Read(key);
  if (bytes.ok()) {
    absl::StatusOr<Deformer> loaded = DecodeBound(*bytes, key, bound.rig());
    if (loaded.ok()) {
      metrics_.binds_loaded.Increment();
      return loaded;
    }
    log_->warn("{}; binding again", std::string(loaded.status().message()));
    if (absl::IsDataLoss(loaded.status())) SetAside(files_.PathOf(key));
  } else if (!absl::IsNotFound(bytes.status())) {
    log_->warn("{}; binding again", std::string(bytes.status().message()));
  }
  if (sharing_.store == nullptr) return absl::NotFoundError("no bound data");
  const std::string name = SharedNameOf(key);
  bytes = sharing_.store->Get(name, config_.bound_bytes);
  if (!bytes.ok()) return absl::NotFoundError("no bound data");
  absl::StatusOr<Deformer> loaded = DecodeBound(*bytes, key, bound.rig());
  if (!loaded.ok()) {
    log_->error("store: {}: {}; binding again", name, std::string(loaded.status().message()));
    if (absl::IsDataLoss(loaded.status())) static_cast<void>(sharing_.store->Remove(name));
    return absl::NotFoundError("no bound data");
  }
  metrics_.binds_fetched.Increment();
  Save(bound, *bytes);
  return loaded;
}

void DeformerCache::Save(const BoundDeformer& bound, const std::string& bytes) {
  if (IsForgotten(bound)) return;
  if (const absl::Status status = files_.Write(bound.key(), bytes); !status.ok()) {
    log_->warn("bound data is not kept: {}", std::string(status.message()));
  }
  if (IsForgotten(bound)) files_.Remove(bound.key());  // its rig was deleted meanwhile
}

std::size_t DeformerCache::entries() const {
  const absl::MutexLock lock(&mutex_);
  return entries_.size();
}

std::uint64_t DeformerCache::bytes() const {
  const absl::MutexLock lock(&mutex_);
  return order_.bytes();
}

std::uint64_t DeformerCache::parts_bytes() const {
  const absl::MutexLock lock(&mutex_);
  return parts_order_.bytes();
}

}  // namespace sinew::server
