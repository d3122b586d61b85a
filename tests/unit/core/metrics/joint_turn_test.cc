#include "core/metrics/joint_turn.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::metrics {
namespace {

using ::sinew::testing::BendPose;

const Rig& Tube() {
  static const auto* const kRig = new Rig(testing::TubeRig({.joints = 4}));
  return *kRig;
}

double Turn(std::span<const Affine> from, std::span<const Affine> to) {
  std::vector<std::uint32_t> parent;
  for (std::size_t j = 0; j < Tube().joints(); ++j) {
    parent.push_back(Tube().skeleton().joint(j).parent);
  }
  return LargestTurn(parent, from, to);
}

TEST(LargestTurn, IsRelativeToParent) {
  const auto from = BendPose(Tube(), -20);
  EXPECT_NEAR(Turn(from, BendPose(Tube(), -20)), 0, 1e-4);
  EXPECT_NEAR(Turn(from, BendPose(Tube(), -19.98)), 0.02, 1e-4);
  EXPECT_NEAR(Turn(from, BendPose(Tube(), 140)), 160, 1e-4);
  EXPECT_NEAR(Turn(from, BendPose(Tube(), 200)), 140, 1e-4) << "the shorter way";
}

TEST(LargestTurn, IgnoresMotionOfTheWholeCharacter) {
  const AffineD motion = testing::RigidMotion({0, 1, 0}, 170, {100, 0, 0});
  EXPECT_NEAR(Turn(BendPose(Tube(), 10), testing::Moved(motion, BendPose(Tube(), 12))), 2, 1e-3);
}

TEST(LargestTurn, IgnoresFlatAndMirroredJoints) {
  auto from = BendPose(Tube(), 30), to = BendPose(Tube(), 80);
  for (const std::size_t i : {0, 1, 2, 4, 5, 6, 8, 9, 10}) {
    to[3].m[i] *= -1;
    from[2].m[i] = 0;
  }
  EXPECT_NEAR(Turn(from, to), 50, 1e-3) << "of joint 1";
}

}  // namespace
}  // namespace sinew::metrics
