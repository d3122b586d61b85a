// http_stream.h - a connection of the HTTP library whose waits are limited by its owner.
#pragma once

#include <httplib.h>
#include <openssl/ssl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>

#include "client/lib/base/openssl_owned.h"

namespace sinew::server {

// Reads and writes a socket without blocking, with or without TLS; the derived class says how long
// to wait. The socket must outlive it.
class HttpStream : public httplib::Stream {
 public:
  explicit HttpStream(socket_t socket) : socket_(socket) {}

  bool is_readable() const override { return buffered() > 0 || WaitToRead(); }
  bool is_writable() const override { return WaitToWrite(); }
  ssize_t read(char* to, std::size_t size) final;
  ssize_t write(const char* from, std::size_t size) final;
  void get_remote_ip_and_port(std::string& ip, int& port) const final;
  void get_local_ip_and_port(std::string& ip, int& port) const final;
  socket_t socket() const final { return socket_; }

 protected:
  // False: time is up.
  virtual bool WaitToRead() const = 0;
  virtual bool WaitToWrite() const = 0;
  // Whether more bytes of this request may be received.
  virtual bool MayReceive() const = 0;

  // Begins TLS as its server's end `tls`. False: the other end does not, or time is up.
  bool AcceptTls(SSL* tls);
  // Tells the other end that nothing follows.
  void EndWriting();
  // Waits for POLLIN, POLLOUT or POLLRDHUP. False also after a signal.
  bool Poll(short event, std::chrono::steady_clock::duration time) const;
  // Bytes that have been received and not read yet.
  std::size_t buffered() const { return end_ - next_; }
  // Bytes received since StartRequest, with those that were buffered then.
  std::size_t received() const { return received_; }
  void StartRequest() { received_ = buffered(); }
  // Receives and drops what is there, without decrypting it. False: nothing, or the connection has
  // ended.
  bool DropSome();

 private:
  template <class Call>
  ssize_t RepeatTls(Call call);

  const socket_t socket_;
  Owned<SSL, SSL_free> tls_;  // null: without
  std::array<char, 16 << 10> buffer_{};
  std::size_t next_ = 0, end_ = 0;  // of what the buffer holds
  std::size_t received_ = 0;
};

}  // namespace sinew::server
