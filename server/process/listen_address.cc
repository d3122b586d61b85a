#include "server/process/listen_address.h"

#include <absl/strings/str_cat.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/status.h"
#include "server/base/address.h"
#include "server/base/files.h"

namespace sinew::server {
namespace {

Descriptor MakeSocket(int family) {
  return Descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

std::string PathOf(const std::string& unix_address) {
  return unix_address.substr(unix_address.find(':') + 1);
}

sockaddr_un UnixName(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof(name.sun_path) - 1);
  return name;
}

// 0 if it can be bound, otherwise errno.
int BindError(const sockaddr* name, socklen_t size) {
  const Descriptor socket = MakeSocket(name->sa_family);
  const int yes = 1;
  if (!socket.ok()) return errno;
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return ::bind(socket.fd(), name, size) == 0 ? 0 : errno;
}

std::string WhyNotUnix(const std::string& path) {
  const sockaddr_un name = UnixName(path);
  const int error = BindError(reinterpret_cast<const sockaddr*>(&name), sizeof name);
  if (error == 0) ::unlink(path.c_str());
  return error == 0 ? std::string() : strerror(error);
}

std::string WhyNotPort(const std::string& option, const std::string& address) {
  const auto parsed = ParseHostPort(option, address);
  if (!parsed.ok()) return std::string(parsed.status().message());
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(parsed->host.c_str(), std::to_string(parsed->port).c_str(), &hints, &found);
  if (error != 0) return gai_strerror(error);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> names(found, &::freeaddrinfo);
  for (const addrinfo* name = found; name != nullptr; name = name->ai_next) {
    if (const int why = BindError(name->ai_addr, name->ai_addrlen); why != 0) return strerror(why);
  }
  return {};
}

int ConnectError(const std::string& path) {
  const Descriptor socket = MakeSocket(AF_UNIX);
  const sockaddr_un name = UnixName(path);
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  return ::connect(socket.fd(), address, sizeof name) == 0 ? 0 : errno;
}

}  // namespace

absl::Status CannotBind(const std::string& option, const std::string& address) {
  const std::string why =
      IsUnixAddress(address) ? WhyNotUnix(PathOf(address)) : WhyNotPort(option, address);
  return absl::UnavailableError(
      absl::StrCat(option, ": cannot bind ", address, why.empty() ? "" : ": ", why));
}

absl::Status CheckSocketFiles(const std::vector<std::string>& addresses) {
  for (const std::string& address : addresses) {
    if (!IsUnixAddress(address)) continue;
    const int error = ConnectError(PathOf(address));
    // Only ECONNREFUSED means that there is no listener; a full queue and a lack of permission do
    // not.
    if (error == ECONNREFUSED || error == ENOENT) continue;
    const int why = error == 0 || error == EAGAIN ? EADDRINUSE : error;
    return absl::UnavailableError(
        absl::StrCat("listen: cannot bind ", address, ": ", strerror(why)));
  }
  return absl::OkStatus();
}

}  // namespace sinew::server
