// Which faces a pose inverts, and whether the method or the pose is the cause.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/reference/cor_reference.h"
#include "tests/reference/ddm_reference.h"
#include "tests/reference/delta_mush_reference.h"
#include "tests/reference/dqs_reference.h"
#include "tests/reference/lbs_reference.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"
#include "tests/unit/core/metrics/measured.h"

namespace sinew::metrics {
namespace {

using ::sinew::testing::BendPose;
using ::sinew::testing::Moved;
using ::sinew::testing::TubeRig;

// The inner side folds where tan(angle / 2) = 1 / (2 w' R): 67.4 degrees here.
TEST(InvertedFaces, StartAtClosedFormAngle) {
  const Rig rig = TubeRig({.rings = 401, .around = 64});
  EXPECT_EQ(*Measured(rig, "lbs", BendPose(rig, 66)).flipped_fraction, 0);
  EXPECT_GT(*Measured(rig, "lbs", BendPose(rig, 69)).flipped_fraction, 0);
  EXPECT_GT(*Measured(rig, "lbs", BendPose(rig, 120)).flipped_fraction,
            *Measured(rig, "lbs", BendPose(rig, 90)).flipped_fraction);
}

// Zero for linear blending, for the wider folds of other methods, and positive only for a face
// inverted far from any fold.
TEST(InvertedFaces, BeyondLinearExcludesLinearFolds) {
  const Rig rig = TubeRig({.rings = 101, .around = 32});
  for (const double degrees : {90.0, 150.0}) {
    for (const char* recipe_text : {"lbs", "dqs", "cor"}) {
      const FrameMetrics figures = Measured(rig, recipe_text, BendPose(rig, degrees));
      EXPECT_GT(*figures.flipped_fraction, 0.001) << recipe_text << degrees;
      EXPECT_EQ(*figures.flipped_beyond_linear > 0, std::string_view(recipe_text) != "lbs")
          << recipe_text;
      EXPECT_LT(*figures.flipped_beyond_linear, 0.5 * *figures.flipped_fraction)
          << recipe_text << degrees;
    }
  }
  // One vertex pushed past its neighbours, far from the bend, at several scales.
  for (const double scale : {1.0, 0.3, 4.0}) {
    const AffineD sized = testing::ScaleMotion({scale, scale, scale});
    const auto pose = Moved(sized, BendPose(rig, 100));
    auto positions = Deformed(rig, "lbs", pose);
    const double before = *Measured(rig, positions, pose).flipped_fraction;
    EXPECT_EQ(*Measured(rig, positions, pose).flipped_beyond_linear, 0) << scale;
    positions[5 * 32].x += static_cast<float>(scale * 0.2);
    const FrameMetrics pushed = Measured(rig, positions, pose);
    EXPECT_GT(*pushed.flipped_beyond_linear, 1e-5) << scale;
    EXPECT_NEAR(*pushed.flipped_fraction - before, *pushed.flipped_beyond_linear, 1e-12) << scale;
  }
}

// The inverted faces are those of the same formulas in double, so they are not caused by float
// kernels.
TEST(InvertedFaces, MatchReferenceMethods) {
  const Rig rig = TubeRig({.rings = 61, .around = 16, .joints = 3});
  const auto rest = testing::RestPoints(rig);
  const auto centres = reference::CorCentres(rig, {});
  DdmParams exact;
  exact.truncation = 0;
  const reference::DdmReference ddm(reference::MeshOf(rig), reference::DdmReferenceParams(exact));
  const auto smooth = [&](const reference::Points& points) {
    return reference::SmoothExplicitly(rig, DeltaMushParams{}, {}, points);
  };
  const std::vector<Mat3d> still(rig.vertices());  // unused: no point has a frame
  for (const double degrees : {100.0, 130.0}) {
    const auto pose = testing::TurnPose(rig, {0.2, 0, 1}, degrees);
    const auto skin = testing::SkinMatrices(rig, pose);
    const auto linear = reference::Lbs(rest, rig.influences(), skin);
    const std::pair<const char*, std::vector<Vec3d>> methods[] = {
        {"lbs", linear},
        {"dqs", reference::Dqs(rest, rig.influences(), skin)},
        {"cor", reference::CorPosed(rest, centres, rig.influences(), skin)},
        {"lbs | delta_mush", reference::DeltaMush(rig, true, smooth, 1, linear, still)},
        {"ddm(truncation=0, pop_guard=false)", ddm.Evaluate(skin, false)}};
    for (const auto& [recipe_text, points] : methods) {
      std::vector<Vec3f> rounded;
      for (const Vec3d& p : points) rounded.push_back(ToFloat(p));
      const FrameMetrics ours = Measured(rig, recipe_text, pose),
                         want = Measured(rig, rounded, pose);
      // One face may be so flat that rounding inverts it.
      const double one_face = 1.0 / static_cast<double>(rig.mesh().faces());
      EXPECT_GT(*want.flipped_fraction, 2 * one_face) << recipe_text << degrees;
      EXPECT_NEAR(*ours.flipped_fraction, *want.flipped_fraction, one_face)
          << recipe_text << degrees;
    }
  }
}

// A tube with uneven rings: every second ring is close to the one before it.
Rig UnevenTube(double closer, const testing::TubeOptions& options) {
  RigSource source = testing::TubeSource(options);
  const double step = options.length / static_cast<double>(options.rings - 1);
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    const std::size_t ring = v / options.around;
    if (ring % 2 == 1) source.mesh.positions[v].x -= static_cast<float>(closer * step);
  }
  return testing::MakeRig(std::move(source));
}

// Uniform weights would smooth neighbours over different distances and fold slivers.
TEST(InvertedFaces, CotangentSmoothingInvertsNoSlivers) {
  constexpr double kCloser = 0.8;  // times the ring distance: edge lengths of 1 to 9
  for (const auto weights : {testing::TubeWeights::kSmooth, testing::TubeWeights::kRigid}) {
    for (const std::size_t around : {8u, 16u}) {
      const Rig rig = UnevenTube(
          kCloser, {.rings = 22, .around = around, .joints = 3, .radius = 0.3, .weights = weights});
      const auto pose = testing::TurnPose(rig, {0.2, 0, 1}, 60);
      for (const std::string method : {"ddm", "lbs | delta_mush"}) {
        const std::string published = method + "(laplacian=uniform, keep_area=0)";
        EXPECT_GT(*Measured(rig, published.c_str(), pose).flipped_beyond_linear, 0.004) << method;
        EXPECT_EQ(*Measured(rig, method.c_str(), pose).flipped_beyond_linear, 0) << method;
      }
    }
  }
}

}  // namespace
}  // namespace sinew::metrics
