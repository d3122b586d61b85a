// Bulge: what it counts, what it does not, and closed forms.
#include "core/metrics/bulge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"
#include "tests/unit/core/metrics/measured.h"

namespace sinew::metrics {
namespace {

using ::sinew::testing::MakeRig;
using ::sinew::testing::RestPose;
using ::sinew::testing::TubeOptions;
using ::sinew::testing::TubeRig;
using ::sinew::testing::TubeSource;
using ::sinew::testing::TubeWeights;

constexpr std::size_t kAround = 32, kRings = 61;

double BulgeOf(const Rig& rig, std::span<const Vec3f> positions, std::span<const Affine> pose) {
  return Measured(rig, positions, pose).bulge.value_or(-1);
}

// The reference tube with y and z scaled by section(x), and shifted by `aside` in y.
RigSource ShapedTube(const std::function<double(double)>& section, double aside = 0) {
  RigSource source = TubeSource({.rings = kRings, .around = kAround});
  for (Vec3f& p : source.mesh.positions) {
    const double s = section(p.x);
    p = ToFloat(Vec3d{p.x, s * p.y + aside, s * p.z});
  }
  return source;
}

std::vector<Vec3f> Positions(const Rig& rig) {
  return {rig.mesh().positions().begin(), rig.mesh().positions().end()};
}

double FromAxis(const Vec3f& p) {
  return std::hypot(p.y, p.z);
}

TEST(Bulge, LinearBlendMatchesReferenceTable) {
  const Rig rig = TubeRig({.rings = 81, .length = 5});
  const struct { double degrees, bulge; } rows[] = {{60, .015}, {90, .010}, {120, .005}};
  for (const auto& row : rows) {
    const auto pose = testing::BendPose(rig, row.degrees);
    EXPECT_NEAR(*Measured(rig, "lbs", pose).bulge, row.bulge, 7e-4) << row.degrees;
  }
}

TEST(Bulge, RigidlyCarriedSkinIsZero) {
  for (const auto& [name, rig] : testing::AllRigs()) {
    SCOPED_TRACE(name);
    const auto pose = testing::TurnPose(rig, {0.2, 0.1, 1}, 75);
    const auto skin = testing::SkinMatrices(rig, pose);
    const Surface surface = Surface::Create(rig);
    std::vector<Vec3f> carried;
    for (std::size_t v = 0; v < rig.vertices(); ++v) {
      const std::uint32_t first = surface.welded.first[surface.welded.point[v]];
      const auto binding = rig.influences().bindings(first)[0];
      carried.push_back(ToFloat(Apply(skin[binding], ToDouble(rig.mesh().positions()[v]))));
    }
    EXPECT_NEAR(std::max(0.0, BulgeOf(rig, carried, pose)), 0,
                name == "tube_far_origin" ? 2e-3 : 1e-6);
  }
}

TEST(Bulge, InflatedRingEqualsRatioMinusOne) {
  for (const double factor : {1.02, 1.2}) {
    const Rig rig = TubeRig({.rings = kRings, .around = kAround});
    std::vector<Vec3f> inflated = Positions(rig);
    for (std::size_t v = 20 * kAround; v < 21 * kAround; ++v) {
      const Vec3d p = ToDouble(inflated[v]);
      inflated[v] = ToFloat(Vec3d{p.x, factor * p.y, factor * p.z});
    }
    EXPECT_NEAR(BulgeOf(rig, inflated, RestPose(rig)), factor - 1, 1e-5);
  }
}

TEST(Bulge, RelativeToLimbRadiusForOffCentreBone) {
  constexpr double kAside = 0.45, kExcess = 0.02;  // the bone runs 0.05 under the skin
  const Rig rig = MakeRig(ShapedTube([](double) { return 1; }, kAside));
  std::vector<Vec3f> moved = Positions(rig);
  const std::size_t nearest = 20 * kAround + kAround / 2;
  ASSERT_NEAR(moved[nearest].y, kAside - 0.5, 1e-6);
  moved[nearest].y -= static_cast<float>(kExcess);
  std::vector<double> distances;
  for (std::size_t k = 0; k < kAround; ++k) {
    distances.push_back(FromAxis(rig.mesh().positions()[20 * kAround + k]));
  }
  std::sort(distances.begin(), distances.end());
  EXPECT_NEAR(BulgeOf(rig, moved, RestPose(rig)), kExcess / distances[kAround / 2], 1e-4);
}

TEST(Bulge, RadiusFollowsTaperedLimb) {
  const Rig rig = MakeRig(ShapedTube([](double x) { return x < 0 ? 2 : 1; }));
  for (const std::size_t ring : {10, 40}) {
    std::vector<Vec3f> moved = Positions(rig);
    const std::size_t v = ring * kAround;
    moved[v].y += 0.05F;
    EXPECT_NEAR(BulgeOf(rig, moved, RestPose(rig)), 0.05 / FromAxis(rig.mesh().positions()[v]),
                1e-5);
  }
}

// Two meshes on one skeleton have two bindings per joint; the number of paths must not double at
// each joint.
TEST(Bulge, DuplicateBindingsDoNotMatter) {
  constexpr std::uint32_t kJoints = 40;
  RigSource source =
      TubeSource({.rings = 161, .joints = kJoints, .length = 12, .weights = TubeWeights::kFour});
  const Rig once = MakeRig(source);
  for (std::uint32_t e = 0; e < kJoints; ++e) source.bindings.push_back(source.bindings[e]);
  InfluenceSource& influences = source.influences;
  for (std::size_t v = 0; v + 1 < influences.offsets.size(); v += 2) {
    for (std::size_t k = influences.offsets[v]; k < influences.offsets[v + 1]; ++k) {
      influences.bindings[k] += kJoints;
    }
  }
  const Rig twice = MakeRig(std::move(source));
  const auto pose = testing::BendPose(once, 9);
  std::vector<Vec3f> blown;  // outside every bone's skin in the pose
  for (const Vec3f& p : Deformed(once, "lbs", pose)) {
    blown.push_back({p.x, p.y, 1.5F * p.z});
  }
  const double expected = BulgeOf(once, blown, pose);
  EXPECT_GT(expected, 0.3);
  EXPECT_NEAR(BulgeOf(twice, blown, pose), expected, 0.1 * expected);
}

TEST(Bulge, PoseScaleIsZero) {
  const Rig rig = TubeRig();
  const AffineD thicker = testing::ScaleMotion({1, 2, 2});
  const std::vector<Vec3f> moved = MovedPoints(rig.mesh().positions(), thicker);
  EXPECT_NEAR(BulgeOf(rig, moved, testing::Moved(thicker, RestPose(rig))), 0, 1e-5);
  EXPECT_NEAR(BulgeOf(rig, moved, RestPose(rig)), 1, 1e-5) << "that of the skin alone counts";
}

TEST(Bulge, SameBitsForAnyThreadCount) {
  const Rig rig = TubeRig({.rings = 101});
  const auto pose = testing::BendPose(rig, 110);
  const auto positions = Deformed(rig, "dqs", pose);
  Task task;
  const auto meter = Meter::Create(rig, {}, task);
  ASSERT_TRUE(meter.ok());
  EXPECT_EQ(meter->Measure(positions, pose, Task())->bulge,
            meter->Measure(positions, pose, Task({.parallel = false}))->bulge);
}

TEST(Bulge, IgnoresBoneScaledToZero) {
  const Rig rig = TubeRig();
  auto pose = RestPose(rig);
  for (const Vec3d& scale : {Vec3d{0, 0, 0}, Vec3d{1, 0, 1}, Vec3d{1, 1e-8, 1}}) {
    auto flat = pose;
    flat[1] = ToFloat(Compose(ToDouble(pose[1]), testing::ScaleMotion(scale)));
    const double bulge = BulgeOf(rig, Deformed(rig, "lbs", flat), flat);
    EXPECT_GE(bulge, 0);
    EXPECT_LT(bulge, 1) << scale.y;
  }
}

}  // namespace
}  // namespace sinew::metrics
