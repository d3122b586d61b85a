// quota.h - admission: limits on the number of concurrent calls, and no new work while
// the server drains.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <cstdint>
#include <string_view>

namespace sinew::server {

// Counts what runs of one kind, up to a limit. Thread-safe. Permits are returned by their
// destructors and must not outlive the limit.
class ConcurrencyLimit {
 public:
  // name: the limit's option; unit: what is counted.
  ConcurrencyLimit(std::uint64_t limit, std::string_view name, std::string_view unit)
      : limit_(limit), name_(name), unit_(unit) {}

  class Permit {
   public:
    Permit() = default;
    Permit(Permit&& other) noexcept : limit_(other.limit_) { other.limit_ = nullptr; }
    Permit& operator=(Permit&& other) noexcept;
    ~Permit() { Return(); }

   private:
    friend class ConcurrencyLimit;
    explicit Permit(ConcurrencyLimit* limit) : limit_(limit) {}
    void Return();
    ConcurrencyLimit* limit_ = nullptr;
  };

  // kUnavailable after Close; kResourceExhausted at the limit.
  absl::StatusOr<Permit> Enter();

  void Close();
  bool closed() const;
  std::uint64_t count() const;
  // Waits up to `timeout` until no permit is out. True: none is.
  bool WaitEmpty(std::chrono::milliseconds timeout);

 private:
  bool Empty() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return count_ == 0; }

  const std::uint64_t limit_;
  const std::string_view name_, unit_;
  mutable absl::Mutex mutex_;
  std::uint64_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sinew::server
