// surface_point.h - normal and frame of one point of a posed surface.
//
// `packed` holds the corners of SurfaceFaces as x y z 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/types.h"
#include "core/surface/surface_faces.h"

namespace sinew {

// A sum of area vectors shorter than this part of the squared lengths it came from is rounding
// noise.
inline constexpr float kSurfaceNoise = 4e-6f;
// Squared lengths between which float32 neither overflows nor loses terms that count.
inline constexpr float kSurfaceSmallest = 1e-30f, kSurfaceLargest = 1e34f;
// Squared sine of the angle between normal and edge below which the edge has no direction along the
// surface.
inline constexpr float kSurfaceSteep = 1e-8f;

struct SurfaceFrame {
  Vec3f tangent, bitangent;  // with the normal: orthonormal, right-handed
};

// Unit normal of point p, whose faces' area vectors sum up to sum[4]. False: they say nothing (no
// area, or they cancel).
//   face_normals  as FillFaceNormals left them
bool SurfaceNormal(const SurfaceFaces& faces, const float* packed, const float* face_normals,
                   std::size_t p, const float* sum, Vec3f& normal);

// The frame at corner `at` whose tangent is the direction to `neighbour` along the surface. False:
// there is none.
bool MakeFrame(const float* packed, std::uint32_t at, std::uint32_t neighbour, const Vec3f& normal,
               SurfaceFrame& frame);

}  // namespace sinew
