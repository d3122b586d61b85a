#include "core/surface/normals_kernel.h"

#include "core/simd/vec4.h"

namespace sinew {
namespace {

// Uses no fused multiply-add, which would also keep cross products of parallel vectors from being
// exactly 0.

// y z x w
Vec4 Rotate(const Vec4& v) {
  return __builtin_shufflevector(v, v, 1, 2, 0, 3);
}

// Cross product of a and b, and |a|^2 + |b|^2 in the fourth lane; the fourth lanes of a and b are
// 0.
Vec4 Area(const Vec4& a, const Vec4& b) {
  const Vec4 crossed = a * Rotate(b) - Rotate(a) * b;
  const Vec4 squares = a * a + b * b;
  const Vec4 pairs = squares + __builtin_shufflevector(squares, squares, 2, 3, 0, 1);
  const Vec4 sum = pairs + __builtin_shufflevector(pairs, pairs, 1, 2, 3, 0);
  return __builtin_shufflevector(crossed, sum, 1, 2, 0, 7);
}

}  // namespace

void PackPointsKernel(const float* blocks, float* packed, std::size_t begin, std::size_t end) {
  for (std::size_t b = begin; b < end; ++b) {
    for (std::size_t i = 0; i < 16; ++i) {
      const float* p = blocks + b * 48 + i;
      Store4(Vec4{p[0], p[16], p[32], 0}, packed, b * 16 + i);
    }
  }
}

void TriangleNormalsKernel(const std::uint32_t* corners, const float* packed, float* normals,
                           std::size_t begin, std::size_t end) {
  for (std::size_t f = begin; f < end; ++f) {
    const std::uint32_t* c = corners + f * 3;
    const Vec4 p = Load4(packed, c[0]);
    Store4(Area(Load4(packed, c[1]) - p, Load4(packed, c[2]) - p), normals, f);
  }
}

void QuadNormalsKernel(const std::uint32_t* corners, const float* packed, float* normals,
                       std::size_t begin, std::size_t end) {
  for (std::size_t f = begin; f < end; ++f) {
    const std::uint32_t* c = corners + f * 4;
    Store4(
        Area(Load4(packed, c[2]) - Load4(packed, c[0]), Load4(packed, c[3]) - Load4(packed, c[1])),
        normals, f);
  }
}

void PolygonNormalsKernel(const std::uint32_t* offsets, const std::uint32_t* corners,
                          const float* packed, float* normals, std::size_t begin, std::size_t end) {
  for (std::size_t f = begin; f < end; ++f) {
    const Vec4 p = Load4(packed, corners[offsets[f]]);
    Vec4 last = Load4(packed, corners[offsets[f] + 1]) - p;
    Vec4 area = {0, 0, 0, 0};
    for (std::uint32_t c = offsets[f] + 2; c < offsets[f + 1]; ++c) {
      const Vec4 next = Load4(packed, corners[c]) - p;
      area += Area(last, next);
      last = next;
    }
    Store4(area, normals, f);
  }
}

void PointSumsKernel(const std::uint32_t* offsets, const std::uint32_t* faces, const float* normals,
                     float* sums, std::size_t begin, std::size_t end) {
  for (std::size_t p = begin; p < end; ++p) {
    Vec4 sum = {0, 0, 0, 0};
    for (std::uint32_t k = offsets[p]; k < offsets[p + 1]; ++k) sum += Load4(normals, faces[k]);
    Store4(sum, sums, p - begin);
  }
}

void EdgeSumsKernel(const std::uint32_t* lanes, const float* weights, std::size_t count,
                    const float* packed, std::uint32_t lane, float* sums) {
  const Vec4 from = Load4(packed, lane);
  Vec4 x = {0, 0, 0, 0}, y = {0, 0, 0, 0};
  for (std::size_t k = 0; k < count; ++k) {
    const Vec4 edge = Load4(packed, lanes[k]) - from;
    x += edge * weights[k * 2];
    y += edge * weights[k * 2 + 1];
  }
  Store4(x, sums, 0);
  Store4(y, sums, 1);
}

}  // namespace sinew
