#include "server/process/timed_http_server.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <utility>

namespace sinew::server {
namespace {

using Steady = std::chrono::steady_clock;

}  // namespace

class TimedHttpServer::Pool final : public httplib::ThreadPool {
 public:
  explicit Pool(TimedHttpServer& server) : ThreadPool(kThreads), server_(server) {}
  void enqueue(std::function<void()> serve) override {
    server_.MakeRoom();
    ThreadPool::enqueue(std::move(serve));
  }
  void shutdown() override {
    server_.CutOff();
    ThreadPool::shutdown();
  }

 private:
  TimedHttpServer& server_;
};

// Reads and writes one connection until its time is up.
class TimedHttpServer::Connection final : public httplib::Stream {
 public:
  explicit Connection(socket_t socket) : socket_(socket) {}

  bool is_readable() const override { return next_ < end_ || Wait(POLLIN); }
  bool is_writable() const override { return Wait(POLLOUT); }
  ssize_t read(char* to, std::size_t size) override {
    if (next_ == end_) {
      if (received_ >= kRequestBytes || !Wait(POLLIN)) return -1;
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
    return Wait(POLLOUT) ? ::send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    Name(ip, port, ::getpeername);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    Name(ip, port, ::getsockname);
  }
  socket_t socket() const override { return socket_; }

 private:
  bool Wait(short event) const {
    while (true) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end_of_time_ - Steady::now());
      if (left.count() <= 0) return false;
      pollfd file{.fd = socket_, .events = event, .revents = 0};
      const int found = ::poll(&file, 1, static_cast<int>(left.count()));
      if (found > 0) return true;
      if (found == 0 || errno != EINTR) return false;
    }
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

  const socket_t socket_;
  const Steady::time_point end_of_time_ = Steady::now() + kRequestTime;
  std::array<char, 4096> buffer_{};
  std::size_t next_ = 0, end_ = 0;  // of what the buffer holds
  std::size_t received_ = 0;
};

TimedHttpServer::TimedHttpServer() {
  new_task_queue = [this] { return new Pool(*this); };
}

void TimedHttpServer::LengthenQueue() {
  ::listen(svr_sock_, 512);
}

void TimedHttpServer::MakeRoom() {
  const absl::MutexLock lock(&mutex_);
  if (++accepted_ <= kThreads || requesting_.empty()) return;
  ::shutdown(requesting_.front(), SHUT_RDWR);  // its thread notices and closes it
  requesting_.pop_front();
}

void TimedHttpServer::CutOff() {
  const absl::MutexLock lock(&mutex_);
  stopping_ = true;
  for (const socket_t socket : requesting_) ::shutdown(socket, SHUT_RDWR);
}

bool TimedHttpServer::process_and_close_socket(socket_t socket) {
  const auto forget = [&] {
    const absl::MutexLock lock(&mutex_);
    requesting_.remove(socket);
  };
  {
    const absl::MutexLock lock(&mutex_);
    if (stopping_) ::shutdown(socket, SHUT_RDWR);
    requesting_.push_back(socket);
  }
  Connection connection(socket);
  bool closed = false;
  const bool ok =
      process_request(connection, true, closed, [&](const httplib::Request&) { forget(); });
  forget();
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
  const absl::MutexLock lock(&mutex_);
  --accepted_;
  return ok;
}

}  // namespace sinew::server
