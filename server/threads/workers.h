// workers.h - a few threads for work that may block: disk, parsing rigs, estimates. Keeps gRPC's
// threads free.
#pragma once

#include <absl/status/status.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
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
  // Runs what is queued and ends the threads; Post is refused afterwards. Called again, does
  // nothing.
  void Stop();

 private:
  void Loop();
  const std::size_t queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sinew::server
