#include "server/shared/shared_store.h"

#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "server/base/catch_exceptions.h"

namespace sinew::server {
namespace {

using Steady = std::chrono::steady_clock;

constexpr int kWriters = 2;
constexpr std::chrono::seconds kProbePeriod{1};  // while the store is down
// Between two attempts to write one object, while others can be written.
constexpr std::chrono::milliseconds kFirstBackoff{100}, kLongestBackoff{60'000};
// A full disk is one line of the log in this time, not one for each object.
constexpr std::chrono::minutes kQuiet{1};

bool MeansDown(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsPermissionDenied(status) ||
         absl::IsInvalidArgument(status);  // no keys
}

}  // namespace

absl::StatusOr<std::unique_ptr<SharedStore>> SharedStore::Open(const SharedConfig& config,
                                                               Metrics& metrics, Log log) {
  SINEW_ASSIGN_OR_RETURN(std::unique_ptr<ObjectStore> store, ObjectStore::Open(config));
  log->info("store: {}", store->Describe());
  return std::make_unique<SharedStore>(std::move(store), metrics, std::move(log));
}

SharedStore::SharedStore(std::unique_ptr<ObjectStore> store, Metrics& metrics, Log log)
    : store_(std::move(store)), metrics_(metrics), log_(std::move(log)) {
  metrics_.AddGauge("sinew_store_up", "Whether the last request to the shared store reached it",
                    [this] { return up() ? 1.0 : 0.0; });
  metrics_.AddGauge("sinew_store_pending", "Objects that wait to be written to the shared store",
                    [this] { return static_cast<double>(pending()); });
  for (int i = 0; i < kWriters; ++i) writers_.emplace_back([this] { Loop(); });
}

SharedStore::~SharedStore() {
  Stop(std::chrono::milliseconds(0));
}

void SharedStore::Stop(std::chrono::milliseconds time) {
  {
    const absl::MutexLock lock(&mutex_);
    const auto empty = [this] {
      mutex_.AssertHeld();
      const auto given_up = [](const auto& entry) { return entry.second.given_up; };
      return down_ || std::ranges::all_of(waiting_, given_up);
    };
    if (!stopping_) {
      ending_ = true;
      for (auto& [name, waiting] : waiting_) waiting.not_before = {};
      changed_.SignalAll();
      mutex_.AwaitWithTimeout(absl::Condition(&empty), absl::FromChrono(time));
      if (!waiting_.empty()) {
        log_->error("store: {} not written; those without a copy in a data-dir are lost",
                    CountedText(waiting_.size(), "object was", "objects were"));
      }
    }
    stopping_ = true;
    changed_.SignalAll();
  }
  store_->Stop();
  for (std::thread& writer : writers_) writer.join();
  writers_.clear();
}

bool SharedStore::up() const {
  const absl::MutexLock lock(&mutex_);
  return !down_;
}

std::size_t SharedStore::pending() const {
  const absl::MutexLock lock(&mutex_);
  return waiting_.size();
}

absl::Status SharedStore::Ended(const char* operation, absl::Status status,
                                Steady::time_point start) {
  const double seconds = std::chrono::duration<double>(Steady::now() - start).count();
  const bool down = MeansDown(status);
  const char* const outcome = down                       ? "failed"
                              : status.ok()              ? "ok"
                              : absl::IsNotFound(status) ? "not_found"
                                                         : "refused";
  metrics_.StoreRequest(operation, outcome, seconds);
  const absl::MutexLock lock(&mutex_);
  if (stopping_) return status;
  if (!down && down_) {
    log_->info("store: reached again, {} to be written",
               CountedText(waiting_.size(), "object waits", "objects wait"));
    for (auto& [name, waiting] : waiting_) waiting.not_before = {};
    changed_.SignalAll();
  }
  if (down && !down_) {
    log_->error("store: {}; serving without it", std::string(status.message()));
    changed_.Signal();
  }
  if (down) next_probe_ = Steady::now() + kProbePeriod;
  down_ = down;
  return status;
}

template <class Result, class Request>
Result SharedStore::Run(const char* operation, const Request& request) {
  if (!up()) return absl::UnavailableError("the shared store is down");
  const auto start = Steady::now();
  Result result = request();
  if constexpr (std::is_same_v<Result, absl::Status>) {
    return Ended(operation, std::move(result), start);
  } else {
    static_cast<void>(Ended(operation, result.status(), start));
    return result;
  }
}

absl::StatusOr<std::string> SharedStore::Get(const std::string& name, std::uint64_t most_bytes) {
  auto bytes =
      Run<absl::StatusOr<std::string>>("get", [&] { return store_->Get(name, most_bytes); });
  if (bytes.ok()) metrics_.store_fetched_bytes.Increment(static_cast<double>(bytes->size()));
  return bytes;
}

absl::Status SharedStore::Put(const std::string& name, std::string_view bytes) {
  const absl::Status status = Run<absl::Status>("put", [&] { return store_->Put(name, bytes); });
  if (status.ok()) metrics_.store_written_bytes.Increment(static_cast<double>(bytes.size()));
  return status;
}

absl::StatusOr<bool> SharedStore::Has(const std::string& name) {
  return Run<absl::StatusOr<bool>>("head", [&] { return store_->Has(name); });
}

absl::Status SharedStore::Remove(const std::string& name) {
  return Run<absl::Status>("delete", [&] { return store_->Remove(name); });
}

absl::StatusOr<std::vector<ObjectStore::Object>> SharedStore::List(const std::string& prefix,
                                                                   const std::string& after,
                                                                   std::size_t count) {
  return Run<absl::StatusOr<std::vector<ObjectStore::Object>>>(
      "list", [&] { return store_->List(prefix, after, count); });
}

void SharedStore::PutLater(const std::string& name, Source source,
                           std::function<void(const absl::Status&)> done) {
  {
    const absl::MutexLock lock(&mutex_);
    if (!stopping_) {
      Waiting& waiting = waiting_[name];
      waiting.source = std::move(source);
      waiting.done = std::move(done);
      waiting.not_before = {};
      waiting.given_up = false;
      ++waiting.generation;
      changed_.Signal();
      return;
    }
  }
  if (done) done(absl::CancelledError("the server ends"));
}

const std::string* SharedStore::Next(Steady::time_point now, Steady::time_point& wake) const {
  for (const auto& [name, waiting] : waiting_) {
    if (waiting.running) continue;
    if (waiting.not_before <= now) return &name;
    wake = std::min(wake, waiting.not_before);
  }
  return nullptr;
}

absl::StatusOr<bool> SharedStore::Write(const std::string& name, const Source& source) {
  SINEW_ASSIGN_OR_RETURN(const bool exists, Has(name));
  if (exists) return true;
  const absl::StatusOr<std::string> bytes = CatchExceptions(source);
  if (absl::IsNotFound(bytes.status())) return false;
  SINEW_RETURN_IF_ERROR(bytes.status());
  SINEW_RETURN_IF_ERROR(Put(name, *bytes));
  return true;
}

void SharedStore::WriteNext(const std::string& name) {
  Waiting& waiting = waiting_[name];
  waiting.running = true;
  const Source source = waiting.source;
  const int generation = waiting.generation;
  const bool is_last = ending_;
  mutex_.Unlock();
  const absl::StatusOr<bool> written = Write(name, source);
  mutex_.Lock();
  const auto found = waiting_.find(name);
  Waiting& after = found->second;
  after.running = false;
  const std::function<void(const absl::Status&)> done = after.done;
  if (!written.ok()) {
    const auto now = Steady::now();
    const absl::StatusCode code = written.status().code();
    if (!MeansDown(written.status()) && now >= quiet_until_[code]) {
      quiet_until_[code] = now + kQuiet;
      log_->error("store: {} is not written: {}; trying again", name,
                  std::string(written.status().message()));
    }
    after.backoff = std::clamp(2 * after.backoff, kFirstBackoff, kLongestBackoff);
    after.not_before = now + after.backoff;
    after.given_up = is_last && after.generation == generation;
    if (ending_ && !is_last) after.not_before = {};
  } else if (after.generation == generation) {
    waiting_.erase(found);
  }
  mutex_.Unlock();
  if (done) {
    static_cast<void>(CatchExceptions([&]() -> absl::Status {
      done(!written.ok() ? written.status()
           : *written    ? absl::OkStatus()
                         : absl::NotFoundError("nothing to write"));
      return absl::OkStatus();
    }));
  }
  mutex_.Lock();
}

void SharedStore::Probe() {
  next_probe_ = Steady::now() + std::chrono::hours(1);  // one thread at a time
  mutex_.Unlock();
  const auto start = Steady::now();
  const absl::Status status = store_->Has("rigs/none").status();
  static_cast<void>(Ended("head", status, start));
  mutex_.Lock();
}

void SharedStore::Loop() {
  mutex_.Lock();
  while (!stopping_) {
    const auto now = Steady::now();
    Steady::time_point wake = now + std::chrono::hours(1);
    if (down_) {
      if (next_probe_ <= now) {
        Probe();
        continue;
      }
      wake = next_probe_;
    } else if (const std::string* const next = Next(now, wake); next != nullptr) {
      WriteNext(std::string(*next));
      continue;
    }
    changed_.WaitWithTimeout(&mutex_, absl::FromChrono(wake - now));
  }
  mutex_.Unlock();
}

}  // namespace sinew::server
