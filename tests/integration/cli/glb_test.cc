// Bakes as .glb, read again by our importer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "client/bake/formats/manifest.h"
#include "sinew/import.h"
#include "tests/integration/cli/parts_fixture.h"
#include "tests/support/npy_frame.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Glb : public Parts {
 protected:
  client::ImportedScene Import(const std::string& name) const {
    auto scene = client::ImportFile(folder_ / name, {.allow_no_skin = true});
    EXPECT_TRUE(scene.ok()) << scene.status();
    return scene.value_or(client::ImportedScene());
  }
  // The mesh with morph targets applied.
  static std::vector<float> Posed(const client::Mesh& mesh, std::span<const float> weights) {
    std::vector<float> points = mesh.positions;
    for (std::size_t s = 0; s < mesh.shapes.size(); ++s) {
      const client::ShapeTarget& target = mesh.shapes[s].targets.at(0);
      for (std::size_t k = 0; k < target.offsets.size(); ++k) {
        const std::size_t vertex = target.vertices.empty() ? k / 3 : target.vertices[k / 3];
        points[vertex * 3 + k % 3] += weights[s] * target.offsets[k];
      }
    }
    return points;
  }
};

TEST_F(Glb, FramesAreReadBackAsTheyWereBaked) {
  const Strings range = {"--frames", "18-27"};
  ASSERT_EQ(Bake("a.glb", range).exit_code, 0);
  ASSERT_EQ(Bake("a.npy", range).exit_code, 0);
  const client::ImportedScene scene = Import("a.glb");
  ASSERT_EQ(scene.rig.meshes.size(), 1u);
  const client::Mesh& mesh = scene.rig.meshes[0];
  EXPECT_EQ(mesh.name, "hand");
  EXPECT_EQ(mesh.shapes.size(), 9u);
  ASSERT_EQ(scene.clips.size(), 1u);
  const auto clip = client::SampleClip(scene, 0, {.fps = 48});  // also between the frames
  ASSERT_TRUE(clip.ok()) << clip.status();
  ASSERT_EQ(clip->frames, 19u);
  const std::string bytes = ReadAll(folder_ / "a.npy");
  for (std::uint32_t k = 0; k < 19; ++k) {
    const std::vector<float> points =
        Posed(mesh, std::span(clip->controls).subspan(std::size_t{k} * 9, 9));
    const std::vector<float> before = NpyFrame(bytes, k / 2), after = NpyFrame(bytes, (k + 1) / 2);
    ASSERT_TRUE(before.size() == points.size() && after.size() == points.size());
    float worst = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      worst = std::max(worst, std::abs(points[i] - (before[i] + after[i]) / 2));
    }
    EXPECT_LT(worst, 1e-7F) << k;
  }
}

TEST_F(Glb, PartsEqualWholeAndDamageIsFound) {
  const Strings normals = {"--normals", "--frames", "0-9"};
  ASSERT_EQ(Bake("a.glb", normals).exit_code, 0);
  for (const std::string frames : {"5-9", "0-4"}) {
    ASSERT_EQ(Bake("b.glb", {"--normals", "--frames", frames, "--part"}).exit_code, 0);
  }
  ASSERT_EQ(Sinew({"join", folder_ / "b.glb", "--frames", "0-9"}).exit_code, 0);
  // The name of a node is that of the file.
  std::string a = ReadAll(folder_ / "a.glb"), b = ReadAll(folder_ / "b.glb");
  EXPECT_EQ(a.size(), b.size());
  EXPECT_TRUE(a.substr(a.find("BIN")) == b.substr(b.find("BIN")));
  EXPECT_EQ(Sinew({"verify", folder_ / "a.glb"}).exit_code, 0);
  a[a.size() / 2] ^= 1;
  WriteAll(folder_ / "a.glb", a);
  EXPECT_EQ(Sinew({"verify", folder_ / "a.glb"}).exit_code, 65);
  ASSERT_EQ(Bake("a.glb", {"--normals", "--frames", "0-9", "--resume"}).exit_code, 0);
  EXPECT_EQ(Sinew({"verify", folder_ / "a.glb"}).exit_code, 0);
}

TEST_F(Glb, LimitsAreStatedBeforeAnythingIsBaked) {
  const Finished frames = Bake("a.glb", {"--fps", "600"});
  EXPECT_EQ(frames.exit_code, 65);
  EXPECT_THAT(frames.err, HasSubstr("morph targets, need at most 1000 frames; .usda holds any"));
  const Finished velocities = Bake("a.glb", {"--velocities"});
  EXPECT_EQ(velocities.exit_code, 64);
  EXPECT_THAT(velocities.err, HasSubstr("--velocities: .glb cannot hold them"));
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

}  // namespace
}  // namespace sinew::testing
