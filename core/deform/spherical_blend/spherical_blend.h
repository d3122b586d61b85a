// spherical_blend.h - spherical blend skinning: blended rotations about the point where a vertex's
// joints agree best in the frame.
//
// Where joints have nearly equal rotations the centre fades to their bind position, so it stays
// bounded. Joints that scale or shear rotate about that centre and add the remainder as linear
// blend skinning does; any motion common to all joints is exact. Source: Kavan and Zara 2005;
// weights in the fit (no seams between joint sets) and the regulariser are additions.
#pragma once

#include "core/deform/method/method.h"
#include "core/deform/spherical_blend/joint_sets.h"
#include "core/deform/spherical_blend/spherical_blend_params.h"
#include "core/rig/weight_table.h"

namespace sinew {

struct SphericalBlend : MethodOf<SphericalBlend, SphericalBlendParams> {
  static constexpr int kVersion = 4;
  static constexpr std::string_view kSummary =
      "Rotations blended about a centre computed per frame: twists keep their volume.";
  static constexpr std::string_view kPaper = "Kavan, Zara 2005";
  static constexpr std::string_view kCostClass = "4 x";

  WeightTable table;
  AlignedVector<float> slopes;  // [pairs][2][16] of the weights, see surface_slopes.h; or empty
  std::vector<Vec3d> origins;   // [E] bind origins, relative to the layout's centre
  // Every pivot with the bindings of its blocks: computed once per frame.
  std::vector<std::uint32_t> pair_relation;                   // [pairs]; 0 at a block's pivot
  std::vector<std::uint16_t> relation_pivot, relation_joint;  // [U] bindings
  // centres=weighted
  AlignedVector<PointBlock> expected;  // [B], where each lane's centre is expected
  // centres=per_set
  JointSets sets;
  std::vector<Vec3d> set_expected;  // [S]

  static constexpr bool Carries(const SphericalBlendParams&) { return true; }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const SphericalBlendParams& params);
  static absl::StatusOr<SphericalBlend> Bind(const BindInput& input,
                                             const SphericalBlendParams& params, Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const;
  void Run(const StageFrame& frame) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    WeightTable::Fields(self.table, visit, rig);
    visit("slopes", self.slopes, rule::SizeOrEmpty{2 * self.table.weights.size()}, rule::Finite());
    visit("origins", self.origins, rule::Size(rig.bindings), rule::Finite());
    visit("pair_relation", self.pair_relation, rule::Size(self.table.joints.pairs()));
    visit("relation_pivot", self.relation_pivot, rule::Below(rig.bindings));
    visit("relation_joint", self.relation_joint, rule::Size(self.relation_pivot.size()),
          rule::Below(rig.bindings));
    visit("expected", self.expected, rule::SizeOrEmpty{rig.blocks}, rule::Finite());
    JointSets::Fields(self.sets, visit, rig, self.per_set());
    visit("set_expected", self.set_expected, rule::Size(self.sets.size()), rule::Finite());
  }

 private:
  bool per_set() const { return expected.empty(); }
  void FillRelations();
};

}  // namespace sinew
