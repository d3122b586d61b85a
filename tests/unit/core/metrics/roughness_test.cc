// Roughness: exact values of single moved vertices, what leaves it unchanged, and what it skips.
#include "core/metrics/roughness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"
#include "tests/unit/core/metrics/measured.h"

namespace sinew::metrics {
namespace {

using ::sinew::testing::AllRigs;
using ::sinew::testing::BendPose;
using ::sinew::testing::MakeRig;
using ::sinew::testing::Moved;
using ::sinew::testing::RestPose;
using ::sinew::testing::TubeRig;

// Two triangles on one edge; the edges at vertex 0 are 2 and 1 long.
Rig TwoTriangles() {
  return MakeRig(
      testing::RigidSource({{0, 0, 0}, {2, 0, 0}, {0, 1, 0}, {2, 1, 0}}, {{0, 1, 2}, {1, 3, 2}}));
}

TEST(Roughness, MovedVertexCountsItsMovePerEdgeLength) {
  const Rig rig = TwoTriangles();
  const AffineD motion = testing::RigidMotion({1, 2, 3}, 130, {0.5, -1, 2});
  std::vector<Vec3f> points(rig.mesh().positions().begin(), rig.mesh().positions().end());
  points[0].z += 1.5f;
  for (const AffineD& pose : {AffineD{}, motion}) {
    const FrameMetrics figures =
        Measured(rig, MovedPoints(points, pose), Moved(pose, RestPose(rig)));
    EXPECT_NEAR(*figures.roughness, 1.5, 1e-5);
    EXPECT_NEAR(*figures.roughness_999, 0.75, 1e-5) << "the second largest of five";
    EXPECT_DOUBLE_EQ(*figures.rough_fraction, 1 / 5.0);
  }
}

TEST(Roughness, PointsMovedAlikeHaveNone) {
  const Rig rig = TwoTriangles();
  const std::vector<Vec3f> points =
      MovedPoints(rig.mesh().positions(), testing::RigidMotion({0, 0, 1}, 0, {0, 0.5, 3}));
  EXPECT_NEAR(*Measured(rig, points, RestPose(rig)).roughness, 0, 1e-5);
}

TEST(Roughness, RigidMotionIsZero) {
  const AffineD motion = testing::RigidMotion({1, 2, 3}, 77, {0.5, -1, 2});
  for (const auto& [name, rig] : AllRigs()) {
    SCOPED_TRACE(name);
    const FrameMetrics figures =
        Measured(rig, MovedPoints(rig.mesh().positions(), motion), Moved(motion, RestPose(rig)));
    EXPECT_NEAR(figures.roughness.value_or(0), 0, name == "tube_far_origin" ? 2e-3 : 1e-4);
    EXPECT_EQ(figures.rough_fraction.value_or(0), 0);
  }
}

// Even where the side of a blend depends on rounding.
TEST(Roughness, DualQuaternionsAreExactlyZero) {
  for (const auto& [name, rig] : AllRigs()) {
    SCOPED_TRACE(name);
    for (const double degrees : {60.0, 180.0}) {
      EXPECT_EQ(Measured(rig, "dqs", testing::TwistPose(rig, degrees)).roughness.value_or(0), 0);
      EXPECT_EQ(Measured(rig, "dqs", BendPose(rig, degrees)).roughness.value_or(0), 0);
    }
  }
}

TEST(Roughness, InvariantToScaleOfCharacterAndPose) {
  RigSource source = testing::TubeSource();
  const Rig rig = MakeRig(source);
  const auto pose = BendPose(rig, 100);
  const double expected = *Measured(rig, "lbs", pose).roughness;
  EXPECT_GT(expected, 0.1);
  const AffineD larger = testing::ScaleMotion({40, 40, 40});
  EXPECT_NEAR(*Measured(rig, "lbs", Moved(larger, pose)).roughness, expected, 1e-4);
  source.mesh.positions = MovedPoints(source.mesh.positions, larger);
  for (AffineD& joint : source.rest_local) {
    for (const std::size_t k : {3, 7, 11}) joint.m[k] *= 40;
  }
  for (Binding& binding : source.bindings) {
    for (const std::size_t k : {3, 7, 11}) binding.inverse_bind.m[k] *= 40;
  }
  const Rig giant = MakeRig(std::move(source));
  EXPECT_NEAR(*Measured(giant, "lbs", BendPose(giant, 100)).roughness, expected, 1e-4);
}

// The second tube has all vertices and faces of the first in reverse order.
TEST(Roughness, InvariantToOrderOfVertices) {
  RigSource source = testing::TubeSource({.weights = testing::TubeWeights::kRigid});
  const Rig rig = MakeRig(source);
  const auto pose = BendPose(rig, 40);
  std::vector<Vec3f> points = Deformed(rig, "dqs", pose);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> move(-0.1f, 0.1f);
  for (Vec3f& p : points) p.y += move(random);
  const auto last = static_cast<std::uint32_t>(rig.vertices() - 1);
  std::ranges::reverse(source.mesh.positions);
  std::ranges::reverse(source.mesh.face_vertices);
  for (std::uint32_t& v : source.mesh.face_vertices) v = last - v;
  InfluenceSource reversed;
  reversed.offsets = {0};
  for (std::uint32_t v = 0; v <= last; ++v) {
    const auto bindings = rig.influences().bindings(last - v);
    const auto weights = rig.influences().weights(last - v);
    reversed.bindings.insert(reversed.bindings.end(), bindings.begin(), bindings.end());
    reversed.weights.insert(reversed.weights.end(), weights.begin(), weights.end());
    reversed.offsets.push_back(static_cast<std::uint32_t>(reversed.bindings.size()));
  }
  source.influences = std::move(reversed);
  const FrameMetrics one = Measured(rig, points, pose);
  std::ranges::reverse(points);
  const FrameMetrics other = Measured(MakeRig(std::move(source)), points, pose);
  EXPECT_GT(*one.rough_fraction, 0.01);
  EXPECT_EQ(one.roughness, other.roughness);
  EXPECT_EQ(one.roughness_999, other.roughness_999);
  EXPECT_EQ(one.rough_fraction, other.rough_fraction);
}

// Six points and seven edges, of which three meet at the point that vertices 1 and 4 share.
TEST(Roughness, EdgesOfSeamsCountOnce) {
  const Rig rig = testing::SeamDuplicateVertices();
  std::vector<Vec3f> points(rig.mesh().positions().begin(), rig.mesh().positions().end());
  points[1].y -= 2;
  points[4].y -= 2;
  const FrameMetrics figures = Measured(rig, points, RestPose(rig));
  EXPECT_NEAR(*figures.roughness, 2, 1e-5);
  EXPECT_DOUBLE_EQ(*figures.rough_fraction, 3 / 7.0);
}

TEST(Roughness, LeavesOutEdgesThatRoundingDominates) {
  constexpr float kShort = 5e-6f;  // just too long to be welded
  const Rig rig = MakeRig(
      testing::RigidSource({{0, 0, 0}, {1, 0, 0}, {1, kShort, 0}, {0, 1, 0}}, {{0, 1, 2, 3}}));
  std::vector<Vec3f> points(rig.mesh().positions().begin(), rig.mesh().positions().end());
  points[2].y += 2 * kShort;
  const FrameMetrics figures = Measured(rig, points, RestPose(rig));
  EXPECT_LT(*figures.roughness, 1e-4);
  EXPECT_FALSE(Measured(testing::OneVertex(), "lbs", RestPose(testing::OneVertex())).roughness);
}

// An axis, or the whole limb, is scaled to zero or nearly so.
TEST(Roughness, FlatJointsKeepItBounded) {
  const Rig rig = TubeRig();
  for (const double scale : {0.0, 1e-9, 1e-3}) {
    for (const Vec3d& scales : {Vec3d{scale, 1, 1}, Vec3d{scale, scale, scale}}) {
      auto pose = BendPose(rig, 60);
      pose[1] = ToFloat(Compose(ToDouble(pose[1]), testing::ScaleMotion(scales)));
      const double roughness = Measured(rig, "lbs", pose).roughness.value_or(-1);
      EXPECT_GT(roughness, 0) << scale;
      EXPECT_LT(roughness, 2) << scale;
    }
  }
}

TEST(Roughness, SameBitsForAnyThreadCount) {
  const Rig rig = TubeRig({.rings = 301, .around = 64});
  const auto pose = BendPose(rig, 110);
  const auto positions = Deformed(rig, "lbs", pose);
  Task task;
  const auto meter = Meter::Create(rig, {}, task);
  ASSERT_TRUE(meter.ok());
  const FrameMetrics a = *meter->Measure(positions, pose, Task());
  const FrameMetrics b = *meter->Measure(positions, pose, Task({.parallel = false}));
  EXPECT_EQ(a.roughness, b.roughness);
  EXPECT_EQ(a.roughness_999, b.roughness_999);
  EXPECT_EQ(a.rough_fraction, b.rough_fraction);
}

TEST(Roughness, CostCoversTheBaseAndOneFrame) {
  std::vector<testing::NamedRig> rigs = AllRigs();
  rigs.push_back({"large", TubeRig({.rings = 301, .weights = testing::TubeWeights::kFour})});
  for (const auto& [name, rig] : rigs) {
    const auto estimate = Deformer::Estimate(rig, *ParseRecipe("dqs"), Task());
    ASSERT_TRUE(estimate.ok());
    const Surface surface = Surface::Create(rig);
    const std::size_t frame = rig.vertices() * (2 * sizeof(Vec3f) + sizeof(Vec3d)) +
                              (surface.welded.points() + surface.edges.size()) * sizeof(double);
    EXPECT_GE(Roughness::Cost(rig), estimate->peak_bytes) << name;
    EXPECT_GE(Roughness::Cost(rig), estimate->bound_bytes + frame) << name;
  }
}

}  // namespace
}  // namespace sinew::metrics
