#include "server/process/listener.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/base/status.h"
#include "server/base/address.h"
#include "server/base/caller.h"
#include "server/base/files.h"
#include "server/base/thread_name.h"

namespace sinew::server {
namespace {

constexpr int kBacklog = 1024;
constexpr int kSweepRest = 20;                    // times the duration of a sweep, until the next
constexpr int kUserTimeoutMilliseconds = 20'000;  // for data that a lost peer does not acknowledge

Descriptor MakeSocket(int family) {
  return Descriptor(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Descriptor OpenReserve() {
  return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

absl::Status CannotBind(const char* option, const std::string& address, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat(option, ": cannot bind ", address, ": ", why));
}

std::uint64_t InodeOf(int file) {
  struct stat facts {};
  return ::fstat(file, &facts) == 0 ? facts.st_ino : 0;
}

// What Caller::client() is without authentication; empty for a Unix socket.
std::string ClientOf(const sockaddr_storage& name, socklen_t size) {
  std::array<char, NI_MAXHOST> host{};
  if (name.ss_family == AF_UNIX ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&name), size, host.data(), host.size(),
                    nullptr, 0, NI_NUMERICHOST) != 0) {
    return {};
  }
  return NetworkOf(host.data());
}

int PortOf(int socket) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &size) != 0) return 0;
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<const sockaddr_in&>(name).sin_port);
}

void SetPort(sockaddr* name, int port) {
  const auto number = htons(static_cast<std::uint16_t>(port));
  if (name->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(name)->sin6_port = number;
  } else {
    reinterpret_cast<sockaddr_in*>(name)->sin_port = number;
  }
}

// Accepted sockets inherit these.
void SetOptions(int socket) {
  const int yes = 1, timeout = kUserTimeoutMilliseconds;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
}

int ConnectError(const sockaddr_un& name) {
  const Descriptor socket = MakeSocket(AF_UNIX);
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  return ::connect(socket.fd(), address, sizeof name) == 0 ? 0 : errno;
}

sockaddr_un UnixName(const std::string& address) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  address.copy(name.sun_path, sizeof(name.sun_path) - 1, address.find(':') + 1);
  return name;
}

absl::Status CheckUnix(const std::string& address, const sockaddr_un& name) {
  // A file without a listener is left from a server that was killed. Only ECONNREFUSED means that
  // there is no listener; a full queue and a lack of permission do not.
  const int error = ConnectError(name);
  if (error == 0 || error == EAGAIN)
    return CannotBind("listen", address, std::strerror(EADDRINUSE));
  struct stat facts {};
  if (::lstat(name.sun_path, &facts) == 0 && !S_ISSOCK(facts.st_mode)) {
    return CannotBind("listen", address, "it is a file, but not a socket");
  }
  if (error != ENOENT && error != ECONNREFUSED) {
    return CannotBind("listen", address, std::strerror(error));
  }
  const absl::Status folder = CheckReplaceableFile(name.sun_path);
  return folder.ok() ? folder : CannotBind("listen", address, folder.message());
}

// Sockets that listen on a name with one port, and that name with the actual port.
struct Ports {
  std::vector<Descriptor> sockets;
  std::string address;
};

absl::StatusOr<Ports> BindPort(const char* option, const std::string& address) {
  SINEW_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort(option, address));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(parsed.host.c_str(), std::to_string(parsed.port).c_str(), &hints, &found);
  if (error != 0) return CannotBind(option, address, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> names(found, &::freeaddrinfo);
  int number = parsed.port;
  Ports ports;
  for (const addrinfo* name = found; name != nullptr; name = name->ai_next) {
    Descriptor port = MakeSocket(name->ai_family);
    if (!port.ok() && errno == EAFNOSUPPORT) continue;
    if (!port.ok()) return CannotBind(option, address, std::strerror(errno));
    SetOptions(port.fd());
    SetPort(name->ai_addr, number);  // a name with several addresses has one port
    if (::bind(port.fd(), name->ai_addr, name->ai_addrlen) != 0 ||
        ::listen(port.fd(), kBacklog) != 0) {
      if (errno == EADDRNOTAVAIL && (!ports.sockets.empty() || name->ai_next != nullptr)) continue;
      return CannotBind(option, address, std::strerror(errno));
    }
    number = PortOf(port.fd());
    ports.sockets.push_back(std::move(port));
  }
  if (ports.sockets.empty()) return CannotBind(option, address, std::strerror(EADDRNOTAVAIL));
  ports.address = absl::StrCat(address.substr(0, address.rfind(':')), ":", number);
  return ports;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Bind(const std::vector<std::string>& addresses,
                                                         const std::string& http,
                                                         Quota& connections) {
  std::unique_ptr<Listener> listener(new Listener(connections));
  for (const std::string& address : addresses) {
    if (IsUnixAddress(address)) {
      SINEW_RETURN_IF_ERROR(listener->BindUnix(address));
      continue;
    }
    SINEW_ASSIGN_OR_RETURN(Ports ports, BindPort("listen", address));
    std::ranges::move(ports.sockets, std::back_inserter(listener->ports_));
    listener->addresses_.push_back(std::move(ports.address));
  }
  if (http != "off") {
    SINEW_ASSIGN_OR_RETURN(Ports ports, BindPort("http", http));
    listener->http_ports_ = std::move(ports.sockets);
    listener->http_address_ = std::move(ports.address);
  }
  listener->wake_ = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  listener->reserve_ = OpenReserve();
  if (!listener->wake_.ok() || !listener->reserve_.ok()) {
    return absl::UnavailableError(absl::StrCat("listen: ", std::strerror(errno)));
  }
  return listener;
}

absl::StatusOr<std::string> Listener::OwnAddress() {
  const absl::MutexLock lock(&mutex_);
  if (own_.ok()) return own_address_;
  Descriptor socket = MakeSocket(AF_UNIX);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  auto* const address = reinterpret_cast<sockaddr*>(&name);
  socklen_t size = sizeof name.sun_family;  // without a name: the kernel chooses an abstract one
  if (!socket.ok() || ::bind(socket.fd(), address, size) != 0 ||
      ::listen(socket.fd(), kBacklog) != 0 ||
      ::getsockname(socket.fd(), address, &(size = sizeof name)) != 0) {
    return absl::UnavailableError(absl::StrCat("no abstract socket: ", std::strerror(errno)));
  }
  own_ = std::move(socket);
  own_address_ = absl::StrCat("unix-abstract:", name.sun_path + 1);
  Wake();
  return own_address_;
}

absl::Status Listener::Check(const char* option, const std::string& address) {
  return IsUnixAddress(address) ? CheckUnix(address, UnixName(address))
                                : BindPort(option, address).status();
}

absl::Status Listener::BindUnix(const std::string& address) {
  const sockaddr_un name = UnixName(address);
  const std::string path = name.sun_path;
  SINEW_RETURN_IF_ERROR(CheckUnix(address, name));
  if (ConnectError(name) == ECONNREFUSED) ::unlink(path.c_str());
  Descriptor port = MakeSocket(AF_UNIX);
  if (!port.ok() || ::bind(port.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    return CannotBind("listen", address, std::strerror(errno));
  }
  socket_files_.push_back(path);
  if (::listen(port.fd(), kBacklog) != 0)
    return CannotBind("listen", address, std::strerror(errno));
  ports_.push_back(std::move(port));
  addresses_.push_back(address);
  return absl::OkStatus();
}

Listener::~Listener() {
  Stop();
}

void Listener::Start(Acceptors acceptors) {
  acceptors_ = std::move(acceptors);
  thread_ = std::thread([this] { Loop(); });
}

void Listener::Stop() {
  if (thread_.joinable()) {
    {
      const absl::MutexLock lock(&mutex_);
      stopping_ = true;
      Wake();
    }
    thread_.join();
  }
  ports_.clear();
  http_ports_.clear();
  {
    const absl::MutexLock lock(&mutex_);
    if (own_.ok()) ::shutdown(own_.fd(), SHUT_RDWR);  // also in forked processes, which inherit it
    own_ = Descriptor();
  }
  for (const std::string& path : socket_files_) ::unlink(path.c_str());
  socket_files_.clear();
}

void Listener::ForgetClosed() {
  const absl::MutexLock lock(&mutex_);
  Sweep();
}

void Listener::Wake() {
  const std::uint64_t one = 1;
  while (::write(wake_.fd(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

std::vector<pollfd> Listener::Sockets() {
  std::uint64_t count = 0;
  while (::read(wake_.fd(), &count, sizeof count) < 0 && errno == EINTR) {
  }
  const absl::MutexLock lock(&mutex_);
  if (stopping_) return {};
  std::vector<pollfd> sockets;
  const auto add = [&](const Descriptor& socket) {
    sockets.push_back({.fd = socket.fd(), .events = POLLIN, .revents = 0});
  };
  add(own_);  // poll() ignores it while it is not open
  add(wake_);
  for (const Descriptor& port : ports_) add(port);
  for (const Descriptor& port : http_ports_) add(port);
  return sockets;
}

void Listener::Loop() {
  NameThread("listener");
  std::vector<pollfd> sockets = Sockets();
  while (!sockets.empty()) {
    if (::poll(sockets.data(), sockets.size(), -1) < 0) continue;  // interrupted
    if (sockets[0].revents != 0) AcceptOwn(sockets[0].fd);
    for (std::size_t i = 2; i < sockets.size(); ++i) {
      if (sockets[i].revents == 0) continue;
      i < 2 + ports_.size() ? Accept(sockets[i].fd) : AcceptHttp(sockets[i].fd);
    }
    if (sockets[1].revents != 0) sockets = Sockets();
  }
}

void Listener::Accept(int port) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  const int socket =
      ::accept4(port, reinterpret_cast<sockaddr*>(&name), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) {
    if (errno == EMFILE || errno == ENFILE) AcceptAndClose(port);
    return;  // otherwise the client has left
  }
  const std::string client = ClientOf(name, size);
  const absl::MutexLock lock(&mutex_);
  auto permit = connections_.Take(client);
  if (!permit.ok() && MaySweep()) {
    Sweep();
    permit = connections_.Take(client);
  }
  if (!permit.ok()) {
    ++refused_;
    ::close(socket);
    return;
  }
  open_.push_back({.socket = socket, .inode = InodeOf(socket), .permit = *std::move(permit)});
  Acceptor::NewConnectionParameters connection;
  connection.listener_fd = port;
  connection.fd = socket;
  Acceptor& acceptor = name.ss_family == AF_UNIX ? *acceptors_.unix_sockets : *acceptors_.ports;
  acceptor.HandleNewConnection(&connection);
}

// Any process of this network namespace may connect; the kernel says which one did.
void Listener::AcceptOwn(int port) {
  Descriptor socket(::accept4(port, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.ok()) {
    if (errno == EMFILE || errno == ENFILE) AcceptAndClose(port);
    return;
  }
  ucred sender{};
  socklen_t size = sizeof sender;
  if (::getsockopt(socket.fd(), SOL_SOCKET, SO_PEERCRED, &sender, &size) != 0 ||
      sender.pid != ::getpid()) {
    return;
  }
  Acceptor::NewConnectionParameters connection;
  connection.listener_fd = port;
  connection.fd = socket.Release();
  acceptors_.own->HandleNewConnection(&connection);
}

void Listener::AcceptHttp(int port) {
  Descriptor socket(::accept4(port, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.ok()) {
    acceptors_.http(std::move(socket));
  } else if (errno == EMFILE || errno == ENFILE) {
    AcceptAndClose(port);
  }
}

// A connection that is not accepted would make poll() return for ever and its client wait.
void Listener::AcceptAndClose(int port) {
  reserve_ = Descriptor();
  Descriptor(::accept4(port, nullptr, nullptr, SOCK_CLOEXEC));
  reserve_ = OpenReserve();
  ++refused_;
}

bool Listener::MaySweep() const {
  return std::chrono::steady_clock::now() >= next_sweep_;
}

void Listener::Sweep() {
  const auto start = std::chrono::steady_clock::now();
  open_.remove_if([](const Connection& known) { return InodeOf(known.socket) != known.inode; });
  const auto end = std::chrono::steady_clock::now();
  // A flood of connections that are refused must not spend this thread on looking at all others.
  next_sweep_ = end + kSweepRest * (end - start);
}

}  // namespace sinew::server
