// bulge_free_reference.h - the corrections of bulging joints in double, directly from the formulas.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/deform/engine/params.h"
#include "core/rig/rig.h"

namespace sinew::reference {

struct Bone {
  Vec3d root, tip;
};

// Rest bones of a rig bound in its rest pose, one per binding: to the mean of the joint's children
// or, without children, through the centre of the joint's skin to its end.
std::vector<Bone> RestBones(const Rig& rig);

// The point of a bone nearest to p.
Vec3d Nearest(const Bone& bone, const Vec3d& p);

// Kim and Han 2014, shared among all influences unless params.strongest. rho is the distance of M_j
// u from the posed bone j.
//
//    rest, posed  [V];  skin  [E] rest to posed;  bones  [E] at rest
std::vector<Vec3d> BulgeFree(std::span<const Vec3d> rest, std::span<const Vec3d> posed,
                             const Influences& influences, std::span<const AffineD> skin,
                             std::span<const Bone> bones, const BulgeFreeParams& params);

// Sulema and Rudenko 2020 for rigs bound in their rest pose, rigid joints, and vertices whose two
// strongest joints are parent and child with bones of non-zero length; others do not move.
std::vector<Vec3d> Bisector(const Rig& rig, std::span<const Vec3d> posed,
                            std::span<const AffineD> skin, double strength);

}  // namespace sinew::reference
