#include "tests/integration/server/raw_http2.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace sinew::testing {
namespace {

enum : std::uint8_t {
  kData,
  kHeaders,
  kPriority,
  kReset,
  kSettings,
  kPush,
  kPing,
  kGoAway,
  kUpdate
};
constexpr std::uint8_t kAck = 1, kEndStream = 1, kEndHeaders = 4;
constexpr int kMinute = 60'000;

std::string BigEndian(std::uint64_t value, int bytes) {
  std::string text;
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    text += static_cast<char>(value >> shift & 0xff);
  }
  return text;
}

std::uint32_t Number(const std::string& text, std::size_t at, int bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value = value << 8 | static_cast<unsigned char>(text[at + static_cast<std::size_t>(i)]);
  }
  return value;
}

// A header without index or Huffman code (RFC 7541, 6.2.2).
std::string Header(const std::string& name, const std::string& value) {
  return '\0' + BigEndian(name.size(), 1) + name + BigEndian(value.size(), 1) + value;
}

}  // namespace

RawHttp2::RawHttp2(const std::string& address, std::uint32_t window, const std::string& source) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in from{};
  from.sin_family = AF_INET;
  EXPECT_EQ(::inet_pton(AF_INET, source.c_str(), &from.sin_addr), 1) << source;
  EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(&address[address.rfind(':') + 1])));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  EXPECT_EQ(::send(socket_, preface.data(), preface.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(preface.size()));
  // HEADER_TABLE_SIZE 0, so that the names of trailers can be read, and INITIAL_WINDOW_SIZE.
  Write(kSettings, 0, 0,
        BigEndian(1, 2) + BigEndian(0, 4) + BigEndian(4, 2) + BigEndian(window, 4));
}

RawHttp2::~RawHttp2() {
  ::close(socket_);
}

void RawHttp2::Write(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                     const std::string& payload) {
  const std::string bytes = BigEndian(payload.size(), 3) + BigEndian(type, 1) +
                            BigEndian(flags, 1) + BigEndian(stream, 4) + payload;
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t more = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) return;  // closed; reading will tell
    sent += static_cast<std::size_t>(more);
  }
}

std::uint32_t RawHttp2::Begin(const std::string& method, const std::string& encoding) {
  return BeginWith(
      method,
      {{"content-type", "application/grpc"}, {"te", "trailers"}, {"grpc-encoding", encoding}});
}

std::uint32_t RawHttp2::BeginWith(const std::string& method, const Headers& headers) {
  const std::uint32_t stream = next_;
  next_ += 2;
  std::string block = Header(":method", "POST") + Header(":scheme", "http") +
                      Header(":path", "/" + method) + Header(":authority", "test");
  for (const auto& [name, value] : headers) block += Header(name, value);
  Write(kHeaders, kEndHeaders, stream, block);
  return stream;
}

std::string RawHttp2::Framed(const std::string& message, bool compressed) {
  return BigEndian(compressed ? 1 : 0, 1) + BigEndian(message.size(), 4) + message;
}

std::uint32_t RawHttp2::Call(const std::string& method, const std::string& message) {
  const std::uint32_t stream = Begin(method);
  Send(stream, Framed(message), true);
  return stream;
}

std::int64_t& RawHttp2::Window(std::uint32_t stream) {
  return windows_.emplace(stream, initial_).first->second;
}

std::size_t RawHttp2::SendSome(std::uint32_t stream, std::string_view bytes, bool end) {
  constexpr std::int64_t kLargest = 16384;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    while (Read(0)) {
    }
    const auto rest = static_cast<std::int64_t>(bytes.size() - sent);
    const std::int64_t now = std::min({rest, kLargest, connection_, Window(stream)});
    if (now <= 0 || status_.count(stream) != 0) break;
    connection_ -= now;
    Window(stream) -= now;
    const bool last = end && now == rest;
    Write(kData, last ? kEndStream : 0, stream,
          std::string(bytes.substr(sent, static_cast<std::size_t>(now))));
    sent += static_cast<std::size_t>(now);
  }
  return sent;
}

bool RawHttp2::Send(std::uint32_t stream, const std::string& bytes, bool end) {
  std::string_view rest = bytes;
  if (rest.empty() && end) Write(kData, kEndStream, stream, "");
  while (true) {
    rest.remove_prefix(SendSome(stream, rest, end));
    if (rest.empty()) return true;
    if (status_.count(stream) != 0 || !Read(kMinute)) return false;
  }
}

bool RawHttp2::Read(int milliseconds) {
  pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
  if (::poll(&wait, 1, milliseconds) <= 0) return false;
  char buffer[65536];
  const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
  if (got <= 0) return false;
  input_.append(buffer, static_cast<std::size_t>(got));
  constexpr std::size_t kHead = 9;
  while (input_.size() >= kHead) {
    const std::size_t size = Number(input_, 0, 3);
    if (input_.size() < kHead + size) break;
    Take({.type = static_cast<std::uint8_t>(input_[3]),
          .flags = static_cast<std::uint8_t>(input_[4]),
          .stream = Number(input_, 5, 4),
          .payload = input_.substr(kHead, size)});
    input_.erase(0, kHead + size);
  }
  return true;
}

void RawHttp2::Take(const Frame& frame) {
  const std::string& payload = frame.payload;
  switch (frame.type) {
    case kSettings:
      if ((frame.flags & kAck) != 0) return;
      for (std::size_t at = 0; at + 6 <= payload.size(); at += 6) {
        if (Number(payload, at, 2) != 4) continue;
        const std::int64_t now = Number(payload, at + 2, 4);
        for (auto& [stream, window] : windows_) window += now - initial_;
        initial_ = now;
      }
      Write(kSettings, kAck, 0, "");
      break;
    case kPing:
      if ((frame.flags & kAck) == 0) Write(kPing, kAck, 0, payload);
      break;
    case kUpdate:
      (frame.stream == 0 ? connection_ : Window(frame.stream)) += Number(payload, 0, 4);
      break;
    case kReset:
      status_.emplace(frame.stream, -1);
      break;
    case kHeaders: {
      const std::string name = "grpc-status";
      const std::size_t at = payload.find(name);
      if (at == std::string::npos) break;
      const std::size_t size = Number(payload, at + name.size(), 1);
      status_.emplace(frame.stream, std::atoi(payload.substr(at + name.size() + 1, size).c_str()));
      break;
    }
    default:
      break;
  }
}

int RawHttp2::Status(std::uint32_t stream) {
  while (status_.count(stream) == 0) {
    if (!Read(kMinute)) {
      ADD_FAILURE() << "the connection has ended, or nothing has arrived";
      return -2;
    }
  }
  return status_[stream];
}

}  // namespace sinew::testing
