// Clips of other files: which joints they move, to where, and how the others are reported.
#include "sinew/clip_files.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/collada_file.h"
#include "tests/support/gltf_builder.h"
#include "tests/unit/client/import/collada_edits.h"

namespace sinew::client {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::GltfBuilder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;
using ::testing::SizeIs;
using Json = nlohmann::json;

constexpr float kHalf = 0.70710678f;  // sine and cosine of 45 degrees

struct Node {
  std::string name;
  int parent = -1;
  std::array<float, 3> translation = {};
  std::array<float, 4> rotation = {0, 0, 0, 1};  // x, y, z, w
  float scale = 1;
};

void AddNodes(GltfBuilder& b, const std::vector<Node>& nodes) {
  const int first = b.doc.contains("nodes") ? static_cast<int>(b.doc["nodes"].size()) : 0;
  for (const Node& node : nodes) {
    Json json = {{"name", node.name},
                 {"translation", node.translation},
                 {"rotation", node.rotation},
                 {"scale", {node.scale, node.scale, node.scale}}};
    const int index = b.Push("nodes", json);
    if (node.parent >= 0) b.doc["nodes"][first + node.parent]["children"].push_back(index);
  }
}

// A strip whose skin has these joints; the first carries all vertices.
ImportedScene Character(const std::vector<Node>& joints) {
  GltfBuilder b = testing::MakeStrip();
  b.doc["nodes"].erase(b.doc["nodes"].begin() + 1, b.doc["nodes"].end());
  AddNodes(b, joints);
  std::vector<float> binds;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    binds.insert(binds.end(), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1});
  }
  b.doc["skins"][0]["inverseBindMatrices"] = b.AddAccessor(binds, "MAT4");
  b.doc["skins"][0]["joints"] = Json::array();
  for (std::size_t j = 0; j < joints.size(); ++j) b.doc["skins"][0]["joints"].push_back(1 + j);
  b.doc["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] =
      b.AddAccessor<std::uint8_t>(std::vector<std::uint8_t>(16, 0), "VEC4");
  b.doc["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] =
      b.AddAccessor<float>({1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, "VEC4");
  const std::string path = testing::WriteFile("hero.glb", b.Glb());
  auto scene = ImportFile(path);
  EXPECT_TRUE(scene.ok()) << scene.status();
  scene->rig.label = "hero.glb";
  return *std::move(scene);
}

// Nodes without meshes; the clip turns one of them by 90 degrees about z within a second.
ImportedScene Clip(const std::vector<Node>& nodes, int turned, const std::string& name = "turn") {
  GltfBuilder b;
  AddNodes(b, nodes);
  testing::AddAnimation(b, turned, "rotation", {0, 1}, {0, 0, 0, 1, 0, 0, kHalf, kHalf}, "VEC4",
                        "LINEAR");
  b.doc["animations"][0]["name"] = name;
  auto scene = ImportClips(testing::WriteFile("clip.glb", b.Glb()));
  EXPECT_TRUE(scene.ok()) << scene.status();
  scene->rig.label = "walk.glb";
  return *std::move(scene);
}

const std::vector<Node> kArm = {{"root"}, {"tip", 0, {0, 1, 0}}};

// The place of each joint after one second of the last clip: [J * 3].
std::vector<float> Places(const ImportedScene& scene) {
  const auto clip =
      SampleClip(scene, scene.clips.size() - 1, {.fps = 1, .first_frame = 1, .last_frame = 1});
  EXPECT_TRUE(clip.ok()) << clip.status();
  std::vector<float> places;
  for (std::size_t j = 0; j < scene.rig.joints.size(); ++j) {
    for (const std::size_t at : {3, 7, 11}) places.push_back(clip->joint_transforms[j * 12 + at]);
  }
  return places;
}

void ExpectPlaces(const ImportedScene& scene, const std::vector<float>& expected) {
  EXPECT_THAT(Places(scene), Pointwise(::testing::FloatNear(1e-6f), expected));
}

std::vector<std::string> Warnings(const ImportedScene& scene) {
  std::vector<std::string> found;
  for (const Problem& problem : scene.problems) {
    if (problem.severity == Severity::kWarning)
      found.push_back(problem.field + ": " + problem.message);
  }
  return found;
}

std::string Refusal(const ImportedScene& from, ImportedScene& to) {
  return MessageOf(AddClips(from, to));
}

TEST(ClipFiles, MoveJointsOfTheirNames) {
  ImportedScene hero = Character(kArm);
  {
    const ImportedScene walk = Clip(kArm, 0);
    ASSERT_TRUE(AddClips(walk, hero).ok());
  }  // the character does not need it any more
  ASSERT_THAT(hero.clips, SizeIs(1));
  EXPECT_EQ(hero.clips[0].name, "turn");
  EXPECT_EQ(hero.clips[0].end, 1);
  ExpectPlaces(hero, {0, 0, 0, -1, 0, 0});
  EXPECT_THAT(Warnings(hero), IsEmpty());
}

TEST(ClipFiles, NodesBetweenAndAboveCount) {
  ImportedScene hero = Character(kArm);
  const ImportedScene walk = Clip(
      {{"scene", -1, {0, 0, 5}}, {"root", 0}, {"twist", 1, {0, 1, 0}}, {"tip", 2, {0, 1, 0}}}, 2);
  ASSERT_TRUE(AddClips(walk, hero).ok());
  ExpectPlaces(hero, {0, 0, 5, -1, 1, 5});
}

TEST(ClipFiles, JointsOfOtherParentsKeepTheirPlaceInTheScene) {
  ImportedScene hero = Character({{"root"}, {"spine", 0, {0, 1, 0}}, {"tip", 1, {0, 1, 0}}});
  const ImportedScene walk = Clip({{"root"}, {"spine", 0, {0, 1, 0}}, {"tip", 0, {0, 2, 0}}}, 1);
  ASSERT_TRUE(AddClips(walk, hero).ok());
  ExpectPlaces(hero, {0, 0, 0, 0, 1, 0, 0, 2, 0});
}

TEST(ClipFiles, JointsWithoutNamesakeKeepTheirRestPose) {
  ImportedScene hero =
      Character({{"root"}, {"twist", 0, {0, 1, 0}}, {"tip", 1, {0, 1, 0}}, {"hat", 2, {1, 0, 0}}});
  const ImportedScene walk = Clip({{"root"}, {"tip", 0, {0, 2, 0}}}, 0);
  ASSERT_TRUE(AddClips(walk, hero).ok());
  ExpectPlaces(hero, {0, 0, 0, -1, 0, 0, -2, 0, 0, -2, 1, 0});
  EXPECT_THAT(Warnings(hero), ElementsAre("walk.glb: 2 of 4 joints are missing and keep their rest "
                                          "pose: 'twist', 'hat'"));
}

TEST(ClipFiles, NodesAboveAreMovedToo) {
  GltfBuilder b = testing::MakeStrip();
  b.Push("nodes", {{"name", "mover"}, {"children", {1}}});
  auto hero = ImportFile(b.Write());
  ASSERT_TRUE(hero.ok()) << hero.status();
  const ImportedScene walk = Clip({{"mover", -1, {3, 0, 0}}, {"tip", 0, {0, 1, 0}}}, 0);
  ASSERT_TRUE(AddClips(walk, *hero).ok());
  ExpectPlaces(*hero, {3, 0, 0, 2, 0, 0});
}

TEST(ClipFiles, NamespacesMayDiffer) {
  for (const std::string prefix : {"rig:", "a:rig1:", "group|rig:"}) {
    ImportedScene hero = Character({{"mixamorig:root"}, {"mixamorig:tip", 0, {0, 1, 0}}});
    ASSERT_TRUE(AddClips(Clip({{prefix + "root"}, {prefix + "tip", 0, {0, 1, 0}}}, 0), hero).ok());
    ExpectPlaces(hero, {0, 0, 0, -1, 0, 0});
    EXPECT_THAT(Warnings(hero), IsEmpty());
    EXPECT_THAT(hero.problems.back().message, HasSubstr("but for namespaces"));
  }
}

TEST(ClipFiles, PrefixesMayDiffer) {
  const std::vector<Node> plain = {{"root"}, {"left_tip", 0, {0, 1, 0}}},
                          prefixed = {{"rig_root"}, {"rig_left_tip", 0, {0, 1, 0}}},
                          sanitised = {{"x:mixamorig_root"},
                                       {"x:mixamorig_left_tip", 0, {0, 1, 0}}};
  for (const auto& [own, other] :
       {std::pair(plain, prefixed), {prefixed, plain}, {prefixed, sanitised}}) {
    ImportedScene hero = Character(own);
    ASSERT_TRUE(AddClips(Clip(other, 0), hero).ok());
    ExpectPlaces(hero, {0, 0, 0, -1, 0, 0});
    EXPECT_THAT(hero.problems.back().message, HasSubstr("but for the prefix"));
  }
}

TEST(ClipFiles, SidesAreNoPrefixes) {
  ImportedScene hero = Character({{"arm"}, {"hand", 0, {0, 1, 0}}});
  const ImportedScene walk =
      Clip({{"left_arm"}, {"left_hand", 0}, {"right_arm"}, {"right_hand", 2}}, 0);
  EXPECT_THAT(Refusal(walk, hero), HasSubstr("has no joint of hero.glb"));
  // One joint in three is an accident.
  ImportedScene other = Character({{"arm"}, {"hand", 0}, {"finger", 1}});
  EXPECT_THAT(Refusal(Clip({{"upper_arm"}, {"foot", 0}}, 0), other), HasSubstr("has no joint"));
}

TEST(ClipFiles, SeveralNamesakesMoveNothing) {
  ImportedScene hero = Character({{"root"}, {"tip", 0, {0, 1, 0}}});
  const ImportedScene one = Clip({{"root"}, {"tip", 0}, {"tip", 0}}, 0);
  ASSERT_TRUE(AddClips(one, hero).ok());
  ExpectPlaces(hero, {0, 0, 0, -1, 0, 0});
  EXPECT_THAT(Warnings(hero), ElementsAre("walk.glb: 1 of 2 joints keeps its rest pose, because "
                                          "several nodes have the same name: 'tip'"));
  const ImportedScene two = Clip({{"a:root"}, {"a:tip", 0}, {"b:root"}, {"b:tip", 2}}, 0);
  EXPECT_THAT(Refusal(two, hero), HasSubstr("several nodes have the name of a joint of hero.glb: "
                                            "'root', 'tip'"));
  EXPECT_THAT(hero.clips, SizeIs(1));
}

TEST(ClipFiles, FilesWithoutCommonJointAreRefused) {
  ImportedScene hero = Character(kArm);
  EXPECT_EQ(Refusal(Clip({{"hip"}, {"knee", 0}}, 0), hero),
            "walk.glb: has no joint of hero.glb; it has the nodes 'hip', 'knee', hero.glb has the "
            "joints 'root', 'tip'");
  EXPECT_THAT(hero.clips, IsEmpty());
  EXPECT_THAT(Warnings(hero), IsEmpty());
  EXPECT_THAT(Refusal(Clip({{""}, {"", 0}}, 0), hero), HasSubstr("it has no nodes with a name, "));
}

TEST(ClipFiles, OtherRestRotationsAreReported) {
  ImportedScene hero = Character(kArm);
  std::vector<Node> bent = kArm;
  bent[1].rotation = {0.5f, 0, 0, 0.8660254f};  // 60 degrees
  ASSERT_TRUE(AddClips(Clip(bent, 0), hero).ok());
  EXPECT_THAT(Warnings(hero), ElementsAre("walk.glb: at rest 1 joint is turned against those of "
                                          "hero.glb, by up to 60 degrees at 'tip'; they move as in "
                                          "the clip's file"));
}

TEST(ClipFiles, OtherRestLengthsAreReportedAndKept) {
  ImportedScene hero = Character(kArm);
  ASSERT_TRUE(AddClips(Clip({{"root"}, {"tip", 0, {0, 100, 0}}}, 0), hero).ok());
  EXPECT_THAT(Warnings(hero),
              ElementsAre(AllOf(HasSubstr("another distance or scale than in hero.glb"),
                                HasSubstr("'tip'; in all, bones are 100 times as long"))));
  ExpectPlaces(hero, {0, 0, 0, -100, 0, 0});
  ImportedScene scaled = Character(kArm);
  ASSERT_TRUE(
      AddClips(Clip({{"root", -1, {}, {0, 0, 0, 1}, 0.01f}, {"tip", 0, {0, 1, 0}}}, 0), scaled)
          .ok());
  EXPECT_THAT(Warnings(scaled), ElementsAre(HasSubstr("bones are 0.01 times as long")));
}

TEST(ClipFiles, RoundingOfRestPosesIsNotReported) {
  ImportedScene hero = Character(kArm);
  ASSERT_TRUE(
      AddClips(
          Clip({{"root", -1, {1e-6f, 0, 0}}, {"tip", 0, {0, 1.001f, 1e-5f}, {0, 0, 1e-3f, 1}}}, 0),
          hero)
          .ok());
  EXPECT_THAT(Warnings(hero), IsEmpty());
}

TEST(ClipFiles, ClipsGetNamesOfTheirOwn) {
  ImportedScene hero = Character(kArm);
  for (int k = 0; k < 3; ++k) ASSERT_TRUE(AddClips(Clip(kArm, 0, "Take 001"), hero).ok());
  std::vector<std::string> names;
  for (const ClipInfo& clip : hero.clips) names.push_back(clip.name);
  EXPECT_THAT(names, ElementsAre("Take 001", "walk", "walk.2"));
}

// Two targets, `smile` and `blink`, whose order the caller chooses.
GltfBuilder Face(const std::vector<std::string>& targets) {
  GltfBuilder b = testing::MakeStrip();
  for (std::size_t t = 0; t < targets.size(); ++t) {
    b.doc["meshes"][0]["primitives"][0]["targets"].push_back(
        {{"POSITION", b.AddAccessor<float>({0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "VEC3")}});
  }
  b.doc["meshes"][0]["extras"]["targetNames"] = targets;
  return b;
}

TEST(ClipFiles, ControlsArePairedByName) {
  auto hero = ImportFile(Face({"smile", "frown", "blink"}).Write());
  ASSERT_TRUE(hero.ok()) << hero.status();
  GltfBuilder b = Face({"blink", "smile"});
  testing::AddAnimation(b, 0, "weights", {0, 1}, {0, 0, 0.25f, 0.75f}, "SCALAR", "LINEAR");
  const auto face = ImportClips(testing::WriteFile("face.glb", b.Glb()));
  ASSERT_TRUE(face.ok()) << face.status();
  ASSERT_TRUE(AddClips(*face, *hero).ok());
  const auto clip = SampleClip(*hero, 0, {.fps = 1, .first_frame = 1, .last_frame = 1});
  ASSERT_TRUE(clip.ok()) << clip.status();
  EXPECT_THAT(clip->controls, ElementsAre(0.75f, 0, 0.25f));
}

TEST(ClipFiles, LossesOfTheirClipsAreReported) {
  ImportedScene hero = Character(kArm);
  GltfBuilder b = testing::MakeStrip();  // with losses of its mesh, too
  b.doc["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] =
      b.AddAccessor<float>({.5f, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, "VEC4");
  testing::AddAnimation(b, 1, "rotation", {0}, {0, 0, 0, 1}, "VEC4", "STEP");
  b.doc["animations"][0]["channels"].push_back({{"sampler", 0}, {"target", {{"path", "scale"}}}});
  auto gltf = ImportClips(testing::WriteFile("clip.glb", b.Glb()));
  ASSERT_TRUE(gltf.ok()) << gltf.status();
  gltf->rig.label = "walk.glb";
  ASSERT_TRUE(AddClips(*gltf, hero).ok());
  EXPECT_THAT(Warnings(hero),
              ElementsAre("walk.glb animations[0] 'clip': 1 channel that animates no node"));

  // A clip of the library without the second channel, and a channel of a matrix.
  const std::string channel =
      testing::ColladaAnimation("a", {.target = "root/move.X", .times = {0, 1}, .values = {0, 1}});
  const std::string other =
      testing::ColladaAnimation("b", {.target = "root/move.Y", .times = {0, 1}, .values = {0, 1}});
  const std::string dae = testing::ColladaFile(
      {"root"},
      "<node id=\"root\" name=\"root\" sid=\"root\" type=\"JOINT\"><translate sid=\"move\">0 0 "
      "0</translate><node id=\"tip\" name=\"tip\"><translate>0 1 0</translate></node></node>",
      absl::StrCat("<library_animations>", channel, other,
                   "</library_animations><library_animation_clips><animation_clip id=\"walk\" "
                   "start=\"0\" end=\"1\"><instance_animation url=\"#a\"/></animation_clip>"
                   "</library_animation_clips>"));
  auto collada = ImportClips(testing::WriteFile("clip.dae", dae));
  ASSERT_TRUE(collada.ok()) << collada.status();
  collada->rig.label = "walk.dae";
  ImportedScene fresh = Character(kArm);
  ASSERT_TRUE(AddClips(*collada, fresh).ok());
  EXPECT_THAT(Warnings(fresh), ::testing::Contains(AllOf(HasSubstr("walk.dae animations: "),
                                                         HasSubstr("no animation clip plays"))));
}

TEST(ClipFiles, NeedNoMeshButAClip) {
  GltfBuilder b;
  AddNodes(b, kArm);
  b.AddAccessor<float>({0}, "SCALAR");
  const auto none = ImportClips(testing::WriteFile("none.glb", b.Glb()));
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("none.glb: has no clip"));
  testing::AddAnimation(b, 0, "rotation", {0}, {0, 0, 0, 1}, "VEC4", "STEP");
  const std::string path = testing::WriteFile("clip.glb", b.Glb());
  EXPECT_TRUE(ImportClips(path).ok());
  for (const bool allow_no_skin : {false, true}) {
    const auto character = ImportFile(path, {.allow_no_skin = allow_no_skin});
    EXPECT_EQ(character.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(character.status().message()),
                AllOf(HasSubstr("has clips but no mesh"), HasSubstr("--clip-file")));
  }
}

TEST(ClipFiles, FilesWithUnskinnedMeshesStillNeedWeights) {
  GltfBuilder b = testing::MakeStrip();
  b.doc["nodes"][0].erase("skin");
  b.doc.erase("skins");
  testing::AddAnimation(b, 0, "rotation", {0}, {0, 0, 0, 1}, "VEC4", "STEP");
  EXPECT_THAT(std::string(ImportFile(b.Write()).status().message()), HasSubstr("sinew weights"));
}

TEST(ClipFiles, StillJointIsNotMissing) {
  GltfBuilder b = testing::MakeStrip();
  b.doc["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] =
      b.AddAccessor<float>({1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, "VEC4");
  auto hero = ImportFile(b.Write(), {.unweighted = Unweighted::kStill});
  ASSERT_TRUE(hero.ok()) << hero.status();
  hero->problems.clear();
  ASSERT_TRUE(AddClips(Clip(kArm, 0), *hero).ok());
  EXPECT_THAT(Warnings(*hero), IsEmpty());
}

}  // namespace
}  // namespace sinew::client
