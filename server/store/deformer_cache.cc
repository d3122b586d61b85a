#include "server/store/deformer_cache.h"

#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "core/base/table_io.h"
#include "core/deform/engine/recipe_text.h"
#include "server/base/catch_exceptions.h"
#include "server/base/files.h"
#include "server/base/status.h"
#include "server/threads/time_limit.h"

namespace sinew::server {
namespace {

constexpr char kSuffix[] = ".bound";

// Text from a client as one line of bounded length.
std::string ForLog(const std::string& text) {
  constexpr std::size_t kBytes = 200;
  std::string line = absl::CHexEscape(text.substr(0, kBytes));
  if (line.size() > kBytes || text.size() > kBytes) line = line.substr(0, kBytes - 3) + "...";
  return line;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeformerCache>> DeformerCache::Open(const BindConfig& config,
                                                                   const std::string& data_dir,
                                                                   Arenas& arenas, Timers& timers,
                                                                   Metrics& metrics, Log log) {
  std::unique_ptr<DeformerCache> cache(
      new DeformerCache(config, arenas, timers, metrics, std::move(log)));
  if (!data_dir.empty() && config.disk_bytes > 0) {
    cache->folder_ = std::filesystem::path(data_dir) / "bound";
    SINEW_RETURN_IF_ERROR(MakeFolder(cache->folder_));
  }
  return cache;
}

DeformerCache::DeformerCache(const BindConfig& config, Arenas& arenas, Timers& timers,
                             Metrics& metrics, Log log)
    : config_(config),
      arenas_(arenas),
      timers_(timers),
      metrics_(metrics),
      log_(std::move(log)),
      queue_(1, {.capacity = config.queued,
                 .subject = "bind",
                 .unit = "waiting binds",
                 .option = "max-queued-binds",
                 .retry = absl::Seconds(5)}) {}

DeformerCache::~DeformerCache() {
  {
    const absl::MutexLock lock(&mutex_);
    for (auto& [key, entry] : entries_) entry.bound->Cancel();
  }
  queue_.Stop();
}

absl::StatusOr<BindEstimate> DeformerCache::Estimate(const Rig& rig, const Recipe& recipe,
                                                     const std::stop_token& stop) const {
  SINEW_ASSIGN_OR_RETURN(const BindPlan plan, Plan(rig, recipe, stop));
  return plan.estimate();
}

absl::StatusOr<BindPlan> DeformerCache::Plan(const Rig& rig, const Recipe& recipe,
                                             const std::stop_token& stop) const {
  std::stop_source source;
  const std::stop_callback cancelled(stop, [&source] { source.request_stop(); });
  const TimeLimit time(timers_, config_.seconds, "bind", "max-bind-seconds",
                       [source]() mutable { source.request_stop(); });
  const Task task({.stop = source.get_token(), .memory_limit = config_.memory_bytes});
  absl::StatusOr<BindPlan> plan = Deformer::Plan(rig, recipe, task);
  if (absl::IsResourceExhausted(plan.status())) {
    return LimitExceeded("bind", StdView(absl::StripPrefix(plan.status().message(), "bind: ")),
                         "max-bind-bytes");
  }
  if (!plan.ok()) return WithDetails(time.Named(plan.status()));
  return plan;
}

absl::StatusOr<DeformerCache::Use> DeformerCache::Acquire(const std::shared_ptr<const Rig>& rig,
                                                          const Recipe& recipe,
                                                          const std::string& determinism_digest,
                                                          const std::stop_token& stop) {
  const std::string key = absl::StrCat(rig->digest(), "-", determinism_digest);
  {
    const absl::MutexLock lock(&mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      return MakeUse(found->second);
    }
  }
  SINEW_ASSIGN_OR_RETURN(BindPlan planned, Plan(*rig, recipe, stop));
  const BindEstimate estimate = planned.estimate();
  const absl::MutexLock lock(&mutex_);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    SINEW_RETURN_IF_ERROR(MakeRoom(estimate.bound_bytes));
    auto bound = std::make_shared<BoundDeformer>(key, rig, recipe, estimate);
    // A plan may take as much memory as a bind, so none waits while a bind runs: that bind plans
    // again.
    const auto plan = std::make_shared<std::optional<BindPlan>>();
    if (queue_.idle()) *plan = std::move(planned);
    SINEW_RETURN_IF_ERROR(
        Enqueue([this, bound, plan] { Run(bound, std::exchange(*plan, std::nullopt)); }));
    order_.Touch(key, estimate.bound_bytes);
    found = entries_.emplace(key, Entry{.bound = std::move(bound)}).first;
  }
  return MakeUse(found->second);
}

DeformerCache::Use DeformerCache::MakeUse(Entry& entry) {
  ++entry.uses;
  return Use(entry.bound.get(), [this, bound = entry.bound](BoundDeformer*) { Release(bound); });
}

void DeformerCache::Release(const std::shared_ptr<BoundDeformer>& bound) {
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(bound->key());
  if (found == entries_.end() || found->second.bound != bound || --found->second.uses > 0) return;
  if (found->second.over) {
    order_.Touch(bound->key());
    return;
  }
  bound->Cancel();
  order_.Remove(bound->key());
  entries_.erase(found);
}

absl::Status DeformerCache::MakeRoom(std::uint64_t bytes) {
  const auto used = [this](const std::string& key) {
    mutex_.AssertHeld();
    return entries_.at(key).uses > 0;
  };
  const std::uint64_t budget = bytes < config_.bound_bytes ? config_.bound_bytes - bytes : 0;
  for (const std::string& key : order_.Over(budget, true, used)) {
    order_.Remove(key);
    entries_.erase(key);
  }
  if (order_.bytes() + bytes <= config_.bound_bytes) return absl::OkStatus();
  return WithRetry(LimitExceeded("bind", order_.bytes() + bytes, config_.bound_bytes, "bytes",
                                 "max-bound-bytes"),
                   absl::Seconds(30));
}

void DeformerCache::Run(const std::shared_ptr<BoundDeformer>& bound, std::optional<BindPlan> plan) {
  const TimeLimit time(timers_, config_.seconds, "bind", "max-bind-seconds",
                       [bound] { bound->Cancel(); });
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<Deformer> result =
      CatchExceptions([&] { return LoadOrBind(*bound, std::move(plan)); });
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
      found->second.over = true;
      order_.Touch(bound->key(), result->bytes());
    } else if (listed) {  // a later request may try again
      order_.Remove(bound->key());
      entries_.erase(found);
    }
  }
  bound->Finish(std::move(result));
}

absl::StatusOr<Deformer> DeformerCache::LoadOrBind(BoundDeformer& bound,
                                                   std::optional<BindPlan> plan) {
  if (bound.stop_token().stop_requested()) {
    return absl::CancelledError("bind cancelled: no session is waiting for it");
  }
  if (!folder_.empty()) {
    absl::StatusOr<Deformer> loaded = Load(bound);
    if (loaded.ok()) {
      metrics_.binds_loaded.Increment();
      return loaded;
    }
    if (!absl::IsNotFound(loaded.status())) {
      log_->warn("{}: {}; binding again", PathOf(bound).string(),
                 std::string(loaded.status().message()));
      RemoveQuietly(PathOf(bound));
    }
  }
  Task task({.stop = bound.stop_token(),
             .memory_limit = config_.memory_bytes,
             .progress = [&bound](double progress) { bound.SetProgress(progress); }});
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<Deformer> deformer = plan ? Deformer::Bind(*std::move(plan), task)
                                           : Deformer::Bind(bound.rig(), bound.recipe(), task);
  if (deformer.ok()) {
    metrics_.binds_bound.Increment();
    bound.bind_seconds = SecondsSince(start);
    metrics_.bind_seconds.Observe(bound.bind_seconds);
    if (!folder_.empty()) Save(bound, *deformer);
  }
  return deformer;
}

std::filesystem::path DeformerCache::PathOf(const BoundDeformer& bound) const {
  return folder_ / (Sha256Hex(bound.key()) + kSuffix);
}

absl::StatusOr<Deformer> DeformerCache::Load(const BoundDeformer& bound) const {
  SINEW_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(PathOf(bound)));
  SINEW_ASSIGN_OR_RETURN(const TableReader tables, TableReader::Open(bytes));
  SINEW_ASSIGN_OR_RETURN(Deformer deformer, Deformer::Load(tables));
  const Rig& rig = bound.rig();
  if (deformer.vertices() != rig.vertices() || deformer.joints() != rig.joints() ||
      deformer.controls() != rig.controls().size()) {
    return absl::DataLossError("bound data of another rig");
  }
  return deformer;
}

void DeformerCache::Save(const BoundDeformer& bound, const Deformer& deformer) {
  TableWriter tables;
  deformer.Save(tables);
  const std::string bytes = tables.Finish();
  if (bytes.size() > config_.disk_bytes) return;
  std::vector<FileFacts> files = ListFiles(folder_);
  std::sort(files.begin(), files.end(),
            [](const FileFacts& a, const FileFacts& b) { return a.modified < b.modified; });
  std::uint64_t held = bytes.size();
  for (const FileFacts& file : files) held += file.bytes;
  for (const FileFacts& file : files) {
    if (held <= config_.disk_bytes && !absl::EndsWith(file.name, ".tmp")) continue;
    RemoveQuietly(folder_ / file.name);
    held -= file.bytes;
  }
  if (const absl::Status status = WriteAtomically(PathOf(bound), bytes); !status.ok()) {
    log_->warn("bound data is not kept: {}", std::string(status.message()));
  }
}

absl::Status DeformerCache::Enqueue(std::function<void()> job) {
  return queue_.Post([this, job = std::move(job)] { arenas_.Bind(job); });
}

std::size_t DeformerCache::entries() const {
  const absl::MutexLock lock(&mutex_);
  return entries_.size();
}

std::uint64_t DeformerCache::bytes() const {
  const absl::MutexLock lock(&mutex_);
  return order_.bytes();
}

}  // namespace sinew::server
