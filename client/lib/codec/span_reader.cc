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

// The bytes [begin, end) of a message.
Pieces Range(const Pieces& message, std::size_t begin, std::size_t end) {
  Pieces range;
  std::size_t at = 0;
  for (const Piece& piece : message) {
    const std::size_t from = std::clamp(begin, at, at + piece.size());
    const std::size_t to = std::clamp(end, at, at + piece.size());
    if (from < to) range.push_back(piece.subspan(from - at, to - from));
    at += piece.size();
  }
  return range;
}

}  // namespace

std::size_t TotalSize(std::span<const Piece> pieces) {
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.size();
  return size;
}

std::string Flatten(const Pieces& pieces) {
  std::string bytes;
  bytes.reserve(TotalSize(pieces));
  for (const Piece& piece : pieces) {
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
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
  const auto position = [&] { return static_cast<std::size_t>(input.CurrentPosition()); };
  const std::size_t size = TotalSize(message);
  std::size_t rest = 0;  // where the fields that are not taken begin
  for (std::size_t field = 0; const std::uint32_t tag = input.ReadTag(); field = position()) {
    const auto number = static_cast<std::uint32_t>(WireFormatLite::GetTagFieldNumber(tag));
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED ||
        std::ranges::count(take, number) == 0) {
      if (!WireFormatLite::SkipField(&input, tag)) return false;
      continue;
    }
    std::uint64_t length;
    if (!input.ReadVarint64(&length) || length > size - position()) return false;
    result.taken.emplace_back(number, Range(message, position(), position() + length));
    result.rest += Flatten(Range(message, rest, field));
    if (!input.Skip(static_cast<int>(length))) return false;
    rest = position();
  }
  result.rest += Flatten(Range(message, rest, size));
  return input.ConsumedEntireMessage();
}

}  // namespace sinew::client
