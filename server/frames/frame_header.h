// frame_header.h - the bytes of a Frame message around its bulk data.
//
// Together with the bulk they are byte for byte what the generated serialiser writes for
// StreamDeformResponse{frames: [frame]} (and for DeformClipResponse and DeformResponse, whose
// frames have the same number); a test compares them. Bulk bytes are never copied: they follow as
// slices.
#pragma once

#include <array>
#include <cstddef>

#include "sinew/v1/frame.pb.h"

namespace sinew::server {

// Bytes that follow the header of one piece, in this order; 0 = none.
struct BulkSizes {
  std::size_t positions = 0;  // 1 or more
  std::size_t normals = 0, tangents = 0, vertex_status = 0;
  std::size_t muscles = 0;  // serialised fields
};

// Space reserved before the positions; no header is longer.
inline constexpr std::size_t kHeadRoom = 256;

// Writes wrapper, `fields` and the tag and length of `positions` so that the last byte is just
// before `end`. Returns the first byte. fields: those in front of the positions.
std::byte* WriteFrameHeader(const v1::Frame& fields, const BulkSizes& bulk, std::byte* end);

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
