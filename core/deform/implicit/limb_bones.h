// limb_bones.h - the bone of each part: limb radius around it, and parent part.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "core/deform/implicit/limb_surface.h"
#include "core/rig/rig.h"

namespace sinew {

// The bone of a joint with at least kFewestSamples vertices; bind pose, model space.
struct LimbBone {
  std::uint32_t joint = 0;
  std::int32_t parent = -1;  // list index of the nearest ancestor's bone
  Vec3d root, tip;
  bool last = true;  // no child part
  Vec3d direction;   // unit, also if root = tip
  // Outward unit normals of the end planes, which bisect the angle to adjacent bones.
  Vec3d out_root, out_tip;
  double flesh = 0;   // median distance of the part's vertices to the bone, > 0
  double radius = 0;  // where the support of its field ends

  // Nearest point on the bone.
  Vec3d Nearest(const Vec3d& p) const;
};

inline constexpr std::size_t kFewestSamples = 4;

// By place (JointsByPlace). A bone ends at the mean of its child parts' origins; a leaf bone at the
// end of its part. Joints whose vertices are all on the bone, or with a singular bind matrix, have
// none.
std::vector<LimbBone> MakeLimbBones(const Rig& rig, const LimbSurface& surface);

}  // namespace sinew
