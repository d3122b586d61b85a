// joint_order.h - which joint stands above which, told without climbing, so that a skeleton may be
// as deep as it likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rig/skeleton.h"

namespace sinew {

// Joints numbered so that each comes right before all of its descendants. O(J) to make.
class JointOrder {
 public:
  explicit JointOrder(const Skeleton& skeleton);

  // Descendants of a joint, and no others, enter after it and before its end.
  std::uint32_t entry(std::size_t joint) const { return places_[joint].entry; }
  std::uint32_t end(std::size_t joint) const { return places_[joint].end; }
  bool IsOrDescends(std::size_t joint, std::size_t ancestor) const {
    return entry(ancestor) <= entry(joint) && entry(joint) < end(ancestor);
  }
  // One is or descends from the other.
  bool AreInLine(std::size_t a, std::size_t b) const {
    return IsOrDescends(a, b) || IsOrDescends(b, a);
  }
  // The lowest joint that a and b both are or descend from, or kNoParent. O(log J).
  std::uint32_t LowestCommon(std::uint32_t a, std::uint32_t b) const;

 private:
  struct Place {
    std::uint32_t entry, end, parent;
    std::uint32_t jump;  // an ancestor far above, a root's is itself; Myers 1983
  };
  std::vector<Place> places_;
};

}  // namespace sinew
