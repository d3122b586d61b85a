#include "core/mesh/mesh.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace sinew {
namespace {

using ::testing::HasSubstr;

MeshSource TwoParts() {
  MeshSource source;
  source.parts = {{"body", 0, 4, 0, 1}, {"eye", 4, 3, 1, 1}};
  source.positions = {{-1, 0, 0}, {1, 0, 0}, {1, 2, 0}, {-1, 2, 0},
                      {0, 0, 5},  {1, 0, 5}, {0, 1, 5}};
  source.face_offsets = {0, 4, 7};
  source.face_vertices = {0, 1, 2, 3, 4, 5, 6};
  return source;
}

TEST(Mesh, KeepsArraysAndMeasuresBoundingBox) {
  const auto mesh = Mesh::Create(TwoParts());
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->vertices(), 7u);
  EXPECT_EQ(mesh->faces(), 2u);
  EXPECT_EQ(mesh->minimum(), (Vec3d{-1, 0, 0}));
  EXPECT_EQ(mesh->maximum(), (Vec3d{1, 2, 5}));
  EXPECT_EQ(mesh->centre(), (Vec3d{0, 1, 2.5}));
  EXPECT_DOUBLE_EQ(mesh->diagonal(), std::sqrt(4.0 + 4.0 + 25.0));
}

TEST(Mesh, AcceptsPointsWithoutFacesAndDegenerateFaces) {
  MeshSource points;
  points.parts = {{"points", 0, 1, 0, 0}};
  points.positions = {{1, 2, 3}};
  points.face_offsets = {0};
  const auto mesh = Mesh::Create(points);
  ASSERT_TRUE(mesh.ok()) << mesh.status();
  EXPECT_EQ(mesh->faces(), 0u);
  EXPECT_EQ(mesh->diagonal(), 0);

  MeshSource degenerate = TwoParts();
  degenerate.face_vertices = {0, 0, 0, 0, 4, 5, 4};
  EXPECT_TRUE(Mesh::Create(degenerate).ok());
}

struct BadMesh {
  const char* name;
  std::function<void(MeshSource&)> spoil;
  const char* message;
};

class MeshErrors : public ::testing::TestWithParam<BadMesh> {};

TEST_P(MeshErrors, NameFieldAndRequirement) {
  MeshSource source = TwoParts();
  GetParam().spoil(source);
  const auto mesh = Mesh::Create(source);
  ASSERT_FALSE(mesh.ok());
  EXPECT_EQ(mesh.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(mesh.status().message()), HasSubstr(GetParam().message));
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Table, MeshErrors,
    ::testing::Values(
        BadMesh{"NoVertices", [](MeshSource& s) { s = {}; }, "positions: no vertices"},
        BadMesh{"NanPosition", [](MeshSource& s) { s.positions[3].y = kNan; },
                "positions: vertex 3"},
        BadMesh{"InfinitePosition", [](MeshSource& s) { s.positions[6].z = -kInfinity; },
                "positions: vertex 6"},
        BadMesh{"NormalCount", [](MeshSource& s) { s.normals.resize(6); },
                "normals: 6 values, need 7"},
        BadMesh{"NanNormal",
                [](MeshSource& s) {
                  s.normals.resize(7);
                  s.normals[1].x = kNan;
                },
                "normals: vertex 1"},
        BadMesh{"TangentCount", [](MeshSource& s) { s.tangents.resize(8); },
                "tangents: 8 values, need 7"},
        BadMesh{"NanTangent",
                [](MeshSource& s) {
                  s.tangents.assign(7, {1, 0, 0, 1});
                  s.tangents[2].z = kNan;
                },
                "tangents: vertex 2"},
        BadMesh{
            "Handedness",
            [](MeshSource& s) {
              s.tangents.assign(7, {1, 0, 0, -1});
              s.tangents[4].w = 0;
            },
            "tangents: vertex 4 is (1, 0, 0, 0), need finite numbers, the last of them 1 or -1"},
        BadMesh{"WeldCount",
                [](MeshSource& s) {
                  s.weld = {1, 2};
                },
                "weld: 2 values, need 7"},
        BadMesh{"NoOffsets", [](MeshSource& s) { s.face_offsets.clear(); }, "face_offsets: 0"},
        BadMesh{"OffsetsStartLate", [](MeshSource& s) { s.face_offsets[0] = 1; },
                "run from 0 to 7"},
        BadMesh{"OffsetsEndEarly", [](MeshSource& s) { s.face_offsets[2] = 6; }, "run from 0 to 7"},
        BadMesh{"TwoCorners", [](MeshSource& s) { s.face_offsets[1] = 5; },
                "face 1 runs from 5 to 7"},
        BadMesh{"FallingOffsets",
                [](MeshSource& s) {
                  s.face_offsets = {0, 9, 3, 7};
                },
                "face 1 runs from 9 to 3"},
        BadMesh{"CornerOutOfRange", [](MeshSource& s) { s.face_vertices[6] = 7; },
                "has vertex 7, need 4 to 7"},
        BadMesh{"CornerOfAnotherPart", [](MeshSource& s) { s.face_vertices[0] = 4; },
                "face 0 of 'body' has vertex 4"},
        BadMesh{"NoParts", [](MeshSource& s) { s.parts.clear(); }, "parts: cover 0 vertices"},
        BadMesh{"GapBetweenParts", [](MeshSource& s) { s.parts[1].vertex_offset = 5; },
                "parts: 'eye'"},
        BadMesh{"PartTooLong", [](MeshSource& s) { s.parts[1].vertex_count = 0xffffffffu; },
                "parts: 'eye'"},
        BadMesh{"TooManyFaces", [](MeshSource& s) { s.parts[1].face_count = 2; }, "parts: 'eye'"},
        BadMesh{"VerticesLeftOver",
                [](MeshSource& s) {
                  s.positions.push_back({0, 0, 0});
                },
                "parts: cover 7 vertices and 2 faces, need 8 and 2"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace sinew
