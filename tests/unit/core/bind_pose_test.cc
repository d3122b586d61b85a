#include "core/rig/bind_pose.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/vectors.h"
#include "tests/assets/small_rigs.h"
#include "tests/assets/tube.h"

namespace sinew {
namespace {

AffineD Shift(double x, double y) {
  return {{1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, 0}};
}

RigSource ThreeJoints() {
  RigSource source = testing::TubeSource({.rings = 6, .around = 6, .joints = 3, .length = 6});
  source.rest_local[1] = Compose(source.rest_local[1], {{0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0}});
  return source;
}

TEST(BindPose, IsWhereEachJointWasBound) {
  const Rig rig = testing::MakeRig(ThreeJoints());
  const std::vector<AffineD> pose = BindPose(rig);
  ASSERT_EQ(pose.size(), 3u);
  for (const Binding& binding : rig.bindings()) {
    const AffineD one = Compose(pose[binding.joint], binding.inverse_bind);
    for (const Vec3d& p : {Vec3d{0, 0, 0}, Vec3d{1, 2, 3}})
      EXPECT_LT(Length(Apply(one, p) - p), 1e-9);
  }
}

TEST(BindPose, JointsThatWereNotBoundStayWithTheirParent) {
  RigSource source = ThreeJoints();
  source.joints.push_back({.name = "tip", .parent = 2});
  source.rest_local.push_back(Shift(0.5, 0.25));
  const Rig rig = testing::MakeRig(source);
  const std::vector<AffineD> pose = BindPose(rig);
  ASSERT_EQ(pose.size(), 4u);
  const Vec3d expected = Apply(pose[2], {0.5, 0.25, 0});
  EXPECT_LT(Length(Translation(pose[3]) - expected), 1e-12);
}

// Two meshes that hold one joint in spaces of their own meet in that of the first.
TEST(BindPose, BindingsOfOneJointMeet) {
  RigSource source = ThreeJoints();
  source.bindings.push_back({1, Compose(source.bindings[1].inverse_bind, Shift(-7, 3))});
  const Rig rig = testing::MakeRig(source);
  const std::vector<AffineD> to = ToBindPose(rig, BindPose(rig));
  ASSERT_EQ(to.size(), 4u);
  EXPECT_LT(Length(Apply(to[1], {1, 2, 3}) - Vec3d{1, 2, 3}), 1e-9);
  EXPECT_LT(Length(Apply(to[3], {1, 2, 3}) - Vec3d{-6, 5, 3}), 1e-9);
}

}  // namespace
}  // namespace sinew
