// timed_http_server.h - an HTTP server that slow clients cannot block.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sinew::server {

// The library limits the time of each read, which a client that sends a byte a second never
// exceeds, and neither headers nor bodies in chunks. Here a connection is one request, with limits
// for all of it, and a shorter one for sending it while other connections wait for a thread.
class TimedHttpServer final : public httplib::Server {
 public:
  static constexpr std::size_t kThreads = 4;
  static constexpr std::chrono::seconds kRequestTime{5};
  // While others wait: with all threads, 80 connections a second that send nothing.
  static constexpr std::chrono::milliseconds kCrowdedTime{50};
  static constexpr std::size_t kRequestBytes = 64 << 10;
  // From the start of the connection to the end of the reply, while others wait.
  static constexpr std::chrono::milliseconds kCrowdedReplyTime{500};
  // Open connections, at most a quarter of the limit of open files; further ones are closed at
  // once.
  static std::uint64_t MostConnections();

  TimedHttpServer() : most_(MostConnections()) {}

  // A connection has been accepted and needs a thread, which then serves it. False: there are too
  // many.
  bool Count();
  bool process_and_close_socket(socket_t socket) override;
  // The server stops: connections that have not sent their request are closed.
  void CutOff() { stopping_ = true; }

 private:
  class Connection;

  // How long a connection may take to send its request, and until its reply has been read.
  std::chrono::milliseconds request_time() const;
  std::chrono::milliseconds reply_time() const;

  const std::uint64_t most_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> accepted_ = 0;  // and not yet closed
};

}  // namespace sinew::server
