// binding_bones.h - the bone segment of each binding, and the joints between bones. Bind space.
//
// The bone of a binding runs from its joint's origin to the mean of its children's origins; if that
// has no length or there is no child, to the mean of the vertices whose strongest influence it is.
// The definition is independent of core/rig/bones.h: metrics must not share assumptions with the
// methods they judge.
#pragma once

#include <cstdint>
#include <vector>

#include "core/metrics/surface.h"

namespace sinew::metrics {

struct BindingBone {
  Vec3d from, to;
  bool known = false;  // it is some vertex's strongest influence and its matrix is invertible

  double Distance(const Vec3d& p) const;
  double DistanceFromAxis(const Vec3d& p) const;
  // Coordinate of p along the bone, a length from `from`; negative or beyond `to` outside its ends.
  double Station(const Vec3d& p) const;
};

// Whether a skin matrix squashes its bone so far, nearly to a plane, that lengths mean nothing in
// its bind space. 1e-4 of the volume of a uniform scale: an axis scaled by 1/1000 is not flat.
bool IsFlat(const AffineD& skin);

// A joint between a bone and that of its nearest ancestor with a known bone. If a joint has several
// bindings (one per mesh), the first is linked to the first, the second to the second and so on.
// The result is a forest: at most one parent per binding.
struct BoneJoint {
  std::uint32_t parent = 0, child = 0;  // bindings
  Vec3d centre;                         // the child's origin
  Vec3d normal;  // unit normal of the plane that bisects the rest angle, from parent to child
};

struct BindingBones {
  BindingBones(const Rig& rig, const Surface& surface);

  std::vector<BindingBone> bones;        // [E]
  std::vector<std::uint32_t> strongest;  // [P] binding with the largest weight
  std::vector<BoneJoint> joints;
};

}  // namespace sinew::metrics
