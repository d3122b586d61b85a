// raw_http2.h - a gRPC client that does what no library does: it opens no window for replies, sends
// what does not parse, or stops in the middle of a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinew::testing {

// One connection. Not thread-safe; every wait ends after a minute.
class RawHttp2 {
 public:
  // address: "127.0.0.1:PORT". window: what the server may send of each reply. source: an IPv4
  // address of this machine, which tells clients apart.
  RawHttp2(const std::string& address, std::uint32_t window,
           const std::string& source = "127.0.0.1");
  ~RawHttp2();
  RawHttp2(const RawHttp2&) = delete;
  RawHttp2& operator=(const RawHttp2&) = delete;

  // Begins a call, such as "sinew.v1.RigService/GetRig"; returns its stream.
  std::uint32_t Begin(const std::string& method, const std::string& encoding = "identity");
  // Begins a call with these headers, which are of at most 127 bytes each, after the names of
  // HTTP/2.
  using Headers = std::vector<std::pair<std::string, std::string>>;
  std::uint32_t BeginWith(const std::string& method, const Headers& headers);
  // Sends bytes of the stream as the server opens its window. False: the server has ended the
  // stream, or the connection.
  bool Send(std::uint32_t stream, const std::string& bytes, bool end);
  // Sends without waiting for a window; returns how many bytes have been sent.
  std::size_t SendSome(std::uint32_t stream, std::string_view bytes, bool end);
  // The five bytes in front of a message, and the message.
  static std::string Framed(const std::string& message, bool compressed = false);
  // Begin and Send of one message.
  std::uint32_t Call(const std::string& method, const std::string& message);

  // Waits for the end of a stream: its grpc-status, or -1 if it was reset.
  int Status(std::uint32_t stream);
  std::size_t ended() const { return status_.size(); }  // streams

 private:
  struct Frame {
    std::uint8_t type, flags;
    std::uint32_t stream;
    std::string payload;
  };
  void Write(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
             const std::string& payload);
  // Reads once, for at most this time, and takes the whole frames. False: the connection is closed,
  // or nothing has arrived.
  bool Read(int milliseconds);
  void Take(const Frame& frame);
  std::int64_t& Window(std::uint32_t stream);

  int socket_ = -1;
  std::uint32_t next_ = 1;
  std::string input_;
  std::int64_t initial_ = 65535, connection_ = 65535;  // what may be sent
  std::map<std::uint32_t, std::int64_t> windows_;
  std::map<std::uint32_t, int> status_;
};

}  // namespace sinew::testing
