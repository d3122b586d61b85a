// The glTF reader on weights, meshes without them, inverse bind matrices, scenes and the vertices
// that Blender imports.
#include <absl/status/status.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "sinew/import.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/problems.h"

namespace sinew::client {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
using testing::GltfBuilder;
using testing::HasProblem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeStrip;

ImportedScene Import(const GltfBuilder& builder, const ImportOptions& options = {}) {
  auto scene = ImportFile(builder.Write(), options);
  EXPECT_TRUE(scene.ok()) << scene.status();
  return scene.ok() ? *std::move(scene) : ImportedScene();
}

std::string ErrorOf(const GltfBuilder& builder) {
  return std::string(ImportFile(builder.Write()).status().message());
}

nlohmann::json& Primitive(GltfBuilder& b) {
  return b.doc["meshes"][0]["primitives"][0];
}

GltfBuilder WithWeights(const std::vector<float>& weights) {
  GltfBuilder b = MakeStrip();
  Primitive(b)["attributes"]["WEIGHTS_0"] = b.AddAccessor(weights, "VEC4");
  return b;
}

TEST(GltfWeights, NormalisesFloatSums) {
  const ImportedScene scene =
      Import(WithWeights({0.5f, 0, 0, 0, 0.9f, 0.3f, 0, 0, 0.25f, 0.75f, 0, 0, 1, 0, 0, 0}));
  EXPECT_THAT(scene.rig.meshes.at(0).skin.influence_weights,
              ElementsAre(1, FloatEq(0.75f), FloatEq(0.25f), 0.25f, 0.75f, 1));
  EXPECT_TRUE(HasProblem(scene, Severity::kWarning,
                         "weights of 2 vertices normalised, which had sums from 0.5 to 1.2"));
}

TEST(GltfWeights, LeavesSumsWithinRounding) {
  const float almost = std::nextafter(0.75f, 1.f);
  const ImportedScene scene =
      Import(WithWeights({1, 0, 0, 0, almost, 0.25f, 0, 0, 0.25f, 0.75f, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(scene.rig.meshes.at(0).skin.influence_weights[1], almost);
  EXPECT_THAT(scene.problems, IsEmpty());
}

TEST(GltfWeights, CountsTinyNegativeOnesAsZero) {
  const ImportedScene scene =
      Import(WithWeights({1, 0, 0, 0, 0.75f, 0.25f, 0, -1e-3f, 1, -2e-7f, 0, 0, 1, 0, 0, 0}));
  EXPECT_THAT(scene.rig.meshes.at(0).skin.influence_counts, ElementsAre(1, 2, 1, 1));
  EXPECT_TRUE(HasProblem(scene, Severity::kWarning, "2 negative weights count as 0"));
}

TEST(GltfWeights, RefusesLargerNegativeOnes) {
  EXPECT_THAT(ErrorOf(WithWeights({1, 0, 0, 0, 1, -2e-3f, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})),
              HasSubstr("vertex 1 has the weight -0.002"));
}

TEST(GltfWeights, LeavesSumsOfZeroToTheOption) {
  const GltfBuilder b = WithWeights({1, 0, 0, 0, 0, 0, 0, 0, -1e-4f, 0, 0, 0, 1, 0, 0, 0});
  EXPECT_THAT(ErrorOf(b), HasSubstr("2 vertices have no weight, the first is 1"));
  EXPECT_EQ(Import(b, {.unweighted = Unweighted::kRoot}).rig.meshes.at(0).skin.fallback_joint, 0u);
}

TEST(GltfWeights, VerticesWhoseWeightsAreAllNanHaveNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const GltfBuilder b = WithWeights({1, 0, 0, 0, nan, nan, nan, nan, 1, 0, 0, 0, nan, 0, 0, 0});
  EXPECT_THAT(ErrorOf(b), HasSubstr("2 vertices have no weight, the first is 1; weights of 2 "
                                    "vertices are NaN"));
  const ImportedScene scene = Import(b, {.unweighted = Unweighted::kRoot});
  EXPECT_EQ(scene.rig.meshes.at(0).skin.fallback_joint, 0u);
  EXPECT_TRUE(
      HasProblem(scene, Severity::kWarning, "weights of 2 vertices are NaN", "NAN_WEIGHTS"));
}

TEST(GltfWeights, RefusesNanBesideWeights) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(ErrorOf(WithWeights({1, 0, 0, 0, 1, nan, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})),
              HasSubstr("vertex 1 has the weight nan, need finite weights"));
}

// Node 3 hangs below joint 2 ("tip", at y = 1) at x = 5.
GltfBuilder WithHat() {
  GltfBuilder b = MakeStrip();
  nlohmann::json plain = Primitive(b);
  plain["attributes"] = {{"POSITION", 0}};
  b.Push("meshes", {{"name", "felt"}, {"primitives", {plain}}});
  b.Push("nodes", {{"name", "hat"}, {"mesh", 1}, {"translation", {5, 0, 0}}});
  b.doc["nodes"][2]["children"] = {3};
  return b;
}

TEST(GltfRigidMesh, FollowsTheJointAbove) {
  const ImportedScene scene = Import(WithHat());
  ASSERT_EQ(scene.rig.meshes.size(), 2u);
  EXPECT_EQ(scene.rig.joints.size(), 2u);
  const Skin& skin = scene.rig.meshes[1].skin;
  EXPECT_THAT(skin.joints, ElementsAre(1));
  EXPECT_EQ(skin.inverse_bind[3], 5);
  EXPECT_THAT(skin.influence_counts, ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(skin.influence_weights, ElementsAre(1, 1, 1, 1));
  EXPECT_TRUE(HasProblem(scene, Severity::kInfo, "follows nodes[2] 'tip'"));
}

TEST(GltfRigidMesh, FollowsItsOwnAnimatedNode) {
  GltfBuilder b = WithHat();
  testing::AddAnimation(b, 3, "translation", {0, 1}, {5, 0, 0, 5, 9, 0}, "VEC3", "LINEAR");
  const ImportedScene scene = Import(b);
  ASSERT_EQ(scene.rig.joints.size(), 3u);
  EXPECT_EQ(scene.rig.joints[2].name, "hat") << "after the joints of the skins";
  EXPECT_EQ(scene.rig.joints[2].parent, 1);
  EXPECT_THAT(scene.rig.meshes.at(1).skin.joints, ElementsAre(2));
  const auto clip = SampleClip(scene, 0);
  ASSERT_TRUE(clip.ok()) << clip.status();
  EXPECT_NEAR(clip->joint_transforms[(24 * 3 + 2) * 12 + 7], 10, 1e-6);
}

TEST(GltfRigidMesh, PrimitiveWithoutWeightsFollowsItsNode) {
  GltfBuilder b = MakeStrip();
  nlohmann::json bare = Primitive(b);
  bare["attributes"] = {{"POSITION", 0}};
  nlohmann::json weighted = Primitive(b);
  b.doc["meshes"][0]["primitives"] = {bare, weighted, bare};
  b.doc["nodes"][0]["translation"] = {0, 0, 7};
  const ImportedScene scene = Import(b);
  const Skin& skin = scene.rig.meshes.at(0).skin;
  EXPECT_EQ(scene.rig.joints.at(2).name, "Strip");
  EXPECT_THAT(skin.joints, ElementsAre(0, 1, 2)) << "one entry for both primitives";
  EXPECT_THAT(skin.influence_counts, ElementsAre(1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1));
  EXPECT_EQ(skin.influence_joints[0], 2u);
  EXPECT_EQ(scene.rig.rest_local[2 * 12 + 11], 7);
  for (const char* place : {"primitives[0]", "primitives[2]", "no JOINTS_0"}) {
    EXPECT_TRUE(HasProblem(scene, Severity::kWarning, place)) << place;
  }
  Primitive(b)["attributes"] = weighted["attributes"];
  b.doc["meshes"][0]["primitives"] = {bare, weighted};
  b.doc["meshes"][0]["primitives"][1]["attributes"]["JOINTS_0"] =
      b.AddAccessor<std::uint8_t>({0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, "VEC4");
  EXPECT_THAT(ErrorOf(b), HasSubstr("vertex 5 names joint 2, the skin has 2"));
}

TEST(GltfSkin, DropsUnsoundInverseBindsWithoutVertices) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {0.f, kNan}) {
    GltfBuilder b = MakeStrip();
    std::vector<float> binds(48, bad);
    const std::vector<float> one = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    std::ranges::copy(one, binds.begin() + 16);
    std::ranges::copy(one, binds.begin() + 32);
    b.Push("nodes", {{"name", "unused"}});
    b.doc["skins"][0] = {{"joints", {3, 1, 2}},
                         {"inverseBindMatrices", b.AddAccessor(binds, "MAT4")}};
    Primitive(b)["attributes"]["JOINTS_0"] =
        b.AddAccessor<std::uint8_t>({1, 2, 0, 0, 1, 2, 0, 0, 1, 2, 0, 0, 2, 0, 0, 0}, "VEC4");
    const ImportedScene scene = Import(b);
    EXPECT_EQ(scene.rig.joints.size(), 3u);
    EXPECT_THAT(scene.rig.meshes.at(0).skin.joints, ElementsAre(1, 2));
    EXPECT_THAT(scene.rig.meshes[0].skin.influence_joints, ElementsAre(0, 0, 1, 0, 1, 1));
    Primitive(b)["attributes"]["JOINTS_0"] = 1;  // names joint 0
    EXPECT_THAT(ErrorOf(b), HasSubstr("the inverse bind matrix of joint 0 of its skin"));
  }
}

TEST(GltfScene, ReadsTheDefaultOneOnly) {
  GltfBuilder b = MakeStrip();
  b.Push("nodes", {{"name", "stored"}, {"mesh", 0}, {"skin", 1}});
  b.Push("nodes", {{"name", "stored joint"}});
  b.Push("nodes", {{"name", "lost"}, {"mesh", 0}});
  b.Push("skins", {{"joints", {4, 2}}, {"inverseBindMatrices", 4}});
  b.doc["scenes"] = {{{"name", "shelf"}, {"nodes", {3, 4}}}, {{"nodes", {0}}}};
  b.doc["scene"] = 1;
  const ImportedScene scene = Import(b);
  ASSERT_EQ(scene.rig.meshes.size(), 1u);
  EXPECT_EQ(scene.rig.meshes[0].name, "Strip");
  EXPECT_EQ(scene.rig.joints.size(), 2u) << "joints outside the scene count, of skins in it";
  EXPECT_TRUE(HasProblem(scene, Severity::kWarning, "scenes[0] 'shelf'", kLostReason));
  EXPECT_TRUE(HasProblem(scene, Severity::kWarning, "in no scene, the first is nodes[5] 'lost'",
                         kLostReason));
  b.doc["scene"] = 2;
  EXPECT_THAT(ErrorOf(b), HasSubstr("scene 2, the file has 2"));
}

TEST(GltfBlenderVertices, AreThoseThatFacesUse) {
  GltfBuilder b = MakeStrip();
  EXPECT_THAT(Import(b).mesh_extras.at(0).blender_vertices, IsEmpty());
  nlohmann::json second = Primitive(b), lines = Primitive(b);
  second["indices"] = b.AddAccessor<std::uint8_t>({3, 1, 0, 0, 0, 0}, "SCALAR");
  lines["mode"] = 1;
  lines["indices"] = b.AddAccessor<std::uint8_t>({2, 3}, "SCALAR");
  b.doc["meshes"][0]["primitives"].push_back(second);
  b.doc["meshes"][0]["primitives"].push_back(lines);
  EXPECT_THAT(Import(b).mesh_extras.at(0).blender_vertices,
              ElementsAre(0, 1, 2, 3, 4, 5, 7, 10, 11));
}

// Small files that ask for much memory: nodes, primitives and targets share accessors.
TEST(GltfImport, BoundsWhatAllMeshesHold) {
  constexpr std::size_t kVertices = 1 << 20;
  GltfBuilder shared = MakeStrip();
  const int many = shared.AddAccessor(std::vector<float>(kVertices * 3), "VEC3");
  const nlohmann::json cloud = {{"attributes", {{"POSITION", many}}}, {"indices", 3}};
  GltfBuilder nodes = shared;
  nodes.Push("meshes", {{"primitives", {cloud}}});
  for (int n = 0; n < 16; ++n) nodes.Push("nodes", {{"name", "cloud"}, {"mesh", 1}});
  EXPECT_THAT(
      ErrorOf(nodes),
      HasSubstr("nodes[18] 'cloud' primitives[0]: 16777220 vertices with those of the meshes "
                "before it, need at most 16777216"));
  GltfBuilder targets = shared;
  nlohmann::json blinking = cloud;
  for (int t = 0; t < 65; ++t) blinking["targets"].push_back({{"POSITION", many}});
  targets.Push("meshes", {{"primitives", {blinking}}});
  targets.Push("nodes", {{"mesh", 1}});
  EXPECT_THAT(ErrorOf(targets), HasSubstr("68157440 vertices of morph targets"));
  GltfBuilder faces = shared;
  nlohmann::json strip = Primitive(faces);
  strip["mode"] = 5;
  strip["indices"] = faces.AddAccessor(std::vector<std::uint8_t>(3 * kVertices), "SCALAR");
  faces.Push("meshes", {{"primitives", std::vector<nlohmann::json>(15, strip)}});
  faces.Push("nodes", {{"mesh", 1}, {"skin", 0}});
  EXPECT_THAT(ErrorOf(faces), HasSubstr("141557766 corners of faces"));
}

TEST(GltfSkin, ReportsSkinsThatTheirJointsMirror) {
  GltfBuilder b = MakeStrip();
  EXPECT_FALSE(HasProblem(Import(b), Severity::kWarning, "mirror the mesh at rest"));
  b.doc["nodes"][1]["scale"] = {-1, 1, 1};
  EXPECT_TRUE(HasProblem(Import(b), Severity::kWarning, "mirror the mesh at rest"));
}

}  // namespace
}  // namespace sinew::client
