// bulge_free.h - corrects joints that bulge under dual quaternions; behind any stage that poses.
//
// projection: a vertex farther from a bone than the bone's own motion would put it is pulled back
// to that distance: v' = v + strength sum_j beta_ij f_j (v - c_j), c_j the posed bone's point
// nearest to v, f_j = min(rho_ij / |v - c_j| - 1, 0), beta_ij = w_ij^sharpness / sum. Source: Kim
// and Han 2014 with the strongest bone alone (`strongest`), which jumps where weights cross; shared
// among all bones it does not. rho_ij = |M_j u_i - c(M_j u_i)| is measured in each frame, not at
// bind: that is the rest distance where joints are rigid, it grows with joints that scale (a figure
// scaled as a whole stays what it is), and u_i includes what shapes moved. The correction only
// pulls inwards: it costs 1 % of a bent limb's volume. Twists, and vertices of one influence behind
// a skinning method, stay as they are. So do pieces that joints alone move, such as the balls in a
// puppet's joints (skin_shells.h). A bone ends at the mean of its joint's children; a leaf's where
// the skin does that the joint mostly carries (bone_segments.h), so that both halves of a joint are
// corrected alike.
//
// bisector: a vertex near a hinge is pushed along the limb towards the joint, by an empirical curve
// of its two largest weights. Source: Sulema and Rudenko 2020, coefficients 2.2, -9.6, 10.4. Theirs
// needs every joint to have the same axis along its limb, and its sign comes from the order of
// joints; here directions come from the skeleton and the sign from which joint is the ancestor, so
// neither matters, and joints that are not ancestor and descendant are left alone. Good for elbows,
// knees and fingers whose weights blend over about the limb's thickness: cheaper than projection,
// and keeps more volume; it does not know how far the surface bulges, so elsewhere it may do too
// little or too much.
#pragma once

#include "core/deform/method/method.h"

namespace sinew {

struct BulgeFree {
  using Params = BulgeFreeParams;
  static constexpr int kVersion = 4;
  static constexpr std::string_view kSummary =
      "Takes the bulge off bent joints: pulls vertices back to their distance from the bones.";
  static constexpr std::string_view kBehind = "dqs";
  static constexpr std::string_view kPaper = "Kim, Han 2014; Sulema, Rudenko 2020";
  static constexpr std::string_view kCostClass = "4 x";

  BlockJoints joints;           // of the influences that share the correction
  AlignedVector<float> shares;  // [pairs][16] strength included
  // projection: posed bones come from these.
  float width = 0;               // of the soft start, as part of the rest distance
  std::vector<Vec3d> root, tip;  // [E] bind space, relative to the layout's centre
  // bisector: couples of bindings, ancestor and descendant, with their bones' directions.
  std::vector<std::uint32_t> pair_couple;               // [pairs] or kNoPush
  std::vector<std::uint16_t> upper, lower;              // [couples] bindings
  std::vector<Vec3d> upper_direction, lower_direction;  // [couples] bind space, unit or 0 0 0

  // kInvalidArgument: strongest = true with the bisector, which knows no such thing.
  static absl::Status Validate(const BulgeFreeParams& params);
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const BulgeFreeParams& params);
  static absl::StatusOr<BulgeFree> Bind(const BindInput& input, const BulgeFreeParams& params,
                                        Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t binding_count) const;
  void Run(const StageFrame& frame) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("joint_offset", self.joints.offset);
    visit("joint_entry", self.joints.entry);
    visit("shares", self.shares);
    visit("width", self.width);
    visit("root", self.root);
    visit("tip", self.tip);
    visit("pair_couple", self.pair_couple);
    visit("upper", self.upper);
    visit("lower", self.lower);
    visit("upper_direction", self.upper_direction);
    visit("lower_direction", self.lower_direction);
  }

 private:
  bool projects() const { return !root.empty(); }
  absl::Status BindProjection(const BindInput& input, const BulgeFreeParams& params, Task& task);
  absl::Status BindBisector(const BindInput& input, const BulgeFreeParams& params, Task& task);
  void RunProjection(const StageFrame& frame) const;
  void RunBisector(const StageFrame& frame) const;
};

}  // namespace sinew
