// Poses between poses, and the steps a stateful recipe takes along them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "core/deform/engine/pose_steps.h"
#include "core/rig/pose_path.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

const Rig& Tube() {
  static const auto* const kRig = new Rig(testing::TubeRig({.joints = 4}));
  return *kRig;
}

PosedRigTables Tables(const Rig& rig) {
  return PosedRigTables::Create(rig, rig.mesh().centre());
}

double Difference(std::span<const Affine> a, std::span<const Affine> b) {
  double largest = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    for (std::size_t i = 0; i < 12; ++i) {
      largest = std::max(largest, std::abs(double{a[j].m[i]} - double{b[j].m[i]}));
    }
  }
  return largest;
}

TEST(PosePath, JointsRotateUniformlyAboutParents) {
  const PosedRigTables tables = Tables(Tube());
  const auto from = testing::BendPose(Tube(), -20), to = testing::BendPose(Tube(), 140);
  const PosePath path(tables.parent, {.joints = from}, {.joints = to});
  EXPECT_NEAR(path.Distance().degrees, 160, 1e-4);
  EXPECT_NEAR(path.Distance().length, 0, 1e-5);
  EXPECT_NEAR(path.Distance().stretch, 0, 1e-5);
  std::vector<Affine> joints;
  std::vector<float> controls;
  for (int k = 0; k <= 16; ++k) {
    path.At(k / 16.0, joints, controls);
    // Uniform to 1e-3 of an eighth of the way.
    EXPECT_LE(Difference(joints, testing::BendPose(Tube(), -20 + 10 * k)), 2e-3) << k;
  }
  EXPECT_EQ(std::memcmp(joints.data(), to.data(), to.size() * sizeof(Affine)), 0);
}

TEST(PosePath, CommonMotionIsIgnored) {
  const PosedRigTables tables = Tables(Tube());
  const auto from = testing::BendPose(Tube(), 10);
  const auto to = testing::Moved(testing::RigidMotion({0, 1, 0}, 170, {100, 0, 0}),
                                 testing::BendPose(Tube(), 12));
  const PosePath path(tables.parent, {.joints = from}, {.joints = to});
  EXPECT_NEAR(path.Distance().degrees, 2, 1e-3);
  EXPECT_LE(path.Distance().length, 1e-4);
}

TEST(PosePath, TranslationsStretchesAndControlsAreLinear) {
  const PosedRigTables tables = Tables(Tube());
  const auto from = testing::RestPose(Tube());
  auto to = from;
  to[3].m[3] += 0.5f;
  for (const std::size_t i : {0, 5, 10}) to[3].m[i] *= 2;
  const std::vector<float> a = {0, 1}, b = {1, -1};
  const PosePath path(tables.parent, {.joints = from, .controls = a},
                      {.joints = to, .controls = b});
  EXPECT_NEAR(path.Distance().length, 0.5, 1e-5);
  EXPECT_NEAR(path.Distance().stretch, 1, 1e-5);
  std::vector<Affine> joints;
  std::vector<float> controls;
  path.At(0.25, joints, controls);
  EXPECT_NEAR(joints[3].m[3], from[3].m[3] + 0.125f, 1e-5);
  EXPECT_NEAR(joints[3].m[0], 1.25, 1e-5);
  EXPECT_EQ(controls, (std::vector<float>{0.25f, 0.5f}));
}

TEST(PosePath, ZeroScaledAndMirroredJointsStayFinite) {
  const PosedRigTables tables = Tables(Tube());
  auto from = testing::BendPose(Tube(), 30), to = testing::BendPose(Tube(), 80);
  for (const std::size_t i : {0, 1, 2, 4, 5, 6, 8, 9, 10}) {
    from[1].m[i] = 0;
    to[2].m[i] *= -1;
  }
  const PosePath path(tables.parent, {.joints = from}, {.joints = to});
  std::vector<Affine> joints;
  std::vector<float> controls;
  for (const double t : {0.0, 0.3, 0.5, 0.9}) {
    path.At(t, joints, controls);
    for (const Affine& joint : joints) {
      for (const float value : joint.m) ASSERT_TRUE(std::isfinite(value)) << t;
    }
  }
  EXPECT_TRUE(std::isfinite(path.Distance().degrees));
}

TEST(PoseSteps, StepsAreAtMostFiveDegrees) {
  const PosedRigTables tables = Tables(Tube());
  const auto steps = [&](double from, double to, double length) {
    const StreamState state = {
        .joints = testing::BendPose(Tube(), from), .controls = {}, .floats = {}};
    const auto pose = testing::BendPose(Tube(), to);
    const PoseSteps found(tables, state, {.joints = pose}, length);
    return std::pair(found.replays(), found.count());
  };
  EXPECT_EQ(steps(30, 30, 0), std::pair(false, std::size_t{1}));
  EXPECT_EQ(steps(30, 35, 0), std::pair(false, std::size_t{1})) << "rounding is no second step";
  EXPECT_EQ(steps(30, 36, 0), std::pair(false, std::size_t{2}));
  EXPECT_EQ(steps(0, 60, 0), std::pair(false, std::size_t{12}));
  EXPECT_EQ(steps(0, 61, 0), std::pair(true, std::size_t{31})) << "too far: from rest";
  EXPECT_EQ(steps(150, 20, 0), std::pair(true, std::size_t{10}));
}

TEST(PoseSteps, ReplayFromRestIsLimited) {
  const PosedRigTables tables = Tables(Tube());
  const auto pose = testing::BendPose(Tube(), 150);
  PoseSteps steps(tables, {}, {.joints = pose}, 0);
  EXPECT_TRUE(steps.replays());
  EXPECT_EQ(steps.count(), 75u);
  EXPECT_LE(Difference(steps.start().joints, testing::RestPose(Tube())), 1e-6);
  EXPECT_LE(Difference(steps.At(30).joints, testing::BendPose(Tube(), 60)), 3e-3);
  EXPECT_EQ(steps.At(75).joints.data(), pose.data());

  auto far = pose;
  far[3].m[3] += 1e6f;
  EXPECT_EQ(PoseSteps(tables, {}, {.joints = far}, 0.1).count(), kMaxReplaySteps);
}

// Replay starts at the bind pose, whatever the skeleton's own rest pose is.
TEST(PoseSteps, RestIsBindPose) {
  RigSource source = testing::TubeSource({.joints = 2});
  source.rest_local[1] = Compose(source.rest_local[1], testing::RigidMotion({0, 0, 1}, 40));
  const Rig rig = testing::MakeRig(std::move(source));
  const PosedRigTables tables = Tables(rig);
  ASSERT_TRUE(tables.Check().ok());
  for (std::size_t e = 0; e < tables.joint.size(); ++e) {
    const AffineD skin = Compose(tables.rest[tables.joint[e]], rig.bindings()[e].inverse_bind);
    for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(skin.m[i], i % 5 == 0 ? 1 : 0, 1e-6);
  }
}

}  // namespace
}  // namespace sinew
