// frame_header.h - the bytes of a Frame message up to its positions, written by hand.
//
// Byte for byte what the generated serialiser writes for StreamDeformResponse{frames: [frame]} (and
// for DeformClipResponse, whose frames have the same number); a test compares them. Bulk bytes are
// never copied: they follow as slices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sinew::server {

struct FrameTiming {
  std::uint64_t queue_ns = 0, evaluate_ns = 0, encode_ns = 0, previous_send_ns = 0;
};

// Of one piece.
struct FrameHeader {
  std::uint64_t frame = 0, vertex_offset = 0;
  std::uint32_t vertex_count = 0;
  bool last_chunk = false;
  std::uint64_t checksum = 0;                  // 0 = left out
  std::optional<std::array<float, 6>> bounds;  // minimum x y z, maximum x y z
  std::optional<FrameTiming> timing;
  std::uint32_t skipped = 0;
  std::uint32_t replayed_steps = 0;
  double time = 0;
  std::size_t position_bytes = 0;       // 1 or more
  std::size_t normal_bytes = 0;         // 0 = none
  std::size_t tangent_bytes = 0;        // 0 = none
  std::size_t vertex_status_bytes = 0;  // 0 = none
  std::size_t muscle_bytes = 0;         // of serialised fields behind all bulk; 0 = none
};

// Space reserved before the positions; no header is longer.
inline constexpr std::size_t kHeadRoom = 256;

// Writes wrapper, header fields and the tag and length of `positions` so that the last byte is just
// before `end`. Returns the first byte.
std::byte* WriteFrameHeader(const FrameHeader& header, std::byte* end);

// Precedes bulk bytes that follow the positions.
struct BulkTag {
  std::array<std::byte, 24> bytes;
  std::size_t size;
};
// Tag and length of `normals`.
BulkTag MakeNormalsTag(std::size_t normal_bytes);
// The channels of tangents and of vertex status up to their bytes.
BulkTag MakeTangentsTag(std::size_t tangent_bytes);
BulkTag MakeVertexStatusTag(std::size_t vertex_status_bytes);

}  // namespace sinew::server
