#include "server/process/timed_http_server.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "server/process/process_stats.h"

namespace sinew::server {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLook{20};  // between looks at whether others wait

}  // namespace

// Reads and writes one connection until its time is up.
class TimedHttpServer::Connection final : public httplib::Stream {
 public:
  Connection(const TimedHttpServer& server, socket_t socket) : server_(server), socket_(socket) {}

  bool is_readable() const override { return next_ < end_ || WaitForRequest(); }
  bool is_writable() const override { return WaitToWrite(); }
  ssize_t read(char* to, std::size_t size) override {
    if (next_ == end_) {
      if (received_ >= kRequestBytes || !WaitForRequest()) return -1;
      const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got <= 0) return got;
      next_ = 0;
      end_ = static_cast<std::size_t>(got);
      received_ += end_;
    }
    const std::size_t count = std::min(size, end_ - next_);
    std::copy_n(buffer_.data() + next_, count, to);
    next_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    return WaitToWrite() ? ::send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    Name(ip, port, ::getpeername);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    Name(ip, port, ::getsockname);
  }
  socket_t socket() const override { return socket_; }

 private:
  bool WaitForRequest() const {
    return Wait(POLLIN, [this] { return server_.request_time(); });
  }
  bool WaitToWrite() const {
    return Wait(POLLOUT, [this] { return server_.reply_time(); });
  }
  // The time may become shorter meanwhile.
  template <class Time>
  bool Wait(short event, Time time) const {
    while (true) {
      const auto left = start_ + time() - Steady::now();
      if (left <= Steady::duration::zero()) return false;
      if (Poll(event, std::min<Steady::duration>(left, kLook))) return true;
    }
  }
  // False also after a signal.
  bool Poll(short event, Steady::duration time) const {
    const auto whole = std::chrono::ceil<std::chrono::milliseconds>(time);
    pollfd file{.fd = socket_, .events = event, .revents = 0};
    return ::poll(&file, 1, static_cast<int>(whole.count())) > 0;
  }
  template <class GetName>
  void Name(std::string& ip, int& port, GetName get_name) const {
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    std::array<char, NI_MAXHOST> host{};
    std::array<char, NI_MAXSERV> service{};
    auto* address = reinterpret_cast<sockaddr*>(&name);
    if (get_name(socket_, address, &size) == 0 &&
        ::getnameinfo(address, size, host.data(), host.size(), service.data(), service.size(),
                      NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
      ip = host.data();
      port = std::atoi(service.data());
    }
  }

  const TimedHttpServer& server_;
  const socket_t socket_;
  const Steady::time_point start_ = Steady::now();
  std::array<char, 4096> buffer_{};
  std::size_t next_ = 0, end_ = 0;  // of what the buffer holds
  std::size_t received_ = 0;
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
