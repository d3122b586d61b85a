// unit_normals_kernel.h - unit normals from sums of area vectors, 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Lengths that float can normalise: squares within (smallest, largest), above noise times a row's
// fourth number.
struct UnitNormalsLimits {
  float smallest, largest, noise;
};

// Scales each sum to unit length; the bits are those of SurfaceNormal. Rows are x y z and the sum
// of the squared lengths, of PointSumsKernel.
//
//    sums     [packs * 16][4], 64-byte aligned
//    unclear  [packs] gets the points, as bits, that float cannot decide; their rows are
//    unspecified
void UnitNormalsKernel(float* sums, std::size_t packs, const UnitNormalsLimits& limits,
                       std::uint16_t* unclear);

}  // namespace sinew
