// surface_point.h - normal and frame of one point of a posed surface; shared by binding and running
// of normals.
//
// `packed` holds a layout's lanes as x y z 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/types.h"
#include "core/geometry/normals.h"

namespace sinew {

struct SurfaceFrame {
  Vec3f tangent, bitangent;  // with the normal: orthonormal, right-handed
};

// Positions [B] to packed [lanes][4] and to one area vector [faces][4] per face (see
// normals_kernel.h).
void FillFaceNormals(const NormalTables& tables, std::span<const PointBlock> positions,
                     std::span<float> packed, std::span<float> normals, const Task& task);

// Unit normal of point p, whose faces' area vectors sum up to sum[4]. False: they say nothing (no
// area, or they cancel).
bool SurfaceNormal(const NormalTables& tables, const float* packed, std::size_t p, const float* sum,
                   Vec3f& normal);

// The frame at `lane` whose tangent is the direction to `neighbour` along the surface. False: there
// is none.
bool MakeFrame(const float* packed, std::uint32_t lane, std::uint32_t neighbour,
               const Vec3f& normal, SurfaceFrame& frame);

}  // namespace sinew
