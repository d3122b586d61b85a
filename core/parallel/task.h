// task.h - the only concurrency type in core: parallel loops, progress, cancellation and the memory
// budget of one job.
//
// Loops are cut into chunks that depend on n and grain alone, so results do not depend on the
// number of threads. They run in the oneTBB arena of the calling thread. Every body runs with
// denormals flushed to zero (FTZ, DAZ) on every thread, so all threads compute the same bits.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>
#include <stop_token>

namespace sinew {

inline constexpr char kNoMemory[] = "memory: ";

class Task {
 public:
  struct Options {
    std::stop_token stop{};                                              // default: never cancelled
    std::size_t memory_limit = std::numeric_limits<std::size_t>::max();  // bytes one bind may hold
    // In [0, 1], never falling; called from any thread, one call at a time.
    std::function<void(double)> progress{};
    bool parallel = true;  // false: loops run in the calling thread
  };
  Task() = default;
  explicit Task(Options options) : options_(std::move(options)) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Calls body(begin, end) for consecutive chunks of at most `grain` >= 1 covering [0, n). Chunks
  // are skipped once the task is cancelled.
  void For(std::size_t n, std::size_t grain,
           absl::FunctionRef<void(std::size_t, std::size_t)> body) const;

  bool cancelled() const { return options_.stop.stop_requested(); }
  absl::Status CheckCancelled() const;

  std::size_t memory_limit() const { return options_.memory_limit; }
  // OK, or kResourceExhausted if `bytes` exceeds memory_limit(); the message begins with kNoMemory.
  absl::Status CheckMemory(std::size_t bytes) const;

  // Progress. The total is set once, before work starts, in arbitrary units; Advance may be called
  // from any thread.
  void SetTotal(double work);
  void Advance(double work);

 private:
  Options options_;
  double total_ = 0;
  std::mutex advancing_;  // held while progress runs
  double done_ = 0;       // guarded by advancing_
};

// Flushes denormals to zero in the calling thread and restores the former mode when destroyed.
class DenormalGuard {
 public:
  DenormalGuard();
  ~DenormalGuard();
  DenormalGuard(const DenormalGuard&) = delete;
  DenormalGuard& operator=(const DenormalGuard&) = delete;

 private:
  std::uint64_t saved_;
};

}  // namespace sinew
