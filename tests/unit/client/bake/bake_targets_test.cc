#include "client/bake/passes/bake_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/bake/base/errors.h"
#include "client/bake/files/name_pattern.h"

namespace sinew::bake {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

client::RigData ThreeMeshes() {
  client::RigData rig;
  for (const char* name : {"body", "left eye", "right eye"}) {
    client::Mesh& mesh = rig.meshes.emplace_back();
    mesh.name = name;
    mesh.positions = {0, 0, 0};
  }
  return rig;
}

std::vector<std::string> Paths(const std::vector<BakePass>& passes) {
  std::vector<std::string> paths;
  for (const BakePass& pass : passes) {
    for (const CacheTarget& target : pass.targets) paths.push_back(target.path);
  }
  return paths;
}

absl::StatusOr<std::vector<BakePass>> Passes(const BakeOutput& output,
                                             const std::vector<std::string>& clips = {"Walk"},
                                             const std::vector<std::string>& deformers = {"lbs"}) {
  return BakePasses(output, {}, ThreeMeshes(), clips, deformers, {"/no/such/file.glb", ""});
}

TEST(NamePattern, ReplacesWordsByNamesThatAreSafe) {
  EXPECT_EQ(ExpandName("a/{mesh}.{clip}.{mesh}.pc2", {{"mesh", "../x y"}, {"clip", "{mesh}"}}),
            "a/.._x_y._mesh_..._x_y.pc2");
  EXPECT_EQ(ExpandName("{mesh}.pc2", {{"mesh", "\u4f53"}}), "\u4f53.pc2");
  EXPECT_EQ(ExpandName("{other}.pc2", {{"mesh", "a"}}), "{other}.pc2");
  EXPECT_TRUE(HasWord("{mesh}", "mesh"));
  EXPECT_FALSE(HasWord("mesh", "mesh"));
}

TEST(SelectVertices, OnlyForBlenderWhereTheyDiffer) {
  client::ImportedScene scene;
  scene.mesh_extras.resize(2);
  CharacterFile character;
  const auto selected = [&](client::UpAxis up) {
    character.scene = scene;
    CacheTarget common;
    common.up = up;
    SelectVertices(character, common);
    return common.selection;
  };
  EXPECT_EQ(selected(client::UpAxis::kZ), nullptr);
  scene.mesh_extras[1].blender_vertices = {0, 2};
  EXPECT_EQ(selected(client::UpAxis::kUnspecified), nullptr);
  EXPECT_EQ(selected(client::UpAxis::kY), nullptr);
  ASSERT_NE(selected(client::UpAxis::kZ), nullptr);
  EXPECT_THAT(*selected(client::UpAxis::kZ), ElementsAre(::testing::IsEmpty(), ElementsAre(0, 2)));
}

TEST(BakePasses, OneCacheHasAllMeshes) {
  const auto passes = Passes({.out = "a.pc2"});
  ASSERT_TRUE(passes.ok()) << passes.status();
  ASSERT_THAT(Paths(*passes), ElementsAre("a.pc2"));
  EXPECT_THAT((*passes)[0].targets[0].meshes, ElementsAre(0, 1, 2));
}

TEST(BakePasses, SplitsMeshesClipsAndDeformers) {
  const auto passes = Passes({.out = "{deformer}.{clip}.{mesh}.pc2", .split = true},
                             {"Walk", "Run"}, {"lbs", "dqs(blend=0.5)"});
  ASSERT_TRUE(passes.ok()) << passes.status();
  EXPECT_EQ(passes->size(), 4u);
  EXPECT_THAT(Paths(*passes),
              ElementsAre("lbs.Walk.body.pc2", "lbs.Walk.left_eye.pc2", "lbs.Walk.right_eye.pc2",
                          "lbs.Run.body.pc2", "lbs.Run.left_eye.pc2", "lbs.Run.right_eye.pc2",
                          "dqs_blend_0.5_.Walk.body.pc2", "dqs_blend_0.5_.Walk.left_eye.pc2",
                          "dqs_blend_0.5_.Walk.right_eye.pc2", "dqs_blend_0.5_.Run.body.pc2",
                          "dqs_blend_0.5_.Run.left_eye.pc2", "dqs_blend_0.5_.Run.right_eye.pc2"));
}

TEST(BakePasses, ChoosesMeshesInTheOrderOfTheRig) {
  const auto passes = Passes({.out = "a.pc2", .meshes = {"right eye", "body", "body"}});
  ASSERT_TRUE(passes.ok()) << passes.status();
  EXPECT_THAT((*passes)[0].targets[0].meshes, ElementsAre(0, 2));
  EXPECT_THAT(Paths(*Passes({.out = "{mesh}.pc2", .meshes = {"body"}})), ElementsAre("body.pc2"));
}

TEST(BakePasses, ErrorsSayWhatIsMissing) {
  const auto usage = [](const absl::StatusOr<std::vector<BakePass>>& passes) {
    EXPECT_TRUE(IsRequestError(passes.status()));
    return std::string(passes.status().message());
  };
  EXPECT_THAT(usage(Passes({.out = "a.pc2", .split = true})), HasSubstr("as in a.{mesh}.pc2"));
  EXPECT_THAT(usage(Passes({.out = "a.pc2"}, {"Walk", "Run"})),
              HasSubstr("need {clip} in it for 2 caches"));
  EXPECT_THAT(usage(Passes({.out = "a.pc2"}, {"Walk"}, {"lbs", "dqs"})), HasSubstr("{deformer}"));
  EXPECT_THAT(usage(Passes({.out = "{clip}.pc2"}, {"a b", "a_b"})),
              HasSubstr("two files would have the name a_b.pc2"));
  EXPECT_THAT(usage(Passes({.out = "{mesh}.pc2"})), HasSubstr("needs `split`"));
  EXPECT_THAT(usage(Passes({.out = "{Mesh}.pc2"})), HasSubstr("need {mesh}, {clip} or"));
  const auto unknown = Passes({.out = "a.pc2", .meshes = {"Body"}});
  EXPECT_TRUE(absl::IsInvalidArgument(unknown.status()));
  EXPECT_THAT(std::string(unknown.status().message()), HasSubstr("did you mean body?"));
}

TEST(CommonTarget, FormatAndAxesAreChecked) {
  EXPECT_EQ(CommonTarget({.out = "a.mdd", .axes = "blender"})->up, client::UpAxis::kZ);
  EXPECT_EQ(CommonTarget({.out = "a", .format = "npy", .axes = "file"})->format, CacheFormat::kNpy);
  EXPECT_TRUE(IsRequestError(CommonTarget({.out = "a.abc", .axes = "file"}).status()));
  EXPECT_TRUE(IsRequestError(CommonTarget({.out = "a.pc2", .axes = "unreal"}).status()));
}

}  // namespace
}  // namespace sinew::bake
