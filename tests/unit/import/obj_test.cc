// Wavefront .obj: the mesh as it stands in the file, and files that are none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "client/import/import.h"
#include "tests/unit/import/gltf_builder.h"

namespace sinew::client {
namespace {

using ::testing::ElementsAre;
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
  EXPECT_EQ(scene->statistics.vertices(), 6u);
  EXPECT_EQ(scene->statistics.meshes[0].triangles, 4u);
}

TEST(Obj, WrongLinesAreNamed) {
  const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  const std::pair<std::string, const char*> rows[] = {
      {"# nothing\n", "no vertex, need at least one"},
      {points, "no face, need at least one"},
      {"v 0 0\n", "line 1: got \"\", need x, y and z of a vertex"},
      {"v 0 nan 0\n", "line 1: got \"nan\""},
      {"v 0 1e60 0\n", "line 1: got \"1e60\""},
      {"v 0 0 0x\n", "line 1: got \"0x\""},
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
