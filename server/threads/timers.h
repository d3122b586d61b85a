// timers.h - one thread that calls functions after a delay or periodically.
//
// Functions must be short: they share the thread.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <thread>

#include "server/base/clock.h"

namespace sinew::server {

class Timers {
 public:
  using Id = std::uint64_t;

  // The clock must outlive the timers.
  explicit Timers(Clock& clock);
  ~Timers();
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  Id After(std::chrono::nanoseconds delay, std::function<void()> call);
  // First after one period.
  Id Every(std::chrono::nanoseconds period, std::function<void()> call);
  // The function does not start any more; a call of it that is in progress may continue. Unknown
  // ids are ignored.
  void Cancel(Id id);
  // Ends the thread after the call in progress; pending calls are dropped. Idempotent.
  void Stop();

  Clock& clock() const { return clock_; }

 private:
  struct Entry {
    Id id;
    std::chrono::nanoseconds period;  // 0 = once
    std::function<void()> call;
  };
  Id Add(std::chrono::nanoseconds delay, std::chrono::nanoseconds period,
         std::function<void()> call);
  void Loop();

  Clock& clock_;
  absl::Mutex mutex_;
  std::condition_variable_any changed_;
  std::multimap<Clock::Time, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  Id last_ ABSL_GUARDED_BY(mutex_) = 0;
  Id running_ ABSL_GUARDED_BY(mutex_) = 0;  // entry whose function is being called
  bool running_cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sinew::server
