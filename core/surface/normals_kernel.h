// normals_kernel.h - face normals and their sums around points, one point in four lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Blocks [begin, end) of [3][16] coordinates to [16][4]: x y z 0. All pointers 64-byte aligned.
void PackPointsKernel(const float* blocks, float* packed, std::size_t begin, std::size_t end);

// normals[f] = twice the vector area of face f (Newell) and, in the fourth lane, the sum of the
// squared lengths, a scale for rounding.
void TriangleNormalsKernel(const std::uint32_t* corners, const float* packed, float* normals,
                           std::size_t begin, std::size_t end);
void QuadNormalsKernel(const std::uint32_t* corners, const float* packed, float* normals,
                       std::size_t begin, std::size_t end);
void PolygonNormalsKernel(const std::uint32_t* offsets, const std::uint32_t* corners,
                          const float* packed, float* normals, std::size_t begin, std::size_t end);

// sums[p - begin] = sum of normals[faces[offsets[p]] ...], in that order.
void PointSumsKernel(const std::uint32_t* offsets, const std::uint32_t* faces, const float* normals,
                     float* sums, std::size_t begin, std::size_t end);

// sums = sum of weights[2 k] * e_k in the first four lanes and of weights[2 k + 1] * e_k in the
// others, e_k the edge from `lane` to lanes[k], k < count. sums is 16-byte aligned.
void EdgeSumsKernel(const std::uint32_t* lanes, const float* weights, std::size_t count,
                    const float* packed, std::uint32_t lane, float* sums);

}  // namespace sinew
