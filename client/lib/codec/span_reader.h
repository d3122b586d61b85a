// span_reader.h - a walk over a protobuf message that lies in pieces, taking chosen bytes fields
// without copying them.
//
// The fields taken are the bulk ones; everything else is small and is handed, byte for byte, to the
// generated parser, so that a message means here exactly what it means there: unknown fields,
// merging, any order of fields.
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

std::size_t TotalSize(const Pieces& pieces);

// All bytes in one string.
std::string Flatten(const Pieces& pieces);

// What SplitMessage found.
struct SplitResult {
  // Length-delimited fields whose number was asked for, in the order they came: number and payload.
  std::vector<std::pair<std::uint32_t, Pieces>> taken;
  // All other fields, tags included.
  std::string rest;
};

// Splits a serialised message.
//   message  borrowed; `taken` refers to it
//   take     numbers of bytes or message fields; occurrences of another wire type go to `rest`
// Returns false if the bytes are no protobuf message: a varint over ten bytes, field number zero, a
// length beyond the end, an unmatched group. Cost: O(fields) plus a copy of `rest`.
bool SplitMessage(const Pieces& message, std::span<const std::uint32_t> take, SplitResult& result);

}  // namespace sinew::client
