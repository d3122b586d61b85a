// bind_pose.h - the pose in which the mesh was bound.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew {

// [J] joint to model space where the mesh stands as it was modelled: the inverse of a joint's
// inverse bind matrix. Parts of the mesh may be kept in spaces of their own: the first part's is
// taken, and another is brought there by a joint they share, or by how the rest pose holds its
// joint to one that stands already. Joints without a binding keep their rest place in their parent;
// such roots, their rest pose.
std::vector<AffineD> BindPose(const Rig& rig);

// [E] From the space that a binding's mesh is kept in to that of BindPose: the identity where each
// joint has one binding.
std::vector<AffineD> ToBindPose(const Rig& rig, const std::vector<AffineD>& bind_pose);

// Where a vertex stands in the bind pose, model space: the blend of `to_pose`, that of ToBindPose.
Vec3d InBindPose(const Rig& rig, std::span<const AffineD> to_pose, std::size_t vertex);

}  // namespace sinew
