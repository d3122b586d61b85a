#include "client/bake/formats/obj.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sinew::bake {
namespace {

using ::testing::HasSubstr;

const std::vector<float> kSquare = {0, 0, 0, 1, 0, 0, 1, 1.5f, 0, 0, 1, -0.1f};
const std::vector<std::uint32_t> kQuad = {4}, kQuadCorners = {0, 1, 2, 3};
const std::vector<std::uint32_t> kTriangleCorners = {0, 1, 2};

TEST(EncodeObj, OneGroupPerMesh) {
  const std::vector<ObjPart> parts = {{"left arm", kSquare, kQuad, kQuadCorners},
                                      {"", kSquare, {}, kTriangleCorners}};
  const auto obj = EncodeObj("rest\npose", parts);
  ASSERT_TRUE(obj.ok()) << obj.status();
  EXPECT_EQ(*obj,
            "o rest_pose\n"
            "v 0 0 0\nv 1 0 0\nv 1 1.5 0\nv 0 1 -0.1\n"
            "v 0 0 0\nv 1 0 0\nv 1 1.5 0\nv 0 1 -0.1\n"
            "g left_arm\nf 1 2 3 4\n"
            "g mesh\nf 5 6 7\n");
}

TEST(EncodeObj, CornersShareEqualTextureCoordinates) {
  const std::vector<float> uvs = {0, 0, 1, 0, 1, 1, 0, 0.5f}, two = {0, 0, 0, 0, 1, 0};
  const std::vector<ObjPart> parts = {{"a", kSquare, kQuad, kQuadCorners, uvs},
                                      {"b", kSquare, {}, kTriangleCorners, two}};
  const auto obj = EncodeObj("o", parts, "1 unit = 0.01 m,\nY is up");
  ASSERT_TRUE(obj.ok()) << obj.status();
  EXPECT_EQ(obj->substr(0, obj->find('\n')), "# 1 unit = 0.01 m, Y is up");
  EXPECT_THAT(*obj, HasSubstr("vt 0 0\nvt 1 0\nvt 1 1\nvt 0 0.5\ng a\nf 1/1 2/2 3/3 4/4\n"
                              "vt 0 0\nvt 1 0\ng b\nf 5/5 6/5 7/6\n"));
  const std::vector<float> short_uvs = {0, 0};
  const std::vector<ObjPart> wrong = {{"a", kSquare, kQuad, kQuadCorners, short_uvs}};
  EXPECT_THAT(std::string(EncodeObj("o", wrong).status().message()), HasSubstr("corner_uvs: 2"));
}

TEST(EncodeObj, NumbersRoundTrip) {
  const std::vector<float> hard = {0.1f, 1.0f / 3, 1e-45f, 3.4028235e38f, -0.0f, 16777217.0f};
  const std::vector<ObjPart> parts = {{"m", hard, {}, {}}};
  const std::string obj = *EncodeObj("o", parts);
  std::size_t at = obj.find("v ");
  for (std::size_t k = 0; k < hard.size(); ++k) {
    if (k % 3 == 0) at = obj.find("v ", at) + 2;
    char* end = nullptr;
    EXPECT_EQ(std::strtof(obj.c_str() + at, &end), hard[k]);
    at = static_cast<std::size_t>(end - obj.c_str());
  }
}

TEST(EncodeObj, RejectsInconsistentMeshes) {
  const std::vector<float> not_finite = {0, NAN, 0}, ragged = {0, 0};
  const std::vector<std::uint32_t> out_of_range = {0, 1, 4}, two = {2}, five = {5}, three = {3};
  const std::vector<std::uint32_t> huge = {0xffffffffu};
  const struct {
    ObjPart part;
    const char* says;
  } table[] = {
      {{"m", {}, {}, {}}, "0 vertices"},
      {{"m", ragged, {}, {}}, "multiple of 3"},
      {{"m", not_finite, {}, {}}, "positions[1]"},
      {{"m", kSquare, {}, out_of_range}, "face_vertices[2]: 4"},
      {{"m", kSquare, two, kQuadCorners}, "face_sizes[0]: 2"},
      {{"m", kSquare, five, kQuadCorners}, "face_sizes[0]: 5"},
      {{"m", kSquare, huge, kQuadCorners}, "face_sizes[0]: 4294967295"},
      {{"m", kSquare, three, kQuadCorners}, "4 corners, faces use 3"},
      {{"m", kSquare, {}, kQuadCorners}, "4 corners, faces use 3"},
  };
  for (const auto& row : table) {
    const auto obj = EncodeObj("o", {&row.part, 1});
    ASSERT_EQ(obj.status().code(), absl::StatusCode::kInvalidArgument) << row.says;
    EXPECT_THAT(std::string(obj.status().message()), HasSubstr(row.says));
  }
}

}  // namespace
}  // namespace sinew::bake
