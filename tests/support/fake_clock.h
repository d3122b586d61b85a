// fake_clock.h - a server clock that only moves when a test advances it.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <optional>
#include <utility>

#include "server/base/clock.h"

namespace sinew::testing {

// For one server::Timers, that is, one server.
class FakeClock final : public server::Clock {
 public:
  Time Now() const override {
    const absl::MutexLock lock(&mutex_);
    return Time(start_) + elapsed_;
  }
  WallTime WallNow() const override {
    const absl::MutexLock lock(&mutex_);
    return WallTime(start_) + elapsed_;
  }
  void WaitUntil(Time due, std::condition_variable_any& changed, absl::Mutex& mutex) override {
    {
      const absl::MutexLock lock(&mutex_);
      if (due <= Time(start_) + elapsed_) return;
      waiter_ = Waiter{&changed, &mutex};
    }
    server::BasicLock lock_of_waiter{mutex};
    changed.wait(lock_of_waiter);
    const absl::MutexLock lock(&mutex_);
    waiter_.reset();
  }

  // Returns once every timer that has become due has been called.
  void Advance(std::chrono::nanoseconds by) {
    {
      const absl::MutexLock lock(&mutex_);
      elapsed_ += by;
    }
    // Wakes the timers in any case: they may not have noticed yet that one was added.
    const Waiter waiter = TakeWaiter();
    {
      // The waiter registers and starts to wait under its own mutex, so this signal is not lost.
      const absl::MutexLock lock(waiter.mutex);
      waiter.changed->notify_all();
    }
    // They wait again once nothing is due.
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &FakeClock::HasWaiter));
  }

 private:
  struct Waiter {
    std::condition_variable_any* changed;
    absl::Mutex* mutex;
  };
  bool HasWaiter() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return waiter_.has_value(); }
  // Waits until the timers wait.
  Waiter TakeWaiter() {
    const absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &FakeClock::HasWaiter));
    return *std::exchange(waiter_, std::nullopt);
  }

  static constexpr std::chrono::seconds start_{1'000'000'000};
  mutable absl::Mutex mutex_;
  std::chrono::nanoseconds elapsed_ ABSL_GUARDED_BY(mutex_){0};
  std::optional<Waiter> waiter_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::testing
