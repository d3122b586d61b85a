// COLLADA files of clips alone: what they need, and which of their nodes count.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sinew/clip_files.h"
#include "sinew/import.h"
#include "tests/support/collada_file.h"
#include "tests/support/gltf_builder.h"

namespace sinew::client {
namespace {

using ::testing::AllOf;
using testing::ColladaFile;
using testing::ColladaKeys;
using testing::ColladaLibrary;
using testing::ColladaNodes;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

// Two joints, and a camera beside them.
const char kNodes[] = R"(<node id="a" sid="A"><translate sid="t">0 0 0</translate>
<node id="b" sid="B"><translate sid="t">0 2 0</translate></node></node>
<node id="camera"><translate sid="t">0 0 0</translate></node>)";

// Moves a along x and b along y.
const std::vector<ColladaKeys> kWalk = {{"a/t.X", {0, 1}, {0, 4}}, {"b/t.Y", {0, 1}, {2, 5}}};

absl::StatusOr<ImportedScene> Clips(const std::string& file) {
  return ImportClips(testing::WriteFile("walk.dae", file));
}

// A character with these joints and the clips.
ImportedScene CharacterWith(const std::string& clips) {
  auto hero = ImportFile(testing::WriteFile("hero.dae", ColladaFile({"A", "B"}, kNodes, "")));
  EXPECT_TRUE(hero.ok()) << hero.status();
  const auto walk = Clips(clips);
  EXPECT_TRUE(walk.ok()) << walk.status();
  if (walk.ok()) {
    EXPECT_TRUE(AddClips(*walk, *hero).ok());
  }
  return *std::move(hero);
}

// Both joints follow the clip.
void ExpectWalks(const ImportedScene& hero) {
  const auto clip = SampleClip(hero, 0, {.fps = 2});
  ASSERT_TRUE(clip.ok()) << clip.status();
  const float* half = &clip->joint_transforms[2 * 12];
  EXPECT_FLOAT_EQ(half[3], 2);
  EXPECT_FLOAT_EQ(half[12 + 3], 2);
  EXPECT_FLOAT_EQ(half[12 + 7], 3.5f);
}

TEST(ColladaClipFile, NeedsNeitherMeshNorSkin) {
  ExpectWalks(CharacterWith(ColladaNodes(kNodes, ColladaLibrary(kWalk))));
}

TEST(ColladaClipFile, MovesJointsThatItsOwnSkinDoesNotUse) {
  ExpectWalks(CharacterWith(ColladaFile({"A"}, kNodes, ColladaLibrary(kWalk))));
}

TEST(ColladaClipFile, WeightsAndMorphTargetsDoNotCount) {
  ExpectWalks(CharacterWith(absl::StrReplaceAll(
      ColladaFile({"A"}, kNodes, ColladaLibrary(kWalk)),
      {{"<v>0 0 0 0 0 0 </v>", "<v>-7 0 0 99 0 0</v>"},
       {"<library_controllers>",
        "<library_controllers><controller id=\"m\"><morph source=\"#g\"/></controller>"}})));
}

TEST(ColladaClipFile, RefusesChannelOfAnyNodeThatCannotBeEvaluated) {
  const auto walk =
      Clips(ColladaNodes(kNodes, ColladaLibrary({{"b/t.Y", {0, 1}, {2, 5}, "HERMITE"}})));
  EXPECT_THAT(std::string(walk.status().message()),
              AllOf(HasSubstr("channel 'b/t.Y'"), HasSubstr("'HERMITE'")));
}

TEST(ColladaClipFile, LossesReachTheCharacter) {
  std::vector<ColladaKeys> channels = kWalk;
  channels.push_back({"lens/YFOV", {0, 1}, {0, 4}});
  const ImportedScene hero = CharacterWith(ColladaNodes(kNodes, ColladaLibrary(channels)));
  ExpectWalks(hero);
  EXPECT_THAT(hero.problems, Contains(AllOf(Field(&Problem::severity, Severity::kWarning),
                                            Field(&Problem::message, HasSubstr("1 channel")))));
}

}  // namespace
}  // namespace sinew::client
