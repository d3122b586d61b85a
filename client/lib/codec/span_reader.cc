#include "client/lib/codec/span_reader.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <deque>

namespace sinew::client {
namespace {

namespace io = google::protobuf::io;
using google::protobuf::internal::WireFormatLite;

// Appends the bytes [begin, end) of a message.
void Append(const Pieces& message, std::size_t begin, std::size_t end, std::string& out) {
  std::size_t at = 0;
  for (const Piece& piece : message) {
    const std::size_t from = std::clamp(begin, at, at + piece.size());
    const std::size_t to = std::clamp(end, at, at + piece.size());
    out.append(reinterpret_cast<const char*>(piece.data()) + (from - at), to - from);
    at += piece.size();
  }
}

// The next `count` bytes, which stay where they are.
bool Refer(io::CodedInputStream& input, std::uint64_t count, Pieces& out) {
  while (count > 0) {
    const void* data;
    int size;
    if (!input.GetDirectBufferPointer(&data, &size)) return false;
    size = static_cast<int>(std::min(count, static_cast<std::uint64_t>(size)));
    out.emplace_back(static_cast<const std::byte*>(data), static_cast<std::size_t>(size));
    input.Skip(size);
    count -= static_cast<std::uint64_t>(size);
  }
  return true;
}

}  // namespace

std::size_t TotalSize(std::span<const Piece> pieces) {
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.size();
  return size;
}

std::string Flatten(const Pieces& pieces) {
  std::string bytes;
  Append(pieces, 0, TotalSize(pieces), bytes);
  return bytes;
}

bool SplitMessage(const Pieces& message, std::span<const std::uint32_t> take, SplitResult& result) {
  std::deque<io::ArrayInputStream> arrays;
  std::vector<io::ZeroCopyInputStream*> streams;
  for (const Piece& piece : message) {
    streams.push_back(&arrays.emplace_back(piece.data(), static_cast<int>(piece.size())));
  }
  io::ConcatenatingInputStream all(streams.data(), static_cast<int>(streams.size()));
  io::CodedInputStream input(&all);
  int start = 0;
  while (const std::uint32_t tag = input.ReadTag()) {
    const auto number = static_cast<std::uint32_t>(WireFormatLite::GetTagFieldNumber(tag));
    if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED &&
        std::ranges::count(take, number) > 0) {
      auto& [taken, pieces] = result.taken.emplace_back();
      taken = number;
      std::uint64_t length;
      if (!input.ReadVarint64(&length) || !Refer(input, length, pieces)) return false;
    } else {
      if (!WireFormatLite::SkipField(&input, tag)) return false;
      Append(message, static_cast<std::size_t>(start),
             static_cast<std::size_t>(input.CurrentPosition()), result.rest);
    }
    start = input.CurrentPosition();
  }
  return input.ConsumedEntireMessage();
}

}  // namespace sinew::client
