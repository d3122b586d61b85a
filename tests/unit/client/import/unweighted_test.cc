// Vertices without weights: refused unless --unweighted says what moves them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sinew/import.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/linear_blend.h"

namespace sinew::client {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using testing::GltfBuilder;
using ::testing::HasSubstr;
using testing::Point;

// The strip with vertices 1 and 3 unweighted: 1 is nearest to 0, which `root` carries; 3 to 2. Its
// clip turns the root by 180 degrees about z within a second.
GltfBuilder HalfWeightedStrip() {
  GltfBuilder b = testing::MakeStrip();
  nlohmann::json& attributes = b.doc["meshes"][0]["primitives"][0]["attributes"];
  attributes["WEIGHTS_0"] =
      b.AddAccessor<float>({1, 0, 0, 0, 0, 0, 0, 0, 0.25f, 0.75f, 0, 0, 0, 0, 0, 0}, "VEC4");
  testing::AddAnimation(b, 1, "rotation", {0, 1}, {0, 0, 0, 1, 0, 0, 1, 0}, "VEC4", "LINEAR");
  return b;
}

ImportedScene Import(Unweighted unweighted) {
  auto scene = ImportFile(HalfWeightedStrip().Write(), {.unweighted = unweighted});
  EXPECT_TRUE(scene.ok()) << scene.status();
  return scene.ok() ? *std::move(scene) : ImportedScene();
}

std::vector<Point> LastFrame(const ImportedScene& scene) {
  const auto clip = SampleClip(scene, 0, {.fps = 1, .first_frame = 1, .last_frame = 1});
  EXPECT_TRUE(clip.ok()) << clip.status();
  return testing::LinearBlend(scene.rig, scene.rig.meshes[0], *clip, 0);
}

void ExpectNear(const Point& point, const Point& expected) {
  for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(point[axis], expected[axis], 1e-6);
}

TEST(Unweighted, RefusesByDefaultAndNamesTheOption) {
  const auto scene = ImportFile(HalfWeightedStrip().Write());
  EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(scene.status().message()),
      HasSubstr("nodes[0] 'Strip': 2 vertices have no weight, the first is 1; need every "
                "vertex bound to a joint, or --unweighted root, nearest or still (in Python "
                "unweighted=)"));
}

TEST(Unweighted, RootMovesThem) {
  const ImportedScene scene = Import(Unweighted::kRoot);
  EXPECT_EQ(scene.rig.joints.size(), 2u);
  EXPECT_THAT(scene.problems, Contains(Field(&Problem::message,
                                             HasSubstr("2 vertices without weights, moved by the "
                                                       "joint 'root'"))));
  const std::vector<Point> posed = LastFrame(scene);
  ExpectNear(posed[1], {-1, 0, 0});
  ExpectNear(posed[3], {0, -2, 0});
}

TEST(Unweighted, NearestSharesItsInfluences) {
  const ImportedScene scene = Import(Unweighted::kNearest);
  const Skin& skin = scene.rig.meshes.at(0).skin;
  EXPECT_THAT(skin.influence_counts, ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(skin.influence_joints, ElementsAre(0, 0, 0, 1, 0, 1));
  EXPECT_THAT(skin.influence_weights, ElementsAre(1, 1, 0.25f, 0.75f, 0.25f, 0.75f));
  EXPECT_FALSE(skin.fallback_joint);
}

TEST(Unweighted, StillJointKeepsThemAtRest) {
  const ImportedScene scene = Import(Unweighted::kStill);
  ASSERT_EQ(scene.rig.joints.size(), 3u);
  EXPECT_EQ(scene.rig.joints[2].name, "still");
  EXPECT_EQ(scene.rig.joints[2].parent, -1);
  EXPECT_EQ(RestPose(scene).joint_transforms.size(), 36u);
  const std::vector<Point> posed = LastFrame(scene);
  ExpectNear(posed[1], {1, 0, 0});
  ExpectNear(posed[3], {0, 2, 0});
  ExpectNear(posed[0], {0, 0, 0});
}

// The rest pose of a file may scale what the bind pose holds.
TEST(Unweighted, StillVerticesFollowRestPoseOfTheirSkin) {
  GltfBuilder b = HalfWeightedStrip();
  b.doc["nodes"][1]["scale"] = {3, 3, 3};
  const auto scene = ImportFile(b.Write(), {.unweighted = Unweighted::kStill});
  ASSERT_TRUE(scene.ok()) << scene.status();
  const std::vector<Point> rest =
      testing::LinearBlend(scene->rig, scene->rig.meshes[0], RestPose(*scene), 0);
  ExpectNear(rest[1], {3, 0, 0});
  ExpectNear(rest[3], {0, 6, 0});
}

TEST(Unweighted, NearestNeedsSomeWeights) {
  GltfBuilder b = HalfWeightedStrip();
  b.doc["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] =
      b.AddAccessor<float>(std::vector<float>(16, 0.0f), "VEC4");
  const auto scene = ImportFile(b.Write(), {.unweighted = Unweighted::kNearest});
  EXPECT_THAT(std::string(scene.status().message()), HasSubstr("no vertex has a weight"));
  EXPECT_TRUE(ImportFile(b.Write(), {.unweighted = Unweighted::kRoot}).ok());
}

}  // namespace
}  // namespace sinew::client
