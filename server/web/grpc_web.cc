#include "server/web/grpc_web.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <vector>

#include "core/base/status.h"

namespace sinew::server {
namespace {

constexpr std::size_t kHead = 5;

void AppendBigEndian(std::uint32_t value, std::string& to) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift & 0xff);
}

// Printable ASCII but '%' stays as it is.
std::string PercentEncoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '%') {
      result += c;
    } else {
      absl::StrAppendFormat(&result, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return result;
}

absl::Status Incomplete(std::size_t bytes) {
  return InvalidArgument("body: ends with ", bytes, " bytes, need a gRPC-Web message");
}

// head: at least kHead bytes. kInvalidArgument: a compressed message.
absl::StatusOr<std::size_t> LengthOf(std::string_view head) {
  if (head[0] != 0) {
    return InvalidArgument("body: got a message with flags ", static_cast<int>(head[0]),
                           ", need 0");
  }
  std::uint32_t length = 0;
  for (std::size_t i = 1; i < kHead; ++i) {
    length = length << 8 | static_cast<unsigned char>(head[i]);
  }
  return length;
}

}  // namespace

std::string Framed(const WebMessage& message, bool call) {
  std::string result;
  result.reserve(message.bytes.Length() + kHead + 4);
  result += static_cast<char>(message.flags);
  AppendBigEndian(static_cast<std::uint32_t>(message.bytes.Length()), result);
  if (call) AppendBigEndian(message.call, result);
  std::vector<grpc::Slice> slices;
  (void)message.bytes.Dump(&slices);
  for (const grpc::Slice& slice : slices) {
    result.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return result;
}

WebMessage TrailerOf(std::uint32_t call, const grpc::Status& status) {
  std::string text = absl::StrCat("grpc-status: ", static_cast<int>(status.error_code()), "\r\n");
  if (!status.error_message().empty()) {
    absl::StrAppend(&text, "grpc-message: ", PercentEncoded(status.error_message()), "\r\n");
  }
  if (!status.error_details().empty()) {
    absl::StrAppend(&text, "grpc-status-details-bin: ", absl::Base64Escape(status.error_details()),
                    "\r\n");
  }
  return {.call = call, .flags = kTrailer, .bytes = ToByteBuffer(text)};
}

absl::StatusOr<std::string_view> MessageOf(std::string_view body) {
  if (body.size() < kHead) return Incomplete(body.size());
  SINEW_ASSIGN_OR_RETURN(const std::size_t length, LengthOf(body));
  if (length != body.size() - kHead) {
    return InvalidArgument("body: got ", body.size() - kHead, " bytes for a message of ", length);
  }
  return body.substr(kHead);
}

absl::Status MessageSplitter::Push(std::string_view piece,
                                   absl::FunctionRef<void(std::string_view)> take) {
  while (!piece.empty()) {
    std::size_t whole = kHead;
    if (bytes_.size() >= kHead) {
      SINEW_ASSIGN_OR_RETURN(const std::size_t length, LengthOf(bytes_));
      if (length > most_) {
        return InvalidArgument("body: got a message of ", length, " bytes, need at most ", most_);
      }
      whole += length;
    }
    const std::string_view part = piece.substr(0, whole - bytes_.size());
    bytes_ += part;
    piece.remove_prefix(part.size());
    if (bytes_.size() < kHead) break;
    SINEW_ASSIGN_OR_RETURN(const std::size_t length, LengthOf(bytes_));
    if (bytes_.size() < kHead + length) continue;
    any_ = true;
    take(std::string_view(bytes_).substr(kHead));
    bytes_.clear();
  }
  return absl::OkStatus();
}

absl::Status MessageSplitter::End() const {
  return any_ && bytes_.empty() ? absl::OkStatus() : Incomplete(bytes_.size());
}

grpc::ByteBuffer ToByteBuffer(std::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return {&slice, 1};
}

std::optional<std::uint32_t> ParseCallNumber(std::string_view text) {
  std::uint32_t number = 0;
  const bool digits = !text.empty() && text.size() <= 9 &&
                      std::ranges::all_of(text, [](char c) { return absl::ascii_isdigit(c); });
  if (!digits || !absl::SimpleAtoi(absl::string_view(text.data(), text.size()), &number)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace sinew::server
