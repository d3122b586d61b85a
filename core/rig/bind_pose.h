// bind_pose.h - the pose in which the mesh was bound.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew {

// [J] joint to model space in the bind pose: the inverse of each joint's inverse bind matrix. If
// mesh parts have their own bind spaces, the first part's is used; another part is mapped into it
// by a joint they share, or by the rest pose of its joint relative to one already placed. Joints
// without a binding keep their rest transform relative to their parent (roots: their rest pose).
std::vector<AffineD> BindPose(const Rig& rig);

// [E] bind space of each binding to the space of BindPose: the identity if each joint has one
// binding.
std::vector<AffineD> ToBindPose(const Rig& rig, const std::vector<AffineD>& bind_pose);

// Position of a vertex in the bind pose, model space: the blend of `to_pose`, the result of
// ToBindPose.
Vec3d InBindPose(const Rig& rig, std::span<const AffineD> to_pose, std::size_t vertex);

}  // namespace sinew
