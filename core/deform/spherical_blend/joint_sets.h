// joint_sets.h - which sets of bindings move vertices together, and where at bind each set's
// rotation centre is looked for.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/parallel/task.h"
#include "core/rig/joint_order.h"
#include "core/rig/layout.h"
#include "core/rig/rig.h"

namespace sinew {

// The different sets of bindings that vertices follow.
struct JointSets {
  std::vector<std::uint32_t> offset;    // [S + 1] into entry
  std::vector<std::uint16_t> entry;     // bindings, ascending within a set
  std::vector<std::uint32_t> lane_set;  // [B * 16]

  std::size_t size() const { return offset.empty() ? 0 : offset.size() - 1; }
  std::span<const std::uint16_t> set(std::size_t s) const {
    return std::span(entry).subspan(offset[s], offset[s + 1] - offset[s]);
  }

  // max_influences as in WeightTable: a vertex's set holds the bindings it keeps. kCancelled.
  static absl::StatusOr<JointSets> Create(const Rig& rig, const BlockLayout& layout,
                                          std::uint32_t max_influences, const Task& task);
  // Upper bounds of what Create makes, found in one pass without making it.
  struct Bound {
    std::size_t sets = 0, entries = 0;
  };
  static absl::StatusOr<Bound> CountAtMost(const Rig& rig, const BlockLayout& layout,
                                           std::uint32_t max_influences, const Task& task);
};

// Where each binding's joint lies at bind, relative to `centre`. [E]; a bind matrix that cannot be
// inverted: where it rests.
std::vector<Vec3d> BindOrigins(const Rig& rig, const Vec3d& centre);

// Where a set's joints are expected to agree about a point: the mean bind origin of those that have
// an ancestor in the set (a joint and its parent: where they meet); if none has, the bind origin of
// their lowest common ancestor; without one, the mean of all.
class ExpectedCentres {
 public:
  // origins  [E] of BindOrigins;  centre  what they are relative to. Both spans and the rig must
  // outlive this.
  ExpectedCentres(const Rig& rig, const Vec3d& centre, std::span<const Vec3d> origins);

  // Of a set of bindings, not empty. O(k log k), whatever the skeleton.
  Vec3d Of(std::span<const std::uint16_t> set);

 private:
  Vec3d OriginOf(std::uint32_t joint, std::uint16_t near) const;

  const Rig& rig_;
  Vec3d centre_;
  std::span<const Vec3d> origins_;
  JointOrder order_;
  std::vector<std::uint32_t> first_binding_;  // [J] or kNoBinding
  std::vector<std::uint32_t> entered_;        // scratch of Of: places in the set by joint's entry
  std::vector<bool> descends_;                // scratch of Of, by place in the set
};

}  // namespace sinew
