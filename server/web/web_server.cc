#include "server/web/web_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace sinew::server {
namespace {

using Steady = std::chrono::steady_clock;

// True in the thread that accepts, while it closes a connection that got no thread.
thread_local bool refuses = false;

bool Poll(int socket, short event, Steady::duration time) {
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(time);
  pollfd file{.fd = socket, .events = event, .revents = 0};
  return ::poll(&file, 1, static_cast<int>(std::max<std::int64_t>(0, whole.count()))) > 0;
}

// IPv4, as the port listens there alone.
template <class GetName>
void Name(int socket, std::string& ip, int& port, GetName get_name) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  std::array<char, INET_ADDRSTRLEN> text{};
  if (get_name(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return;
  ip = ::inet_ntop(AF_INET, &name.sin_addr, text.data(), text.size()) == nullptr ? "" : text.data();
  port = ntohs(name.sin_port);
}

}  // namespace

class WebServer::Connection final : public httplib::Stream {
 public:
  explicit Connection(socket_t socket) : socket_(socket) {}

  // Whether another request begins.
  bool WaitForRequest() {
    if (next_ == end_ && !Poll(socket_, POLLIN, kIdleTime)) return false;
    start_ = Steady::now();
    received_ = end_ - next_;
    in_header_ = true;
    return true;
  }
  void EndHeader() { in_header_ = false; }
  // Reads, for a while, what the other end still sends.
  void Drain() {
    const auto end = Steady::now() + kRequestTime;
    while (Poll(socket_, POLLIN, end - Steady::now()) &&
           ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT) > 0) {
    }
  }

  bool is_readable() const override { return next_ < end_ || WaitToRead(); }
  // False if the browser has left.
  bool is_writable() const override {
    char byte = 0;
    return Poll(socket_, POLLOUT, kWriteTime) &&
           (!Poll(socket_, POLLIN, {}) ||
            ::recv(socket_, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) > 0);
  }
  ssize_t read(char* to, std::size_t size) override {
    if (next_ == end_) {
      if ((in_header_ && received_ >= kHeaderBytes) || !WaitToRead()) return -1;
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
    return Poll(socket_, POLLOUT, kWriteTime)
               ? ::send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL)
               : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    Name(socket_, ip, port, ::getpeername);
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    Name(socket_, ip, port, ::getsockname);
  }
  socket_t socket() const override { return socket_; }

 private:
  bool WaitToRead() const {
    const auto time = kRequestTime + std::chrono::milliseconds(received_ * 1000 / kBytesPerSecond);
    return Poll(socket_, POLLIN, start_ + time - Steady::now());
  }

  const socket_t socket_;
  Steady::time_point start_;  // of the request
  std::size_t received_ = 0;  // bytes of the request
  bool in_header_ = true;
  std::array<char, 16 << 10> buffer_{};
  std::size_t next_ = 0, end_ = 0;  // of what the buffer holds
};

class WebServer::Threads final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> work) override {
    {
      const absl::MutexLock lock(&mutex_);
      ++running_;
    }
    try {
      std::thread([this, work] {
        work();
        Leave();
      }).detach();
    } catch (const std::system_error&) {  // the system has no thread left
      refuses = true;
      work();
      refuses = false;
      Leave();
    }
  }
  void shutdown() override {
    const absl::MutexLock lock(&mutex_);
    const auto none = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return running_ == 0; };
    mutex_.Await(absl::Condition(&none));
  }

 private:
  void Leave() {
    const absl::MutexLock lock(&mutex_);
    --running_;
  }

  absl::Mutex mutex_;
  std::size_t running_ ABSL_GUARDED_BY(mutex_) = 0;
};

WebServer::WebServer(std::size_t most) : most_(most) {
  new_task_queue = [] { return new Threads; };
}

bool WebServer::Add(socket_t socket) {
  const absl::MutexLock lock(&mutex_);
  if (refuses || finishing_ || open_.size() >= most_) return false;
  open_.insert(socket);
  return true;
}

bool WebServer::Begin() {
  const absl::MutexLock lock(&mutex_);
  if (finishing_) return false;
  ++answering_;
  return true;
}

void WebServer::End() {
  const absl::MutexLock lock(&mutex_);
  --answering_;
}

void WebServer::Remove(socket_t socket) {
  const absl::MutexLock lock(&mutex_);
  open_.erase(socket);  // before its number can be that of another
  ::shutdown(socket, SHUT_RDWR);
  ::close(socket);
}

bool WebServer::process_and_close_socket(socket_t socket) {
  if (!Add(socket)) {
    ::close(socket);
    return false;
  }
  Connection connection(socket);
  bool more = true;
  while (more && connection.WaitForRequest() && Begin()) {
    bool closed = false;
    more = process_request(connection, false, closed,
                           [&connection](const httplib::Request&) { connection.EndHeader(); }) &&
           !closed;
    End();
  }
  // What closes at once loses the answer to a request that has not arrived completely.
  if (!more) {
    ::shutdown(socket, SHUT_WR);
    connection.Drain();
  }
  Remove(socket);
  return more;
}

void WebServer::Finish(std::chrono::milliseconds time) {
  const absl::MutexLock lock(&mutex_);
  finishing_ = true;
  const auto none = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return answering_ == 0; };
  mutex_.AwaitWithTimeout(absl::Condition(&none), absl::FromChrono(time));
  for (const socket_t socket : open_) ::shutdown(socket, SHUT_RDWR);
}

}  // namespace sinew::server
