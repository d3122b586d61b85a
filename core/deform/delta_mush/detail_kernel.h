// detail_kernel.h - restores rest detail on frames of the smoothed surface, for 16 points at a time
// where float is precise enough.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// out = in + smoothing + detail in the point's frame. Frames as in surface_point.h with the tangent
// towards the first of the two neighbours, and the same bits. Blocks are [B][3][16], 64-byte
// aligned.
struct DetailKernelArgs {
  // The smoothed surface:
  const float* points;               // [P][4] x y z 0, 16-byte aligned
  const std::uint32_t* face_offset;  // [P + 1] into faces
  const std::uint32_t* faces;
  const float* face_normals;         // [faces][4], 16-byte aligned
  const std::int32_t* frame_points;  // [P][2] neighbours, negative: none
  const float* least;                // [P][3] minimum: root of area, and edge lengths
  float origin[3];                   // of points

  const float* in;                  // posed blocks
  const std::uint32_t* lane_point;  // [B][16]
  const std::uint32_t* point_lane;  // [P] lane of `in` that holds a point's position
  const float* delta;               // [B][3][16] detail along tangent, bitangent, normal
  float* out;                       // posed blocks, not `in`

  // Limits for lanes to leave, see surface_point.h.
  float noise, smallest, largest, steep;
};

// One block.
//
//    side  -1 if the block's faces flip, else 1
//
// Returns the lanes without a clear frame; their output is undefined.
std::uint32_t DetailKernel(const DetailKernelArgs& args, float side, std::size_t block);

}  // namespace sinew
