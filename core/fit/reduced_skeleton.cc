#include "core/fit/reduced_skeleton.h"

#include <algorithm>
#include <utility>

#include "core/base/vectors.h"

namespace sinew::fit {

std::uint32_t ReducedSkeleton::CommonAncestor(std::uint32_t a, std::uint32_t b) const {
  // A parent has a lower number than its children.
  while (a != b) (a > b ? a : b) = joints[std::max(a, b)].parent;
  return a;
}

std::uint32_t ReducedSkeleton::LimbRoot(std::uint32_t joint) const {
  std::uint32_t root = joints[joint].parent;
  while (joints[root].divides) root = joints[root].parent;
  return root;
}

ReducedSkeleton Reduce(const SkeletonTemplate& skeleton, std::vector<Vec3d> places,
                       std::span<const std::uint32_t> kept) {
  const std::vector<TemplateJoint>& all = skeleton.joints;
  ReducedSkeleton reduced;
  reduced.places = std::move(places);
  std::vector<std::uint32_t> bones(all.size(), 0), children(all.size(), 0);
  for (std::uint32_t j = 0; j < all.size(); ++j) {
    reduced.parents.push_back(all[j].parent);
    if (all[j].parent == kNone) continue;
    ++bones[j];
    ++bones[all[j].parent];
    ++children[all[j].parent];
  }
  std::vector<std::uint32_t> number(all.size(), kNone);
  for (std::uint32_t j = 0; j < all.size(); ++j) {
    const bool stays = std::ranges::any_of(
        kept, [&](std::uint32_t k) { return k == j || (k == all[j].partner && k != kNone); });
    const bool divides = j > 0 && bones[j] == 2;
    if (divides && !stays) continue;
    ReducedJoint joint{.joint = j,
                       .leaf = children[j] == 0,
                       .wide = all[j].wide,
                       .foot = all[j].foot,
                       .divides = divides};
    // Up the chain, then in order.
    std::uint32_t at = j;
    while (at != kNone && (at == j || number[at] == kNone)) {
      joint.chain.push_back(at);
      at = all[at].parent;
    }
    std::ranges::reverse(joint.chain);
    if (at != kNone) {
      joint.parent = number[at];
      std::uint32_t above = at;
      for (const std::uint32_t link : joint.chain) {
        joint.length += Length(reduced.places[link] - reduced.places[above]);
        joint.parts.push_back(joint.length);
        above = link;
      }
      for (double& part : joint.parts) part /= joint.length;
    }
    const std::uint32_t partner = all[j].partner;
    if (partner != kNone && partner < j) joint.partner = number[partner];
    number[j] = static_cast<std::uint32_t>(reduced.joints.size());
    reduced.joints.push_back(std::move(joint));
  }
  return reduced;
}

}  // namespace sinew::fit
