// grpc_web.h - the framing of gRPC-Web, and that of the streams of a page. No I/O.
//
// A message is u8 flags, u32 length (big-endian), bytes; a page's streams have a u32 call
// (big-endian) behind the length. The flag kTrailer marks the status that ends a call, as lines
// "name: value". See github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sinew::server {

inline constexpr std::uint8_t kTrailer = 0x80;

// What a page gets: a message or the trailer of a call.
struct WebMessage {
  std::uint32_t call = 0;
  std::uint8_t flags = 0;
  grpc::ByteBuffer bytes = {};
};

// call: whether the number of the call is written.
std::string Framed(const WebMessage& message, bool call);

// grpc-status, grpc-message (percent-encoded) and grpc-status-details-bin (base64).
WebMessage TrailerOf(std::uint32_t call, const grpc::Status& status);

// The one message of a request's body. kInvalidArgument: none, several, or a compressed one.
absl::StatusOr<std::string_view> MessageOf(std::string_view body);

// Splits a body that arrives in pieces into its messages.
class MessageSplitter {
 public:
  // most: bytes of a message.
  explicit MessageSplitter(std::size_t most) : most_(most) {}
  // Calls `take` with each message that a piece completes. kInvalidArgument: a compressed message,
  // or one that is too long.
  absl::Status Push(std::string_view piece, absl::FunctionRef<void(std::string_view)> take);
  // kInvalidArgument: the last message is not complete, or there was none.
  absl::Status End() const;

 private:
  const std::size_t most_;
  std::string bytes_;  // of the message that is not complete
  bool any_ = false;
};

grpc::ByteBuffer ToByteBuffer(std::string_view bytes);

// A number of at most nine digits.
std::optional<std::uint32_t> ParseCallNumber(std::string_view text);

}  // namespace sinew::server
