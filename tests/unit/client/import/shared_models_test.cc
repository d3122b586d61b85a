// Real characters: counts and the traps their README lists. Skipped where they are not present.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "client/rig/rig_traits.h"
#include "sinew/import.h"
#include "tests/support/linear_blend.h"
#include "tests/support/paths.h"

namespace sinew::client {
namespace {

std::string PathOf(const std::string& file) {
  return (testing::SharedData() / "models" / file).string();
}

struct Expected {
  const char* file;
  std::size_t vertices, triangles, joints, weighted_joints, clips, influences, targets;
  const char* clip;
  std::size_t channels, keys;
  double start, end;
};

void PrintTo(const Expected& expected, std::ostream* out) {
  *out << expected.file << " " << expected.clip;
}

class Character : public ::testing::TestWithParam<Expected> {};

TEST_P(Character, HasTheCountsOfItsReadme) {
  const Expected& e = GetParam();
  if (!std::filesystem::exists(PathOf(e.file))) GTEST_SKIP() << "no shared test data";
  const auto scene = ImportFile(PathOf(e.file));
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->rig.vertices(), e.vertices);
  const client::RigTraits traits = client::CountRig(scene->rig);
  EXPECT_EQ(traits.meshes.at(0).triangles, e.triangles);
  EXPECT_EQ(scene->rig.joints.size(), e.joints);
  EXPECT_EQ(e.joints - traits.joints_without_weights.size(), e.weighted_joints);
  EXPECT_EQ(scene->clips.size(), e.clips);
  const auto most = std::ranges::max(traits.meshes, {}, &client::MeshTraits::max_influences);
  EXPECT_EQ(most.max_influences, e.influences);
  EXPECT_EQ(scene->rig.controls.size(), e.targets);
  EXPECT_TRUE(scene->keeps_file_order);
  const auto index = FindClip(*scene, e.clip);
  ASSERT_TRUE(index.ok()) << index.status();
  const ClipInfo& clip = scene->clips[*index];
  EXPECT_EQ(clip.channels, e.channels);
  EXPECT_EQ(clip.keys, e.keys);
  EXPECT_NEAR(clip.start, e.start, 1e-3);
  EXPECT_NEAR(clip.end, e.end, 5e-3);
  for (const Problem& problem : scene->problems)
    EXPECT_NE(problem.reason, kLostReason) << problem.message;
}

INSTANTIATE_TEST_SUITE_P(
    All, Character,
    ::testing::Values(
        Expected{"CesiumMan.glb", 3273, 4672, 19, 19, 1, 4, 0, "0", 57, 48, 0.0417, 2},
        Expected{"RiggedFigure.glb", 370, 256, 19, 19, 1, 4, 0, "0", 57, 2, 0, 1.25},
        Expected{"SimpleSkin.gltf", 10, 8, 2, 2, 1, 2, 0, "0", 1, 12, 0, 5.5},
        Expected{"mannequiny.glb", 12597, 13832, 45, 45, 10, 4, 0, "idle_root.001", 135, 33, 0.0333,
                 1.37},
        Expected{"mannequiny.glb", 12597, 13832, 45, 45, 10, 4, 0, "fight_kick_root.001", 135, 29,
                 0.0333, 1.2},
        Expected{"MakeHumanBody.glb", 14517, 26756, 163, 124, 5, 8, 7, "face_pose_units", 55, 60, 0,
                 2.46},
        Expected{"MakeHumanBody.glb", 14517, 26756, 163, 124, 5, 8, 7, "morph_sweep", 1, 9, 0, 4},
        Expected{"Horse.glb", 2146, 3414, 56, 51, 14, 4, 0, "Turn_Left", 168, 140, 0.0333, 4.67},
        Expected{"Horse.glb", 2146, 3414, 56, 51, 14, 4, 0, "Rear", 168, 88, 0.0333, 2.93}));

// In the rest pose of these files linear blend gives back the mesh up to the transform above the
// joints.
TEST(SharedModels, RestPoseUndoesTheInverseBinds) {
  for (const char* file : {"mannequiny.glb", "Horse.glb", "MakeHumanBody.glb"}) {
    if (!std::filesystem::exists(PathOf(file))) GTEST_SKIP() << "no shared test data";
    const auto scene = ImportFile(PathOf(file));
    ASSERT_TRUE(scene.ok()) << scene.status();
    const ClipData rest = RestPose(*scene);
    const Mesh& mesh = scene->rig.meshes[0];
    const auto posed = testing::LinearBlend(scene->rig, mesh, rest, 0);
    const float* joint = &rest.joint_transforms[std::size_t{mesh.skin.joints[0]} * 12];
    double worst = 0;
    for (std::size_t v = 0; v < posed.size(); ++v) {
      const testing::Point at = {mesh.positions[v * 3], mesh.positions[v * 3 + 1],
                                 mesh.positions[v * 3 + 2]};
      const testing::Point expected =
          testing::Transform(joint, testing::Transform(mesh.skin.inverse_bind.data(), at));
      for (std::size_t axis = 0; axis < 3; ++axis)
        worst = std::max(worst, std::abs(posed[v][axis] - expected[axis]));
    }
    EXPECT_LT(worst, 1e-4) << file;
  }
}

TEST(SharedModels, ClipsHoldTheirFirstKey) {
  for (const char* file : {"mannequiny.glb", "Horse.glb"}) {
    if (!std::filesystem::exists(PathOf(file))) GTEST_SKIP() << "no shared test data";
    const auto scene = ImportFile(PathOf(file));
    ASSERT_TRUE(scene.ok()) << scene.status();
    for (std::size_t c = 0; c < scene->clips.size(); ++c) {
      EXPECT_NEAR(scene->clips[c].start, 1.0 / 30, 1e-6);
      const auto clip = SampleClip(*scene, c, SampleOptions{.fps = 120, .last_frame = 4});
      ASSERT_TRUE(clip.ok());
      const std::size_t size = scene->rig.joints.size() * 12;
      for (std::size_t i = 0; i < size; ++i) {
        EXPECT_EQ(clip->joint_transforms[i], clip->joint_transforms[2 * size + i])
            << scene->clips[c].name;
      }
    }
  }
}

// No joint may jump between neighbouring frames: sign flips of quaternion keys, and steps read as
// lines or not at all.
TEST(SharedModels, MotionIsContinuous) {
  for (const char* file : {"mannequiny.glb", "Horse.glb", "CesiumMan.glb"}) {
    if (!std::filesystem::exists(PathOf(file))) GTEST_SKIP() << "no shared test data";
    const auto scene = ImportFile(PathOf(file));
    ASSERT_TRUE(scene.ok()) << scene.status();
    const std::size_t size = scene->rig.joints.size() * 12;
    for (std::size_t c = 0; c < scene->clips.size(); ++c) {
      if (scene->clips[c].keys <= 2) continue;
      const auto clip = SampleClip(*scene, c, SampleOptions{.fps = 240});
      ASSERT_TRUE(clip.ok());
      for (std::size_t i = size; i < clip->joint_transforms.size(); ++i) {
        if (i % 4 == 3) continue;  // translations have the size of the character
        ASSERT_LT(std::abs(clip->joint_transforms[i] - clip->joint_transforms[i - size]), 0.35)
            << file << " " << scene->clips[c].name << " frame " << i / size << " joint "
            << i % size / 12;
      }
    }
  }
}

TEST(SharedModels, ScaleChannelsStretch) {
  if (!std::filesystem::exists(PathOf("mannequiny.glb"))) GTEST_SKIP() << "no shared test data";
  const auto scene = ImportFile(PathOf("mannequiny.glb"));
  ASSERT_TRUE(scene.ok()) << scene.status();
  double low = 1, high = 1;
  for (std::size_t c = 0; c < scene->clips.size(); ++c) {
    const auto clip = SampleClip(*scene, c);
    ASSERT_TRUE(clip.ok());
    for (std::size_t m = 0; m < clip->joint_transforms.size(); m += 12) {
      const float* a = &clip->joint_transforms[m];
      for (std::size_t column = 0; column < 3; ++column) {
        const double length = std::hypot(a[column], a[4 + column], a[8 + column]);
        low = std::min(low, length);
        high = std::max(high, length);
      }
    }
  }
  EXPECT_LT(low, 0.9);
  EXPECT_GT(high, 1.2);
}

TEST(SharedModels, MorphSweepMovesTheControls) {
  if (!std::filesystem::exists(PathOf("MakeHumanBody.glb"))) GTEST_SKIP() << "no shared test data";
  const auto scene = ImportFile(PathOf("MakeHumanBody.glb"));
  ASSERT_TRUE(scene.ok()) << scene.status();
  const auto clip = SampleClip(*scene, FindClip(*scene, "morph_sweep").value());
  ASSERT_TRUE(clip.ok());
  ASSERT_EQ(clip->controls.size(), clip->frames * 7);
  EXPECT_GT(*std::max_element(clip->controls.begin(), clip->controls.end()), 0.9f);
  for (const Shape& shape : scene->rig.meshes[0].shapes) {
    EXPECT_LT(shape.targets[0].vertices.size(), scene->rig.vertices() / 2)
        << "a face expression is sparse";
    EXPECT_EQ(shape.targets[0].normal_offsets.size(), shape.targets[0].offsets.size());
  }
}

}  // namespace
}  // namespace sinew::client
