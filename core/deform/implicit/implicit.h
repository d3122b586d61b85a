// implicit.h - implicit skinning: every vertex returns to its own level of a field that moves with
// the joints, and stops where another limb is met.
//
// At bind each joint's part of the skin becomes a scalar field, and every vertex remembers the
// value of the composed field where it lies. In a pose the fields move rigidly with their joints
// and the skin of the stage before is projected back: what linear blend pinched and dual
// quaternions blew up comes back, and folds close without passing through each other up to bends
// of some 120 degrees. Source: Vaillant et al. 2013. See projection.h for the schedule. With
// `tracking` the skin follows the field from pose to pose instead, see tracking.h; a pose without
// state is projected all the same.
#pragma once

#include "core/deform/implicit/field/limb_field.h"
#include "core/deform/implicit/field/muscle_field.h"
#include "core/deform/implicit/surface/skin_surface.h"
#include "core/deform/method/method.h"

namespace sinew {

struct Implicit {
  using Params = ImplicitParams;
  static constexpr int kVersion = 8;
  static constexpr std::string_view kSummary =
      "Skin that keeps its volume and meets itself without passing through; starts best from dqs "
      "or dqs | bulge_free.";
  static constexpr std::string_view kBehind = "dqs";
  static constexpr std::string_view kPaper = "Vaillant et al. 2013";
  static constexpr std::string_view kCostClass = "370 x";

  std::uint32_t contact = 1, newton = 1, iterations = 0, smoothing = 0;
  std::uint32_t tracking = 0;
  float attraction = 0;
  std::uint32_t joints = 0;  // of the rig
  LimbField field;
  MuscleField muscles;  // none where the recipe says so
  SkinSurface skin;
  std::vector<float> inward;  // [points][3] see BindInward; none without tracking

  // The syntax of `joints`.
  static absl::Status Validate(const ImplicitParams& params);
  static absl::StatusOr<BindCost> Cost(const BindInput& input, const ImplicitParams& params);
  // kInvalidArgument: `joints` names one that the rig lacks.
  static absl::StatusOr<Implicit> Bind(const BindInput& input, const ImplicitParams& params,
                                       Task& task);
  StageFacts Facts() const;
  absl::Status Check(const BlockLayout& layout, std::size_t bindings) const;
  void Run(const StageFrame& frame) const;
  std::vector<BindStatistic> Statistics() const;

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    visit("contact", self.contact);
    visit("newton", self.newton);
    visit("iterations", self.iterations);
    visit("smoothing", self.smoothing);
    visit("tracking", self.tracking);
    visit("attraction", self.attraction);
    visit("joints", self.joints);
    LimbField::Fields(self.field, visit);
    MuscleField::Fields(self.muscles, visit);
    SkinSurface::Fields(self.skin, visit);
    visit("inward", self.inward);
  }
};

}  // namespace sinew
