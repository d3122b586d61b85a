// Capsule weights case by case: the canonical cylinder's figures and a naive copy.
#include "core/weights/capsule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/reference/weights_reference.h"
#include "tests/support/bodies.h"

namespace sinew::weights {
namespace {

using ::sinew::testing::Body;
using ::sinew::testing::Canonical;
using ::sinew::testing::CapsuleReference;
using ::sinew::testing::Legs;
using ::sinew::testing::MaxDifference;
using ::sinew::testing::MeshOf;
using ::sinew::testing::SkinOf;
using ::sinew::testing::WeightsOf;

constexpr Capsule kPlain = {1, 1, 2, 2};

// Share of the first of two bones at the given distances.
double Share(double d, double other) {
  const double a = Strength(kPlain, d, 0.5, 1), b = Strength(kPlain, other, 0.5, 1);
  return a / (a + b);
}

TEST(Capsule, FallOffIsSmoothBetweenRadii) {
  EXPECT_EQ(FallOff(kPlain, 0, 0), 1);
  EXPECT_EQ(FallOff(kPlain, 1, 0), 1);
  EXPECT_DOUBLE_EQ(FallOff(kPlain, 1.5, 0), 0.5);
  EXPECT_DOUBLE_EQ(FallOff(kPlain, 1.25, 0), 1 - 0.0625 * 2.5);
  EXPECT_EQ(FallOff(kPlain, 2, 0), 0);
  EXPECT_EQ(FallOff(kPlain, 99, 0), 0);
  EXPECT_NEAR(FallOff(kPlain, 1.001, 0), 1, 4e-6);  // slope 0 at both ends
  EXPECT_NEAR(FallOff(kPlain, 1.999, 0), 0, 4e-6);
}

TEST(Capsule, RadiiTaperAlongBone) {
  const Capsule cone = {1, 3, 2, 6};
  EXPECT_DOUBLE_EQ(FallOff(cone, 3, 0.5), 0.5);  // between 2 and 4
  EXPECT_EQ(FallOff(cone, 3, 1), 1);
  EXPECT_EQ(FallOff(cone, 3, 0), 0);
}

TEST(Capsule, PointInOneCapsuleFollowsItsBone) {
  EXPECT_EQ(Share(0.5, 2.5), 1);
}

TEST(Capsule, InnerCapsulesShareByInverseDistance) {
  EXPECT_DOUBLE_EQ(Share(0.4, 0.8), 2.0 / 3);
}

TEST(Capsule, OuterCapsuleIsScaledByFallOff) {
  EXPECT_DOUBLE_EQ(Share(0.5, 1.5), 2 / (2 + 0.5 / 1.5));
}

TEST(Capsule, DistanceHasLowerLimit) {
  EXPECT_DOUBLE_EQ(Strength(kPlain, 0, 0.5, 1), 20);
  EXPECT_DOUBLE_EQ(Strength(kPlain, 0, 0.5, 2), 400);
}

// Weight of the canonical cylinder's second bone on the surface at x.
double SideWeight(double x, double outer) {
  const Capsule capsule = {1.05, 1.05, outer, outer};
  const double a = Strength(capsule, x > 0 ? std::hypot(x, 1) : 1, 0.5, 1);
  const double b = Strength(capsule, x < 0 ? std::hypot(x, 1) : 1, 0.5, 1);
  return b / (a + b);
}

struct Width {
  double outer, half, slope;
};
class CanonicalWidth : public ::testing::TestWithParam<Width> {};
TEST_P(CanonicalWidth, MatchesPublishedWidth) {
  double steepest = 0, first = 0;
  for (double x = -4; x < 4; x += 1e-3) {
    const double w = SideWeight(x, GetParam().outer);
    steepest = std::max(steepest, (SideWeight(x + 1e-3, GetParam().outer) - w) / 1e-3);
    if (w < 0.01) first = x;
  }
  EXPECT_NEAR(first, -GetParam().half, 0.01);
  EXPECT_NEAR(steepest, GetParam().slope, 0.01);
  EXPECT_DOUBLE_EQ(SideWeight(0, GetParam().outer), 0.5);
  EXPECT_NEAR(SideWeight(1e-4, GetParam().outer), 0.5,
              1e-7);  // slope 0 where both inner capsules hold the point
}
INSTANTIATE_TEST_SUITE_P(Figures, CanonicalWidth,
                         ::testing::Values(Width{1.6, 1.20, 0.93}, Width{2.5, 2.15, 0.38}));

TEST(Capsule, CylinderMatchesNaiveFormula) {
  const Body body = Canonical();
  for (const float power : {1.0f, 3.0f}) {
    const auto ours = WeightsOf(body, {.method = WeightMethod::kCapsule,
                                       .prune = 0,
                                       .inner = 1.05f,
                                       .outer = 1.6f,
                                       .falloff = power});
    const auto reference =
        CapsuleReference(body.points, body.bones, 1.05f, 1.6f, static_cast<double>(power));
    EXPECT_LT(MaxDifference(ours, reference), 2e-6);
  }
}

TEST(Capsule, FittedRadiiFollowMesh) {
  // A cone from radius 1 to 0.5: medians .875 and .625 are at 1/4 and 3/4.
  Body body = testing::Cylinder(0, 8, 1, 81, 32);
  for (Vec3d& p : body.points) {
    p.y *= 1 - p.x / 16;
    p.z *= 1 - p.x / 16;
  }
  body.bones = {{0, {0, 0, 0}, {8, 0, 0}}};
  const Skin skin = SkinOf(body);
  const Task task;
  const Capsule capsule = FitCapsules(skin, {.inner = 1, .outer = 2}, task).at(0);
  const double unit = skin.diagonal / MeshOf(body).diagonal();
  EXPECT_NEAR(capsule.inner_root / unit, 1, 0.02);
  EXPECT_NEAR(capsule.inner_tip / unit, 0.5, 0.02);
  EXPECT_DOUBLE_EQ(capsule.outer_tip, 2 * capsule.inner_tip);
}

TEST(Capsule, LegsStaySeparate) {
  const Body body = Legs();
  const auto weights = WeightsOf(body, {.method = WeightMethod::kCapsule, .prune = 0, .outer = 4});
  const std::size_t half = weights.size() / 2;
  double shared = 0;
  for (std::size_t v = 0; v < weights.size(); ++v) {
    // The rims of the caps see no bone through the gap; below them nothing is shared.
    const double other = weights[v][v < half ? 2 : 1];
    if (body.points[v].x > 0.5) {
      EXPECT_EQ(other, 0) << v;
    }
    shared = std::max(shared, weights[v][0]);
  }
  EXPECT_GT(shared, 0.3);  // the hip carries the tops: otherwise nothing would have been separated
}

TEST(Capsule, BentArmIsContinuousAcrossCrease) {
  // The elbow's bones are connected end to end, so the forearm counts for the upper arm even where
  // skin lies between.
  Body body = Canonical();
  body.bones[1].tip = {0, 5, 0};
  std::vector<bool> mirrored;  // reflected in the plane x = y, which maps +x to +y
  for (Vec3d& p : body.points) {
    mirrored.push_back(p.x > p.y);
    if (mirrored.back()) std::swap(p.x, p.y);
  }
  for (auto& face : body.faces) {
    if (mirrored[face[0]] + mirrored[face[1]] + mirrored[face[2]] > 1) std::ranges::reverse(face);
  }
  const auto weights = WeightsOf(body, {.method = WeightMethod::kCapsule, .prune = 0});
  double jump = 0;
  for (const auto& face : body.faces) {
    for (std::size_t k = 0; k < 3; ++k) {
      jump = std::max(jump, std::abs(weights[face[k]][0] - weights[face[(k + 1) % 3]][0]));
    }
  }
  EXPECT_LT(jump, 0.35);
}

TEST(Capsule, UncoveredPointFollowsNearestBoneAndIsReported) {
  Body body = Canonical();
  body.points.push_back({3, 4, 0});  // distance 4, radii 1.05 and 1.8
  Task task;
  const auto computed =
      ComputeWeights(MeshOf(body), body.bones, {.method = WeightMethod::kCapsule}, task);
  ASSERT_TRUE(computed.ok()) << computed.status();
  ASSERT_EQ(computed->report.unseen.size(), 1u);
  EXPECT_EQ(computed->report.unseen[0], body.points.size() - 1);
  const auto weights = testing::Dense(computed->influences, 2);
  EXPECT_EQ(weights.back()[1], 1);
  EXPECT_FALSE(computed->report.notes.empty());
}

}  // namespace
}  // namespace sinew::weights
