#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/bake/character/skeleton_file.h"
#include "client/bake/pictures/weights_table.h"
#include "client/cli/base/exit_code.h"
#include "client/models/models.h"
#include "client/rig/rig_units.h"
#include "sinew/client.h"

namespace sinew::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

client::RigData TwoVertices(std::vector<float> weights) {
  client::RigData rig;
  rig.joints = {{.name = "a"}, {.name = "b", .parent = 0}, {.name = "c", .parent = 1}};
  rig.rest_local.resize(36);
  client::Mesh& mesh = rig.meshes.emplace_back();
  mesh.positions = {0, 0, 0, 1, 0, 0};
  mesh.skin.joints = {2, 0};
  mesh.skin.inverse_bind.resize(24);
  mesh.skin.influence_counts = {2, 1};
  mesh.skin.influence_joints = {0, 1, 1};
  mesh.skin.influence_weights = std::move(weights);
  return rig;
}

TEST(WeightsTable, CountsSharesOfJoints) {
  const client::RigData rig = TwoVertices({0.25f, 0.75f, 1});
  const auto shares = bake::JointShares(rig);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_EQ(shares[0].vertices, 2u);
  EXPECT_DOUBLE_EQ(shares[0].share, 0.875);
  EXPECT_EQ(shares[0].largest, 1);
  EXPECT_EQ(shares[1].vertices, 0u);
  EXPECT_DOUBLE_EQ(shares[2].share, 0.125);
}

TEST(RigInfluences, SlotsOfOneJointAreMerged) {
  client::RigData rig = TwoVertices({0.25f, 0.75f, 0});
  rig.meshes[0].skin.joints = {2, 2};  // two slots of one joint
  rig.meshes[0].skin.fallback_joint = 0;
  rig.meshes.push_back(rig.meshes[0]);
  rig.meshes[1].skin.influence_counts = {900, 1};  // more than there are
  const client::RigInfluences influences = client::ReadInfluences(rig);
  ASSERT_EQ(influences.vertices(), 4u);
  ASSERT_EQ(influences.Of(0).size(), 1u) << "once, though it has two slots";
  EXPECT_EQ(influences.Of(0)[0].weight, 1.0f);
  ASSERT_EQ(influences.Of(1).size(), 1u) << "the fallback";
  EXPECT_EQ(influences.Of(1)[0].weight, 1.0f);
  EXPECT_EQ(client::WeightsOf(influences, 2), (std::vector<float>{1, 1, 1, 1}));
  EXPECT_EQ(bake::JointShares(rig)[2].vertices, 4u);
  EXPECT_EQ(bake::JointShares(rig)[2].share, 1.0);
}

TEST(RigInfluences, MemoryWithManyJointsFollowsWeights) {
  client::RigData rig = TwoVertices({0.25f, 0.75f, 1});
  rig.joints.resize(50'000, {.name = "more", .parent = 0});
  client::Mesh& mesh = rig.meshes[0];
  mesh.positions.assign(200'000 * 3, 0);
  mesh.skin.influence_counts.resize(200'000, 0);
  const client::RigInfluences influences = client::ReadInfluences(rig);  // dense: 40 GB
  EXPECT_EQ(influences.vertices(), 200'000u);
  EXPECT_LT(influences.entries.capacity(), 16u);
  EXPECT_EQ(bake::JointShares(influences, rig.joints.size())[2].vertices, 1u);
}

TEST(WeightsTable, ComparesWeights) {
  const client::RigData rig = TwoVertices({0.25f, 0.75f, 1});
  EXPECT_EQ(bake::CompareWeights(rig, rig)->mean_absolute, 0);
  const auto difference = bake::CompareWeights(rig, TwoVertices({0.75f, 0.25f, 1}));
  // |0.5| twice and 0 once; half of one vertex's weight moved.
  EXPECT_DOUBLE_EQ(difference->mean_absolute, 1.0 / 3);
  EXPECT_DOUBLE_EQ(difference->moved, 0.25);
  client::RigData bare = rig;
  bare.meshes[0].skin = {};
  EXPECT_FALSE(bake::CompareWeights(rig, bare).has_value());
}

bake::CharacterFile Character(const char* label, client::RigData rig) {
  bake::CharacterFile character;
  character.label = label;
  character.rig = std::move(rig);
  return character;
}

// In centimetres, Z up; joints and their places to come.
client::RigData CentimetreSkeleton() {
  client::RigData skeleton;
  skeleton.meters_per_unit = 0.01;
  skeleton.up_axis = client::UpAxis::kZ;
  return skeleton;
}

client::RigData OneTriangle(std::vector<float> positions) {
  client::RigData mesh;
  mesh.meshes.emplace_back();
  mesh.meshes[0].positions = std::move(positions);
  mesh.meshes[0].face_vertices = {0, 1, 2};
  return mesh;
}

TEST(AttachSkeleton, ConvertsMeshToSkeletonUnitsAndUpAxis) {
  client::RigData skeleton = CentimetreSkeleton();
  skeleton.joints = {{.name = "hip"}, {.name = "head", .parent = 0}};
  skeleton.rest_local = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 10, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 150};
  client::RigData mesh = OneTriangle({-1, 0, -1, 1, 2, 1, 0, 2, 0.5f});
  mesh.meters_per_unit = 1;
  mesh.up_axis = client::UpAxis::kY;
  bake::CharacterFile file = Character("statue.glb", mesh);
  const auto notes = bake::AttachSkeleton(Character("hero.glb", skeleton), file);
  ASSERT_TRUE(notes.ok()) << notes.status();
  ASSERT_EQ(notes->size(), 2u);
  EXPECT_THAT((*notes)[0], HasSubstr("scaled by 100"));
  EXPECT_THAT((*notes)[1], HasSubstr("Z up"));
  EXPECT_THAT(file.rig.meshes[0].positions, ElementsAre(-100, 100, 0, 100, -100, 200, 0, -50, 200));
  EXPECT_EQ(file.rig.joints.size(), 2u);
  EXPECT_EQ(file.rig.meters_per_unit, 0.01);
  EXPECT_EQ(file.rig_bytes, *client::EncodeRig(file.rig));
}

TEST(AttachSkeleton, MeshWithoutUnitUsesSkeletonUnit) {
  client::RigData skeleton = CentimetreSkeleton();
  skeleton.joints = {{.name = "hip"}};
  skeleton.rest_local = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1};
  client::RigData mesh = OneTriangle({-1, 0, -1, 1, 2, 1, 0, 2, 0.5f});
  mesh.meters_per_unit = 0;
  mesh.up_axis = client::UpAxis::kUnspecified;
  bake::CharacterFile file = Character("statue.obj", mesh);
  const auto notes = bake::AttachSkeleton(Character("hero.glb", skeleton), file);
  ASSERT_TRUE(notes.ok()) << notes.status();
  ASSERT_EQ(notes->size(), 1u);
  EXPECT_THAT((*notes)[0], HasSubstr("names no unit: taken for the skeleton's, 0.01 m"));
  EXPECT_EQ(file.rig.meshes[0].positions, mesh.meshes[0].positions);
  EXPECT_EQ(file.rig.meters_per_unit, 0.01);
  EXPECT_EQ(file.rig.up_axis, client::UpAxis::kZ);
}

TEST(SuspiciousUnits, NamesBothSizesAndTheFactor) {
  const client::Bounds skeleton = {0, 0, 0, 0, 0, 2};
  const auto doubt = [&](double size) {
    return client::SuspiciousUnits(client::Bounds{0, 0, 0, size, 0, 0}, skeleton);
  };
  for (const double size : {0.4, 1.0, 2.0, 3.0, 10.0}) EXPECT_EQ(doubt(size), "") << size;
  EXPECT_EQ(doubt(0), "") << "a point has no size";
  EXPECT_EQ(doubt(NAN), "");
  EXPECT_THAT(doubt(300), HasSubstr("the mesh is 300 across and its skeleton 2: "));
  for (const auto& [size, factor] : {std::pair{0.002, "of 1000"},
                                     {0.03, "of 100"},
                                     {0.3, "of 10"},
                                     {17, "of 10"},
                                     {170, "of 100"},
                                     {2500, "of 1000"}}) {
    EXPECT_THAT(doubt(size), ::testing::EndsWith(factor)) << size;
  }
}

TEST(SuspiciousSize, CountsThePoseNearestToRest) {
  const client::Model model = *client::Make("tube");
  client::ClipData clip = model.clip;
  EXPECT_EQ(client::SuspiciousSize(model.rig, clip), "");
  const std::size_t floats = clip.joint_transforms.size() / clip.frames;
  for (std::size_t k = 0; k < clip.joint_transforms.size(); ++k) {
    if (k / floats != clip.frames / 2) clip.joint_transforms[k] *= 1000;
  }
  EXPECT_EQ(client::SuspiciousSize(model.rig, clip), "") << "one pose is as large as the rest";
  for (std::size_t k = 0; k < floats; ++k) {
    clip.joint_transforms[clip.frames / 2 * floats + k] *= 10;
  }
  EXPECT_THAT(client::SuspiciousSize(model.rig, clip), HasSubstr("by a factor of 10,"));
  clip.joint_transforms.resize(clip.frames * 12);
  EXPECT_EQ(client::SuspiciousSize(model.rig, clip), "") << "poses of another rig";
}

TEST(AttachSkeleton, RefusesWhatCannotFit) {
  client::RigData skeleton = TwoVertices({1, 0, 1});
  for (std::size_t j = 0; j < 3; ++j) {
    for (const std::size_t i : {0, 5, 10}) skeleton.rest_local[j * 12 + i] = 1;
  }
  client::RigData mesh = OneTriangle({5, 0, 0, 6, 1, 1, 5, 1, 0});
  bake::CharacterFile file = Character("far.glb", mesh);
  absl::Status status = bake::AttachSkeleton(Character("hero.glb", skeleton), file).status();
  EXPECT_EQ(ExitCode(status), 65);
  EXPECT_THAT(std::string(status.message()), HasSubstr("overlap"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("(5, 0, 0) to (6, 1, 1)"));
  status = bake::AttachSkeleton(Character("none.glb", {}), file).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("none.glb has no joints"));
  bake::CharacterFile own = Character("own.glb", skeleton);
  status = bake::AttachSkeleton(Character("hero.glb", skeleton), own).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("joints of its own"));
}

}  // namespace
}  // namespace sinew::cli
