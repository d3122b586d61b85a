// Memory of ConvertRig against what is counted for it beforehand.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "server/convert/rig.h"
#include "tests/support/allocation_meter.h"
#include "tests/support/test_rig.h"

namespace sinew::server {
namespace {

v1::Array SmallArray(std::size_t rows, v1::ArrayType type, std::string data) {
  v1::Array array;
  array.set_type(type);
  array.set_columns(1);
  array.set_rows(rows);
  array.set_data(std::move(data));
  return array;
}

// Few bytes a vertex: no faces besides one, one influence, counted in a byte.
v1::Rig ScarceRig(std::uint32_t vertices) {
  v1::Rig rig = testing::TubeRig();
  rig.mutable_meshes()->DeleteSubrange(1, rig.meshes_size() - 1);
  v1::Mesh& mesh = *rig.mutable_meshes(0);
  std::vector<float> positions;
  for (std::uint32_t v = 0; v < vertices; ++v) {
    testing::Append(positions, {static_cast<float>(v), static_cast<float>(v % 7), 1});
  }
  *mesh.mutable_positions() = testing::FloatArray(positions, 3);
  mesh.clear_normals();
  mesh.clear_tangents();
  mesh.clear_weld();
  mesh.clear_face_sizes();
  *mesh.mutable_face_vertices() = testing::IntArray({0, 1, 2});
  v1::Skin& skin = *mesh.mutable_skin();
  *skin.mutable_influence_counts() =
      SmallArray(vertices, v1::ARRAY_TYPE_UINT8, std::string(vertices, 1));
  *skin.mutable_influence_joints() =
      SmallArray(vertices, v1::ARRAY_TYPE_UINT8, std::string(vertices, 0));
  *skin.mutable_influence_weights() = testing::FloatArray(std::vector<float>(vertices, 1), 1);
  return rig;
}

// The least bytes a vertex can have.
v1::Rig WithoutSkin(std::uint32_t vertices, std::uint32_t others) {
  v1::Rig rig = ScarceRig(vertices);
  if (others > 0) *rig.add_meshes() = ScarceRig(others).meshes(0);
  for (v1::Mesh& mesh : *rig.mutable_meshes()) mesh.clear_skin();
  return rig;
}

// Weights of a small mesh make the rig look for seams.
v1::Rig WithoutSkinBesideWeights(std::uint32_t vertices) {
  v1::Rig rig = WithoutSkin(vertices, 0);
  *rig.add_meshes() = testing::TubeRig().meshes(0);
  return rig;
}

v1::Rig WithManyInfluences() {
  v1::Rig rig = ScarceRig(2'000);
  v1::Skin& skin = *rig.mutable_meshes(0)->mutable_skin();
  const std::size_t joints = static_cast<std::size_t>(skin.joints_size());
  std::string counts(2'000, static_cast<char>(joints)), held;
  for (int v = 0; v < 2'000; ++v) {
    for (std::size_t j = 0; j < joints; ++j) held += static_cast<char>(j);
  }
  const std::vector<float> weights(held.size(), 1.0f / static_cast<float>(joints));
  *skin.mutable_influence_counts() = SmallArray(2'000, v1::ARRAY_TYPE_UINT8, counts);
  *skin.mutable_influence_weights() = testing::FloatArray(weights, 1);
  *skin.mutable_influence_joints() = SmallArray(held.size(), v1::ARRAY_TYPE_UINT8, held);
  return rig;
}

// Many faces on few vertices, in the narrowest types.
v1::Rig WithFaces(std::size_t faces, std::uint32_t corners) {
  v1::Rig rig = ScarceRig(1'000);
  v1::Mesh& mesh = *rig.mutable_meshes(0);
  std::string vertices;
  for (std::size_t f = 0; f < faces; ++f) {
    for (std::uint32_t c = 0; c < corners; ++c) {
      const std::size_t v = (f * 7 + c) % 1'000;
      vertices += static_cast<char>(v & 255);
      vertices += static_cast<char>(v >> 8);
    }
  }
  *mesh.mutable_face_vertices() =
      SmallArray(faces * corners, v1::ARRAY_TYPE_UINT16, std::move(vertices));
  *mesh.mutable_face_sizes() =
      SmallArray(faces, v1::ARRAY_TYPE_UINT8, std::string(faces, static_cast<char>(corners)));
  return rig;
}

v1::Rig WithMorphTargets(int targets, std::size_t vertices) {
  v1::Rig rig = ScarceRig(2'000);
  rig.add_controls()->set_name("smile");
  v1::Shape& shape = *rig.mutable_meshes(0)->add_shapes();
  shape.set_control("smile");
  for (int t = 0; t < targets; ++t) {
    v1::ShapeTarget& target = *shape.add_targets();
    target.set_weight(static_cast<float>(t + 1));
    if (vertices < 2'000) {
      std::vector<std::uint32_t> moved;
      for (std::size_t v = 0; v < vertices; ++v) moved.push_back(static_cast<std::uint32_t>(v));
      *target.mutable_vertices() = testing::IntArray(moved);
    }
    *target.mutable_offsets() = testing::FloatArray(std::vector<float>(vertices * 3, 0.5f), 3);
  }
  return rig;
}

// Maps that all but one of the meshes lack, or have.
v1::Rig WithMaps(int maps, bool everywhere) {
  v1::Rig rig = ScarceRig(2'000);
  *rig.add_meshes() = ScarceRig(300).meshes(0);
  rig.mutable_meshes(1)->set_name("other");
  for (v1::Mesh& mesh : *rig.mutable_meshes()) {
    const std::vector<float> values(mesh.positions().rows(), 0.5f);
    if (values.size() == 2'000 && !everywhere) continue;
    for (int m = 0; m < maps; ++m) {
      v1::VertexMap& map = *mesh.add_maps();
      map.set_name("map" + std::to_string(m));
      *map.mutable_values() = testing::FloatArray(values, 1);
    }
  }
  return rig;
}

v1::Rig WithManyMeshes() {
  v1::Rig rig = ScarceRig(3);
  for (int m = 1; m < 1'000; ++m) {
    *rig.add_meshes() = rig.meshes(0);
    rig.mutable_meshes(m)->set_name("mesh" + std::to_string(m));
  }
  return rig;
}

v1::Rig WithMuscles() {
  v1::Rig rig = testing::TubeRig();
  for (int m = 0; m < 500; ++m) {
    v1::Muscle& muscle = *rig.add_muscles();
    muscle.set_name("muscle" + std::to_string(m));
    muscle.mutable_insertion()->set_joint(1);
    for (const float at : {0.0f, 0.1f, 0.0f}) {
      muscle.mutable_origin()->add_at(at);
      muscle.mutable_insertion()->add_at(at);
    }
    muscle.set_width(0.1f);
    muscle.set_depth(0.1f);
  }
  return rig;
}

TEST(ParsingMemory, StaysBelowWhatIsCounted) {
  const struct {
    const char* name;
    v1::Rig rig;
  } cases[] = {
      {"tube", testing::TubeRig({.rings = 300, .segments = 40, .joints = 60, .tangents = true})},
      {"joints", testing::TubeRig({.rings = 1'000, .segments = 3, .joints = 1'000})},
      {"scarce", ScarceRig(65'537)},
      {"no skin", WithoutSkin(65'537, 0)},
      {"no skin, two meshes", WithoutSkin(65'537, 3)},
      {"no skin beside weights", WithoutSkinBesideWeights(65'537)},
      {"influences", WithManyInfluences()},
      {"triangles", WithFaces(65'537, 3)},
      {"polygons", WithFaces(6'600, 40)},
      {"morph targets", WithMorphTargets(200, 2'000)},
      {"sparse morph targets", WithMorphTargets(5'000, 1)},
      {"maps of a part", WithMaps(100, false)},
      {"maps", WithMaps(100, true)},
      {"meshes", WithManyMeshes()},
      {"muscles", WithMuscles()},
  };
  for (const auto& [name, rig] : cases) {
    const std::string bytes = rig.SerializeAsString();
    const std::uint64_t counted = *ParsingBytes(bytes, {}) + AddedMapBytes(rig);
    absl::StatusOr<ConvertedRig> converted;
    const std::size_t peak = testing::PeakOf([&] { converted = ConvertRig(bytes, {}); });
    ASSERT_TRUE(converted.ok()) << name << ": " << converted.status();
    EXPECT_LE(peak, counted) << name << ", " << bytes.size() << " bytes";
  }
}

TEST(ParsingMemory, CountsMapsThatOtherMeshesLack) {
  EXPECT_EQ(AddedMapBytes(WithMaps(100, true)), 0u);
  EXPECT_GE(AddedMapBytes(WithMaps(100, false)), 2'000u * 100 * sizeof(float));
  EXPECT_EQ(AddedMapBytes(testing::TubeRig()), 0u);
  // Rows that are not there change nothing.
  v1::Rig rig = WithMaps(100, false);
  const std::uint64_t counted = AddedMapBytes(rig);
  for (v1::Mesh& mesh : *rig.mutable_meshes()) {
    mesh.mutable_positions()->set_rows(~std::uint64_t{0});
    for (v1::VertexMap& map : *mesh.mutable_maps()) map.mutable_values()->set_rows(1ull << 63);
  }
  EXPECT_EQ(AddedMapBytes(rig), counted);
}

}  // namespace
}  // namespace sinew::server
