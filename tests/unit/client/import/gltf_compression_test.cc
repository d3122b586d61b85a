// The glTF reader on compressed files, made with the encoders of meshoptimizer and Draco.
#include <draco/compression/encode.h>
#include <draco/mesh/triangle_soup_mesh_builder.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <meshoptimizer.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sinew/import.h"
#include "tests/support/gltf_builder.h"

namespace sinew::client {
namespace {

using ::testing::ElementsAre;
using testing::GltfBuilder;
using ::testing::HasSubstr;
using testing::MakeStrip;

using Bytes = std::vector<std::uint8_t>;

template <class T>
Bytes EncodeAttributes(const std::vector<T>& values, std::size_t stride) {
  const std::size_t count = values.size() * sizeof(T) / stride;
  Bytes out(meshopt_encodeVertexBufferBound(count, stride));
  out.resize(meshopt_encodeVertexBuffer(out.data(), out.size(), values.data(), count, stride));
  return out;
}

Bytes EncodeIndices(const std::vector<std::uint32_t>& indices, bool triangles) {
  Bytes out(1000);
  out.resize(
      triangles
          ? meshopt_encodeIndexBuffer(out.data(), out.size(), indices.data(), indices.size())
          : meshopt_encodeIndexSequence(out.data(), out.size(), indices.data(), indices.size()));
  return out;
}

// Replaces the view of an accessor by a compressed one, whose fallback is buffer 1, without data.
nlohmann::json& Compress(GltfBuilder& b, int accessor, const Bytes& bytes, std::size_t stride,
                         std::size_t count, const char* mode, const char* filter = "NONE") {
  const int raw = b.AddView(bytes);
  const nlohmann::json place = b.doc["bufferViews"][raw];
  const int view = b.Push("bufferViews", {{"buffer", 1}, {"byteLength", stride * count}});
  if (std::string(mode) == "ATTRIBUTES") b.doc["bufferViews"][view]["byteStride"] = stride;
  b.doc["accessors"][accessor]["bufferView"] = view;
  nlohmann::json& extension = b.doc["bufferViews"][view]["extensions"]["EXT_meshopt_compression"];
  extension = {{"buffer", 0},
               {"byteOffset", place["byteOffset"]},
               {"byteLength", place["byteLength"]},
               {"byteStride", stride},
               {"count", count},
               {"mode", mode},
               {"filter", filter}};
  b.doc["extensionsUsed"] = b.doc["extensionsRequired"] = {"EXT_meshopt_compression"};
  b.doc["buffers"] = {
      {{"byteLength", b.buffer.size()}},
      {{"byteLength", 1000}, {"extensions", {{"EXT_meshopt_compression", {{"fallback", true}}}}}}};
  return extension;
}

absl::StatusOr<ImportedScene> Read(const GltfBuilder& b) {
  return ImportFile(b.Write());
}

nlohmann::json& Attributes(GltfBuilder& b) {
  return b.doc["meshes"][0]["primitives"][0]["attributes"];
}

TEST(GltfMeshopt, DecodesAttributesAndBothKindsOfIndices) {
  for (const bool triangles : {true, false}) {
    for (const std::size_t width : {2, 4}) {
      GltfBuilder b = MakeStrip();
      const std::vector<float> points = {0, 0, 0, 3, 0, 0, 3, 2, 0, 0, 2, 0.25f};
      Compress(b, 0, EncodeAttributes(points, 12), 12, 4, "ATTRIBUTES");
      Compress(b, 3, EncodeIndices({0, 1, 2, 2, 1, 3}, triangles), width, 6,
               triangles ? "TRIANGLES" : "INDICES");
      b.doc["accessors"][3]["componentType"] = width == 2 ? 5123 : 5125;
      const auto scene = Read(b);
      ASSERT_TRUE(scene.ok()) << scene.status();
      EXPECT_EQ(scene->rig.meshes.at(0).positions, points);
      EXPECT_THAT(scene->rig.meshes[0].face_vertices, ElementsAre(0, 1, 2, 2, 1, 3));
    }
  }
}

TEST(GltfMeshopt, UndoesExponentialFilter) {
  GltfBuilder b = MakeStrip();
  const std::vector<float> points = {0, 0, 0, 3, 0.5f, -1, 3, 2, 0, 0, 2, 0.25f};
  std::vector<std::uint32_t> filtered(12);
  meshopt_encodeFilterExp(filtered.data(), 4, 12, 20, points.data());
  Compress(b, 0, EncodeAttributes(filtered, 12), 12, 4, "ATTRIBUTES", "EXPONENTIAL");
  const auto scene = Read(b);
  ASSERT_TRUE(scene.ok()) << scene.status();
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(scene->rig.meshes.at(0).positions[i], points[i], 1e-5);
  }
}

TEST(GltfMeshopt, UndoesOctahedralFilter) {
  for (const std::size_t stride : {4, 8}) {
    GltfBuilder b = MakeStrip();
    const std::vector<float> normals = {0, 0,     1,    0, 0.6f, 0, 0.8f, 0,
                                        0, -0.8f, 0.6f, 0, -1,   0, 0,    0};
    Bytes filtered(4 * stride);
    meshopt_encodeFilterOct(filtered.data(), 4, stride, static_cast<int>(stride * 2),
                            normals.data());
    const int accessor = b.Push("accessors", {{"componentType", stride == 4 ? 5120 : 5122},
                                              {"type", "VEC3"},
                                              {"count", 4},
                                              {"normalized", true}});
    Attributes(b)["NORMAL"] = accessor;
    Compress(b, accessor, EncodeAttributes(filtered, stride), stride, 4, "ATTRIBUTES",
             "OCTAHEDRAL");
    const auto scene = Read(b);
    ASSERT_TRUE(scene.ok()) << scene.status();
    ASSERT_EQ(scene->rig.meshes.at(0).normals.size(), 12u);
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_NEAR(scene->rig.meshes[0].normals[i], normals[i / 3 * 4 + i % 3], 0.02);
    }
  }
}

TEST(GltfMeshopt, UndoesQuaternionFilter) {
  GltfBuilder b = MakeStrip();
  const std::vector<float> turns = {0, 0, 0, 1, 0.6f, 0, 0, 0.8f};
  testing::AddAnimation(b, 1, "rotation", {0, 1}, {0, 0, 0, 1, 0, 0, 0, 1}, "VEC4", "LINEAR");
  Bytes filtered(16);
  meshopt_encodeFilterQuat(filtered.data(), 2, 8, 16, turns.data());
  const int output = b.doc["animations"][0]["samplers"][0]["output"];
  Compress(b, output, EncodeAttributes(filtered, 8), 8, 2, "ATTRIBUTES", "QUATERNION");
  b.doc["accessors"][output]["componentType"] = 5122;
  b.doc["accessors"][output]["normalized"] = true;
  const auto scene = Read(b);
  ASSERT_TRUE(scene.ok()) << scene.status();
  const auto clip = SampleClip(*scene, 0, {.fps = 1});
  ASSERT_TRUE(clip.ok()) << clip.status();
  EXPECT_NEAR(clip->joint_transforms[24 + 5], 0.28, 1e-3) << "cos 2 asin 0.6";
}

TEST(GltfMeshopt, RefusesWhatDecodersTakeForGranted) {
  const std::vector<float> points(12, 1);
  const Bytes bytes = EncodeAttributes(points, 12);
  const auto error = [&](const nlohmann::json& change) {
    GltfBuilder b = MakeStrip();
    nlohmann::json& extension = Compress(b, 0, bytes, 12, 4, "ATTRIBUTES");
    extension.update(change);
    return std::string(Read(b).status().message());
  };
  const std::pair<nlohmann::json, const char*> rows[] = {
      {{{"mode", "POINTS"}}, "mode \"POINTS\""},
      {{{"byteStride", 0}}, "byteStride 0"},
      {{{"byteStride", 10}}, "byteStride 10"},
      {{{"byteStride", 260}}, "byteStride 260"},
      {{{"mode", "TRIANGLES"}}, "byteStride 12"},
      {{{"mode", "TRIANGLES"}, {"byteStride", 4}}, "multiple of 3"},
      {{{"filter", "BLUR"}}, "filter \"BLUR\""},
      {{{"filter", "QUATERNION"}}, "filter \"QUATERNION\""},
      {{{"mode", "INDICES"}, {"byteStride", 4}, {"filter", "OCTAHEDRAL"}}, "filter \"OCTAHEDRAL\""},
      {{{"count", 2000000000}}, "more than"},
      {{{"count", -1}}, "count: need a whole number"},
      {{{"byteLength", 5}}, "cannot be decoded"},
      {{{"byteLength", 100000}}, "the buffer has"},
      {{{"buffer", 9}}, "buffer 9"},
  };
  for (const auto& [change, message] : rows) EXPECT_THAT(error(change), HasSubstr(message));
}

// A bent band of quads, with joints and weights.
struct Band {
  std::vector<float> points, weights;
  Bytes joints;
  std::vector<std::uint32_t> indices;
};
Band MakeBand() {
  Band band;
  for (std::uint32_t k = 0; k < 20; ++k) {
    const float t = static_cast<float>(k / 2) / 9;
    band.points.insert(band.points.end(), {k % 2 == 0 ? 0.f : 1.f, 2 * t, t * t});
    band.weights.insert(band.weights.end(), {1 - t, t, 0, 0});
    band.joints.insert(band.joints.end(), {0, 1, 0, 0});
    if (k < 18) {
      const std::uint32_t odd = k % 2;
      band.indices.insert(band.indices.end(), {k, k + 1 + odd, k + 2 - odd});
    }
  }
  return band;
}

Bytes EncodeDraco(const Band& band, bool edgebreaker) {
  draco::TriangleSoupMeshBuilder builder;
  const std::size_t faces = band.indices.size() / 3;
  builder.Start(static_cast<int>(faces));
  const int position =
                builder.AddAttribute(draco::GeometryAttribute::POSITION, 3, draco::DT_FLOAT32),
            joints = builder.AddAttribute(draco::GeometryAttribute::GENERIC, 4, draco::DT_UINT8),
            weights = builder.AddAttribute(draco::GeometryAttribute::GENERIC, 4, draco::DT_FLOAT32);
  for (std::uint32_t f = 0; f < faces; ++f) {
    const std::uint32_t* v = &band.indices[f * 3];
    const auto add = [&](int attribute, const auto& values, std::size_t width) {
      builder.SetAttributeValuesForFace(attribute, draco::FaceIndex(f), &values[v[0] * width],
                                        &values[v[1] * width], &values[v[2] * width]);
    };
    add(position, band.points, 3);
    add(joints, band.joints, 4);
    add(weights, band.weights, 4);
  }
  const auto mesh = builder.Finalize();
  draco::Encoder encoder;
  encoder.SetEncodingMethod(edgebreaker ? draco::MESH_EDGEBREAKER_ENCODING
                                        : draco::MESH_SEQUENTIAL_ENCODING);
  draco::EncoderBuffer buffer;
  EXPECT_TRUE(encoder.EncodeMeshToBuffer(*mesh, &buffer).ok());
  return Bytes(buffer.data(), buffer.data() + buffer.size());
}

GltfBuilder WithDraco(const Bytes& bytes) {
  GltfBuilder b = MakeStrip();
  for (const int accessor : {0, 1, 2, 3}) {
    b.doc["accessors"][accessor].erase("bufferView");
    b.doc["accessors"][accessor]["count"] = accessor == 3 ? 54 : 20;
  }
  b.doc["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"] = {
      {"bufferView", b.AddView(bytes)},
      {"attributes", {{"POSITION", 0}, {"JOINTS_0", 1}, {"WEIGHTS_0", 2}}}};
  b.doc["extensionsUsed"] = b.doc["extensionsRequired"] = {"KHR_draco_mesh_compression"};
  return b;
}

TEST(GltfDraco, DecodesBothMethods) {
  const Band band = MakeBand();
  for (const bool edgebreaker : {false, true}) {
    const auto scene = Read(WithDraco(EncodeDraco(band, edgebreaker)));
    ASSERT_TRUE(scene.ok()) << scene.status();
    const Mesh& mesh = scene->rig.meshes.at(0);
    ASSERT_EQ(mesh.vertices(), 20u);
    ASSERT_EQ(mesh.face_vertices.size(), band.indices.size());
    std::size_t at = 0;
    for (std::size_t v = 0; v < 20; ++v) {  // in any order, each with its own weights
      const float t = mesh.positions[v * 3 + 1] / 2;
      EXPECT_NEAR(mesh.positions[v * 3 + 2], t * t, 1e-6);
      for (std::uint32_t i = 0; i < mesh.skin.influence_counts[v]; ++i, ++at) {
        const bool tip = mesh.skin.influence_joints[at] == 1;
        EXPECT_NEAR(mesh.skin.influence_weights[at], tip ? t : 1 - t, 1e-6);
      }
    }
  }
}

TEST(GltfDraco, PrefersUncompressedValuesWhereNotRequired) {
  GltfBuilder b = WithDraco({1, 2, 3});
  b.doc["extensionsRequired"] = nlohmann::json::array();
  const GltfBuilder plain = MakeStrip();
  for (const int accessor : {0, 1, 2, 3}) {
    b.doc["accessors"][accessor] = plain.doc["accessors"][accessor];
  }
  EXPECT_TRUE(Read(b).ok()) << Read(b).status();
}

TEST(GltfDraco, ErrorsNameThePrimitive) {
  const Bytes good = EncodeDraco(MakeBand(), false);
  const auto error = [](const GltfBuilder& b) { return std::string(Read(b).status().message()); };
  const char* const where = "meshes[0] 'strip' primitives[0] KHR_draco_mesh_compression: ";
  EXPECT_THAT(error(WithDraco({'D', 'R', 'A'})), HasSubstr(where));
  Bytes old = good;
  old[6] = 1;
  EXPECT_THAT(error(WithDraco(old)), HasSubstr("bitstream 2.1, need 2.2"));
  Bytes bomb = good;  // the number of faces follows the header of 11 bytes
  bomb.insert(bomb.begin() + 11, {0xff, 0xff, 0xff, 0xff});
  EXPECT_THAT(error(WithDraco(bomb)), HasSubstr("can hold"));
  GltfBuilder missing = WithDraco(good);
  missing.doc["meshes"][0]["primitives"][0]["extensions"]["KHR_draco_mesh_compression"]
             ["attributes"]["POSITION"] = 7;
  EXPECT_THAT(error(missing), HasSubstr("attribute 7, POSITION, is not in the data"));
  GltfBuilder narrow = WithDraco(good);
  narrow.doc["accessors"][0]["type"] = "VEC4";
  EXPECT_THAT(error(narrow), HasSubstr("has 3 components, the accessor 4"));
}

// 300,000 points with an attribute of zeros, and 100,000 faces, in about as many bytes.
Bytes EncodeZeros() {
  constexpr std::uint32_t kFaces = 100'000, kPoints = 3 * kFaces;
  draco::Mesh mesh;
  mesh.SetNumFaces(kFaces);
  mesh.set_num_points(kPoints);
  const draco::PointIndex first(0);
  for (draco::FaceIndex f(0); f < kFaces; ++f) mesh.SetFace(f, {first, first, first});
  draco::GeometryAttribute zeros;
  zeros.Init(draco::GeometryAttribute::GENERIC, nullptr, 1, draco::DT_INT32, false, 4, 0);
  mesh.AddAttribute(zeros, true, kPoints);
  draco::Encoder encoder;
  encoder.SetEncodingMethod(draco::MESH_SEQUENTIAL_ENCODING);
  draco::EncoderBuffer buffer;
  EXPECT_TRUE(encoder.EncodeMeshToBuffer(mesh, &buffer).ok());
  return Bytes(buffer.data(), buffer.data() + buffer.size());
}

TEST(GltfDraco, RefusesAttributesWiderThanTheData) {
  Bytes wide = EncodeZeros();
  ASSERT_LT(wide.size(), 400'000u);
  const Bytes description = {draco::GeometryAttribute::GENERIC, draco::DT_INT32, 1};
  const auto found = std::ranges::find_end(wide, description);
  ASSERT_FALSE(found.empty());
  found.back() = 255;  // components
  EXPECT_THAT(std::string(Read(WithDraco(wide)).status().message()),
              HasSubstr("promises attributes of 612000000 bytes, more than"));
}

TEST(GltfDraco, RefusesMoreSeamsThanTheData) {
  // Header of a mesh for Edgebreaker, 3 vertices, 200,000 faces, 255 attributes with seams.
  const Bytes tables = {'D', 'R', 'A', 'C', 'O', 2, 2, 1, 1, 0, 0, 0, 3, 0xC0, 0x9A, 0x0C, 255};
  EXPECT_THAT(std::string(Read(WithDraco(tables)).status().message()),
              HasSubstr("promises 3 vertices and 200000 faces with the seams of 255 attributes, "
                        "more than 17 bytes can hold"));
}

TEST(GltfDraco, DecodesEveryViewOnceWithinTheLimit) {
  const Bytes points = EncodeZeros();  // 4.8 MB to decode, and 1.2 MB for each primitive
  const auto read = [&](bool shared) {
    GltfBuilder b = WithDraco(points);
    nlohmann::json primitive = b.doc["meshes"][0]["primitives"][0];
    nlohmann::json& draco = primitive["extensions"]["KHR_draco_mesh_compression"];
    draco["attributes"] = {{"_UNUSED", 0}};
    b.doc["meshes"][0]["primitives"] = nlohmann::json::array();
    for (int p = 0; p < 3; ++p) {
      if (!shared) draco["bufferView"] = b.AddView(points);
      b.doc["meshes"][0]["primitives"].push_back(primitive);
    }
    return std::string(ImportFile(b.Write(), {.max_file_bytes = 9'000'000}).status().message());
  };
  EXPECT_THAT(read(false), HasSubstr("primitives[1] KHR_draco_mesh_compression: decodes to"));
  EXPECT_THAT(read(true), ::testing::Not(HasSubstr("decodes to")));
}

// Whatever is accepted must have faces and weights of its vertices.
TEST(GltfCompression, FlippedBytesNeverCrash) {
  std::mt19937 random(11);
  const Band band = MakeBand();
  const Bytes streams[] = {EncodeDraco(band, false), EncodeDraco(band, true)};
  for (int round = 0; round < 600; ++round) {
    Bytes bent = streams[round % 2];
    for (int i = 0; i <= round % 4; ++i) {
      bent[random() % bent.size()] = static_cast<std::uint8_t>(random());
    }
    if (round % 5 == 0) bent.resize(random() % bent.size());
    bent.push_back(0);
    const auto scene = Read(WithDraco(bent));
    if (!scene.ok()) {
      EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    for (const Mesh& mesh : scene->rig.meshes) {
      EXPECT_EQ(mesh.skin.influence_counts.size(), mesh.vertices());
      for (const std::uint32_t v : mesh.face_vertices) ASSERT_LT(v, mesh.vertices());
    }
  }
  const Bytes packed = EncodeIndices({0, 1, 2, 2, 1, 3}, true);
  for (int round = 0; round < 300; ++round) {
    GltfBuilder b = MakeStrip();
    Bytes bent = packed;
    bent[random() % bent.size()] = static_cast<std::uint8_t>(random());
    Compress(b, 3, bent, 2, 6, "TRIANGLES");
    const auto scene = Read(b);
    if (!scene.ok()) continue;
    for (const std::uint32_t v : scene->rig.meshes.at(0).face_vertices) ASSERT_LT(v, 4u);
  }
}

}  // namespace
}  // namespace sinew::client
