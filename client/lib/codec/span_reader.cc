#include "client/lib/codec/span_reader.h"

#include <algorithm>

namespace sinew::client {
namespace {

constexpr int kMaxGroupDepth = 100;  // the generated parser's limit
constexpr std::uint64_t kMaxField = (1u << 29) - 1;

enum WireType : std::uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kGroupStart = 3,
  kGroupEnd = 4,
  kFixed32 = 5
};

class SpanReader {
 public:
  explicit SpanReader(const Pieces& pieces) : pieces_(pieces), left_(TotalSize(pieces)) {
    SkipEmpty();
  }

  std::size_t left() const { return left_; }

  // Reads a byte and appends it to `copy`, unless null.
  bool Byte(std::byte& value, std::string* copy) {
    if (left_ == 0) return false;
    value = pieces_[piece_][offset_];
    if (copy != nullptr) copy->push_back(static_cast<char>(value));
    Advance(1);
    return true;
  }

  bool Varint(std::uint64_t& value, std::string* copy) {
    value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      std::byte byte;
      if (!Byte(byte, copy)) return false;
      value |= (std::to_integer<std::uint64_t>(byte) & 0x7f) << shift;
      if ((byte & std::byte{0x80}) == std::byte{0}) return true;
    }
    return false;
  }

  bool Copy(std::uint64_t count, std::string& out) {
    if (count > left_) return false;
    while (count > 0) {
      const Piece part = Part(count);
      out.append(reinterpret_cast<const char*>(part.data()), part.size());
      count -= part.size();
      Advance(part.size());
    }
    return true;
  }

  bool Refer(std::uint64_t count, Pieces& out) {
    if (count > left_) return false;
    while (count > 0) {
      const Piece part = Part(count);
      out.push_back(part);
      count -= part.size();
      Advance(part.size());
    }
    return true;
  }

 private:
  Piece Part(std::uint64_t count) const {
    const Piece rest = pieces_[piece_].subspan(offset_);
    return rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(count, rest.size())));
  }

  void Advance(std::size_t count) {
    offset_ += count;
    left_ -= count;
    SkipEmpty();
  }

  void SkipEmpty() {
    while (piece_ < pieces_.size() && offset_ == pieces_[piece_].size()) {
      ++piece_;
      offset_ = 0;
    }
  }

  const Pieces& pieces_;
  std::size_t piece_ = 0, offset_ = 0, left_;
};

bool ReadTag(SpanReader& reader, std::string& copy, std::uint64_t& number, std::uint32_t& type) {
  std::uint64_t tag;
  if (!reader.Varint(tag, &copy)) return false;
  number = tag >> 3;
  type = static_cast<std::uint32_t>(tag & 7);
  return number != 0 && number <= kMaxField;
}

bool CopyValue(SpanReader& reader, std::uint32_t type, std::string& rest) {
  std::uint64_t value;
  switch (type) {
    case kVarint:
      return reader.Varint(value, &rest);
    case kFixed64:
      return reader.Copy(8, rest);
    case kLength:
      return reader.Varint(value, &rest) && reader.Copy(value, rest);
    case kFixed32:
      return reader.Copy(4, rest);
    default:
      return false;
  }
}

// Copies up to and including the tag that ends the group `number`.
bool CopyGroup(SpanReader& reader, std::uint64_t number, std::string& rest) {
  std::vector<std::uint64_t> open = {number};
  while (!open.empty()) {
    std::uint64_t inner;
    std::uint32_t type;
    if (!ReadTag(reader, rest, inner, type)) return false;
    if (type == kGroupStart) {
      open.push_back(inner);
      if (open.size() > kMaxGroupDepth) return false;
    } else if (type == kGroupEnd) {
      if (open.back() != inner) return false;
      open.pop_back();
    } else if (!CopyValue(reader, type, rest)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::size_t TotalSize(const Pieces& pieces) {
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
  SpanReader reader(message);
  while (reader.left() > 0) {
    const std::size_t start = result.rest.size();
    std::uint64_t number;
    std::uint32_t type;
    if (!ReadTag(reader, result.rest, number, type)) return false;
    if (type == kLength && std::find(take.begin(), take.end(), number) != take.end()) {
      result.rest.resize(start);
      std::uint64_t length;
      auto& [taken, pieces] = result.taken.emplace_back();
      taken = static_cast<std::uint32_t>(number);
      if (!reader.Varint(length, nullptr) || !reader.Refer(length, pieces)) return false;
    } else if (type == kGroupStart) {
      if (!CopyGroup(reader, number, result.rest)) return false;
    } else if (!CopyValue(reader, type, result.rest)) {
      return false;
    }
  }
  return true;
}

}  // namespace sinew::client
