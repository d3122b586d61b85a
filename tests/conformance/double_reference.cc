#include "tests/conformance/double_reference.h"

#include <absl/strings/str_cat.h>

#include <memory>
#include <utility>
#include <variant>

#include "core/base/status.h"
#include "core/deform/implicit/implicit.h"
#include "core/surface/rig_surface.h"
#include "tests/reference/bulge_free_reference.h"
#include "tests/reference/coefficients_reference.h"
#include "tests/reference/cor_reference.h"
#include "tests/reference/ddm_reference.h"
#include "tests/reference/delta_mush_reference.h"
#include "tests/reference/dqs_reference.h"
#include "tests/reference/field_reference.h"
#include "tests/reference/implicit_reference.h"
#include "tests/reference/lbs_reference.h"
#include "tests/reference/march_reference.h"
#include "tests/reference/relax_reference.h"
#include "tests/reference/shapes_reference.h"
#include "tests/reference/spherical_blend_reference.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::conformance {
namespace {

using Step = DoubleReference::Step;

struct BoundStage {
  Step step;
  std::string source;
};

absl::Status NoReference(std::string_view why) {
  return absl::UnimplementedError(AbslView(why));
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const LbsParams& params) {
  if (params.max_influences != 0) return NoReference("lbs: none with fewer influences");
  return BoundStage{
      [&rig](ReferenceFrame& f) { f.posed = reference::Lbs(f.rest, rig.influences(), f.skin); },
      "lbs_reference.h"};
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const DqsParams& params) {
  if (params.max_influences != 0 || params.blend != 1) return NoReference("dqs: none for a blend");
  if (params.signs == SignRule::kStrongest) {
    return BoundStage{
        [&rig](ReferenceFrame& f) { f.posed = reference::Dqs(f.rest, rig.influences(), f.skin); },
        "dqs_reference.h"};
  }
  // Every joint has one binding, in the order of the joints.
  std::vector<std::uint32_t> parents;
  for (const Binding& binding : rig.bindings()) {
    parents.push_back(rig.skeleton().joint(binding.joint).parent);
  }
  return BoundStage{[&rig, parents](ReferenceFrame& f) {
                      f.posed = reference::DqsByParent(f.rest, rig.influences(), f.skin, parents);
                    },
                    "dqs_reference.h"};
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const BulgeFreeParams& params) {
  if (params.method == BulgeMethod::kBisector) {
    return BoundStage{[&rig, strength = double{params.strength}](ReferenceFrame& f) {
                        f.posed = reference::Bisector(rig, f.posed, f.skin, strength);
                      },
                      "bulge_free_reference.h"};
  }
  return BoundStage{[&rig, params, bones = reference::RestBones(rig)](ReferenceFrame& f) {
                      f.posed = reference::BulgeFree(f.rest, f.posed, rig.influences(), f.skin,
                                                     bones, params);
                    },
                    "bulge_free_reference.h"};
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const SphericalBlendParams& params) {
  if (params.max_influences != 0) {
    return NoReference("spherical_blend: none with fewer influences");
  }
  return BoundStage{[&rig, per_set = params.centres == BlendCentres::kPerSet](ReferenceFrame& f) {
                      f.posed = reference::SphericalBlend(rig, f.skin, f.rest, per_set);
                    },
                    "spherical_blend_reference.h"};
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const CorParams& params) {
  if (params.max_influences != 0) return NoReference("cor: none with fewer influences");
  // With the width that the server uses, which is a float.
  const Points centres =
      reference::CorCentres(rig, {.sigma = double{params.sigma}, .refine = params.refine});
  return BoundStage{[&rig, centres](ReferenceFrame& f) {
                      f.posed = reference::CorPosed(f.rest, centres, rig.influences(), f.skin);
                    },
                    "cor_reference.h"};
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const DeltaMushParams& params) {
  if (params.radius || !params.map.empty()) return NoReference("delta_mush: none for radius, map");
  return BoundStage{
      [&rig, params](ReferenceFrame& f) {
        const auto smooth = [&](const Points& points) {
          return reference::SmoothExplicitly(rig, params, {}, points);
        };
        std::vector<Mat3d> turn;
        for (std::size_t v = 0; v < rig.vertices(); ++v) {
          turn.push_back(reference::OrthogonalBySvd(Linear(f.skin[StrongestBinding(rig, v)])));
        }
        f.posed = reference::DeltaMush(rig, params.laplacian == MushLaplacian::kCotangent, smooth,
                                       double{params.displacement}, f.posed, turn);
      },
      "delta_mush_reference.h"};
}

absl::StatusOr<BoundStage> BindDdm(const Rig& rig, const DdmParams& params, bool enhanced) {
  if (params.radius) return NoReference("ddm: none for radius");
  const auto ddm = std::make_shared<const reference::DdmReference>(
      reference::MeshOf(rig), reference::DdmReferenceParams(params));
  return BoundStage{
      [ddm, enhanced](ReferenceFrame& f) { f.posed = ddm->Evaluate(f.skin, enhanced); },
      "ddm_reference.h"};
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const DdmParams& params) {
  return BindDdm(rig, params, false);
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const EnhancedDdmParams& params) {
  return BindDdm(rig, params, true);
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const ShapesParams& params) {
  return BoundStage{[&rig, strength = double{params.strength}](ReferenceFrame& f) {
                      f.rest = reference::ShapedRest(rig, f.controls, strength);
                    },
                    "shapes_reference.h"};
}

// The projection is in double; the field that it projects on is the one that the core has fitted.
absl::StatusOr<BoundStage> Bind(const Rig& rig, const ImplicitParams& params) {
  if (params.muscles && !rig.muscles().empty()) return NoReference("implicit: none with muscles");
  SINEW_ASSIGN_OR_RETURN(const auto layout, BlockLayout::Create(rig));
  Task task;
  SINEW_ASSIGN_OR_RETURN(Implicit bound,
                         Implicit::Bind({rig, *layout, RigSurface(rig, *layout)}, params, task));
  const auto limb = std::make_shared<const Implicit>(std::move(bound));
  if (params.projection == ProjectionMethod::kMarch) {
    std::vector<bool> skin;
    for (const std::uint32_t lane : layout->lane) {
      skin.push_back(limb->skin.IsSkin(limb->skin.lane_point[lane]));
    }
    return BoundStage{
        [&rig, limb, skin](ReferenceFrame& f) {
          const reference::LimbDistances limbs =
              reference::DistancesOf(limb->field, testing::RestPose(rig), f.joints);
          f.posed = reference::MarchToRest(rig, limbs, limb->march.rules, f.posed, skin).points;
        },
        "march_reference.h"};
  }
  std::vector<reference::Held> held;
  for (const std::uint32_t lane : layout->lane) {
    const std::uint32_t p = limb->skin.lane_point[lane];
    held.push_back({.move_share = limb->skin.IsSkin(p) ? double{limb->level.move_share[p]} : -1,
                    .to_axis = double{limb->level.to_axis[p]},
                    .restore_share = double{limb->level.restore_share[p]},
                    .spreads = limb->rings.spacing[p] > 0});
  }
  return BoundStage{[&rig, limb, held, contact = params.contact](ReferenceFrame& f) {
                      const reference::LimbDistances limbs =
                          reference::DistancesOf(limb->field, testing::RestPose(rig), f.joints);
                      f.posed = reference::Project(rig, limbs, limb->field.parts_of_bindings(),
                                                   f.posed, held, contact);
                    },
                    "implicit_reference.h"};
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const RelaxParams& params) {
  return BoundStage{
      [&rig, params](ReferenceFrame& f) { f.posed = reference::Relaxed(rig, params, f.posed); },
      "relax_reference.h"};
}

absl::StatusOr<BoundStage> BindCoefficients(const Rig& rig) {
  if (rig.coefficients().empty()) return Bind(rig, LbsParams{});
  return BoundStage{
      [&rig](ReferenceFrame& f) { f.posed = reference::WithCoefficients(rig, f.skin); },
      "coefficients_reference.h"};
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const AnimationSpaceParams&) {
  return BindCoefficients(rig);
}

absl::StatusOr<BoundStage> Bind(const Rig& rig, const MultiWeightParams&) {
  return BindCoefficients(rig);
}

absl::StatusOr<BoundStage> Bind(const Rig&, const MuscleParams&) {
  return NoReference("muscle: only for the field of one muscle");
}

}  // namespace

absl::StatusOr<DoubleReference> DoubleReference::Bind(const Rig& rig, const Recipe& recipe) {
  DoubleReference reference(rig);
  bool shaped = false;
  for (const StageParams& stage : recipe) {
    // Its smoothed points are those of the rest mesh.
    const bool ddm = std::holds_alternative<DdmParams>(stage) ||
                     std::holds_alternative<EnhancedDdmParams>(stage);
    if (shaped && ddm) return NoReference("ddm: none behind shapes");
    shaped = shaped || std::holds_alternative<ShapesParams>(stage);
    SINEW_ASSIGN_OR_RETURN(
        BoundStage bound,
        std::visit([&](const auto& params) { return conformance::Bind(rig, params); }, stage));
    reference.steps_.push_back(std::move(bound.step));
    reference.sources_.push_back(std::move(bound.source));
  }
  return reference;
}

Points DoubleReference::Evaluate(std::span<const Affine> joints,
                                 std::span<const float> controls) const {
  ReferenceFrame frame = {.joints = joints,
                          .skin = testing::SkinMatrices(*rig_, joints),
                          .controls = controls,
                          .rest = testing::RestPoints(*rig_),
                          .posed = {}};
  for (const Step& step : steps_) step(frame);
  return frame.posed;
}

}  // namespace sinew::conformance
