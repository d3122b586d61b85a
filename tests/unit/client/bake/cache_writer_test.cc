#include "client/bake/files/cache_writer.h"

#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <span>

#include "client/bake/base/errors.h"
#include "client/bake/formats/byte_order.h"
#include "client/models/models.h"
#include "tests/support/npy_frame.h"
#include "tests/support/temporary_folder.h"

namespace sinew::bake {
namespace {

using ::sinew::testing::ReadAll;
using ::sinew::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

client::RigData Rig() {
  return client::Tube({.rings = 3, .segments = 3, .joints = 2}).rig;
}

CacheInfo Times() {
  CacheInfo info;
  info.frames = 2;
  return info;
}

std::shared_ptr<const RestMesh> Rest(const client::RigData& rig) {
  RestMesh rest;
  for (const client::Mesh& mesh : rig.meshes) {
    rest.positions.insert(rest.positions.end(), mesh.positions.begin(), mesh.positions.end());
    rest.corner_uvs.emplace_back();
  }
  return std::make_shared<const RestMesh>(std::move(rest));
}

Manifest SomeManifest() {
  Manifest manifest;
  manifest.software_version = "test";
  manifest.rig = manifest.recipe_digest = "sha256-" + std::string(64, '0');
  return manifest;
}

TEST(CacheWriter, FilesAppearTogetherAtEnd) {
  const TemporaryFolder folder;
  const client::RigData rig = Rig();
  auto writer =
      CacheWriter::Create({.path = folder / "t.pc2", .rest_mesh = Rest(rig)}, Times(), rig);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<float> frame(rig.vertices() * 3, 1.5F);
  ASSERT_TRUE(writer->Append(frame).ok());
  ASSERT_TRUE(writer->Append(frame).ok());
  for (const std::string& name : folder.Names()) EXPECT_EQ(name[0], '.') << name;
  const auto bytes = CacheWriter::Finish({&*writer, 1}, SomeManifest());
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
        CacheWriter::Create({.path = folder / "t.npy", .format = CacheFormat::kNpy}, Times(), rig);
    ASSERT_TRUE(writer->Append(std::vector<float>(rig.vertices() * 3)).ok());
    EXPECT_FALSE(CacheWriter::Finish({&*writer, 1}, SomeManifest()).ok());
  }
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(CacheWriter, BadManifestLeavesNothing) {
  const TemporaryFolder folder;
  const client::RigData rig = Rig();
  {
    auto writer =
        CacheWriter::Create({.path = folder / "t.mdd", .format = CacheFormat::kMdd}, Times(), rig);
    const std::vector<float> frame(rig.vertices() * 3);
    ASSERT_TRUE(writer->Append(frame).ok() && writer->Append(frame).ok());
    Manifest manifest = SomeManifest();
    manifest.meters_per_unit = 0;
    EXPECT_FALSE(CacheWriter::Finish({&*writer, 1}, manifest).ok());
  }
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(CacheWriter, UnwritableManifestIsRefusedBeforeWork) {
  const TemporaryFolder folder;
  const client::RigData rig = Rig();
  std::filesystem::create_directory(folder / "t.pc2.json");
  EXPECT_TRUE(
      IsOutputError(CacheWriter::Create({.path = folder / "t.pc2"}, Times(), rig).status()));
  EXPECT_THAT(folder.Names(), ElementsAre("t.pc2.json"));
}

// Two tubes; of the second only the vertices of one face are written.
TEST(CacheWriter, WritesSelectedVerticesWithTheirFaces) {
  const TemporaryFolder folder;
  client::RigData rig = Rig();
  rig.meshes.push_back(rig.meshes[0]);
  rig.meshes[1].name = "other";
  client::Mesh& other = rig.meshes[1];
  const auto half = static_cast<std::uint32_t>(other.vertices());
  other.face_sizes = {3};
  other.face_vertices = {4, 2, half - 1};
  VertexSelection selection(2);
  selection[1] = {2, 4, half - 1};
  const CacheTarget target = {.path = folder / "t.pc2",
                              .rest_mesh = Rest(rig),
                              .selection = std::make_shared<const VertexSelection>(selection),
                              .attributes = {kNormals}};
  auto writer = CacheWriter::Create(target, Times(), rig);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::vector<float> frame(rig.vertices() * 3);
  std::iota(frame.begin(), frame.end(), 0.F);
  std::vector<float> expected(frame.begin(), frame.begin() + half * 3);
  for (const std::uint32_t v : selection[1]) {
    const auto at = frame.begin() + (half + v) * 3;
    expected.insert(expected.end(), at, at + 3);
  }
  const FrameArrays arrays = {.points = frame, .normals = frame};
  ASSERT_TRUE(writer->Append(arrays).ok() && writer->Append(arrays).ok());
  ASSERT_TRUE(CacheWriter::Finish({&*writer, 1}, SomeManifest()).ok());
  const auto manifest = ParseManifest(ReadAll(folder / "t.pc2.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->vertices, half + 3u);
  EXPECT_EQ(manifest->meshes.at(1).vertices, 3u);
  EXPECT_EQ(manifest->frame_hashes.at(0), HashPositions(expected));
  EXPECT_EQ(manifest->attributes.at(0).frame_hashes.at(0), HashPositions(expected));
  EXPECT_THAT(
      ReadAll(folder / "t.rest.obj"),
      ::testing::HasSubstr(absl::StrCat("\nf ", half + 2, " ", half + 1, " ", half + 3, "\n")));
}

// Two meshes, three caches of them: the second mesh, the first turned to Z up, and both.
TEST(CacheWriter, WritesChosenMeshesTurned) {
  const TemporaryFolder folder;
  client::RigData rig = Rig();
  rig.up_axis = client::UpAxis::kY;
  rig.meshes.push_back(rig.meshes[0]);
  rig.meshes[1].name = "other";
  const std::size_t half = rig.meshes[0].vertices();
  std::vector<float> frame(rig.vertices() * 3);
  std::iota(frame.begin(), frame.end(), 1.0F);
  const CacheTarget targets[] = {
      {.path = folder / "b.npy", .format = CacheFormat::kNpy, .meshes = {1}},
      {.path = folder / "a.npy",
       .format = CacheFormat::kNpy,
       .rest_mesh = Rest(rig),
       .meshes = {0},
       .up = client::UpAxis::kZ},
      {.path = folder / "all.npy", .format = CacheFormat::kNpy}};
  std::vector<CacheWriter> writers;
  for (const CacheTarget& target : targets) {
    writers.push_back(*CacheWriter::Create(target, Times(), rig));
    ASSERT_TRUE(writers.back().Append(frame).ok() && writers.back().Append(frame).ok());
  }
  ASSERT_TRUE(CacheWriter::Finish(writers, SomeManifest()).ok());
  const auto points = [&](const std::string& name) {
    return ::sinew::testing::NpyFrame(ReadAll(folder / name), 1);
  };
  EXPECT_EQ(points("all.npy"), frame);
  const auto middle = frame.begin() + static_cast<std::ptrdiff_t>(3 * half);
  EXPECT_EQ(points("b.npy"), std::vector<float>(middle, frame.end()));
  const std::vector<float> turned = points("a.npy");
  ASSERT_EQ(turned.size(), 3 * half);
  for (std::size_t k = 0; k < turned.size(); k += 3) {
    EXPECT_THAT(std::span(turned).subspan(k, 3),
                ElementsAre(frame[k], -frame[k + 2], frame[k + 1]));
  }
  const auto manifest = *ParseManifest(ReadAll(folder / "a.npy.json"));
  EXPECT_EQ(manifest.up_axis, "Z");
  ASSERT_EQ(manifest.meshes.size(), 1u);
  EXPECT_EQ(manifest.meshes[0].vertices, half);
  const client::Mesh& mesh = rig.meshes[0];
  EXPECT_THAT(ReadAll(folder / "a.rest.obj"),
              ::testing::HasSubstr(absl::StrCat("v ", mesh.positions[0], " ", -mesh.positions[2],
                                                " ", mesh.positions[1], "\n")));
}

TEST(CacheWriter, UnevenFramesGoToMddAndNpy) {
  const TemporaryFolder folder;
  const client::RigData rig = Rig();
  CacheInfo info = Times();
  info.frame_numbers = {1, 1.25};
  info.fps = 10;
  EXPECT_EQ(CacheWriter::Create({.path = folder / "t.pc2"}, info, rig).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(folder.Names(), IsEmpty());
  auto writer =
      CacheWriter::Create({.path = folder / "t.mdd", .format = CacheFormat::kMdd}, info, rig);
  ASSERT_TRUE(writer.ok()) << writer.status();
  const std::vector<float> frame(rig.vertices() * 3, 1.5F);
  ASSERT_TRUE(writer->Append(frame).ok() && writer->Append(frame).ok());
  ASSERT_TRUE(CacheWriter::Finish({&*writer, 1}, SomeManifest()).ok());
  const std::string bytes = ReadAll(folder / "t.mdd");
  const std::byte* const times = std::as_bytes(std::span(bytes)).data() + 8;
  EXPECT_EQ(LoadBytes<float>(times, ByteOrder::kBig), 0.1F);
  EXPECT_EQ(LoadBytes<float>(times + 4, ByteOrder::kBig), 0.125F);
  const auto manifest = ParseManifest(ReadAll(folder / "t.mdd.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_THAT(manifest->frame_numbers, ElementsAre(1, 1.25));
}

TEST(CacheWriter, TurningNeedsAnUpAxis) {
  const TemporaryFolder folder;
  client::RigData rig = Rig();
  rig.up_axis = client::UpAxis::kUnspecified;
  const auto writer =
      CacheWriter::Create({.path = folder / "t.pc2", .up = client::UpAxis::kZ}, Times(), rig);
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(CacheWriter, NamesAccompanyingFiles) {
  EXPECT_EQ(ManifestPath("a/walk.pc2"), "a/walk.pc2.json");
  EXPECT_EQ(RestPath("a/walk.pc2"), "a/walk.rest.obj");
  EXPECT_EQ(RestPath("a.b/walk"), "a.b/walk.rest.obj");
}

}  // namespace
}  // namespace sinew::bake
