// clock.h - the time of timers, leases and stall limits. Tests inject a clock that they advance.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <condition_variable>

namespace sinew::server {

// An absl::Mutex that std::condition_variable_any can wait with.
struct BasicLock {
  absl::Mutex& mutex;
  void lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex.Lock(); }
  void unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex.Unlock(); }
};

// Thread-safe.
class Clock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using WallTime = std::chrono::system_clock::time_point;

  virtual ~Clock() = default;

  virtual Time Now() const = 0;
  virtual WallTime WallNow() const = 0;
  // Waits on `changed`, releasing `mutex`, until it is signalled or `due` has come. May return
  // early.
  virtual void WaitUntil(Time due, std::condition_variable_any& changed, absl::Mutex& mutex) = 0;
};

// The system clocks.
Clock& RealClock();

// By the system clock.
inline double SecondsSince(Clock::Time start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace sinew::server
