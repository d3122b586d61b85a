#include "server/process/own_port.h"

#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/base/status.h"
#include "server/base/address.h"
#include "server/base/files.h"

namespace sinew::server {
namespace {

using Steady = std::chrono::steady_clock;

// An HTTP/2 frame; payloads here are shorter than 256 bytes.
std::string Frame(char type, char flags, char stream, const std::string& payload) {
  return std::string{0, 0, static_cast<char>(payload.size()), type, flags, 0, 0, 0, stream} +
         payload;
}

// A header without compression.
std::string Header(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

std::string HealthCheck() {
  constexpr char kData = 0, kHeaders = 1, kSettings = 4, kEndStream = 1, kEndHeaders = 4;
  const std::string headers = "\x83\x86" /* POST, http */ +
                              Header(":path", "/grpc.health.v1.Health/Check") +
                              Header(":authority", "localhost") +
                              Header("content-type", "application/grpc") + Header("te", "trailers");
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(kSettings, 0, 0, {}) +
         Frame(kHeaders, kEndHeaders, 1, headers) +
         Frame(kData, kEndStream, 1, std::string(5, '\0'));
}

// The message HealthCheckResponse{status: SERVING} with its length in front.
constexpr std::string_view kServingReply("\0\0\0\0\2\x08\x01", 7);

absl::Status Failed(const char* what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::StatusOr<Descriptor> Connect(const sockaddr* name, socklen_t size) {
  Descriptor socket(::socket(name->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.ok()) return Failed("socket");
  if (::connect(socket.fd(), name, size) != 0 && errno != EINPROGRESS) return Failed("connect");
  return socket;
}

absl::StatusOr<Descriptor> ConnectTo(const std::string& address) {
  if (IsUnixAddress(address)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    address.substr(address.find(':') + 1).copy(name.sun_path, sizeof(name.sun_path) - 1);
    return Connect(reinterpret_cast<const sockaddr*>(&name), sizeof name);
  }
  SINEW_ASSIGN_OR_RETURN(const HostPort parsed, ParseHostPort("listen", address));
  // Linux connects the unspecified addresses, 0.0.0.0 and ::, to this machine.
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(parsed.port);
  if (const int error = ::getaddrinfo(parsed.host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    return absl::UnavailableError(::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> names(found, &::freeaddrinfo);
  return Connect(found->ai_addr, found->ai_addrlen);
}

// Waits for an event of a socket until a deadline.
class Waiting {
 public:
  Waiting(int socket, std::chrono::milliseconds timeout)
      : socket_(socket), deadline_(Steady::now() + timeout) {}
  bool For(short event) const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Steady::now());
    pollfd file{.fd = socket_, .events = event, .revents = 0};
    return left.count() > 0 && ::poll(&file, 1, static_cast<int>(left.count())) > 0;
  }

 private:
  const int socket_;
  const Steady::time_point deadline_;
};

absl::Status ShakeHands(int socket, const Waiting& wait) {
  const std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)> context(
      ::SSL_CTX_new(::TLS_client_method()), &::SSL_CTX_free);
  const std::unique_ptr<SSL, decltype(&::SSL_free)> tls(::SSL_new(context.get()), &::SSL_free);
  constexpr unsigned char kHttp2[] = {2, 'h', '2'};
  ::SSL_set_alpn_protos(tls.get(), kHttp2, sizeof kHttp2);
  ::SSL_set_fd(tls.get(), socket);
  while (true) {
    const int result = ::SSL_connect(tls.get());
    if (result == 1) return absl::OkStatus();
    const int error = ::SSL_get_error(tls.get(), result);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
      return absl::UnavailableError("no TLS");
    }
    if (!wait.For(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT)) {
      return absl::UnavailableError("no answer");
    }
  }
}

absl::Status AskHealth(int socket, const Waiting& wait) {
  const std::string check = HealthCheck();  // fits into the buffer of any socket
  if (::send(socket, check.data(), check.size(), MSG_NOSIGNAL) < 0) return Failed("send");
  std::string answer;
  while (answer.find(kServingReply) == std::string::npos) {
    if (!wait.For(POLLIN)) return absl::UnavailableError("no answer");
    std::array<char, 4096> part{};
    const ssize_t got = ::recv(socket, part.data(), part.size(), 0);
    if (got < 0) return Failed("receive");
    if (got == 0 || answer.size() > (1 << 16)) return absl::UnavailableError("refused");
    answer.append(part.data(), static_cast<std::size_t>(got));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOwnPort(const std::string& address, bool tls, std::chrono::milliseconds timeout) {
  SINEW_ASSIGN_OR_RETURN(const Descriptor socket, ConnectTo(address));
  const Waiting wait(socket.fd(), timeout);
  if (!wait.For(POLLOUT)) return absl::UnavailableError("no connection");
  return tls ? ShakeHands(socket.fd(), wait) : AskHealth(socket.fd(), wait);
}

}  // namespace sinew::server
