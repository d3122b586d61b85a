// Variants 1 to 5, plain and enhanced: formulas, limits, common laws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/deform/engine/recipe_text.h"
#include "core/deform/engine/registry.h"
#include "core/deform/kernels/linear_blend_kernel.h"
#include "tests/reference/ddm_reference.h"
#include "tests/reference/lbs_reference.h"
#include "tests/support/posing.h"
#include "tests/unit/core/deform/ddm/bound_ddm.h"

namespace sinew {
namespace {

using testing::BoundDdm;
using testing::Distance;
using testing::MaxDistance;
using testing::RestPoints;
using testing::StretchedPose;
using testing::Transformed;

struct Form {
  std::uint32_t variant;
  bool enhanced;
};
constexpr Form kForms[] = {{0, false}, {1, false}, {2, false}, {3, false}, {4, false},
                           {5, false}, {0, true},  {2, true},  {3, true},  {4, true}};

std::string Name(const Form& form) {
  return (form.enhanced ? "enhanced " : "variant ") + std::to_string(form.variant);
}

DdmParams ParamsOf(const Form& form, float alpha = 0) {
  DdmParams params = testing::ExactParams();
  params.variant = form.variant;
  params.alpha = alpha;
  return params;
}

TEST(DdmVariants, MatchReference) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const auto turned = testing::TurnPose(rig, {1, 1, 1}, 35), stretched = StretchedPose(rig);
  for (const Form& form : kForms) {
    for (const float alpha : {0.0f, 0.8f}) {
      const DdmParams params = ParamsOf(form, alpha);
      const reference::DdmReference want(reference::MeshOf(rig),
                                         reference::DdmReferenceParams(params));
      const BoundDdm ddm(rig, params);
      for (const auto& pose : {turned, stretched}) {
        EXPECT_LT(MaxDistance(ddm.Run(pose, form.enhanced),
                              want.Evaluate(testing::SkinMatrices(rig, pose), form.enhanced)),
                  2e-6 * rig.mesh().diagonal())
            << Name(form) << " alpha " << alpha;
      }
    }
  }
}

TEST(DdmVariants, DifferFromEachOther) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const auto pose = testing::TurnPose(rig, {1, 1, 1}, 35);
  for (std::uint32_t a = 0; a < 6; ++a) {
    for (std::uint32_t b = 0; b < a; ++b) {
      EXPECT_GT(MaxDistance(BoundDdm(rig, ParamsOf({a, false})).Run(pose),
                            BoundDdm(rig, ParamsOf({b, false})).Run(pose)),
                1e-3)
          << a << " and " << b;
    }
  }
}

TEST(DdmVariants, NoSmoothingGivesLinearBlend) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const auto pose = testing::TurnPose(rig, {0, 1, 1}, 40), stretched = StretchedPose(rig);
  for (const Form& form : kForms) {
    for (const float alpha : {0.0f, 0.5f}) {
      DdmParams params = ParamsOf(form, alpha);
      params.lambda = 1e-9f;
      params.iterations = 8;
      const BoundDdm ddm(rig, params);
      for (const auto& joints : {pose, stretched}) {
        EXPECT_LT(MaxDistance(ddm.Run(joints, form.enhanced),
                              reference::Lbs(RestPoints(rig), rig.influences(),
                                             testing::SkinMatrices(rig, joints))),
                  2e-6)
            << Name(form);
      }
    }
  }
}

TEST(DdmVariants, FourEqualsTwoWithAlphaOne) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const auto bent = testing::TurnPose(rig, {0, 1, 1}, 40), stretched = StretchedPose(rig);
  DdmParams two = ParamsOf({2, false}, 1), four = ParamsOf({4, false});
  two.kappa = two.lambda;
  for (const bool enhanced : {false, true}) {
    for (const auto& pose : {bent, stretched}) {
      EXPECT_LT(MaxDistance(BoundDdm(rig, two).Run(pose, enhanced),
                            BoundDdm(rig, four).Run(pose, enhanced)),
                4e-6);
    }
  }
  four.alpha = 0.4f;  // no effect while kappa = lambda
  four.kappa = four.lambda;
  EXPECT_LT(MaxDistance(BoundDdm(rig, two).Run(bent), BoundDdm(rig, four).Run(bent)), 4e-6);
}

TEST(DdmVariants, FiveHasBitsOfSmoothedLinearBlend) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const auto pose = StretchedPose(rig);
  for (const float alpha : {0.0f, 0.8f}) {
    const DdmParams params = ParamsOf({5, false}, alpha);
    const BoundDdm ddm(rig, params);
    const Eigen::MatrixXd want =
        reference::DdmReference(reference::MeshOf(rig), reference::DdmReferenceParams(params))
            .Weights();
    // The reference's weights in the lanes of the table.
    const DdmTables& tables = ddm.tables();
    AlignedVector<float> weights(tables.moments.size());
    for (std::size_t b = 0; b < tables.blocks(); ++b) {
      for (std::uint32_t k = tables.joints.offset[b]; k < tables.joints.offset[b + 1]; ++k) {
        for (std::size_t i = 0; i < kLanes; ++i) {
          const auto v = static_cast<Eigen::Index>(ddm.layout().Vertex(b * kLanes + i));
          weights[k * kLanes + i] = static_cast<float>(want(v, tables.joints.entry[k]));
          EXPECT_NEAR(weights[k * kLanes + i], tables.moments[k * kLanes + i], 1e-7);
        }
      }
    }
    PosedRigBuffer buffer;
    const PosedRig posed =
        buffer.Compute(PosedRigTables::Create(rig, ddm.layout().centre), {.joints = pose}, false);
    const auto blend = [&](const AlignedVector<float>& by) {
      const DenormalGuard guard;
      AlignedVector<PointBlock> out(ddm.layout().blocks());
      LinearBlendKernel({tables.joints.offset.data(), tables.joints.entry.data(), by.data(),
                         posed.skin.front().m.data(), ddm.layout().rest.front().x, out.front().x},
                        0, out.size());
      return out;
    };
    const auto got = ddm.RunBlocks(pose), same = blend(tables.moments);
    EXPECT_EQ(std::memcmp(got.data(), same.data(), got.size() * sizeof(PointBlock)), 0);
    EXPECT_LT(MaxDistance(testing::FileOrder(ddm.layout(), got),
                          testing::FileOrder(ddm.layout(), blend(weights))),
              1e-6);
  }
}

TEST(DdmVariants, FourRotatesAboutSmoothedPoint) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const DdmParams params = ParamsOf({4, false});
  const BoundDdm ddm(rig, params);
  const reference::DdmReference want(reference::MeshOf(rig), reference::DdmReferenceParams(params));
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const std::size_t lane = ddm.layout().lane[v];
    const float* const at =
        ddm.tables().centroid.data() + lane / kLanes * 3 * kLanes + lane % kLanes;
    const Vec3d p = Vec3d{at[0], at[kLanes], at[2 * kLanes]} + ddm.layout().centre;
    EXPECT_LT(Distance(p, {want.smoothed()[v][0], want.smoothed()[v][1], want.smoothed()[v][2]}),
              4e-6);
  }
}

// A bent sheet of two joints whose centre bulges by `height`.
Rig Sheet(double height) {
  constexpr std::uint32_t kSide = 14;
  RigSource source = testing::GridSource(kSide);
  source.joints.push_back({.name = "half", .parent = 0});
  source.rest_local.emplace_back();
  source.rest_local.back().m[3] = kSide / 2.0;
  source.bindings.push_back({1, AffineD{{1, 0, 0, -double{kSide} / 2, 0, 1, 0, 0, 0, 0, 1, 0}}});
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    Vec3f& p = source.mesh.positions[v];
    source.influences.bindings[v] = p.x < kSide / 2.0f ? 0 : 1;
    const double x = double{p.x} / kSide - 0.5, y = double{p.y} / kSide - 0.5;
    // Not parallel to a coordinate plane, so that rounding of the moments affects the thin
    // direction too.
    const double z = height * std::cos(9 * x) * std::cos(7 * y);
    p = ToFloat(Apply(testing::RigidMotion({1, 2, 3}, 50), {p.x, p.y, z}));
  }
  for (auto& binding : source.bindings) {
    binding.inverse_bind = Compose(binding.inverse_bind, testing::RigidMotion({1, 2, 3}, -50));
  }
  source.rest_local[0] = testing::RigidMotion({1, 2, 3}, 50);
  return testing::MakeRig(std::move(source));
}

TEST(DdmVariants, OneUsesBlendedRotationForFlatNeighbourhoods) {
  const Rig sheet = Sheet(0);
  const auto pose = testing::BendPose(sheet, 70);
  EXPECT_LT(MaxDistance(BoundDdm(sheet, ParamsOf({1, false})).Run(pose),
                        BoundDdm(sheet, ParamsOf({2, false})).Run(pose)),
            2e-6 * sheet.mesh().diagonal());
}

TEST(DdmVariants, OneIsAccurateForThinNeighbourhoods) {
  for (const double height : {3.0, 1.0, 0.3, 0.1, 0.03, 0.01}) {
    const Rig sheet = Sheet(height);
    const DdmParams params = ParamsOf({1, false});
    const BoundDdm ddm(sheet, params);
    const double diagonal = sheet.mesh().diagonal();
    // At height 0.3 det / trace^3 is about 5e-4: thin, but above kThinShape, so float multiplies
    // cof(H), rounded to 1e-7 of its largest entry, by an inverse that is a thousand times larger
    // across the sheet: 2.5e-6. Below kThinShape the double fallback gives 1e-7.
    EXPECT_LT(MaxDistance(ddm.Run(testing::RestPose(sheet)), RestPoints(sheet)), 3e-6 * diagonal)
        << height;
    const auto pose = testing::BendPose(sheet, 40);
    const reference::DdmReference reference(reference::MeshOf(sheet),
                                            reference::DdmReferenceParams(params));
    const auto shapes = reference.Shapes();
    const auto want = reference.Evaluate(testing::SkinMatrices(sheet, pose), false);
    const auto got = ddm.Run(pose);
    for (std::size_t v = 0; v < got.size(); ++v) {
      if (shapes[v] < 1e-4) continue;
      EXPECT_LT(Distance(got[v], want[v]), 1e-5 * diagonal) << height << " " << shapes[v];
    }
  }
}

TEST(DdmVariants, RotateDisplacedPoints) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  for (const Form& form : kForms) {
    const BoundDdm ddm(rig, ParamsOf(form, 0.5f));
    AlignedVector<PointBlock> in = ddm.layout().rest;
    for (PointBlock& block : in) {
      for (float& z : block.z) z += 0.25f;
    }
    const AffineD motion = testing::RigidMotion({1, 1, 0}, 130, {4, 5, 6});
    auto want = RestPoints(rig);
    for (Vec3d& p : want) p.z += 0.25;
    EXPECT_LT(
        MaxDistance(testing::FileOrder(ddm.layout(),
                                       ddm.RunBlocks(testing::Moved(motion, testing::RestPose(rig)),
                                                     form.enhanced, in)),
                    Transformed(motion, want)),
        2e-5)
        << Name(form);
  }
}

TEST(DdmVariants, FiniteForAnyPose) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const std::size_t joints = named.rig.joints();
    const std::vector<std::vector<Affine>> poses = {
        std::vector<Affine>(joints, Affine{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}),
        std::vector<Affine>(joints, Affine{{0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5}}),
        testing::Moved(testing::ScaleMotion({-1, 1, 1}), testing::RestPose(named.rig)),
        std::vector<Affine>(joints),
        testing::Moved(testing::ScaleMotion({1e-20, 1, 1}), testing::RestPose(named.rig)),
        testing::Moved(testing::ScaleMotion({1e-12, 1e-12, 1e-12}),
                       testing::TwistPose(named.rig, 180)),
        testing::TwistPose(named.rig, 180),
        testing::BendPose(named.rig, 180)};
    for (const Form& form : kForms) {
      const BoundDdm ddm(named.rig, ParamsOf(form, 0.5f));
      for (const auto& pose : poses) {
        for (const Vec3d& p : ddm.Run(pose, form.enhanced)) {
          ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z))
              << named.name << " " << Name(form);
        }
      }
    }
  }
}

TEST(DdmVariants, UnknownVariantErrorsNameMethod) {
  const auto message = [](std::string_view recipe_text) {
    const auto recipe = ParseRecipe(recipe_text);
    EXPECT_EQ((recipe.ok() ? CheckRecipe(*recipe) : recipe.status()).code(),
              absl::StatusCode::kInvalidArgument);
    return std::string((recipe.ok() ? CheckRecipe(*recipe) : recipe.status()).message());
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message("enhanced_ddm(variant=1)"),
              HasSubstr("enhanced_ddm.variant: got 1, need 0, 2, 3 or 4"));
  EXPECT_THAT(message("enhanced_ddm(variant=5)"),
              HasSubstr("enhanced_ddm.variant: got 5, need 0, 2, 3 or 4"));
  EXPECT_THAT(message("enhanced_ddm(variant=6)"), HasSubstr("got 6, need 0, 2, 3 or 4"));
  EXPECT_THAT(message("ddm(variant=6)"), HasSubstr("ddm.variant: got 6, need 0 to 5"));
  EXPECT_THAT(message("enhanced_ddm(smoothing=explicit)"),
              HasSubstr("enhanced_ddm.lambda: got 4, explicit smoothing needs 0 to 1"));
  for (const char* recipe_text : {"ddm(variant=1)", "ddm(variant=5)", "enhanced_ddm(variant=4)"}) {
    EXPECT_TRUE(CheckRecipe(*ParseRecipe(recipe_text)).ok()) << recipe_text;
  }
}

}  // namespace
}  // namespace sinew
