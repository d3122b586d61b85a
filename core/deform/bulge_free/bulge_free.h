// bulge_free.h - removes the bulge of joints after dual quaternion or other skinning.
//
// projection: pulls a vertex back to the distance from a bone that the bone's own motion would give
// it: v' = v + strength sum_j beta_ij f_j (v - c_j), with c_j the point of the posed bone nearest
// to v, f_j = min(rho_ij / |v - c_j| - 1, 0), beta_ij = w_ij^sharpness / sum. rho_ij = |M_j u_i -
// c(M_j u_i)| is computed per frame, so it follows scaling joints and shapes. Only pulls inward;
// costs about 1 % of a bent limb's volume. Twists, vertices with one influence and rigid components
// (connected_components.h) do not change. Leaf bones end where the skin they carry ends
// (bone_segments.h). Source: Kim and Han 2014, who use the strongest bone alone (`strongest`),
// which jumps where weights cross.
//
// bisector: pushes a vertex near a hinge along the limb towards the joint, by an empirical function
// of its two largest weights. Unlike the source, directions come from the skeleton and the sign
// from which joint is the ancestor; joints not in line are left alone. For elbows, knees and
// fingers whose weights blend over about the limb's thickness: cheaper than projection and keeps
// more volume, but does not measure the bulge. Source: Sulema and Rudenko 2020, coefficients 2.2,
// -9.6, 10.4.
#pragma once

#include "core/deform/bulge_free/bulge_free_kernel.h"
#include "core/deform/bulge_free/bulge_free_params.h"
#include "core/deform/method/method.h"

namespace sinew {

struct BulgeFree : MethodOf<BulgeFree, BulgeFreeParams> {
  static constexpr int kVersion = 9;
  static constexpr std::string_view kSummary =
      "Removes the bulge of bent joints: pulls vertices back to their distance from the bones.";
  static constexpr std::string_view kBehind = "dqs";
  static constexpr std::string_view kPaper = "Kim, Han 2014; Sulema, Rudenko 2020";
  static constexpr std::string_view kCostClass = "4 x";

  BlockJoints joints;           // of the influences that share the correction
  AlignedVector<float> shares;  // [pairs][16], including strength
  AlignedVector<float> slopes;  // [pairs][2][16] of the shares, see surface_slopes.h; or empty
  // projection: bones that are posed each frame.
  float width = 0;               // of the soft onset, relative to the rest distance
  std::vector<Vec3d> root, tip;  // [E] bind space, relative to the layout's centre
  // bisector: couples of ancestor and descendant bindings with the directions of their bones.
  std::vector<std::uint32_t> pair_couple;               // [pairs] or kNoPush
  std::vector<std::uint16_t> upper, lower;              // [couples] bindings
  std::vector<Vec3d> upper_direction, lower_direction;  // [couples] bind space, unit or 0 0 0

  // kInvalidArgument: strongest = true with the bisector.
  static absl::Status Validate(const BulgeFreeParams& params);
  // The pushes of the bisector are not smooth where the strongest bones change.
  static bool Carries(const BulgeFreeParams& params) {
    return params.method == BulgeMethod::kProjection;
  }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const BulgeFreeParams& params);
  static absl::StatusOr<BulgeFree> Bind(const BindInput& input, const BulgeFreeParams& params,
                                        Task& task);
  StageFacts Facts() const;
  void Run(const StageFrame& frame) const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    BlockJoints::Fields(self.joints, visit, rig);
    const std::size_t pairs = self.joints.pairs(), couples = self.upper.size();
    visit("shares", self.shares, rule::Size(pairs * kLanes), rule::Finite());
    visit("width", self.width, rule::NotNegative());
    visit("root", self.root, rule::SizeOrEmpty{rig.bindings}, rule::Finite());
    visit("tip", self.tip, rule::Size(self.root.size()), rule::Finite());
    visit("slopes", self.slopes, rule::SizeOrEmpty{self.projects() ? 2 * self.shares.size() : 0},
          rule::Finite());
    visit("pair_couple", self.pair_couple, rule::Size(self.projects() ? 0 : pairs),
          rule::Below(couples, kNoPush));
    visit("upper", self.upper, rule::Size(0, self.projects() ? 0 : rule::kAnySize),
          rule::Below(rig.bindings));
    visit("lower", self.lower, rule::Size(couples), rule::Below(rig.bindings));
    visit("upper_direction", self.upper_direction, rule::Size(couples), rule::Finite());
    visit("lower_direction", self.lower_direction, rule::Size(couples), rule::Finite());
  }

 private:
  bool projects() const { return !root.empty(); }
  absl::Status BindProjection(const BindInput& input, const BulgeFreeParams& params, Task& task);
  absl::Status BindBisector(const BindInput& input, const BulgeFreeParams& params, Task& task);
  void RunProjection(const StageFrame& frame) const;
  void RunBisector(const StageFrame& frame) const;
};

}  // namespace sinew
