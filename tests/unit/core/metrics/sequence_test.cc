// Jerk and pop against closed forms.
#include "core/metrics/sequence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"
#include "tests/unit/core/metrics/measured.h"

namespace sinew::metrics {
namespace {

using ::sinew::testing::BendPose;
using ::sinew::testing::RestPose;
using ::sinew::testing::TubeRig;

constexpr double kRadius = 0.5;  // of the tube

Meter MeterOf(const Rig& rig) {
  Task task;
  auto meter = Meter::Create(rig, {}, task);
  EXPECT_TRUE(meter.ok()) << meter.status();
  return *std::move(meter);
}

std::vector<Vec3f> Rest(const Rig& rig) {
  return {rig.mesh().positions().begin(), rig.mesh().positions().end()};
}

TEST(Sequence, JerkOfCubicMotionEqualsThirdDerivative) {
  const Rig rig = TubeRig();
  const Meter meter = MeterOf(rig);
  SequenceMeter sequence(meter, 10);
  const auto add = [&](int k) {
    std::vector<Vec3f> frame = Rest(rig);
    const double t = 0.1 * k;
    for (Vec3f& p : frame) p.y += static_cast<float>(5 * t * t * t + 2 * t * t - t);
    return sequence.Add(frame, RestPose(rig), Task()).jerk;
  };
  for (int k = 0; k < 3; ++k) EXPECT_FALSE(add(k).has_value());
  EXPECT_NEAR(add(3).value_or(0), 30 / rig.mesh().diagonal(), 1e-3);
  EXPECT_NEAR(add(4).value_or(0), 30 / rig.mesh().diagonal(), 1e-3);
  sequence.Reset();
  for (int k = 6; k < 9; ++k) EXPECT_FALSE(add(k).has_value());
  EXPECT_TRUE(add(9).has_value());
}

// One vertex jumps by a tenth of the radius while the joint turns two degrees a frame.
TEST(Sequence, PopOfJumpIsItsLengthPerDegree) {
  const Rig rig = TubeRig({.weights = testing::TubeWeights::kRigid});
  const Meter meter = MeterOf(rig);
  SequenceMeter sequence(meter, 24);
  for (int k = 0; k <= 8; ++k) {
    const auto pose = BendPose(rig, 2.0 * k);
    std::vector<Vec3f> frame = Deformed(rig, "lbs", pose);
    if (k >= 5) frame[40].y += static_cast<float>(0.1 * kRadius);
    const SequenceMetrics metrics = sequence.Add(frame, pose, Task());
    if (k < 2) {
      EXPECT_FALSE(metrics.pop.has_value()) << k;
      continue;
    }
    const bool jumps = k == 5 || k == 6;  // into and out of the second difference
    EXPECT_NEAR(metrics.pop.value_or(-1), jumps ? 0.05 : 0, 5e-4) << k;
    EXPECT_NEAR(metrics.pop_999.value_or(-1), 0, 5e-4) << k;
  }
}

TEST(Sequence, PopIgnoresMotionOfTheWholeCharacter) {
  const Rig rig = TubeRig();
  const Meter meter = MeterOf(rig);
  SequenceMeter still(meter, 24), moving(meter, 24);
  for (int k = 0; k < 5; ++k) {
    const auto pose = BendPose(rig, 3.0 * k);
    const AffineD motion = testing::RigidMotion({0, 1, 0}, 40.0 * k, {0.5 * k * k, 0, 0});
    const auto moved = testing::Moved(motion, pose);
    const auto a = still.Add(Deformed(rig, "lbs", pose), pose, Task()).pop;
    const auto b = moving.Add(Deformed(rig, "lbs", moved), moved, Task()).pop;
    ASSERT_EQ(a.has_value(), b.has_value());
    EXPECT_NEAR(a.value_or(0), b.value_or(0), 1e-4);
  }
}

TEST(Sequence, NoPopWhereNoJointTurns) {
  const Rig rig = TubeRig();
  const Meter meter = MeterOf(rig);
  SequenceMeter sequence(meter, 24);
  for (int k = 0; k < 4; ++k) {
    EXPECT_FALSE(sequence.Add(Rest(rig), RestPose(rig), Task()).pop.has_value());
  }
}

// On its way to a mirrored limb one axis of the joint is scaled to zero, and then nearly so.
TEST(Sequence, PopIgnoresFlatJoints) {
  const Rig rig = TubeRig();
  const Meter meter = MeterOf(rig);
  SequenceMeter sequence(meter, 24);
  for (int k = 0; k < 12; ++k) {
    auto pose = BendPose(rig, 3.0 * k);
    const double scale = k < 4 ? 1 - 0.25 * k : k == 4 ? 0 : k == 5 ? 1e-9 : k < 11 ? 1 : 1e30;
    pose[1] = ToFloat(Compose(ToDouble(pose[1]), testing::ScaleMotion({scale, 1, 1})));
    const double pop = sequence.Add(Deformed(rig, "lbs", pose), pose, Task()).pop.value_or(0);
    EXPECT_TRUE(k == 11 ? std::isfinite(pop) : pop < 2) << k << ": " << pop;
  }
}

}  // namespace
}  // namespace sinew::metrics
