// workers.h - a few threads for work that may block: disk, parsing rigs, estimates. Keeps gRPC's
// threads free.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace sinew::server {

class Workers {
 public:
  Workers(std::size_t threads, std::size_t queue);
  // Runs what is queued, then ends.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // kResourceExhausted: the queue is full; `work` is then not called.
  absl::Status Post(std::function<void()> work);
  // Runs what is queued and ends the threads; Post is refused afterwards. Idempotent.
  void Stop();

 private:
  void Loop();
  bool Wanted() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return stopping_ || !work_.empty(); }

  const std::size_t queue_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> work_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sinew::server
