#include "tests/fault/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

namespace sinew::testing {
namespace {

constexpr std::size_t kMostQueued = 256 << 10;  // of one way
constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

sockaddr_in AddressOf(const std::string& text) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  const std::size_t colon = text.rfind(':');
  ::inet_pton(AF_INET, text.substr(0, colon).c_str(), &name.sin_addr);
  name.sin_port = htons(static_cast<std::uint16_t>(std::stoi(text.substr(colon + 1))));
  return name;
}

void SendAtOnce(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

TcpProxy::TcpProxy(const std::string& target) : target_(target) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in name = AddressOf("127.0.0.1:0");
  socklen_t size = sizeof name;
  ::bind(listener_, reinterpret_cast<const sockaddr*>(&name), size);
  ::listen(listener_, 64);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&name), &size);
  address_ = "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = std::thread([this] { Loop(); });
}

TcpProxy::~TcpProxy() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  Wake();
  thread_.join();
  for (Link& link : links_) ResetSockets(link);
  ::close(listener_);
  ::close(wake_);
}

void TcpProxy::Wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_, &one, sizeof one);
}

void TcpProxy::Delay(std::chrono::microseconds delay) {
  const std::lock_guard lock(mutex_);
  delay_ = delay;
}

void TcpProxy::Throttle(std::size_t bytes_per_second) {
  const std::lock_guard lock(mutex_);
  rate_ = bytes_per_second;
}

void TcpProxy::HoldReplies(bool hold) {
  {
    const std::lock_guard lock(mutex_);
    hold_ = hold;
  }
  Wake();
}

void TcpProxy::Reset() {
  {
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) link.over = link.over || !link.frozen;
  }
  Wake();
}

void TcpProxy::ResetAfter(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (Link& link : links_) {
    link.cut = true;
    link.left = bytes;
  }
}

void TcpProxy::Freeze() {
  const std::lock_guard lock(mutex_);
  for (Link& link : links_) link.frozen = true;
}

void TcpProxy::ResetFrozen() {
  {
    const std::lock_guard lock(mutex_);
    for (Link& link : links_) link.over = link.over || link.frozen;
  }
  Wake();
}

std::uint64_t TcpProxy::accepted() const {
  const std::lock_guard lock(mutex_);
  return accepted_;
}

void TcpProxy::Accept() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (client < 0) return;
  const sockaddr_in name = AddressOf(target_);
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(server, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    ::close(server);
    ::close(client);
    return;
  }
  SendAtOnce(client);
  SendAtOnce(server);
  ++accepted_;
  links_.push_back({.up = {.from = client, .to = server}, .down = {.from = server, .to = client}});
}

void TcpProxy::ResetSockets(Link& link) {
  const linger none{.l_onoff = 1, .l_linger = 0};
  for (const int socket : {link.up.from, link.up.to}) {
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    ::close(socket);
  }
}

void TcpProxy::Read(Way& way, Time now) {
  std::array<char, 1 << 16> buffer;
  const ssize_t got = ::recv(way.from, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    way.at_end = true;
    return;
  }
  const auto size = static_cast<std::size_t>(got);
  way.chunks.push_back({now + delay_, std::string(buffer.data(), size)});
  way.queued += size;
}

std::size_t TcpProxy::Write(Link& link, Way& way, Time now, std::size_t most) {
  std::size_t done = 0;
  while (!way.chunks.empty() && way.chunks.front().due <= now && done < most) {
    std::string& bytes = way.chunks.front().bytes;
    const ssize_t sent = ::send(way.to, bytes.data(), std::min(bytes.size(), most - done),
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      link.over = errno != EAGAIN;
      return done;
    }
    const auto size = static_cast<std::size_t>(sent);
    bytes.erase(0, size);
    way.queued -= size;
    done += size;
    if (bytes.empty()) way.chunks.pop_front();
  }
  if (way.at_end && way.chunks.empty() && !way.ended) {
    way.ended = true;
    ::shutdown(way.to, SHUT_WR);
  }
  return done;
}

void TcpProxy::Serve(Link& link, Time now, double seconds) {
  if (link.frozen) return;
  Write(link, link.up, now, kNoLimit);
  std::size_t most = kNoLimit;
  if (rate_ > 0) {
    const auto rate = static_cast<double>(rate_);
    link.allowance = std::min(link.allowance + rate * seconds, rate / 10);
    most = static_cast<std::size_t>(link.allowance);
  }
  if (link.cut) most = std::min(most, link.left);
  const std::size_t sent = Write(link, link.down, now, most);
  if (rate_ > 0) link.allowance -= static_cast<double>(sent);
  if (link.cut) {
    link.left -= sent;
    if (link.left == 0) link.over = true;
  }
  if (link.up.ended && link.down.ended) link.over = true;
}

bool TcpProxy::MayRead(const Link& link, const Way& way) const {
  const bool held = hold_ && &way == &link.down;
  return !link.frozen && !held && !way.at_end && way.queued < kMostQueued;
}

bool TcpProxy::MayWrite(const Link& link, const Way& way, Time now) const {
  const bool limited = rate_ > 0 && &way == &link.down;
  return !link.frozen && !limited && !way.chunks.empty() && way.chunks.front().due <= now;
}

void TcpProxy::Loop() {
  Time last = std::chrono::steady_clock::now();
  std::vector<pollfd> polled;
  while (true) {
    int timeout = 1000;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      const Time now = std::chrono::steady_clock::now();
      polled = {{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
      for (const Link& link : links_) {
        for (const Way* way : {&link.up, &link.down}) {
          const bool waits = !way->chunks.empty() && !link.frozen && !MayWrite(link, *way, now);
          if (waits) timeout = 1;
          // A descriptor of -1 is ignored.
          polled.push_back({MayRead(link, *way) ? way->from : -1, POLLIN, 0});
          polled.push_back({MayWrite(link, *way, now) ? way->to : -1, POLLOUT, 0});
        }
      }
    }
    ::poll(polled.data(), polled.size(), timeout);
    std::uint64_t ignored;
    (void)!::read(wake_, &ignored, sizeof ignored);
    const std::lock_guard lock(mutex_);
    const Time now = std::chrono::steady_clock::now();
    std::size_t at = 2;
    for (Link& link : links_) {
      for (Way* way : {&link.up, &link.down}) {
        if (polled[at].revents != 0 && MayRead(link, *way)) Read(*way, now);
        at += 2;
      }
      Serve(link, now, std::chrono::duration<double>(now - last).count());
    }
    last = now;
    for (auto it = links_.begin(); it != links_.end();) {
      if (it->over) ResetSockets(*it);
      it = it->over ? links_.erase(it) : std::next(it);
    }
    if (polled[0].revents != 0) Accept();
  }
}

}  // namespace sinew::testing
