// The glTF reader on small files, each with one trap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "client/rig/rig_traits.h"
#include "sinew/import.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/linear_blend.h"
#include "tests/support/problems.h"

namespace sinew::client {
namespace {

using ::testing::ElementsAre;
using testing::GltfBuilder;
using testing::HasProblem;
using ::testing::HasSubstr;
using testing::MakeStrip;

ImportedScene Import(const GltfBuilder& builder) {
  auto scene = ImportFile(builder.Write());
  EXPECT_TRUE(scene.ok()) << scene.status();
  return scene.ok() ? *std::move(scene) : ImportedScene();
}

nlohmann::json& Primitive(GltfBuilder& b) {
  return b.doc["meshes"][0]["primitives"][0];
}

TEST(GltfImport, ReadsTheStripAsItIs) {
  const ImportedScene scene = Import(MakeStrip());
  ASSERT_EQ(scene.rig.meshes.size(), 1u);
  const Mesh& mesh = scene.rig.meshes[0];
  EXPECT_EQ(mesh.name, "Strip");
  EXPECT_EQ(mesh.source_path, "nodes[0] 'Strip'");
  EXPECT_THAT(mesh.positions, ElementsAre(0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0));
  EXPECT_THAT(mesh.face_vertices, ElementsAre(0, 1, 2, 0, 2, 3));
  EXPECT_THAT(mesh.skin.influence_counts, ElementsAre(1, 2, 2, 1));
  EXPECT_THAT(mesh.skin.influence_joints, ElementsAre(0, 0, 1, 0, 1, 1));
  EXPECT_THAT(mesh.skin.influence_weights, ElementsAre(1, 0.75f, 0.25f, 0.25f, 0.75f, 1));
  EXPECT_FALSE(mesh.skin.fallback_joint.has_value());
  ASSERT_EQ(scene.rig.joints.size(), 2u);
  EXPECT_EQ(scene.rig.joints[1].name, "tip");
  EXPECT_EQ(scene.rig.joints[1].parent, 0);
  EXPECT_EQ(mesh.skin.inverse_bind[12 + 7], -1) << "column-major in the file, row-major in the rig";
  EXPECT_EQ(scene.rig.rest_local[12 + 7], 1);
  EXPECT_TRUE(scene.keeps_file_order);
  EXPECT_TRUE(scene.problems.empty());
  EXPECT_EQ(scene.format, "glTF binary");
}

TEST(GltfImport, ReadsTextureCoordinatesOfCorners) {
  GltfBuilder b = MakeStrip();
  const std::vector<float> uvs = {0, 0, 1, 0, 1, 0.25f, 0, 1};
  const int accessor = b.AddAccessor(uvs, "VEC2");
  b.doc["accessors"][accessor]["count"] = 4;
  Primitive(b)["attributes"]["TEXCOORD_0"] = accessor;
  const ImportedScene scene = Import(b);
  EXPECT_THAT(scene.mesh_extras.at(0).corner_uvs,
              ElementsAre(0, 1, 1, 1, 1, 0.75f, 0, 1, 1, 0.75f, 0, 0))
      << "v points down in the file";
  // Wrong ones do not keep the mesh from other uses.
  b.doc["accessors"][accessor]["count"] = 3;
  const ImportedScene without = Import(b);
  EXPECT_THAT(without.mesh_extras.at(0).corner_uvs, ::testing::IsEmpty());
  EXPECT_TRUE(HasProblem(without, Severity::kWarning, "TEXCOORD_0", kLostReason));
}

TEST(GltfImport, ReadsTextWithEmbeddedBuffer) {
  GltfBuilder b = MakeStrip();
  b.doc["buffers"] = {{{"byteLength", b.buffer.size()}, {"uri", "side.bin"}}};
  const std::string side = testing::WriteFile("side.bin", b.buffer);
  b.doc["buffers"][0]["uri"] = std::filesystem::path(side).filename().string();
  const auto scene = ImportFile(testing::WriteFile("scene.gltf", b.doc.dump()));
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->rig.vertices(), 4u);
  EXPECT_EQ(scene->format, "glTF");
}

TEST(GltfImport, ReadsEveryIndexType) {
  const auto with_indices = [](auto type) {
    GltfBuilder b = MakeStrip();
    Primitive(b)["indices"] = b.AddAccessor<decltype(type)>({3, 2, 1}, "SCALAR");
    return Import(b).rig.meshes.at(0).face_vertices;
  };
  EXPECT_THAT(with_indices(std::uint8_t{}), ElementsAre(3, 2, 1));
  EXPECT_THAT(with_indices(std::uint16_t{}), ElementsAre(3, 2, 1));
  EXPECT_THAT(with_indices(std::uint32_t{}), ElementsAre(3, 2, 1));
}

TEST(GltfImport, CutsStripsFansAndPlainLists) {
  const auto with_mode = [](int mode, bool indexed) {
    GltfBuilder b = MakeStrip();
    Primitive(b)["mode"] = mode;
    if (indexed) {
      Primitive(b)["indices"] = b.AddAccessor<std::uint8_t>({0, 1, 3, 2}, "SCALAR");
    } else {
      Primitive(b).erase("indices");
    }
    return Import(b).rig.meshes.at(0).face_vertices;
  };
  EXPECT_THAT(with_mode(5, true), ElementsAre(0, 1, 3, 1, 2, 3));
  EXPECT_THAT(with_mode(5, false), ElementsAre(0, 1, 2, 1, 3, 2));
  EXPECT_THAT(with_mode(6, false), ElementsAre(1, 2, 0, 2, 3, 0));
}

TEST(GltfImport, LeavesOutDegenerateTriangles) {
  GltfBuilder b = MakeStrip();
  Primitive(b)["indices"] = b.AddAccessor<std::uint8_t>({0, 1, 1, 0, 2, 3}, "SCALAR");
  const ImportedScene scene = Import(b);
  EXPECT_THAT(scene.rig.meshes.at(0).face_vertices, ElementsAre(0, 2, 3));
  EXPECT_TRUE(HasProblem(scene, Severity::kInfo, "1 triangle names a vertex twice"));
}

TEST(GltfImport, KeepsVerticesOfPointsAndLines) {
  GltfBuilder b = MakeStrip();
  nlohmann::json lines = Primitive(b);
  lines["mode"] = 1;
  b.doc["meshes"][0]["primitives"].push_back(lines);
  const ImportedScene scene = Import(b);
  EXPECT_EQ(scene.rig.vertices(), 8u);
  ASSERT_EQ(scene.rig.meshes.size(), 1u);
  EXPECT_EQ(client::CountRig(scene.rig).meshes[0].faces, 2u);
  EXPECT_TRUE(HasProblem(scene, Severity::kWarning, "without faces"));
}

TEST(GltfImport, RepeatsASharedAccessorForEveryPrimitive) {
  GltfBuilder b = MakeStrip();
  b.doc["meshes"][0]["primitives"].push_back(Primitive(b));
  const ImportedScene scene = Import(b);
  ASSERT_EQ(scene.rig.meshes.size(), 1u);
  EXPECT_EQ(scene.rig.meshes[0].vertices(), 8u);
  EXPECT_THAT(scene.rig.meshes[0].face_vertices, ElementsAre(0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7));
}

TEST(GltfImport, AppliesSparseAccessors) {
  GltfBuilder b = MakeStrip();
  const int indices = b.AddView<std::uint16_t>({1, 3}),
            values = b.AddView<float>({7, 8, 9, 4, 5, 6});
  b.doc["accessors"][0]["sparse"] = {
      {"count", 2},
      {"indices", {{"bufferView", indices}, {"componentType", 5123}}},
      {"values", {{"bufferView", values}}}};
  EXPECT_THAT(Import(b).rig.meshes.at(0).positions,
              ElementsAre(0, 0, 0, 7, 8, 9, 1, 2, 0, 4, 5, 6));
  b.doc["accessors"][0].erase("bufferView");  // zeros below the sparse values
  EXPECT_THAT(Import(b).rig.meshes.at(0).positions,
              ElementsAre(0, 0, 0, 7, 8, 9, 0, 0, 0, 4, 5, 6));
}

TEST(GltfImport, ReadsInterleavedAttributes) {
  GltfBuilder b = MakeStrip();
  const int view = b.AddView<float>({0, 0, 0, 9, 1, 0, 0, 9, 1, 2, 0, 9, 0, 2, 0, 9}, 16);
  b.doc["accessors"][0]["bufferView"] = view;
  EXPECT_THAT(Import(b).rig.meshes.at(0).positions,
              ElementsAre(0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0));
}

TEST(GltfImport, ReadsQuantisedPositions) {
  GltfBuilder b = MakeStrip();
  b.doc["extensionsUsed"] = b.doc["extensionsRequired"] = {"KHR_mesh_quantization"};
  b.doc["accessors"][0] = {
      {"componentType", 5122},
      {"type", "VEC3"},
      {"count", 4},
      {"normalized", true},
      {"bufferView", b.AddView<std::int16_t>(
                         {0, 0, 0, 0, 32767, 0, 0, 0, 32767, -32768, 0, 0, 0, 0, 16384, 0}, 8)}};
  const ImportedScene scene = Import(b);
  EXPECT_THAT(scene.rig.meshes.at(0).positions,
              ElementsAre(0, 0, 0, 1, 0, 0, 1, -1, 0, 0, 0, static_cast<float>(16384.0 / 32767)));
  b.doc["accessors"][0]["normalized"] = false;
  EXPECT_EQ(Import(b).rig.meshes.at(0).positions[3], 32767);
}

TEST(GltfImport, NormalisesQuantisedWeightsAndSaysSo) {
  GltfBuilder b = MakeStrip();
  Primitive(b)["attributes"]["WEIGHTS_0"] = b.AddAccessor<std::uint8_t>(
      {255, 0, 0, 0, 127, 127, 0, 0, 64, 191, 0, 0, 255, 0, 0, 0}, "VEC4", true);
  const ImportedScene scene = Import(b);
  EXPECT_THAT(scene.rig.meshes.at(0).skin.influence_weights,
              ElementsAre(1, 0.5f, 0.5f, static_cast<float>(64.0 / 255),
                          static_cast<float>(191.0 / 255), 1));
  EXPECT_TRUE(HasProblem(scene, Severity::kWarning, "weights of 1 vertex normalised"));
  Primitive(b)["attributes"]["WEIGHTS_0"] = b.AddAccessor<std::uint16_t>(
      {65535, 0, 0, 0, 32767, 32767, 0, 0, 16384, 49151, 0, 0, 65535, 0, 0, 0}, "VEC4", true);
  EXPECT_EQ(Import(b).rig.meshes.at(0).skin.influence_weights[1], 0.5f);
}

TEST(GltfImport, KeepsAllInfluenceSets) {
  GltfBuilder b = MakeStrip();
  Primitive(b)["attributes"]["JOINTS_1"] =
      b.AddAccessor<std::uint16_t>({1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, "VEC4");
  Primitive(b)["attributes"]["WEIGHTS_1"] =
      b.AddAccessor<float>({0.5f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "VEC4");
  Primitive(b)["attributes"]["WEIGHTS_0"] = b.AddAccessor<float>(
      {0.5f, 0, 0, 0, 0.75f, 0.25f, 0, 0, 0.25f, 0.75f, 0, 0, 1, 0, 0, 0}, "VEC4");
  const ImportedScene scene = Import(b);
  EXPECT_THAT(scene.rig.meshes.at(0).skin.influence_counts, ElementsAre(2, 2, 2, 1));
  EXPECT_EQ(scene.rig.meshes[0].skin.influence_joints[1], 1u);
}

TEST(GltfImport, SumsRepeatedJointOfVertex) {
  GltfBuilder b = MakeStrip();
  Primitive(b)["attributes"]["JOINTS_0"] =
      b.AddAccessor<std::uint8_t>({0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, "VEC4");
  const ImportedScene scene = Import(b);
  EXPECT_THAT(scene.rig.meshes.at(0).skin.influence_counts, ElementsAre(1, 1, 2, 1));
  EXPECT_EQ(scene.rig.meshes[0].skin.influence_weights[1], 1);
  EXPECT_TRUE(HasProblem(scene, Severity::kInfo, "1 vertex names a joint twice"));
}

TEST(GltfImport, TakesMissingInverseBindsAsIdentity) {
  GltfBuilder b = MakeStrip();
  b.doc["skins"][0].erase("inverseBindMatrices");
  const ImportedScene scene = Import(b);
  EXPECT_THAT(scene.rig.meshes.at(0).skin.inverse_bind,
              ElementsAre(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0));
  EXPECT_THAT(scene.problems, ::testing::IsEmpty()) << "nothing is lost";
}

TEST(GltfImport, OrdersParentsFirstWhateverTheSkinSays) {
  GltfBuilder b = MakeStrip();
  b.doc["skins"][0]["joints"] = {2, 1};
  const ImportedScene scene = Import(b);
  EXPECT_EQ(scene.rig.joints.at(0).name, "root");
  EXPECT_EQ(scene.rig.joints.at(1).parent, 0);
  EXPECT_THAT(scene.rig.meshes.at(0).skin.joints, ElementsAre(1, 0))
      << "influences go through the skin's own list";
}

TEST(GltfImport, MakesNamesUnique) {
  GltfBuilder b = MakeStrip();
  b.doc["nodes"][1]["name"] = b.doc["nodes"][2]["name"] = "bone";
  b.doc["nodes"].push_back({{"name", "Strip"}, {"mesh", 0}, {"skin", 0}});
  b.doc["nodes"].push_back({{"mesh", 0}, {"skin", 0}});
  const ImportedScene scene = Import(b);
  EXPECT_EQ(scene.rig.joints.at(1).name, "bone.2");
  ASSERT_EQ(scene.rig.meshes.size(), 3u);
  EXPECT_EQ(scene.rig.meshes[1].name, "Strip.2");
  EXPECT_EQ(scene.rig.meshes[2].name, "strip");
}

TEST(GltfImport, SharesJointsBetweenSkins) {
  GltfBuilder b = MakeStrip();
  b.Push("nodes", {{"name", "other"}, {"translation", {0, 0, 5}}});
  b.Push("skins", {{"joints", {3, 2, 1}}});
  b.Push("nodes", {{"name", "Second"}, {"mesh", 0}, {"skin", 1}});
  const ImportedScene scene = Import(b);
  ASSERT_EQ(scene.rig.joints.size(), 3u);
  EXPECT_THAT(scene.rig.meshes.at(1).skin.joints, ElementsAre(2, 1, 0));
  EXPECT_EQ(scene.rig.joints[2].name, "other");
  EXPECT_EQ(scene.rig.joints[2].parent, -1);
}

TEST(GltfImport, IgnoresTheMeshNodesOwnTransform) {
  GltfBuilder b = MakeStrip();
  const ImportedScene plain = Import(b);
  b.doc["nodes"][0]["translation"] = {100, 0, 0};
  const ImportedScene moved = Import(b);
  EXPECT_EQ(plain.rig.meshes.at(0).positions, moved.rig.meshes.at(0).positions);
  EXPECT_EQ(RestPose(plain).joint_transforms, RestPose(moved).joint_transforms);
}

TEST(GltfImport, FoldsAnimatedNodesIntoJoints) {
  GltfBuilder b = MakeStrip();  // top (moved) -> root -> between (animated, turned) -> tip
  b.doc["nodes"][1]["children"] = {4};
  b.Push("nodes", {{"name", "top"}, {"children", {1}}, {"translation", {10, 0, 0}}});
  b.Push("nodes", {{"name", "between"},
                   {"children", {2}},
                   {"rotation", {0, 0, std::sqrt(0.5), std::sqrt(0.5)}}});
  testing::AddAnimation(b, 4, "translation", {0, 1}, {0, 0, 0, 0, 0, 24}, "VEC3", "LINEAR");
  const ImportedScene scene = Import(b);
  ASSERT_EQ(scene.rig.joints.size(), 2u);
  EXPECT_EQ(scene.rig.joints[1].parent, 0);
  EXPECT_EQ(scene.rig.rest_local[3], 10) << "the node above the root";
  EXPECT_NEAR(scene.rig.rest_local[12 + 3], -1, 1e-6)
      << "tip lies at +1 y of a node turned by 90 degrees";
  EXPECT_NEAR(scene.rig.rest_local[12 + 7], 0, 1e-6);
  const auto clip = SampleClip(scene, 0);
  ASSERT_TRUE(clip.ok());
  ASSERT_EQ(clip->frames, 25u);
  const float* tip = &clip->joint_transforms[(12 * 2 + 1) * 12];
  EXPECT_NEAR(tip[3], 9, 1e-6);
  EXPECT_NEAR(tip[11], 12, 1e-5) << "the folded node moves";
}

TEST(GltfImport, AcceptsJointsBelowTheMeshNode) {
  GltfBuilder b = MakeStrip();
  b.doc["nodes"][0]["children"] = {1};
  b.doc["nodes"][0]["translation"] = {0, 3, 0};
  EXPECT_EQ(Import(b).rig.rest_local[7], 3) << "joints hang under it, so it counts for them";
}

TEST(GltfImport, ReadsMatrixNodes) {
  GltfBuilder b = MakeStrip();
  b.doc["nodes"][2].erase("translation");
  b.doc["nodes"][2]["matrix"] = {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 5, 6, 7, 1};
  const ImportedScene scene = Import(b);
  EXPECT_EQ(scene.rig.rest_local[12 + 5], 2);
  EXPECT_EQ(scene.rig.rest_local[12 + 11], 7);
}

TEST(GltfImport, ReportsChannelsWithoutNodeAsLost) {
  GltfBuilder b = MakeStrip();
  testing::AddAnimation(b, 2, "translation", {0}, {0, 0, 0}, "VEC3", "STEP");
  b.doc["animations"][0]["channels"].push_back(
      {{"sampler", 0}, {"target", {{"path", "translation"}}}});
  const ImportedScene scene = Import(b);
  EXPECT_EQ(scene.clips.at(0).channels, 1u);
  EXPECT_TRUE(HasProblem(scene, Severity::kWarning, "node", kLostReason));
}

TEST(GltfImport, ReadsTangentsUnlessServersWouldRefuseThem) {
  for (const float handedness : {-1.f, 0.f}) {
    GltfBuilder b = MakeStrip();
    const int tangents =
        b.AddAccessor<float>({1, 0, 0, 1, 0, 1, 0, -1, 0, 0, 1, 1, 1, 0, 0, handedness}, "VEC4");
    Primitive(b)["attributes"]["TANGENT"] = tangents;
    const ImportedScene scene = Import(b);
    if (handedness == -1) {
      EXPECT_THAT(scene.rig.meshes[0].tangents,
                  ElementsAre(1, 0, 0, 1, 0, 1, 0, -1, 0, 0, 1, 1, 1, 0, 0, -1));
    } else {
      EXPECT_TRUE(scene.rig.meshes[0].tangents.empty());
    }
    EXPECT_EQ(HasProblem(scene, Severity::kWarning, "tangents: vertex 3", kLostReason),
              handedness == 0);
  }
}

// Two targets: the first sparse in the file, the second without POSITION in the second primitive.
TEST(GltfImport, ReadsMorphTargets) {
  GltfBuilder b = MakeStrip();
  const int indices = b.AddView<std::uint8_t>({2}), values = b.AddView<float>({0, 0, 3});
  const int sparse =
      b.Push("accessors", {{"componentType", 5126},
                           {"type", "VEC3"},
                           {"count", 4},
                           {"sparse",
                            {{"count", 1},
                             {"indices", {{"bufferView", indices}, {"componentType", 5121}}},
                             {"values", {{"bufferView", values}}}}}});
  const int dense = b.AddAccessor<float>({1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}, "VEC3");
  const int normals = b.AddAccessor<float>({0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0}, "VEC3");
  Primitive(b)["targets"] = {{{"POSITION", sparse}}, {{"POSITION", dense}, {"NORMAL", normals}}};
  nlohmann::json second = Primitive(b);
  second["targets"] = {{{"POSITION", sparse}}, {{"NORMAL", normals}}};
  b.doc["meshes"][0]["primitives"].push_back(second);
  b.doc["meshes"][0]["weights"] = {0.25, 0.5};
  b.doc["meshes"][0]["extras"] = {{"targetNames", {"smile", "smile"}}};
  testing::AddAnimation(b, 0, "weights", {0, 1}, {0, 1, 1, 0}, "SCALAR", "LINEAR");
  const ImportedScene scene = Import(b);
  ASSERT_EQ(scene.rig.controls.size(), 2u);
  EXPECT_EQ(scene.rig.controls[0].name, "smile");
  EXPECT_EQ(scene.rig.controls[1].name, "smile.2");
  EXPECT_EQ(scene.rig.controls[1].default_value, 0.5f);
  const Mesh& mesh = scene.rig.meshes[0];
  ASSERT_EQ(mesh.shapes.size(), 2u);
  EXPECT_EQ(mesh.shapes[1].control, "smile.2");
  EXPECT_THAT(mesh.shapes[0].targets.at(0).vertices, ElementsAre(2, 6));
  EXPECT_THAT(mesh.shapes[0].targets[0].offsets, ElementsAre(0, 0, 3, 0, 0, 3));
  EXPECT_TRUE(mesh.shapes[0].targets[0].normal_offsets.empty());
  EXPECT_EQ(mesh.shapes[1].targets.at(0).offsets.size(), 24u)
      << "all vertices change, at least their normals";
  EXPECT_EQ(mesh.shapes[1].targets[0].offsets[12], 0);
  EXPECT_EQ(mesh.shapes[1].targets[0].normal_offsets[13], 1);

  const ClipData rest = RestPose(scene);
  EXPECT_THAT(rest.controls, ElementsAre(0.25f, 0.5f));
  SampleOptions options;
  options.first_frame = options.last_frame = 6;
  const auto clip = SampleClip(scene, 0, options);
  ASSERT_TRUE(clip.ok()) << clip.status();
  EXPECT_THAT(clip->controls, ElementsAre(0.25f, 0.75f));
}

TEST(GltfImport, DrivesTheSameMeshOnTwoNodesSeparately) {
  GltfBuilder b = MakeStrip();
  Primitive(b)["targets"] = {{{"POSITION", 0}}};
  b.Push("nodes", {{"name", "Second"}, {"mesh", 0}, {"skin", 0}, {"weights", {0.75}}});
  testing::AddAnimation(b, 3, "weights", {0}, {0.5f}, "SCALAR", "LINEAR");
  const ImportedScene scene = Import(b);
  ASSERT_EQ(scene.rig.controls.size(), 2u);
  EXPECT_EQ(scene.rig.controls[0].name, "Strip.target_0");
  EXPECT_EQ(scene.rig.controls[1].default_value, 0.75f);
  const auto clip = SampleClip(scene, 0);
  ASSERT_TRUE(clip.ok());
  EXPECT_THAT(clip->controls, ElementsAre(0, 0.5f));
}

GltfBuilder WithoutSkin() {
  GltfBuilder b = MakeStrip();
  b.doc.erase("skins");
  b.doc["nodes"][0].erase("skin");
  return b;
}

TEST(GltfImport, ReadsMeshesWithoutSkinOnRequest) {
  GltfBuilder b = WithoutSkin();
  b.doc["nodes"][1]["children"] = {0, 2};
  b.doc["nodes"][1]["scale"] = {2, 2, 2};
  b.doc["nodes"][0]["translation"] = {0, 0, 5};
  const std::string path = b.Write();
  EXPECT_THAT(std::string(ImportFile(path).status().message()), HasSubstr("skin"));
  const auto scene = ImportFile(path, {.allow_no_skin = true});
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_TRUE(scene->rig.joints.empty());
  ASSERT_EQ(scene->rig.meshes.size(), 1u);
  EXPECT_TRUE(scene->rig.meshes[0].skin.empty());
  EXPECT_THAT(scene->rig.meshes[0].positions, ElementsAre(0, 0, 10, 2, 0, 10, 2, 4, 10, 0, 4, 10));
  EXPECT_THAT(scene->rig.meshes[0].face_vertices, ElementsAre(0, 1, 2, 0, 2, 3));
}

TEST(GltfImport, MirroredMeshWithoutSkinKeepsOutside) {
  GltfBuilder b = WithoutSkin();
  Primitive(b)["attributes"]["NORMAL"] =
      b.AddAccessor<float>({0, 0, 1, 0, 0, 1, 0, 0.6f, 0.8f, 0, 0, 1}, "VEC3");
  const int offsets = b.AddAccessor<float>({0, 0, 0, 0, 0, 0, 0, 0.1f, 0.3f, 0, 0, 0}, "VEC3");
  Primitive(b)["targets"] = {{{"NORMAL", offsets}}};
  const int uvs = b.AddAccessor<float>({0, 0, 0.25f, 0, 0.5f, 0, 0.75f, 0}, "VEC2");
  b.doc["accessors"][uvs]["count"] = 4;
  Primitive(b)["attributes"]["TEXCOORD_0"] = uvs;
  b.doc["nodes"][0]["scale"] = {1, 2, -1};
  const auto scene = ImportFile(b.Write(), {.allow_no_skin = true});
  ASSERT_TRUE(scene.ok()) << scene.status();
  const Mesh& mesh = scene->rig.meshes[0];
  EXPECT_THAT(mesh.face_vertices, ElementsAre(0, 2, 1, 0, 3, 2));
  EXPECT_THAT(scene->mesh_extras.at(0).corner_uvs,
              ElementsAre(0, 1, 0.5f, 1, 0.25f, 1, 0, 1, 0.75f, 1, 0.5f, 1));
  EXPECT_EQ(mesh.normals[2], -1);
  // (0, 0.6 / 2, -0.8) made unit.
  EXPECT_NEAR(mesh.normals[7], 0.3 / std::hypot(0.3, 0.8), 1e-6);
  EXPECT_NEAR(mesh.normals[8], -0.8 / std::hypot(0.3, 0.8), 1e-6);
  const ShapeTarget& target = mesh.shapes.at(0).targets.at(0);
  ASSERT_THAT(target.vertices, ElementsAre(2));
  EXPECT_NEAR(target.normal_offsets[1], 0.05 / std::hypot(0.3, 0.8), 1e-6);
  EXPECT_NEAR(target.normal_offsets[2], -0.3 / std::hypot(0.3, 0.8), 1e-6);
}

TEST(GltfImport, OptionDoesNotChangeSkinnedFiles) {
  GltfBuilder b = MakeStrip();
  b.Push("nodes", {{"name", "Prop"}, {"mesh", 0}});
  const auto scene = ImportFile(b.Write(), {.allow_no_skin = true});
  ASSERT_TRUE(scene.ok()) << scene.status();
  const ImportedScene plain = Import(b);
  EXPECT_EQ(scene->rig.joints.size(), plain.rig.joints.size());
  EXPECT_EQ(scene->rig.meshes.at(1).skin.joints, plain.rig.meshes.at(1).skin.joints);
}

TEST(GltfImport, OptionDoesNotAllowFilesWithoutMesh) {
  GltfBuilder b = WithoutSkin();
  b.doc["nodes"][0].erase("mesh");
  EXPECT_TRUE(absl::IsInvalidArgument(ImportFile(b.Write(), {.allow_no_skin = true}).status()));
}

}  // namespace
}  // namespace sinew::client
