// The figures behind the choice of recomputed normals (core/surface/normals.h); tests/bench prints
// all of them.
#include "tests/reference/normal_errors.h"

#include <gtest/gtest.h>

#include "core/deform/engine/recipe_text.h"

namespace sinew::reference {
namespace {

constexpr TubePose kPoses[] = {TubePose::kBend45, TubePose::kTwist90};
constexpr TubeMethod kMethods[] = {TubeMethod::kLbs, TubeMethod::kDqs, TubeMethod::kDdm};

TEST(NormalErrors, RotatedRestNormalsAreFarOff) {
  const RuleErrors bend = MeasureRules(TubeMethod::kLbs, TubePose::kBend45, 61, 32);
  EXPECT_NEAR(bend.rotated.max, 29.65, 0.01);
  EXPECT_NEAR(bend.rotated.mean, 1.696, 0.001);
  EXPECT_NEAR(bend.cofactor.max, 29.65, 0.01);  // no better: weights vary, bones are rigid
  EXPECT_NEAR(bend.cofactor.mean, 1.560, 0.001);
  const RuleErrors twist = MeasureRules(TubeMethod::kLbs, TubePose::kTwist90, 61, 32);
  EXPECT_NEAR(twist.rotated.max, 24.00, 0.01);
  EXPECT_NEAR(twist.cofactor.max, 24.00, 0.01);
  EXPECT_NEAR(MeasureRules(TubeMethod::kDqs, TubePose::kBend45, 61, 32).rotated.max, 21.40, 0.01);
  EXPECT_NEAR(MeasureRules(TubeMethod::kDdm, TubePose::kBend45, 61, 32).rotated.max, 9.76, 0.05);
  EXPECT_NEAR(MeasureRules(TubeMethod::kDdm, TubePose::kTwist90, 61, 32).rotated.max, 5.72, 0.05);
}

TEST(NormalErrors, WeightGradientExplainsError) {
  for (const TubePose pose : kPoses) {
    EXPECT_LT(MeasureRules(TubeMethod::kLbs, pose, 61, 32).gradient.max, 1e-4);
  }
}

TEST(NormalErrors, RecomputedWithinOneDegreeOnTable) {
  for (const TubePose pose : kPoses) {
    for (const TubeMethod method : kMethods) {
      for (const bool quads : {false, true}) {
        const NormalError error =
            MeasureNormals(method, pose, NormalRule::kRecomputed, {.quads = quads});
        EXPECT_LT(error.max, 0.94);
        EXPECT_LT(error.mean, 0.15);
        const NormalError rotated = MeasureRules(method, pose, 61, 32).rotated;
        // Twisted by dual quaternions, a tube is the one surface that only rotates.
        if (method == TubeMethod::kDqs && pose == TubePose::kTwist90) {
          EXPECT_LT(rotated.max, 1e-4);
          continue;
        }
        EXPECT_LT(error.max, rotated.max / 10);
        EXPECT_LT(error.mean, rotated.mean / 10);
      }
    }
  }
}

TEST(NormalErrors, RecomputedErrorIsQuadraticInEdge) {
  for (const TubeMethod method : {TubeMethod::kLbs, TubeMethod::kDqs}) {
    for (const TubePose pose : kPoses) {
      const double coarse = MeasureNormals(method, pose, NormalRule::kRecomputed, {31, 16}).mean;
      const double middle = MeasureNormals(method, pose, NormalRule::kRecomputed, {61, 32}).mean;
      const double fine = MeasureNormals(method, pose, NormalRule::kRecomputed, {121, 64}).mean;
      EXPECT_GT(coarse / middle, 3.5);
      EXPECT_GT(middle / fine, 2.4);  // rings now coincide with the kinks of the weights
    }
  }
}

TEST(NormalErrors, CarriedNormalsAreCloserThanRecomputedOnes) {
  for (const TubePose pose : kPoses) {
    for (const TubeMethod method : {TubeMethod::kLbs, TubeMethod::kDqs}) {
      for (const bool quads : {false, true}) {
        const NormalError carried =
            MeasureNormals(method, pose, NormalRule::kCarried, {.quads = quads});
        const NormalError recomputed =
            MeasureNormals(method, pose, NormalRule::kRecomputed, {.quads = quads});
        EXPECT_LT(carried.max, 0.5);
        EXPECT_LT(carried.max, recomputed.max);
        EXPECT_LT(carried.mean, recomputed.mean / 2);
      }
    }
  }
}

// The posed surface itself is the reference. Its kinks, where weights or corrections begin, cost
// one order.
TEST(NormalErrors, CarriedNormalsConvergeToPosedSurface) {
  for (const char* const text :
       {"lbs", "dqs", "dqs(signs=parent)", "dqs | bulge_free", "lbs | bulge_free(softness=1)",
        "cor", "spherical_blend", "spherical_blend(centres=per_set)",
        "ddm(variant=4, radius=0.03, truncation=0)", "ddm(variant=5, radius=0.03, truncation=0)",
        "enhanced_ddm(variant=4, radius=0.03, truncation=0)",
        "ddm(variant=4, radius=0.03, truncation=0, alpha=0.5)"}) {
    const Recipe recipe = *ParseRecipe(text);
    for (const TubePose pose : {TubePose::kBend45, TubePose::kTwist90, TubePose::kStretched45}) {
      const auto mean = [&](std::size_t rings, std::size_t around) {
        return MeasureNormals(recipe, pose, NormalRule::kCarried, {rings, around}).mean;
      };
      const double coarse = mean(31, 16), fine = mean(241, 128);
      SCOPED_TRACE(text);
      EXPECT_LT(fine, 0.03);
      if (coarse > 0.05) {
        EXPECT_LT(fine, coarse / 15);
      }
    }
  }
}

// Diagonals in one direction tilt the normals of an open end; authored normals correct that.
TEST(NormalErrors, AuthoredNormalsRemoveRestError) {
  for (const TubePose pose : kPoses) {
    const double plain =
        MeasureNormals(TubeMethod::kLbs, pose, NormalRule::kRecomputed, {.authored = false}).max;
    EXPECT_NEAR(plain, 1.88, 0.01);
    EXPECT_LT(MeasureNormals(TubeMethod::kLbs, pose, NormalRule::kRecomputed, {}).max, 0.5 * plain);
  }
}

}  // namespace
}  // namespace sinew::reference
