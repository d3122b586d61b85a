#include "client/lib/stream/decompress.h"

#include <absl/strings/str_cat.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "client/lib/stream/frame_assembler.h"
#include "core/base/status.h"
#include "core/base/vertex_deltas.h"

namespace sinew::client {
namespace {

// One attribute of a chunk: its compressed bytes, which become the others.
struct Packed {
  Attribute attribute;
  v1::Encoding encoding;
  Pieces* bytes;
  std::size_t number_bytes, each;  // numbers of a vertex
  std::size_t size = 0;            // of all numbers
};

absl::Status Damaged(const FrameChunk& chunk, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("frame ", chunk.header.frame(), ": ", what));
}

std::vector<Packed> PackedOf(FrameChunk& chunk) {
  const v1::Frame& header = chunk.header;
  std::vector<Packed> all;
  const auto add = [&](Attribute attribute, v1::Encoding encoding, Pieces& bytes) {
    if (bytes.empty()) return;
    const bool octahedral = encoding == v1::ENCODING_OCT8 || encoding == v1::ENCODING_OCT16;
    const std::size_t each = octahedral                          ? 2
                             : encoding == v1::ENCODING_UINT8    ? 1
                             : attribute == Attribute::kTangents ? 4
                                                                 : 3;
    all.push_back({attribute, encoding, &bytes, NumberBytes(encoding), each});
    all.back().size = all.back().number_bytes * each * header.vertex_count();
  };
  add(Attribute::kPositions, header.encoding(), chunk.positions);
  add(Attribute::kNormals, header.normal_encoding(), chunk.normals);
  for (std::size_t c = 0; c < chunk.channels.size(); ++c) {
    const v1::Channel& channel = header.channels(static_cast<int>(c));
    add(static_cast<Attribute>(channel.attribute()), channel.encoding(), chunk.channels[c]);
  }
  return all;
}

// Bytes [first, first + out.size()) of spans that hold as many.
void CopyRange(const ByteSpans& bytes, std::size_t first, std::span<std::byte> out) {
  for (const std::span<const std::byte> span : bytes.spans()) {
    const std::size_t skip = std::min(first, span.size());
    const std::size_t count = std::min(span.size() - skip, out.size());
    std::memcpy(out.data(), span.data() + skip, count);
    first -= skip;
    out = out.subspan(count);
    if (out.empty()) return;
  }
}

// The numbers of the base frame for these vertices, in this frame's quantisation.
absl::Status CopyBase(const FrameChunk& chunk, const Packed& packed, const FrameData& base,
                      std::span<std::byte> out) {
  const auto index = static_cast<std::size_t>(packed.attribute);
  const bool known = index < base.attributes.size();
  const std::uint64_t first = chunk.header.vertex_offset(), count = chunk.header.vertex_count();
  if (!known || first > base.vertices || count > base.vertices - first ||
      base.attributes[index].encoding != static_cast<Encoding>(packed.encoding) ||
      base.attributes[index].bytes.size() != base.vertices * packed.number_bytes * packed.each) {
    return Damaged(chunk, absl::StrCat("builds on frame ", base.frame, ", which lacks such data"));
  }
  CopyRange(base.attributes[index].bytes, first * packed.number_bytes * packed.each, out);
  if (packed.encoding != v1::ENCODING_Q16) return absl::OkStatus();
  const v1::Quantisation& quantisation = chunk.header.quantisation();
  if (quantisation.origin_size() != 3 || quantisation.step_size() != 3) {
    return Damaged(chunk, "its quantisation is incomplete");
  }
  const Q16Box from{base.quantisation.origin, base.quantisation.step};
  Q16Box to{};
  std::ranges::copy(quantisation.origin(), to.origin.begin());
  std::ranges::copy(quantisation.step(), to.step.begin());
  const std::span q(reinterpret_cast<std::uint16_t*>(out.data()), out.size() / 2);
  Requantise(q, from, to, q);
  return absl::OkStatus();
}

absl::Status Unpack(const FrameChunk& chunk, const Packed& packed, const FrameData* base,
                    std::span<std::byte> scratch, std::byte* out) {
  const std::span<std::byte> planes = scratch.first(packed.size);
  const std::string joined = packed.bytes->size() > 1 ? Flatten(*packed.bytes) : std::string();
  const Piece in = joined.empty() ? packed.bytes->front() : std::as_bytes(std::span(joined));
  const std::size_t size = ZSTD_decompress(planes.data(), planes.size(), in.data(), in.size());
  if (ZSTD_isError(size) != 0 || size != packed.size) {
    return Damaged(chunk, absl::StrCat("its compressed data is damaged or not ", packed.size,
                                       " bytes of attribute ", static_cast<int>(packed.attribute)));
  }
  const std::span<std::byte> of_base =
      base == nullptr ? std::span<std::byte>() : scratch.subspan(scratch.size() / 2, packed.size);
  if (base != nullptr) SINEW_RETURN_IF_ERROR(CopyBase(chunk, packed, *base, of_base));
  WithNumber(packed.number_bytes, [&]<class Number>(Number) {
    const std::span numbers(reinterpret_cast<Number*>(out), packed.size / sizeof(Number));
    const std::span base_numbers(reinterpret_cast<const Number*>(of_base.data()),
                                 of_base.size() / sizeof(Number));
    FromPlanes<Number>(planes.data(), base_numbers, packed.each, numbers);
  });
  return absl::OkStatus();
}

}  // namespace

std::size_t NumberBytes(v1::Encoding encoding) {
  switch (encoding) {
    case v1::ENCODING_FLOAT32:
      return 4;
    case v1::ENCODING_Q16:
    case v1::ENCODING_OCT16:
      return 2;
    case v1::ENCODING_OCT8:
    case v1::ENCODING_UINT8:
      return 1;
    default:
      return 0;
  }
}

absl::Status Decompress(FrameChunk& chunk, const FrameData* base, std::size_t max_bytes) {
  const std::vector<Packed> all = PackedOf(chunk);
  // Every array begins at a multiple of 4 bytes.
  const auto room = [](std::size_t size) { return (size + 3) / 4 * 4; };
  std::size_t total = 0, largest = 0;
  for (const Packed& packed : all) {
    if (packed.number_bytes == 0) {
      return absl::UnimplementedError(absl::StrCat("frame ", chunk.header.frame(),
                                                   ": this library does not decompress encoding ",
                                                   static_cast<int>(packed.encoding)));
    }
    total += room(packed.size);
    largest = std::max(largest, room(packed.size));
  }
  if (total > max_bytes) {
    return Damaged(chunk, absl::StrCat("a chunk has ", total,
                                       " bytes after decompression, need at most ", max_bytes));
  }
  if (total == 0) return absl::OkStatus();  // refused for its sizes
  const auto scratch = std::make_unique_for_overwrite<std::byte[]>(2 * largest);
  constexpr std::size_t kNotInline = 64;  // smaller slices hold their bytes themselves, and move
  grpc::Slice memory(std::max(total, kNotInline));
  auto* out = reinterpret_cast<std::byte*>(const_cast<std::uint8_t*>(memory.begin()));
  std::vector<Piece> unpacked;
  for (const Packed& packed : all) {
    SINEW_RETURN_IF_ERROR(Unpack(chunk, packed, base, {scratch.get(), 2 * largest}, out));
    unpacked.emplace_back(out, packed.size);
    out += room(packed.size);
  }
  for (std::size_t i = 0; i < all.size(); ++i) *all[i].bytes = {unpacked[i]};
  chunk.bytes = std::make_shared<const MessageBytes>(std::vector<grpc::Slice>{std::move(memory)});
  return absl::OkStatus();
}

}  // namespace sinew::client
