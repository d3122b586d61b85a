// core_parts.h - joints and meshes of a rig as the deformation core has them.
#pragma once

#include <absl/status/statusor.h>

#include "core/mesh/mesh.h"
#include "core/rig/skeleton.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// At rest. Errors of Skeleton::Create.
absl::StatusOr<Skeleton> SkeletonOf(const RigData& rig);

// One mesh, without normals, welds, shapes and skin. Errors of Mesh::Create.
absl::StatusOr<sinew::Mesh> CoreMesh(const Mesh& mesh);

}  // namespace sinew::client
