// preemption_ticks.h - interrupts every core at short intervals while long work runs.
//
// A thread that becomes ready on a core that computes may have to wait for the next timer interrupt
// there, whatever its priority: 4 ms at the usual 250 Hz, many times the cost of a frame (measured
// on Linux 6.18 without kernel preemption). A thread for each core that only sleeps, for a quarter
// of a millisecond at a time, makes the kernel choose again that often. It costs a few percent of a
// core, so it sleeps for good while there is no long work.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace sinew::server {

// Thread-safe.
class PreemptionTicks {
 public:
  // Long work: cores are interrupted while at least one of these exists.
  class Scope {
   public:
    explicit Scope(PreemptionTicks& ticks) : ticks_(ticks) { ticks_.Add(1); }
    ~Scope() { ticks_.Add(-1); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PreemptionTicks& ticks_;
  };

  // The first scope starts a thread for each core that its thread may use, at most `most`.
  explicit PreemptionTicks(std::size_t most) : most_(most) {}
  // All scopes must have ended.
  ~PreemptionTicks();
  PreemptionTicks(const PreemptionTicks&) = delete;
  PreemptionTicks& operator=(const PreemptionTicks&) = delete;

 private:
  void Add(int scopes);
  void Start() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tick(std::size_t core);
  bool Wanted() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stopping_ || needed_; }

  absl::Mutex mutex_;
  int scopes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> needed_{false};  // scopes_ > 0; read without the lock between two sleeps
  const std::size_t most_;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
