// detail_kernel.h - the detail of the rest mesh, put back on frames of the smoothed surface: 16
// points at a time, where float32 does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// out = in moved by what smoothing and the detail on its frame add up to. The frame of a point is
// that of surface_point.h, its tangent towards the first of its two neighbours: the same bits.
// Blocks are [B][3][16], 64-byte aligned.
struct DetailKernelArgs {
  // The smoothed surface.
  const float* points;               // [P][4] x y z 0, 16-byte aligned
  const std::uint32_t* face_offset;  // [P + 1] into faces
  const std::uint32_t* faces;
  const float* face_normals;         // [faces][4], 16-byte aligned
  const std::int32_t* frame_points;  // [P][2] neighbours, below 0: none
  const float* least;                // [P][3] root of area, and edge, that a frame needs
  float origin[3];                   // of points

  const float* in;                  // posed blocks
  const std::uint32_t* lane_point;  // [B][16]
  const std::uint32_t* point_lane;  // [P] lane of `in` whose position a point has
  const float* delta;               // [B][3][16] detail along tangent, bitangent, normal
  float* out;                       // posed blocks, not `in`

  // Bounds beyond which a lane is left, see surface_point.h.
  float noise, smallest, largest, steep;
};

// One block.
//   side  -1 where the block's faces turn over, else 1
// Returns the lanes that have no frame, or hardly one: what it wrote there means nothing.
std::uint32_t DetailKernel(const DetailKernelArgs& args, float side, std::size_t block);

}  // namespace sinew
