// binding_bones.h - the bone each binding carries skin on, and the joints between them. Bind space.
//
// The bone of a binding is the segment from its joint's origin to the mean of its children's
// origins; where that has no length, or there is no child, to the mean of the vertices it carries.
#pragma once

#include <cstdint>
#include <vector>

#include "core/metrics/surface.h"

namespace sinew::metrics {

struct BindingBone {
  Vec3d from, to;
  bool known = false;  // it carries points, and its matrix can be inverted

  double Distance(const Vec3d& p) const;
  double DistanceFromAxis(const Vec3d& p) const;
  // Where p lies along the bone, a length from `from`; beyond its ends too.
  double Station(const Vec3d& p) const;
};

// Where one bone goes on in another: that of the nearest ancestor that has one. Where meshes bring
// their own bindings of one joint, the first goes with the first and so on: a tree, at most one
// parent a binding.
struct BoneJoint {
  std::uint32_t parent = 0, child = 0;  // bindings
  Vec3d centre;                         // the child's origin
  Vec3d normal;                         // unit, halves the rest angle; from parent to child
};

struct BindingBones {
  BindingBones(const Rig& rig, const Surface& surface);

  std::vector<BindingBone> bones;        // [E]
  std::vector<std::uint32_t> strongest;  // [P] binding with the largest weight
  std::vector<BoneJoint> joints;
};

}  // namespace sinew::metrics
