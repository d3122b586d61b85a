// implicit.h - implicit skinning: every skinned vertex moves back to its own depth in the field of
// its limb until it is as far from its bone as at rest, or up to the contact with other limbs.
//
// At bind each joint's part of the skin is fitted by a scalar field, about its signed distance. In
// a pose the fields move rigidly with their joints, and the skin of the previous stage is
// projected: this restores volume that skinning lost or added, and folds touch without intersecting
// up to bends of about 150 degrees. Source: fields of Vaillant et al. 2013; projection.h says where
// the projection differs, march.h is the published one.
#pragma once

#include "core/deform/implicit/field.h"
#include "core/deform/implicit/implicit_params.h"
#include "core/deform/implicit/march/march.h"
#include "core/deform/implicit/muscles.h"
#include "core/deform/implicit/project/level_skin.h"
#include "core/deform/implicit/project/move_smoothing.h"
#include "core/deform/implicit/skin.h"
#include "core/deform/method/method.h"

namespace sinew {

struct Implicit : MethodOf<Implicit, ImplicitParams> {
  static constexpr int kVersion = 24;
  static constexpr std::string_view kSummary =
      "Skin that keeps its volume and touches itself without intersecting; use after dqs or dqs | "
      "bulge_free.";
  static constexpr std::string_view kBehind = "dqs";
  static constexpr std::string_view kPaper = "Vaillant et al. 2013";
  static constexpr std::string_view kCostClass = "20 to 400 x";

  std::uint32_t contact = 1;
  std::uint32_t joints = 0;  // number of joints of the rig
  LimbField field;
  MuscleField muscles;  // empty if the recipe turns them off
  SkinSurface skin;
  // Without points if the skin marches.
  LevelSkin level;
  MoveRings rings;
  March march;  // without points if it does not

  bool marches() const { return march.points() > 0; }
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const ImplicitParams& params);
  static absl::StatusOr<Implicit> Bind(const BindInput& input, const ImplicitParams& params,
                                       Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit, const TableSizes& rig = {}) {
    visit("contact", self.contact, rule::Within{0, 1});
    visit("joints", self.joints, rule::Within{0, kMaxJoints});  // Facts: the rig has them
    LimbField::Fields(self.field, visit, rig);
    MuscleField::Fields(self.muscles, visit, rig);
    SkinSurface::Fields(self.skin, visit, rig);
    LevelSkin::Fields(self.level, visit, rig);
    March::Fields(self.march, visit, rig);
    MoveRings::Fields(self.rings, visit, rig);
  }
};

}  // namespace sinew
