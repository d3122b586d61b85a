// workers.h - a few threads for queued work that blocks (disk, parsing rigs) or takes long (binds).
// Keeps gRPC's threads free.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <absl/time/time.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

namespace sinew::server {

class Workers {
 public:
  // Jobs that wait; what a refusal says about their limit.
  struct Queue {
    std::size_t capacity;
    std::string_view subject, unit, option;
    absl::Duration retry;
  };
  Workers(std::size_t threads, const Queue& queue);
  // Runs what is queued, then ends.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls `work` later, in the order of posting; it must not throw. kResourceExhausted: the queue
  // is full; `work` is then not called.
  absl::Status Post(std::function<void()> work);
  // Runs what is queued and ends the threads; Post is refused afterwards. Idempotent.
  void Stop();

  std::size_t queued() const;
  std::size_t running() const;
  bool idle() const;  // neither

 private:
  void Loop();
  bool Wanted() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stopping_ || !work_.empty(); }

  const Queue queue_;
  mutable absl::Mutex mutex_;
  std::deque<std::function<void()>> work_ ABSL_GUARDED_BY(mutex_);
  std::size_t running_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sinew::server
