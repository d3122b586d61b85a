// bind_queue.h - one thread that binds, one after the other, with a bounded line in front of it.
#pragma once

#include <absl/status/status.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "server/threads/arena.h"

namespace sinew::server {

class BindQueue {
 public:
  BindQueue(std::size_t capacity, Arenas& arenas);
  // Runs what waits (jobs whose cancellation was asked for end at once), then ends.
  ~BindQueue();
  BindQueue(const BindQueue&) = delete;
  BindQueue& operator=(const BindQueue&) = delete;

  // Calls `job` later in the bind arena; it must not throw. kResourceExhausted: too many wait.
  absl::Status Push(std::function<void()> job);
  void Stop();

  std::size_t queued() const;
  bool running() const;

 private:
  void Loop();
  const std::size_t capacity_;
  Arenas& arenas_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool running_ = false, stopping_ = false;
  std::thread thread_;
};

}  // namespace sinew::server
