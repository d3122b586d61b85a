#include "client/cli/files/cache_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/cli/base/exit_code.h"
#include "client/models/models.h"
#include "tests/support/temporary_folder.h"

namespace sinew::cli {
namespace {

using ::sinew::testing::ReadAll;
using ::sinew::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

client::RigData Rig() {
  return client::Tube({.rings = 3, .segments = 3, .joints = 2}).rig;
}

CacheInfo InfoOf(const client::RigData& rig) {
  CacheInfo info;
  info.frames = 2;
  info.vertices = static_cast<std::uint32_t>(rig.vertices());
  return info;
}

Manifest ManifestOf(const client::RigData& rig) {
  Manifest manifest;
  manifest.software_version = "test";
  manifest.rig = manifest.recipe_digest = "sha256-" + std::string(64, '0');
  manifest.meshes = {{rig.meshes[0].name, 0, rig.vertices()}};
  return manifest;
}

TEST(CacheWriter, FilesAppearTogetherAtEnd) {
  const TemporaryFolder folder;
  const client::RigData rig = Rig();
  auto writer = CacheWriter::Create({.path = folder / "t.pc2", .rest_mesh = true}, InfoOf(rig));
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<float> frame(rig.vertices() * 3, 1.5F);
  ASSERT_TRUE(writer->Append(frame).ok());
  ASSERT_TRUE(writer->Append(frame).ok());
  for (const std::string& name : folder.Names()) EXPECT_EQ(name[0], '.') << name;
  const auto bytes = writer->Finish(ManifestOf(rig), rig);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_THAT(folder.Names(), ElementsAre("t.pc2", "t.pc2.json", "t.rest.obj"));
  EXPECT_EQ(*bytes, std::filesystem::file_size(folder / "t.pc2"));
  const auto manifest = ParseManifest(ReadAll(folder / "t.pc2.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_THAT(manifest->frame_hashes, ElementsAre(HashPositions(frame), HashPositions(frame)));
}

TEST(CacheWriter, TooFewFramesLeaveNothing) {
  const TemporaryFolder folder;
  const client::RigData rig = Rig();
  {
    auto writer =
        CacheWriter::Create({.path = folder / "t.npy", .format = CacheFormat::kNpy}, InfoOf(rig));
    ASSERT_TRUE(writer->Append(std::vector<float>(rig.vertices() * 3)).ok());
    EXPECT_FALSE(writer->Finish(ManifestOf(rig), rig).ok());
  }
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(CacheWriter, BadManifestLeavesNothing) {
  const TemporaryFolder folder;
  const client::RigData rig = Rig();
  {
    auto writer =
        CacheWriter::Create({.path = folder / "t.mdd", .format = CacheFormat::kMdd}, InfoOf(rig));
    const std::vector<float> frame(rig.vertices() * 3);
    ASSERT_TRUE(writer->Append(frame).ok() && writer->Append(frame).ok());
    Manifest manifest = ManifestOf(rig);
    manifest.meshes[0].vertices += 1;
    EXPECT_FALSE(writer->Finish(manifest, rig).ok());
  }
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(CacheWriter, UnwritableManifestExits73BeforeWork) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "t.pc2.json");
  EXPECT_EQ(ExitCode(CacheWriter::Create({.path = folder / "t.pc2"}, InfoOf(Rig())).status()),
            kExitCannotWrite);
  EXPECT_THAT(folder.Names(), ElementsAre("t.pc2.json"));
}

TEST(CacheWriter, NamesAccompanyingFiles) {
  EXPECT_EQ(ManifestPath("a/walk.pc2"), "a/walk.pc2.json");
  EXPECT_EQ(RestPath("a/walk.pc2"), "a/walk.rest.obj");
  EXPECT_EQ(RestPath("a.b/walk"), "a.b/walk.rest.obj");
}

}  // namespace
}  // namespace sinew::cli
