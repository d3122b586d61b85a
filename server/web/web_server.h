// web_server.h - an HTTP server whose clients can hold neither its memory nor its end.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <httplib.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <set>

#include "server/web/tls_context.h"

namespace sinew::server {

// The library limits neither the number of connections, nor headers, nor the time of a whole
// request, and waits for its connections when it stops. Here each connection has a thread, from its
// start to its end; an idle server has none but that of `listen`.
class WebServer final : public httplib::Server {
 public:
  static constexpr std::size_t kHeaderBytes = 64 << 10;
  // A request arrives within this time, or at this rate if it is long.
  static constexpr std::chrono::seconds kRequestTime{5};
  static constexpr std::size_t kBytesPerSecond = 64 << 10;
  // How long a reply may stay unread; longer than the server waits for a stream's reader.
  static constexpr std::chrono::seconds kWriteTime{60};
  static constexpr std::chrono::seconds kIdleTime{5};  // between two requests of a connection

  // most: connections at a time; further ones are closed at once. tls: null = without.
  WebServer(std::size_t most, std::shared_ptr<TlsContext> tls);

  // Waits up to `time` for replies that are being written, then cuts off all connections. Call it
  // before stop().
  void Finish(std::chrono::milliseconds time);

 private:
  class Connection;
  class Threads;

  bool process_and_close_socket(socket_t socket) override;
  bool Add(socket_t socket);
  // Whether the connection may begin with a request. False: the server finishes.
  bool Begin();
  void End();
  void Remove(socket_t socket);

  const std::size_t most_;
  const std::shared_ptr<TlsContext> tls_;
  absl::Mutex mutex_;
  std::set<socket_t> open_ ABSL_GUARDED_BY(mutex_);
  std::size_t answering_ ABSL_GUARDED_BY(mutex_) = 0;
  bool finishing_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace sinew::server
