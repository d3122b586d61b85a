// Where a rig is at rest, from its data alone.
#include "client/rig/rest_pose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sinew::client {
namespace {

using ::testing::ElementsAre;
using ::testing::Pointwise;

// A root of scale 2, 1, 1 and a tip that is turned by 90 degrees about z, with a mesh of one face
// that the tip carries, bound where it is modelled.
RigData Limb(bool compensates) {
  RigData rig;
  rig.joints = {{.name = "root", .parent = -1},
                {.name = "tip", .parent = 0, .compensates_scale = compensates}};
  rig.rest_local = {2, 0,  0, 0, 0, 1, 0, 0, 0, 0, 1, 0,  // root
                    0, -1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0};
  Mesh& mesh = rig.meshes.emplace_back();
  mesh.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0};
  mesh.face_vertices = {0, 1, 2};
  mesh.skin.joints = {1};
  mesh.skin.inverse_bind = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  mesh.skin.influence_counts = {1, 1, 1};
  mesh.skin.influence_joints = {0, 0, 0};
  mesh.skin.influence_weights = {1, 1, 1};
  return rig;
}

// Maya: translation * inverse scale of the parent * rotation, so that the scale of the parent moves
// the origin of the joint, but does not reach its axes.
TEST(RestPose, ScaleOfTheParentIsCompensated) {
  EXPECT_THAT(RestPositions(Limb(true)), ElementsAre(2, 0, 0, 2, 1, 0, 1, 0, 0));
  EXPECT_THAT(RestPositions(Limb(false)), ElementsAre(2, 0, 0, 2, 1, 0, 0, 0, 0));
}

TEST(RestPose, GeometryBindIsAppliedOnce) {
  RigData rig = Limb(true);
  const std::vector<float> before = RestPositions(rig);
  for (float& x : rig.meshes[0].positions) x /= 4;
  rig.meshes[0].skin.geometry_bind = {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, 0};
  EXPECT_THAT(RestPositions(rig), Pointwise(::testing::FloatEq(), before));
  EXPECT_FLOAT_EQ(static_cast<float>(BoxDiagonal(RestPositions(rig))), std::sqrt(2.F));
}

}  // namespace
}  // namespace sinew::client
