// joint_sets.h - the sets of bindings that influence vertices, and the expected rotation centre of
// each at bind.
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

// The distinct sets of bindings of all vertices.
struct JointSets {
  std::vector<std::uint32_t> offset;    // [S + 1] into entry
  std::vector<std::uint16_t> entry;     // bindings, ascending within a set
  std::vector<std::uint32_t> lane_set;  // [B * 16]

  std::size_t size() const { return offset.empty() ? 0 : offset.size() - 1; }
  std::span<const std::uint16_t> set(std::size_t s) const {
    return std::span(entry).subspan(offset[s], offset[s + 1] - offset[s]);
  }

  // For the Fields of what holds it. used: there are sets, else every table is empty.
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig, bool used) {
    const std::size_t most = used ? rule::kAnySize : 0;
    visit("set_offset", self.offset, rule::Size(used ? 2 : 0, most),
          rule::Offsets(rule::kAnySize, self.entry.size(), 1, !used));
    visit("set_entry", self.entry, rule::Size(0, most), rule::Below(rig.bindings),
          rule::Rising{self.offset});
    visit("lane_set", self.lane_set, rule::Size((used ? 1 : 0) * rig.lanes),
          rule::Below(self.size()));
  }

  // max_influences as in WeightTable: sets contain the bindings kept per vertex. kCancelled.
  static absl::StatusOr<JointSets> Create(const Rig& rig, const BlockLayout& layout,
                                          std::uint32_t max_influences, const Task& task);
  // Upper limits of the sizes, found in one pass without creating the sets.
  struct Bound {
    std::size_t sets = 0, entries = 0;
  };
  static absl::StatusOr<Bound> CountAtMost(const Rig& rig, const BlockLayout& layout,
                                           std::uint32_t max_influences, const Task& task);
};

// [E] bind position of each binding's joint, relative to `centre`; its rest position if the bind
// matrix is singular.
std::vector<Vec3d> BindOrigins(const Rig& rig, const Vec3d& centre);

// Where the joints of a set are expected to agree: the mean bind origin of those with an ancestor
// in the set (for a joint and its parent, the joint between them); if none has one, the bind origin
// of their lowest common ancestor; without one, the mean of all.
class ExpectedCentres {
 public:
  // origins  [E] of BindOrigins;  centre  their reference point. All arguments must outlive this.
  ExpectedCentres(const Rig& rig, const Vec3d& centre, std::span<const Vec3d> origins);

  // The centre of a non-empty set of bindings. O(k log k), independent of the skeleton.
  Vec3d Of(std::span<const std::uint16_t> set);

 private:
  Vec3d OriginOf(std::uint32_t joint, std::uint16_t near) const;

  const Rig& rig_;
  Vec3d centre_;
  std::span<const Vec3d> origins_;
  JointOrder order_;
  std::vector<std::uint32_t> first_binding_;  // [J] or kNoBinding
  std::vector<std::uint32_t> entered_;        // scratch of Of: indices in the set by preorder
  std::vector<bool> descends_;                // scratch of Of, by index in the set
};

}  // namespace sinew
