// Laws of every stateful recipe for sequences of poses.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "core/deform/engine/deformer.h"
#include "core/deform/engine/recipe_text.h"
#include "tests/laws/law_cases.h"
#include "tests/laws/law_recipes.h"
#include "tests/support/run_method.h"

namespace sinew {
namespace {

Deformer Bound(const Rig& rig, const std::string& recipe_text) {
  Task task;
  return testing::ValueOrDie(
      Deformer::Bind(rig, testing::ValueOrDie(ParseRecipe(recipe_text)), task));
}

std::vector<std::string> StatefulRecipes() {
  std::vector<std::string> recipes;
  for (const std::string& recipe_text : testing::LawRecipes()) {
    if (!Bound(testing::LawRigs().front().rig, recipe_text).frames_independent())
      recipes.push_back(recipe_text);
  }
  return recipes;
}

struct Frame {
  std::vector<Vec3f> positions;
  std::vector<std::byte> vertex_status;
};

std::vector<Frame> Sequence(const Deformer& deformer, std::span<const testing::NamedPose> poses,
                            bool parallel) {
  const Task task({.progress = {}, .parallel = parallel});
  Workspace workspace;
  StreamState state;
  std::vector<Frame> frames;
  for (const testing::NamedPose& pose : poses) {
    Frame frame = {.positions = std::vector<Vec3f>(deformer.vertices()),
                   .vertex_status = std::vector<std::byte>(deformer.vertices())};
    FrameOut out{.positions = std::as_writable_bytes(std::span(frame.positions)),
                 .vertex_status = frame.vertex_status};
    const absl::Status status =
        deformer.Evaluate({.joints = pose.joints}, out, workspace, &state, task);
    EXPECT_TRUE(status.ok()) << pose.name << ": " << status;
    frames.push_back(std::move(frame));
  }
  return frames;
}

TEST(SequenceLaws, AnyPoseMayFollowAnother) {
  const std::vector<std::string> recipes = StatefulRecipes();
  ASSERT_FALSE(recipes.empty());
  for (const std::string& recipe_text : recipes) {
    for (const testing::NamedRig& rig : testing::LawRigs()) {
      const Deformer deformer = Bound(rig.rig, recipe_text);
      const auto poses = testing::LawPoses(rig.rig);
      const auto serial = Sequence(deformer, poses, false);
      const auto parallel = Sequence(deformer, poses, true);
      for (std::size_t k = 0; k < poses.size(); ++k) {
        const std::string what = recipe_text + ", " + rig.name + ", " + poses[k].name;
        for (const Vec3f& p : serial[k].positions) {
          ASSERT_TRUE(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) << what;
        }
        for (const std::byte state : serial[k].vertex_status)
          ASSERT_LE(std::to_integer<int>(state), 6);
        const std::size_t bytes = serial[k].positions.size() * sizeof(Vec3f);
        EXPECT_EQ(std::memcmp(serial[k].positions.data(), parallel[k].positions.data(), bytes), 0)
            << what;
        EXPECT_EQ(serial[k].vertex_status, parallel[k].vertex_status) << what;
      }
    }
  }
}

}  // namespace
}  // namespace sinew
