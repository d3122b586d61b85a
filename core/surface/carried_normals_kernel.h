// carried_normals_kernel.h - normals and tangents from the differential of a pose, 16 points at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

struct CarriedNormalsKernelArgs {
  const float* slopes;        // [B][2][3][16] posed first and second tangent, 64-byte aligned
  const std::int32_t* order;  // [B * 16] file vertex of a lane, -1 = padding
  std::byte* normals;         // [V * 12] unit first x second, any alignment; null: not requested
  std::byte* tangents;        // [V * 16] unit first and handedness, any alignment; or null
  const float* handedness;    // [B * 16]; 0: no tangent, 0 0 0 0. Null if tangents is
};

// Blocks [begin, end). unclear[b - begin] gets the lanes, as bits, whose tangents are too short,
// too long or too close to parallel for float; their output is unspecified.
void CarriedNormalsKernel(const CarriedNormalsKernelArgs& args, std::size_t begin, std::size_t end,
                          std::uint16_t* unclear);

}  // namespace sinew
