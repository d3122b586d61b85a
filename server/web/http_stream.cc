#include "server/web/http_stream.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>

namespace sinew::server {
namespace {

template <class GetName>
void Name(socket_t socket, std::string& ip, int& port, GetName get_name) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  auto* address = reinterpret_cast<sockaddr*>(&name);
  if (get_name(socket, address, &size) == 0 &&
      ::getnameinfo(address, size, host.data(), host.size(), service.data(), service.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
    ip = host.data();
    port = std::atoi(service.data());
  }
}

}  // namespace

ssize_t HttpStream::read(char* to, std::size_t size) {
  if (buffered() == 0) {
    if (!MayReceive() || !WaitToRead()) return -1;
    const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got <= 0) return got;
    next_ = 0;
    end_ = static_cast<std::size_t>(got);
    received_ += end_;
  }
  const std::size_t count = std::min(size, buffered());
  std::copy_n(buffer_.data() + next_, count, to);
  next_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t HttpStream::write(const char* from, std::size_t size) {
  return WaitToWrite() ? ::send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;
}

void HttpStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  Name(socket_, ip, port, ::getpeername);
}

void HttpStream::get_local_ip_and_port(std::string& ip, int& port) const {
  Name(socket_, ip, port, ::getsockname);
}

bool HttpStream::Poll(short event, std::chrono::steady_clock::duration time) const {
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(time);
  pollfd file{.fd = socket_, .events = event, .revents = 0};
  return ::poll(&file, 1, static_cast<int>(std::max<std::int64_t>(0, whole.count()))) > 0;
}

bool HttpStream::DropSome() {
  next_ = end_ = 0;
  return ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT) > 0;
}

}  // namespace sinew::server
