#include "server/web/http_stream.h"

#include <netdb.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <tuple>

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

ssize_t Receive(socket_t socket, char* to, std::size_t size) {
  return ::recv(socket, to, size, MSG_DONTWAIT);
}

ssize_t Send(socket_t socket, const char* from, std::size_t size) {
  return ::send(socket, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// OpenSSL's own access to sockets blocks, and raises SIGPIPE.
int BioSocket(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}
int BioResult(BIO* bio, ssize_t result, int direction) {
  BIO_clear_retry_flags(bio);
  if (result < 0 && (errno == EAGAIN || errno == EINTR)) {
    BIO_set_flags(bio, direction | BIO_FLAGS_SHOULD_RETRY);
  }
  return static_cast<int>(result);
}
int BioRead(BIO* bio, char* to, int size) {
  return BioResult(bio, Receive(BioSocket(bio), to, static_cast<std::size_t>(size)),
                   BIO_FLAGS_READ);
}
int BioWrite(BIO* bio, const char* from, int size) {
  return BioResult(bio, Send(BioSocket(bio), from, static_cast<std::size_t>(size)),
                   BIO_FLAGS_WRITE);
}
long BioControl(BIO*, int command, long, void*) {  // NOLINT(google-runtime-int): OpenSSL's type
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// Null: no memory.
BIO* NewBio(socket_t socket) {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    BIO_meth_set_read(made, BioRead);
    BIO_meth_set_write(made, BioWrite);
    BIO_meth_set_ctrl(made, BioControl);
    return made;
  }();
  BIO* const bio = BIO_new(method);
  if (bio == nullptr) return nullptr;
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace

// Calls again when OpenSSL needs more of the socket: a record may arrive in pieces, or behind
// others that carry no data.
template <class Call>
ssize_t HttpStream::RepeatTls(Call call) {
  while (true) {
    ERR_clear_error();
    const int result = call(tls_.get());
    if (result > 0) return result;
    switch (SSL_get_error(tls_.get(), result)) {
      case SSL_ERROR_WANT_READ:
        if (!WaitToRead()) return -1;
        break;
      case SSL_ERROR_WANT_WRITE:
        if (!WaitToWrite()) return -1;
        break;
      case SSL_ERROR_ZERO_RETURN:
        return 0;
      default:
        return -1;
    }
  }
}

bool HttpStream::AcceptTls(SSL* tls) {
  tls_.reset(tls);
  BIO* const bio = tls == nullptr ? nullptr : NewBio(socket_);
  if (bio == nullptr) return false;
  SSL_set_bio(tls, bio, bio);
  return RepeatTls([](SSL* end) { return SSL_accept(end); }) > 0;
}

ssize_t HttpStream::read(char* to, std::size_t size) {
  if (buffered() == 0) {
    if (!MayReceive() || !WaitToRead()) return -1;
    // The buffer holds the largest record: OpenSSL keeps nothing back, for which no poll would
    // wait.
    static_assert(std::tuple_size_v<decltype(buffer_)> >= SSL3_RT_MAX_PLAIN_LENGTH);
    const ssize_t got =
        tls_ == nullptr
            ? Receive(socket_, buffer_.data(), buffer_.size())
            : RepeatTls([this](SSL* end) { return SSL_read(end, buffer_.data(), sizeof buffer_); });
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
  if (!WaitToWrite()) return -1;
  if (tls_ == nullptr) return Send(socket_, from, size);
  const int most = static_cast<int>(std::min<std::size_t>(size, SSL3_RT_MAX_PLAIN_LENGTH));
  return RepeatTls([=](SSL* end) { return SSL_write(end, from, most); });
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

void HttpStream::EndWriting() {
  if (tls_ != nullptr) SSL_shutdown(tls_.get());
  ERR_clear_error();
  ::shutdown(socket_, SHUT_WR);
}

bool HttpStream::DropSome() {
  next_ = end_ = 0;
  return Receive(socket_, buffer_.data(), buffer_.size()) > 0;
}

}  // namespace sinew::server
