#include "server/process/timed_http_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "server/process/process_stats.h"
#include "server/web/http_stream.h"

namespace sinew::server {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{20};  // between looks at whether others wait

}  // namespace

// Reads and writes one connection until its time is up.
class TimedHttpServer::Connection final : public HttpStream {
 public:
  Connection(const TimedHttpServer& server, socket_t socket)
      : HttpStream(socket), server_(server) {}

 private:
  bool WaitToRead() const override {
    return Wait(POLLIN, [this] { return server_.request_time(); });
  }
  bool WaitToWrite() const override {
    return Wait(POLLOUT, [this] { return server_.reply_time(); });
  }
  bool MayReceive() const override { return received() < kRequestBytes; }
  // The time may become shorter meanwhile.
  template <class Time>
  bool Wait(short event, Time time) const {
    while (true) {
      const auto left = start_ + time() - Steady::now();
      if (left <= Steady::duration::zero()) return false;
      if (Poll(event, std::min<Steady::duration>(left, kLook))) return true;
    }
  }

  const TimedHttpServer& server_;
  const Steady::time_point start_ = Steady::now();
};

bool TimedHttpServer::Count() {
  if (++accepted_ <= most_) return true;
  --accepted_;
  return false;
}

std::chrono::milliseconds TimedHttpServer::request_time() const {
  if (stopping_) return std::chrono::milliseconds::zero();
  return accepted_ > kThreads ? kCrowdedTime : kRequestTime;
}

std::chrono::milliseconds TimedHttpServer::reply_time() const {
  return accepted_ > kThreads ? kCrowdedReplyTime : kRequestTime;
}

std::uint64_t TimedHttpServer::MostConnections() {
  return std::min<std::uint64_t>(1024, FileLimit() / 4);
}

bool TimedHttpServer::process_and_close_socket(socket_t socket) {
  bool closed = false;
  Connection connection(*this, socket);
  const bool ok = process_request(connection, true, closed, [](const httplib::Request&) {});
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  --accepted_;
  return ok;
}

}  // namespace sinew::server
