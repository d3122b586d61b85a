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

// Cuts a message into consecutive ranges, in time linear in its pieces and ranges.
class Cutter {
 public:
  explicit Cutter(const Pieces& message) : message_(message) {}

  // The bytes from the end of the previous range to `end`, at most the message's size.
  Pieces To(std::size_t end) {
    Pieces range;
    while (at_ < end) {
      const Piece piece = message_[piece_].subspan(at_ - start_);
      const std::size_t size = std::min(piece.size(), end - at_);
      if (size > 0) range.push_back(piece.first(size));
      at_ += size;
      if (size == piece.size()) {
        start_ = at_;
        ++piece_;
      }
    }
    return range;
  }

 private:
  const Pieces& message_;
  std::size_t piece_ = 0, start_ = 0;  // the current piece and where it begins
  std::size_t at_ = 0;
};

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
  Cutter cutter(message);
  for (std::size_t field = 0; const std::uint32_t tag = input.ReadTag(); field = position()) {
    const auto number = static_cast<std::uint32_t>(WireFormatLite::GetTagFieldNumber(tag));
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED ||
        std::ranges::count(take, number) == 0) {
      if (!WireFormatLite::SkipField(&input, tag)) return false;
      continue;
    }
    std::uint64_t length;
    if (!input.ReadVarint64(&length) || length > size - position()) return false;
    result.rest += Flatten(cutter.To(field));
    cutter.To(position());  // tag and length
    result.taken.emplace_back(number, cutter.To(position() + length));
    if (!input.Skip(static_cast<int>(length))) return false;
  }
  result.rest += Flatten(cutter.To(size));
  return input.ConsumedEntireMessage();
}

}  // namespace sinew::client
