// timed_http_server.h - an HTTP server that slow clients cannot block.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <httplib.h>

#include <chrono>
#include <cstddef>
#include <list>

namespace sinew::server {

// The library limits the time of each read, which a client that sends a byte a second never
// exceeds, and neither headers nor bodies in chunks. Here a connection is one request, with limits
// for all of it; and when more connections
// are open than there are threads, the oldest that has not sent its request is closed.
class TimedHttpServer final : public httplib::Server {
 public:
  static constexpr std::size_t kThreads = 16;
  static constexpr std::chrono::seconds kRequestTime{5};
  static constexpr std::size_t kRequestBytes = 64 << 10;

  TimedHttpServer();

  // After binding. The library lets five connections wait to be accepted; a client beyond these
  // tries again after a second.
  void LengthenQueue();

 private:
  class Pool;
  class Connection;

  // The library calls it on a thread of the pool for each accepted connection.
  bool process_and_close_socket(socket_t socket) override;
  // A connection has been accepted and needs a thread.
  void MakeRoom();
  // The server stops: closes connections that have not sent their request.
  void CutOff();

  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::size_t accepted_ ABSL_GUARDED_BY(mutex_) = 0;        // and not yet closed
  std::list<socket_t> requesting_ ABSL_GUARDED_BY(mutex_);  // request incomplete; oldest first
};

}  // namespace sinew::server
