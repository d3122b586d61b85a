// bare_socket.h - TCP connections to a port of the server, without any protocol.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/base/address.h"
#include "server/base/files.h"

namespace sinew::testing {

// A TCP connection that sends nothing.
inline server::Descriptor ConnectBare(const std::string& address) {
  const auto parsed = server::ParseHostPort("address", address).value();
  server::Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(parsed.port));
  ::inet_pton(AF_INET, parsed.host.c_str(), &name.sin_addr);
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) return {};
  return socket;
}

// Sends all of it, or what the other end takes.
inline void SendBare(const server::Descriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// The other end has closed it, and all that it sent has been read.
inline bool IsClosed(const server::Descriptor& socket) {
  char next = 0;
  const ssize_t got = ::recv(socket.fd(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return got == 0 || (got < 0 && errno != EAGAIN);
}

// What arrives until the other end closes, or is silent for this long.
inline std::string ReadBare(const server::Descriptor& socket, int milliseconds) {
  std::string text;
  char buffer[4096];
  pollfd wait{.fd = socket.fd(), .events = POLLIN, .revents = 0};
  while (::poll(&wait, 1, milliseconds) > 0) {
    const ssize_t got = ::recv(socket.fd(), buffer, sizeof buffer, 0);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace sinew::testing
