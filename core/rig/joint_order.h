// joint_order.h - O(1) ancestor tests and O(log J) lowest common ancestors in skeletons of any
// depth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rig/skeleton.h"

namespace sinew {

// Preorder numbering of the joints. O(J) to create.
class JointOrder {
 public:
  explicit JointOrder(const Skeleton& skeleton);

  // The descendants of a joint are exactly the joints with entry in (entry(joint), end(joint)).
  std::uint32_t entry(std::size_t joint) const { return places_[joint].entry; }
  std::uint32_t end(std::size_t joint) const { return places_[joint].end; }
  bool IsOrDescends(std::size_t joint, std::size_t ancestor) const {
    return entry(ancestor) <= entry(joint) && entry(joint) < end(ancestor);
  }
  // Whether a and b are equal or one is an ancestor of the other.
  bool AreInLine(std::size_t a, std::size_t b) const {
    return IsOrDescends(a, b) || IsOrDescends(b, a);
  }
  // The lowest common ancestor (a joint counts as its own), or kNoParent. O(log J).
  std::uint32_t LowestCommon(std::uint32_t a, std::uint32_t b) const;

 private:
  struct Place {
    std::uint32_t entry, end, parent;
    std::uint32_t jump;  // skip pointer to an ancestor, a root's is itself (Myers 1983)
  };
  std::vector<Place> places_;
};

}  // namespace sinew
