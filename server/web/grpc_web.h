// grpc_web.h - the framing of gRPC-Web, and that of the streams of a page. No I/O.
//
// A message is u8 flags, u32 length (big-endian), bytes; a page's streams have a u32 call
// (big-endian) behind the length. The flag kTrailer marks the status that ends a call, as lines
// "name: value". See github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md.
#pragma once

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

grpc::ByteBuffer ToByteBuffer(std::string_view bytes);

// A number of at most nine digits.
std::optional<std::uint32_t> ParseCallNumber(std::string_view text);

}  // namespace sinew::server
