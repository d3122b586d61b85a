#include "server/web/web_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "server/web/http_stream.h"

namespace sinew::server {
namespace {

using Steady = std::chrono::steady_clock;

// True in the thread that accepts, while it closes a connection that got no thread.
thread_local bool refuses = false;

}  // namespace

class WebServer::Connection final : public HttpStream {
 public:
  using HttpStream::AcceptTls;
  using HttpStream::EndWriting;
  using HttpStream::HttpStream;

  // Whether another request begins.
  bool WaitForRequest() {
    if (buffered() == 0 && !Poll(POLLIN, kIdleTime)) return false;
    start_ = Steady::now();
    in_header_ = true;
    StartRequest();
    return true;
  }
  void EndHeader() { in_header_ = false; }
  // Reads, for a while, what the other end still sends.
  void Drain() {
    const auto end = Steady::now() + kRequestTime;
    while (Poll(POLLIN, end - Steady::now()) && DropSome()) {
    }
  }

  // False if the browser has left.
  bool is_writable() const override { return WaitToWrite() && !Poll(POLLRDHUP, {}); }

 private:
  bool WaitToRead() const override {
    const auto time = kRequestTime + std::chrono::milliseconds(received() * 1000 / kBytesPerSecond);
    return Poll(POLLIN, start_ + time - Steady::now());
  }
  bool WaitToWrite() const override { return Poll(POLLOUT, kWriteTime); }
  bool MayReceive() const override { return !in_header_ || received() < kHeaderBytes; }

  Steady::time_point start_ = Steady::now();  // of the request
  bool in_header_ = true;
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

WebServer::WebServer(std::size_t most, std::shared_ptr<TlsContext> tls)
    : most_(most), tls_(std::move(tls)) {
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
  bool more = tls_ == nullptr || connection.AcceptTls(tls_->NewConnection());
  while (more && connection.WaitForRequest() && Begin()) {
    bool closed = false;
    more = process_request(connection, false, closed,
                           [&connection](const httplib::Request&) { connection.EndHeader(); }) &&
           !closed;
    End();
  }
  // What closes at once loses the answer to a request that has not arrived completely.
  if (!more) {
    connection.EndWriting();
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
