// bind_queue.h - one thread that runs one bind at a time, with a bounded queue.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>

#include "server/threads/arena.h"

namespace sinew::server {

class BindQueue {
 public:
  BindQueue(std::size_t capacity, Arenas& arenas);
  // Runs what is queued (cancelled jobs return at once), then ends.
  ~BindQueue();
  BindQueue(const BindQueue&) = delete;
  BindQueue& operator=(const BindQueue&) = delete;

  // Calls `job` later in the bind arena; it must not throw. kResourceExhausted: the queue is full.
  absl::Status Push(std::function<void()> job);
  void Stop();

  std::size_t queued() const;
  bool running() const;

 private:
  void Loop();
  bool Wanted() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stopping_ || !jobs_.empty(); }

  const std::size_t capacity_;
  Arenas& arenas_;
  mutable absl::Mutex mutex_;
  std::deque<std::function<void()>> jobs_ ABSL_GUARDED_BY(mutex_);
  bool running_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sinew::server
