// core_parts.h - joints and meshes of a rig as the deformation core has them.
#pragma once

#include <absl/status/statusor.h>

#include <span>

#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/rig/skeleton.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// x, y, z of each.
inline std::span<const Vec3f> PointsOf(std::span<const float> values) {
  return {reinterpret_cast<const Vec3f*>(values.data()), values.size() / 3};
}

// At rest. Errors of Skeleton::Create.
absl::StatusOr<Skeleton> SkeletonOf(const RigData& rig);

// One mesh, without normals, welds, shapes and skin. Errors of Mesh::Create.
absl::StatusOr<sinew::Mesh> CoreMesh(const Mesh& mesh);

}  // namespace sinew::client
