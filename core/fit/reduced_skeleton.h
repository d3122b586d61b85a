// reduced_skeleton.h - a template without the joints that merely divide a chain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/fit/skeleton_template.h"

namespace sinew::fit {

struct ReducedJoint {
  std::uint32_t joint = 0;        // of the template
  std::uint32_t parent = kNone;   // among the reduced joints
  std::uint32_t partner = kNone;  // among the reduced joints, only for the later of the two
  bool leaf = false, wide = false, foot = false;
  bool divides = false;  // a chain: it is here only because it was kept
  double length = 0;     // of the chain from the parent
  // The template's joints of the chain, this one last, and the part of the chain up to each.
  std::vector<std::uint32_t> chain{};
  std::vector<double> parts{};
};

struct ReducedSkeleton {
  std::vector<Vec3d> places;           // [template joints] in unit space
  std::vector<ReducedJoint> joints;    // parents first; the first is the root
  std::vector<std::uint32_t> parents;  // [template joints]

  // The lowest joint above both, or one of them.
  std::uint32_t CommonAncestor(std::uint32_t a, std::uint32_t b) const;
  // The joint above that does not merely divide the chain: where the limb of a joint begins.
  std::uint32_t LimbRoot(std::uint32_t joint) const;
};

// places: [template joints] in unit space, turned as wanted. `kept`: joints that stay although they
// divide a chain, since their places are known; so do their partners, or the sides would differ.
ReducedSkeleton Reduce(const SkeletonTemplate& skeleton, std::vector<Vec3d> places,
                       std::span<const std::uint32_t> kept = {});

}  // namespace sinew::fit
