// pace.h - work that is repeated at a steady rate until it is stopped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace sinew::testing {

using LoadClock = std::chrono::steady_clock;

inline double SecondsSince(LoadClock::time_point start) {
  return std::chrono::duration<double>(LoadClock::now() - start).count();
}

// Load is a matter of time: waits until `when`; false: stopped before.
inline bool WaitTill(LoadClock::time_point when, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_until(lock, stop, when, [] { return false; });
  return !stop.stop_requested();
}

inline LoadClock::time_point After(double seconds) {
  return LoadClock::now() +
         std::chrono::duration_cast<LoadClock::duration>(std::chrono::duration<double>(seconds));
}

// Calls step() every `period`, or without a pause where it takes longer, until stopped.
template <class Step>
void Repeat(std::chrono::duration<double> period, const std::stop_token& stop, const Step& step) {
  LoadClock::time_point next = LoadClock::now();
  while (!stop.stop_requested()) {
    step();
    next =
        std::max(next + std::chrono::duration_cast<LoadClock::duration>(period), LoadClock::now());
    if (!WaitTill(next, stop)) return;
  }
}

}  // namespace sinew::testing
