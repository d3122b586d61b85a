// layout.h - the vertex order of all pointwise methods: blocks of 16 vertices that share their
// strongest joint.
//
// Vertices are sorted by (pivot = strongest binding, set of bindings, file index) and split into
// blocks of 16 lanes. A block has one pivot; unused lanes repeat its first vertex. Each block lists
// the union of its vertices' bindings, pivot first, then ascending, so a kernel broadcasts one
// matrix to 16 points and never gathers. The bits of a vertex do not depend on its block: foreign
// bindings add exact zeros.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/aligned.h"
#include "core/base/point_block.h"
#include "core/base/table_schema.h"
#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew {

namespace rule {

// Bindings by block: each block's begin with its pivot and rise behind it.
struct PivotFirst {
  template <class V>
  std::string Check(std::span<const V> entry) const {
    for (std::size_t b = 0; b < pivots.size(); ++b) {
      const auto row = entry.subspan(offset[b], offset[b + 1] - offset[b]);
      const auto rest = row.subspan(1);
      if (row.front() == pivots[b] &&
          std::ranges::adjacent_find(rest, std::greater_equal()) == rest.end()) {
        continue;
      }
      return absl::StrCat("block ", b, ": need the pivot ", pivots[b], ", then rising bindings");
    }
    return {};
  }
  std::span<const std::uint32_t> offset;
  std::span<const std::uint16_t> pivots;  // [blocks]
};

}  // namespace rule

// The bindings used by each block. Associated tables are aligned float[pairs][fields][16], 0 where
// a lane does not use the binding.
struct BlockJoints {
  std::vector<std::uint32_t> offset;  // [B + 1] into entry
  std::vector<std::uint16_t> entry;   // [pairs] bindings, pivot first, then ascending

  std::size_t pairs() const { return entry.size(); }
  bool operator==(const BlockJoints&) const = default;

  // For the Fields of what holds it.
  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig,
                     std::string_view offset_name = "joint_offset",
                     std::string_view entry_name = "joint_entry") {
    visit(offset_name, self.offset, rule::Offsets(rig.blocks, self.entry.size(), 1));
    visit(entry_name, self.entry, rule::Below(rig.bindings),
          rule::PivotFirst{self.offset, rig.pivots});
  }
};

// Immutable; one per rig, shared by all stages of a deformer.
struct BlockLayout {
  std::uint32_t vertices = 0;
  Vec3d centre{};                    // rest holds position - centre; PosedRig::skin includes it
  std::vector<std::int32_t> order;   // [B * 16] file vertex of each lane, -1 = padding
  std::vector<std::uint32_t> lane;   // [V] lane (block * 16 + i) of a file vertex
  std::vector<std::uint16_t> pivot;  // [B] binding
  BlockJoints skin;                  // union of the rig's influences
  AlignedVector<PointBlock> rest;    // [B] relative to centre

  std::size_t blocks() const { return pivot.size(); }
  // File vertex of a lane; for padding the block's first vertex.
  std::uint32_t Vertex(std::size_t lane_index) const {
    const std::int32_t v = order[lane_index];
    return static_cast<std::uint32_t>(v >= 0 ? v : order[lane_index / kLanes * kLanes]);
  }

  static absl::StatusOr<std::shared_ptr<const BlockLayout>> Create(const Rig& rig);
  TableSizes Sizes(std::size_t bindings) const {
    return {.vertices = vertices,
            .blocks = blocks(),
            .lanes = order.size(),
            .bindings = bindings,
            .pivots = pivot};
  }
  // Validates loaded tables. kDataLoss.
  absl::Status Check(std::size_t bindings) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    visit("vertices", self.vertices, rule::Positive());
    visit("centre", self.centre, rule::Finite());
    visit("order", self.order, rule::Size(self.blocks() * kLanes), rule::Below(self.vertices, -1));
    visit("lane", self.lane, rule::Size(self.vertices), rule::Below(self.order.size()));
    visit("pivot", self.pivot, rule::Size(1, rule::kAnySize), rule::Below(rig.bindings));
    BlockJoints::Fields(self.skin, visit, rig, "skin_offset", "skin_entry");
    visit("rest", self.rest, rule::Size(self.blocks()), rule::Finite());
  }
};

// Block unions of the bindings row(v) of each vertex, in any order. The layout's pivot comes first
// in each block even if no row names it.
BlockJoints UniteRows(const BlockLayout& layout,
                      absl::FunctionRef<std::span<const std::uint16_t>(std::size_t v)> row);
// Block unions of the `most` strongest influences of each vertex; 0: all.
BlockJoints UniteInfluences(const BlockLayout& layout, const Influences& influences,
                            std::size_t most = 0);

// Index into BlockJoints::entry of a binding in a block's union; it must be present.
std::size_t FindPair(const BlockJoints& joints, std::size_t block, std::uint16_t binding);

}  // namespace sinew
