#include "client/bake/pictures/weight_picture.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "client/rig/rest_pose.h"

namespace sinew::bake {
namespace {

// `joints` in a row, one unit apart, and two meshes of three vertices; the first mesh moves by 10
// in x to bind space.
client::RigData Rig(std::size_t joints) {
  client::RigData rig;
  for (std::size_t j = 0; j < joints; ++j) {
    rig.joints.push_back({.name = absl::StrCat("j", j), .parent = static_cast<int>(j) - 1});
    const float local[12] = {1, 0, 0, j == 0 ? 0.0f : 1.0f, 0, 1, 0, 0, 0, 0, 1, 0};
    rig.rest_local.insert(rig.rest_local.end(), local, local + 12);
  }
  for (int m = 0; m < 2; ++m) {
    client::Mesh& mesh = rig.meshes.emplace_back();
    mesh.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    mesh.face_vertices = {0, 1, 2};
    mesh.skin.joints = {1, 0};
  }
  rig.meshes[0].skin.geometry_bind[3] = 10;
  rig.meshes[0].skin.influence_counts = {1, 2, 0};
  rig.meshes[0].skin.influence_joints = {0, 0, 1};
  rig.meshes[0].skin.influence_weights = {1, 0.25f, 0.75f};
  rig.meshes[0].skin.fallback_joint = 1;
  rig.meshes[1].skin.influence_counts = {1, 1, 1};
  rig.meshes[1].skin.influence_joints = {1, 1, 1};
  rig.meshes[1].skin.influence_weights = {1, 1, 1};
  return rig;
}

TEST(WeightPicture, ReadsWeightsOfJoint) {
  const auto weights = ReadWeights(Rig(3), "weights", "j1");
  ASSERT_TRUE(weights.ok()) << weights.status();
  ASSERT_EQ(weights->joints.size(), 1u);
  const JointShare& joint = weights->joints[0];
  EXPECT_EQ(client::WeightsOf(weights->influences, 1), (std::vector<float>{1, 0.25f, 0, 0, 0, 0}));
  EXPECT_EQ(joint.vertices, 2u);
  EXPECT_EQ(joint.sum, 1.25);
  EXPECT_EQ(joint.largest, 1.f);
  EXPECT_EQ(weights->carrying, 2u);
  const auto all = ReadWeights(Rig(3), "weights", "all");
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->joints.size(), 2u) << "j2 carries nothing";
  EXPECT_EQ(client::WeightsOf(all->influences, 0), (std::vector<float>{0, 0.75f, 1, 1, 1, 1}))
      << "the fallback";
}

TEST(WeightPicture, RejectsUnknownJoint) {
  const absl::Status unknown = ReadWeights(Rig(3), "weights", "tail").status();
  EXPECT_TRUE(absl::IsInvalidArgument(unknown)) << unknown;
  EXPECT_EQ(
      unknown.message(),
      "weights: got \"tail\", which is no joint of the character; the closest are j0, j1, j2");
  EXPECT_THAT(std::string(ReadWeights(Rig(3), "weights", "All").status().message()),
              ::testing::EndsWith("; did you mean all?"));
  client::RigData bare = Rig(3);
  for (client::Mesh& mesh : bare.meshes) mesh.skin = {};
  EXPECT_TRUE(absl::IsInvalidArgument(ReadWeights(bare, "weights", "all").status()));
  EXPECT_TRUE(ReadWeights(bare, "weights", "j0").ok());
  client::RigData torn = Rig(2);
  torn.meshes[0].skin.influence_counts = {1000, 2, 5, 7};
  torn.meshes[0].skin.influence_joints = {0, 9};
  torn.meshes[1].skin.joints = {77, 78};
  EXPECT_TRUE(ReadWeights(torn, "weights", "j0").ok());
}

TEST(WeightPicture, KeepsHeaviestJoints) {
  client::RigData rig = Rig(60);
  client::Mesh& mesh = rig.meshes[1];
  mesh.positions.assign(60 * 3, 0);
  mesh.skin = {};
  for (std::uint32_t j = 0; j < 60; ++j) {
    mesh.skin.joints.push_back(j);
    mesh.skin.influence_counts.push_back(1);
    mesh.skin.influence_joints.push_back(j);
    mesh.skin.influence_weights.push_back(j % 3 == 0 ? 1.0f : 0.5f);
  }
  const auto weights = ReadWeights(rig, "weights", "all");
  ASSERT_TRUE(weights.ok());
  EXPECT_EQ(weights->carrying, 60u);
  EXPECT_EQ(weights->joints.size(), kMaxWeightPanels);
  std::size_t last = 0, heavy = 0;
  for (const JointShare& joint : weights->joints) {
    EXPECT_GE(joint.joint, last);
    last = joint.joint;
    heavy += joint.sum >= 1 ? 1 : 0;
  }
  EXPECT_EQ(heavy, 21u) << "every third, and j1 of the first mesh, wherever they are";
}

TEST(WeightPicture, DrawsMeshAtRest) {
  const client::RigData rig = Rig(3);
  PictureOptions options;
  const auto panels = WeightPanels(rig, *ReadWeights(rig, "weights", "all"), options);
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[0].positions.size(), 18u);
  EXPECT_EQ(panels[0].positions[3], 11.f);
  EXPECT_EQ(panels[0].positions[12], 1.f);
  EXPECT_EQ(panels[0].colours.size(), 18u);
  ASSERT_TRUE(options.legend.has_value());
  EXPECT_EQ(panels[1].note, "2 vertices, up to 1");
  EXPECT_EQ(client::RestJoints(rig)[2 * 12 + 3], 2.f);
}

TEST(WeightPicture, DrawsRestPoseNotBindPose) {
  client::RigData rig = Rig(2);
  rig.meshes.resize(1);  // moves by 10 in x to bind space
  client::Skin& skin = rig.meshes[0].skin;
  // Bound at the origin, both; the root rests a quarter turn about z, its child one unit along it.
  for (int slot = 0; slot < 2; ++slot) {
    const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    skin.inverse_bind.insert(skin.inverse_bind.end(), identity, identity + 12);
  }
  const float turned[12] = {0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0};
  std::copy(turned, turned + 12, rig.rest_local.begin());
  const std::vector<float> positions = client::RestPositions(rig);
  const float expected[9] = {0,  11,     0,   // (10, 0, 0) with the child
                             0,  11.25f, 0,   // (11, 0, 0), a quarter of it with the child
                             -1, 10,     0};  // (10, 1, 0) with the fallback, the root
  ASSERT_EQ(positions.size(), 9u);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_FLOAT_EQ(positions[i], expected[i]) << i;
}

}  // namespace
}  // namespace sinew::bake
