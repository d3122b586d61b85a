// surface_point.h - normal, frame and plane of a point of a surface.
//
// `packed` holds the corners of SurfaceFaces as x y z 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/surface/surface_faces.h"

namespace sinew {

// A sum of area vectors shorter than this share of the squared lengths it came from is rounding
// noise.
inline constexpr float kSurfaceNoise = 4e-6f;
// Range of squared lengths in which float neither overflows nor loses significant terms.
inline constexpr float kSurfaceSmallest = 1e-30f, kSurfaceLargest = 1e34f;
// Squared sine between normal and edge below which the edge has no direction along the surface.
inline constexpr float kSurfaceSteep = 1e-8f;

struct SurfaceFrame {
  Vec3f tangent, bitangent;  // orthonormal and right-handed with the normal
};

// Unit normal of point p, whose faces' area vectors sum to sum[4]. False: undefined (no area, or
// they cancel).
//
//    face_normals  from FillFaceNormals
bool SurfaceNormal(const SurfaceFaces& faces, const float* packed, const float* face_normals,
                   std::size_t p, const float* sum, Vec3f& normal);

// SurfaceNormal in double, which cannot overflow for squares of floats.
bool ExactNormal(const SurfaceFaces& faces, const float* packed, const float* face_normals,
                 std::size_t p, Vec3f& normal);

// The frame at corner `at` with its tangent towards `neighbour` along the surface. False:
// undefined.
bool MakeFrame(const float* packed, std::uint32_t at, std::uint32_t neighbour, const Vec3f& normal,
               SurfaceFrame& frame);

// cof(A) n / |cof(A) n| for the linear part A of a skin matrix; n if that vanishes.
Vec3f MovedNormal(const Affine& skin, const Vec3f& normal);

// The unit vector of v's component perpendicular to n. False: v is parallel to n. The rounding of
// n's length is corrected for.
bool Orthogonal(const Vec3d& v, const Vec3d& n, Vec3d& unit);
// Any direction perpendicular to n, from the axis farthest from n.
Vec3d AnyAcross(const Vec3d& n);

// The plane that fits the differences of a value along a point's edges best, each weighted by
// 1 / length^2: its slope along an axis is the sum of the edges' weights times their differences,
// over the determinant.
struct PlaneWeights {
  std::vector<std::array<double, 2>> edges;  // for the axes x and y; empty: the edges are collinear
  double determinant = 0;
};
// x and y are perpendicular unit vectors.
PlaneWeights FitPlane(std::span<const Vec3d> edges, const Vec3d& x, const Vec3d& y);

}  // namespace sinew
