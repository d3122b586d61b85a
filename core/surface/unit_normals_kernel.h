// unit_normals_kernel.h - unit normals from sums of area vectors, 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Scales each sum to unit length, with the limits of surface_point.h; the bits are those of
// SurfaceNormal. Rows are x y z and the sum of the squared lengths, of PointSumsKernel.
//
//    sums     [packs * 16][4], 64-byte aligned
//    unclear  [packs] gets the points, as bits, that float cannot decide; their rows are
//    unspecified
void UnitNormalsKernel(float* sums, std::size_t packs, std::uint16_t* unclear);

}  // namespace sinew
