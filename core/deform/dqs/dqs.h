// dqs.h - dual quaternion skinning: blends rigid motions instead of matrices, so twisted joints
// keep their volume.
//
// Joints that scale or shear keep their rotation in the quaternion and give what is left, (M - R)
// u, to the translation of that one vertex. A motion common to all joints is therefore exact,
// whatever it is. Source: Kavan et al. 2008; the sign of a quaternion follows the vertex's
// strongest joint.
#pragma once

#include "core/deform/method.h"
#include "core/rig/weight_table.h"

namespace sinew {

struct Dqs {
  using Params = DqsParams;
  static constexpr int kVersion = 1;
  static constexpr std::string_view kSummary =
      "Dual quaternions: twists keep their volume; bent joints bulge a little.";
  static constexpr std::string_view kPaper = "Kavan, Collins, Zara, O'Sullivan 2008";
  static constexpr std::string_view kCostClass = "2 x";

  WeightTable table;
  std::uint32_t bindings = 0;
  float blend = 1;
  // [B][16], blend * blend_map within [0, 1]; empty = `blend` everywhere.
  AlignedVector<float> blend_lanes;

  static absl::Status Validate(const DqsParams&) { return absl::OkStatus(); }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const DqsParams& params);
  // kInvalidArgument: the rig has no map of that name.
  static absl::StatusOr<Dqs> Bind(const BindInput& input, const DqsParams& params, Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t binding_count) const;
  void Run(const StageFrame& frame) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    WeightTable::Fields(self.table, visit);
    visit("bindings", self.bindings);
    visit("blend", self.blend);
    visit("blend_lanes", self.blend_lanes);
  }

 private:
  // Some vertex is not fully dual quaternion: linear blend runs too.
  bool mixes() const { return blend < 1 || !blend_lanes.empty(); }
};

}  // namespace sinew
