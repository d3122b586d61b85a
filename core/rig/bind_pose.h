// bind_pose.h - the pose in which the mesh was bound.
#pragma once

#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew {

// [J] joint to model space where the mesh stands as it was modelled: the inverse of a joint's first
// inverse bind matrix that has one. Other joints keep their rest place in their parent; roots,
// their rest pose. All bindings of a joint meet in this space, of whichever mesh they are.
std::vector<AffineD> BindPose(const Rig& rig);

// [E] From the space that a binding's mesh is kept in to that of BindPose: the identity where each
// joint has one binding.
std::vector<AffineD> ToBindPose(const Rig& rig, const std::vector<AffineD>& bind_pose);

}  // namespace sinew
