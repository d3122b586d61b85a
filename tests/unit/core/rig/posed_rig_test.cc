#include "core/rig/posed_rig.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/solve/rotation.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::Moved;
using testing::RestPose;
using testing::ScaleMotion;
using testing::TubeRig;

// One vertex on a chain of joints, one binding per joint.
RigSource ChainSource(std::uint32_t joints) {
  RigSource source = testing::RigidSource({{0, 0, 0}}, {});
  source.joints.clear();
  source.rest_local.clear();
  source.bindings.clear();
  for (std::uint32_t j = 0; j < joints; ++j) {
    source.joints.push_back({.name = std::to_string(j), .parent = j == 0 ? kNoParent : j - 1});
    source.rest_local.push_back({});
    source.bindings.push_back({.joint = static_cast<std::uint16_t>(j), .inverse_bind = {}});
  }
  return source;
}

// Removes the joint's rotation.
void Flatten(Affine& joint) {
  joint.m = {1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0};
}

Affine Turned(double degrees) {
  return ToFloat(Compose(testing::RigidMotion({0.36, 0.48, 0.8}, degrees), ScaleMotion({1, 2, 1})));
}

TEST(PosedRig, ZeroScaledJointUsesAncestorRotation) {
  constexpr std::uint32_t kJoints = 60;
  const Rig rig = testing::MakeRig(ChainSource(kJoints));
  const auto tables = PosedRigTables::Create(rig, {});
  PosedRigBuffer buffer;
  for (const std::uint32_t every : {1u, 2u, 7u, 59u, 100u}) {
    auto pose = RestPose(rig);
    for (std::uint32_t j = 0; j < kJoints; ++j) {
      if (every == 100 || j % every != 0) {
        Flatten(pose[j]);
      } else {
        pose[j] = Turned(3.0 * j);
      }
    }
    const PosedRig posed = buffer.Compute(tables, {.joints = pose}, true);
    for (std::uint32_t j = 0; j < kJoints; ++j) {
      const Mat3d want =
          every == 100 ? Mat3d{} : NearestRotation(Linear(ToDouble(pose[j - j % every]))).rotation;
      for (std::size_t i = 0; i < 9; ++i) {
        EXPECT_EQ(posed.rotations[j].m[i], static_cast<float>(want.m[i])) << every << " " << j;
      }
      EXPECT_EQ(posed.signs[j], 1);
    }
  }
}

// Would take hours if every joint walked up to the root.
TEST(PosedRig, DeepChainWithoutRotationsIsFast) {
  const Rig rig = testing::MakeRig(ChainSource(65'535));
  const auto tables = PosedRigTables::Create(rig, {});
  auto pose = RestPose(rig);
  for (Affine& joint : pose) Flatten(joint);
  PosedRigBuffer buffer;
  const PosedRig posed = buffer.Compute(tables, {.joints = pose}, true);
  EXPECT_EQ(posed.rotations.back().m, Mat3{}.m);
}

TEST(PosedRig, SignsMarkMirroredJoints) {
  const Rig rig = TubeRig({.joints = 3});
  const auto tables = PosedRigTables::Create(rig, {});
  PosedRigBuffer buffer;
  const auto signs = [&](std::span<const Affine> pose) {
    const auto span = buffer.Compute(tables, {.joints = pose}, false).signs;
    return std::vector<float>(span.begin(), span.end());
  };
  const auto rest = RestPose(rig);
  const std::vector<float> mirrored = {-1, -1, -1};
  EXPECT_EQ(signs(rest), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(signs(Moved(ScaleMotion({1, -1, 1}), rest)), mirrored);
  EXPECT_EQ(signs(Moved(ScaleMotion({1, 1, -0.01}), rest)), mirrored) << "nearly flat";
  auto pose = Moved(ScaleMotion({-1, 1, 1}), rest);
  Flatten(pose[2]);
  EXPECT_EQ(signs(pose), mirrored) << "the last joint uses its parent's";
  pose[2] = ToFloat(Compose(ToDouble(pose[1]), ScaleMotion({1, 1, 0})));
  EXPECT_EQ(signs(pose), mirrored) << "flattened";
}

TEST(PosedRig, CheckRejectsNonFiniteMatrices) {
  const auto tables = PosedRigTables::Create(TubeRig(), {});
  ASSERT_TRUE(tables.Check().ok());
  for (const double bad : {NAN, INFINITY}) {
    auto damaged = tables;
    damaged.rest_inverse.back().m[4] = bad;
    EXPECT_EQ(damaged.Check().code(), absl::StatusCode::kDataLoss);
    damaged = tables;
    damaged.inverse_bind.back().m[4] = bad;
    EXPECT_EQ(damaged.Check().code(), absl::StatusCode::kDataLoss);
  }
}

// Rest scales multiply along a chain: the inverse must stay finite even if they overflow.
TEST(PosedRig, OverflowingRestPoseHasFiniteInverse) {
  for (const double scale : {1e38, 1e-38}) {
    RigSource source = ChainSource(20);
    for (AffineD& local : source.rest_local) local = ScaleMotion({scale, scale, scale});
    const absl::Status status =
        PosedRigTables::Create(testing::MakeRig(std::move(source)), {}).Check();
    EXPECT_TRUE(status.ok()) << scale << " " << status;
  }
}

}  // namespace
}  // namespace sinew
