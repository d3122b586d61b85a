// timers.h - one thread that calls functions later or again and again.
//
// Functions must be short: they share the thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace sinew::server {

class Timers {
 public:
  using Id = std::uint64_t;

  Timers();
  ~Timers();
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  Id After(std::chrono::nanoseconds delay, std::function<void()> call);
  // First after one period.
  Id Every(std::chrono::nanoseconds period, std::function<void()> call);
  // The function does not start any more; one that runs at this moment may still be running.
  void Cancel(Id id);
  // Ends the thread after the call that runs; what waits is dropped. Called again, does nothing.
  void Stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    Id id;
    std::chrono::nanoseconds period;  // 0 = once
    std::function<void()> call;
  };
  Id Add(std::chrono::nanoseconds delay, std::chrono::nanoseconds period,
         std::function<void()> call);
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Clock::time_point, Entry> entries_;
  Id last_ = 0;
  Id running_ = 0;  // entry whose function runs
  bool running_cancelled_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sinew::server
