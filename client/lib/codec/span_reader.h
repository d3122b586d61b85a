// span_reader.h - extracts bytes fields from a protobuf message that is stored in pieces, without
// copying them.
//
// Only the large fields are extracted. All others are copied unchanged for the generated parser, so
// that unknown fields, merging and the order of fields have exactly protobuf's semantics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sinew::client {

using Piece = std::span<const std::byte>;
using Pieces = std::vector<Piece>;

std::size_t TotalSize(std::span<const Piece> pieces);

// All bytes in one string.
std::string Flatten(const Pieces& pieces);

struct SplitResult {
  // The requested length-delimited fields in the order of the message: number and payload.
  std::vector<std::pair<std::uint32_t, Pieces>> taken;
  // All other fields, tags included.
  std::string rest;
};

// Splits a serialised message.
//   message  borrowed; `taken` refers to it
//   take     numbers of bytes or message fields; other wire types of these numbers go to `rest`
// Returns false if the bytes are not a protobuf message: a varint over ten bytes, field number
// zero, a length beyond the end, an unmatched group. Cost: O(fields) plus a copy of `rest`.
bool SplitMessage(const Pieces& message, std::span<const std::uint32_t> take, SplitResult& result);

}  // namespace sinew::client
