// Wavefront .obj: the mesh in file order, and invalid files.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "client/import/obj_reader.h"
#include "client/rig/rig_traits.h"
#include "sinew/import.h"
#include "tests/support/allocation_meter.h"
#include "tests/support/gltf_builder.h"

namespace sinew::client {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

absl::StatusOr<ImportedScene> Read(const std::string& text) {
  return ImportFile(testing::WriteFile("x.obj", text), {.allow_no_skin = true});
}

TEST(Obj, KeepsPointsAndFacesInTheirOrder) {
  const auto scene = Read(
      "# made by hand\r\nmtllib a.mtl\no first\nv 0 0 0\nv 1 0 0 1.0\n  v 1e0 -1.5 .25 0.1 0.2 "
      "0.3\n"
      "vt 0 0\nvn 0 0 1\ng a\nf 1/1/1 2//1 3 # a triangle\r\n"
      "o second\nv 0 1 0\nv 9 9 9\nusemtl b\ns off\nf -5 -4 -3 -2\nl 1 2\nf 6 2 3\nv 2 2 2");
  ASSERT_TRUE(scene.ok()) << scene.status();
  ASSERT_EQ(scene->rig.meshes.size(), 1u);
  const Mesh& mesh = scene->rig.meshes[0];
  EXPECT_THAT(mesh.positions,
              ElementsAre(0, 0, 0, 1, 0, 0, 1, -1.5f, .25f, 0, 1, 0, 9, 9, 9, 2, 2, 2));
  EXPECT_THAT(mesh.face_sizes, ElementsAre(3, 4, 3));
  EXPECT_THAT(mesh.face_vertices, ElementsAre(0, 1, 2, 0, 1, 2, 3, 5, 1, 2));
  EXPECT_TRUE(mesh.skin.empty());
  EXPECT_TRUE(scene->rig.joints.empty());
  EXPECT_TRUE(scene->keeps_file_order);
  EXPECT_EQ(scene->rig.meters_per_unit, 0) << "unspecified";
  EXPECT_EQ(scene->rig.up_axis, UpAxis::kUnspecified);
  EXPECT_EQ(scene->rig.vertices(), 6u);
  EXPECT_THAT(mesh.name, HasSubstr("Obj.KeepsPointsAndFacesInTheirOrder.x")) << "the file's";
  EXPECT_EQ(client::CountRig(scene->rig).meshes[0].triangles, 4u);
}

TEST(Obj, ReadsForeignLineEndsAndComments) {
  for (const char* text :
       {"\xEF\xBB\xBFv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3",
        "v 0 0 0#a\n#\n\n\tv\t1 0 0\nv 0 1 0 # b\nf 1 2 3#c"}) {
    const auto scene = Read(text);
    ASSERT_TRUE(scene.ok()) << scene.status();
    EXPECT_THAT(scene->rig.meshes[0].positions, ElementsAre(0, 0, 0, 1, 0, 0, 0, 1, 0)) << text;
    EXPECT_THAT(scene->rig.meshes[0].face_vertices, ElementsAre(0, 1, 2)) << text;
  }
}

// Such as a scan in coordinates of a map.
TEST(Obj, MeshesThatFloat32CannotHoldAreReported) {
  for (const auto& [x, said] : {std::pair{"1000", false}, {"400000", true}}) {
    const auto scene = Read(absl::StrCat("v ", x, " 0 0\nv ", x, " 1 0\nv ", x, " 0 1\nf 1 2 3\n"));
    ASSERT_TRUE(scene.ok()) << scene.status();
    EXPECT_THAT(scene->problems,
                Contains(Field(&Problem::message,
                               HasSubstr("up to 4e+05 units from the origin, where float32 holds "
                                         "steps of 0.048: 3.4 % of its diagonal")))
                    .Times(said ? 1 : 0));
  }
}

TEST(Obj, ReadsFacesOfAnySize) {
  std::string text, face = "f";
  for (int k = 1; k <= 1000; ++k) {
    absl::StrAppend(&text, "v ", k, " 0 0\n");
    absl::StrAppend(&face, " ", k, "/1");
  }
  const auto scene = Read(text + face + "\nf 1 2 3\n");
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_THAT(scene->rig.meshes[0].face_sizes, ElementsAre(1000, 3));
  EXPECT_EQ(scene->rig.meshes[0].face_vertices[999], 999u);
}

// EncodeObj writes such decimals.
TEST(Obj, ShortestDecimalsRoundTrip) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 20);
  std::vector<float> want;
  std::string text;
  for (int v = 0; v < 5000; ++v) {
    text += "v";
    for (int c = 0; c < 3; ++c) {
      want.push_back(normal(random));
      char digits[32];
      text += ' ';
      text.append(digits, std::to_chars(digits, std::end(digits), want.back()).ptr);
    }
    text += '\n';
  }
  const auto scene = Read(text + "f 1 2 3\n");
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->rig.meshes[0].positions, want);
}

TEST(Obj, DamagedFilesAreReadOrRejected) {
  const std::string whole =
      "mtllib a.mtl\no a\nv 0 0 0\nv 1e0 -1.5 .25 1\nv 0 1 0\nv 0 0 1\nvt 0 0\nvn 0 0 1\ng a\n"
      "f 1/1/1 2//1 3 # a\r\nt a 9/9/9 1\nusemtl b\nf -4 -3 -2 -1\nl 1 2\ns off\nf 4 2 1\n";
  std::mt19937 random(6);
  std::size_t read = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    std::string text = whole;
    const std::size_t at = random() % text.size();
    if (i % 3 == 0) text.resize(at);
    if (i % 3 == 1) text[at] = static_cast<char>(random());
    if (i % 3 == 2) text.insert(at, text, random() % text.size(), random() % 9);
    const auto scene = ReadObj(text);
    if (!scene.ok()) {
      EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    ++read;
    const Mesh& mesh = scene->rig.meshes[0];
    for (const float x : mesh.positions) EXPECT_TRUE(std::isfinite(x)) << text;
    for (const std::uint32_t v : mesh.face_vertices) EXPECT_LT(v, mesh.vertices()) << text;
    for (const std::uint32_t size : mesh.face_sizes) EXPECT_GE(size, 3u) << text;
  }
  EXPECT_GT(read, 300u);
  EXPECT_LT(read, 2700u);
}

// Nor text after a point.
TEST(Obj, IgnoredLinesUseNoMemory) {
  std::string text =
      "v 0 0 0 1e2147483649 1e2147483649\nv 1 0 0\nv 0 1 0\nvt 1e2147483649\nf 1 2 3\ng";
  for (std::size_t k = 0; k < (4u << 20); ++k) text += " a";
  absl::StatusOr<ImportedScene> scene;
  const std::size_t peak = testing::PeakOf([&] { scene = ReadObj(text); });
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_THAT(scene->rig.meshes[0].positions, ElementsAre(0, 0, 0, 1, 0, 0, 0, 1, 0));
  EXPECT_LT(peak, 64u << 10);
}

TEST(Obj, ErrorsNameLine) {
  const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  const std::pair<std::string, const char*> rows[] = {
      {"# nothing\n", "no vertex, need at least one"},
      {points, "no face, need at least one"},
      {"v 0 0\n", "line 1: got \"\", need x, y and z of a vertex"},
      {"v 0 nan 0\n", "line 1: got \"nan\""},
      {"v 0 1e60 0\n", "line 1: got \"1e60\""},
      {"v 0 0 0x\n", "line 1: got \"0x\""},
      {"v\n", "line 1: got \"\", need x, y and z of a vertex"},
      {std::string("\xFF\xFEv\0 \0"
                   "0\0\r\0",
                   10),
       "its text is UTF-16, need UTF-8"},
      {std::string("v\0 \0", 4), "line 1: got a zero byte, need text"},
      {points + "f\n", "line 4: got a face of 0 corners, need 3 or more"},
      {points + "f 1 2 3///1\n", "line 4: got the corner \"3///1\""},
      {points + "f 1 2 4294967297\n", "line 4: got the corner \"4294967297\""},
      {points + "f 1 2\n", "line 4: got a face of 2 corners, need 3 or more"},
      {points + "f 1 2 0\n", "line 4: got the corner \"0\", need the number of a vertex"},
      {points + "f 1 2 x\n", "line 4: got the corner \"x\""},
      {points + "f 1 2 -4\n", "line 4: got the corner \"-4\""},
      {points + "f 1 2 99999999999\n", "line 4: got the corner \"99999999999\""},
      {points + "f 1 2 3\nf 1 2 4\nf 1 2 3\n", "line 5: got vertex 4 in a face, the file has 3"},
      {"glTF" + points, "wrong type, the content is that of a file called .glb"},
  };
  for (const auto& [text, said] : rows) {
    const auto scene = Read(text);
    EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(scene.status().message()), HasSubstr(said));
  }
}

}  // namespace
}  // namespace sinew::client
