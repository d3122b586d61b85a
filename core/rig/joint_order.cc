#include "core/rig/joint_order.h"

namespace sinew {

JointOrder::JointOrder(const Skeleton& skeleton) : places_(skeleton.joints()) {
  std::vector<std::uint32_t> size(places_.size(), 1), depth(places_.size()), next(places_.size());
  for (std::uint32_t j = 0; j < places_.size(); ++j) places_[j].parent = skeleton.joint(j).parent;
  for (std::size_t j = places_.size(); j-- > 0;) {
    if (places_[j].parent != kNoParent) size[places_[j].parent] += size[j];
  }
  std::uint32_t next_root = 0;
  for (std::uint32_t j = 0; j < places_.size(); ++j) {  // parents come before their children
    Place& place = places_[j];
    const bool is_root = place.parent == kNoParent;
    std::uint32_t& at = is_root ? next_root : next[place.parent];
    place.entry = at;
    place.end = at += size[j];
    next[j] = place.entry + 1;
    if (is_root) {
      place.jump = j;
      continue;
    }
    const std::uint32_t p = place.parent, up = places_[p].jump, far = places_[up].jump;
    depth[j] = depth[p] + 1;
    place.jump = depth[p] - depth[up] == depth[up] - depth[far] ? far : p;
  }
}

std::uint32_t JointOrder::LowestCommon(std::uint32_t a, std::uint32_t b) const {
  while (!IsOrDescends(b, a)) {
    const Place& place = places_[a];
    if (place.parent == kNoParent) return kNoParent;
    a = IsOrDescends(b, place.jump) ? place.parent : place.jump;
  }
  return a;
}

}  // namespace sinew
