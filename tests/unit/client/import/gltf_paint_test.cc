#include "client/import/gltf_paint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/gltf_builder.h"

namespace sinew::client {
namespace {

using ::sinew::testing::GltfBuilder;
using ::sinew::testing::MakeStrip;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A strip with an image of three bytes, upside down texture coordinates and a factor.
GltfBuilder Painted() {
  GltfBuilder b = MakeStrip();
  const int uvs = b.AddAccessor<float>({0, 1, 1, 1, 1, 0, 0, 0}, "VEC2");
  b.doc["accessors"][static_cast<std::size_t>(uvs)]["count"] = 4;
  nlohmann::json& primitive = b.doc["meshes"][0]["primitives"][0];
  primitive["attributes"]["TEXCOORD_0"] = uvs;
  primitive["attributes"]["COLOR_0"] =
      b.AddAccessor<float>({1, 1, 1, 1, 1, 1, 0, 0, 0, 0.5f, 1, 1}, "VEC3");
  primitive["material"] = 0;
  b.Push("images", {{"bufferView", b.AddView<std::uint8_t>({7, 8, 9})}, {"mimeType", "image/png"}});
  b.Push("textures", {{"source", 0}});
  b.Push("materials",
         {{"pbrMetallicRoughness",
           {{"baseColorFactor", {1, 0.5, 0, 1}}, {"baseColorTexture", {{"index", 0}}}}}});
  return b;
}

GltfPaint PaintOf(const GltfBuilder& b) {
  const std::string path = b.Write();
  const absl::StatusOr<ImportedScene> scene = ImportFile(path);
  EXPECT_TRUE(scene.ok()) << scene.status();
  if (!scene.ok()) return {};
  const absl::StatusOr<GltfPaint> paint = ReadGltfPaint(path, scene->rig);
  EXPECT_TRUE(paint.ok()) << paint.status();
  return paint.value_or(GltfPaint());
}

TEST(GltfPaint, HasFactorsColoursAndImagesOfVertices) {
  const GltfPaint paint = PaintOf(Painted());
  EXPECT_THAT(paint.colours,
              ElementsAre(255, 188, 0, 255, 255, 188, 0, 255, 0, 0, 0, 255, 188, 188, 0, 255));
  EXPECT_THAT(paint.uvs, ElementsAre(0, 1, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0));
  ASSERT_EQ(paint.images.size(), 1u);
  EXPECT_EQ(paint.images[0].type, "image/png");
  EXPECT_EQ(paint.images[0].bytes, "\7\10\11");
}

TEST(GltfPaint, IsEmptyWithoutColours) {
  const GltfPaint paint = PaintOf(MakeStrip());
  EXPECT_THAT(paint.colours, IsEmpty());
  EXPECT_THAT(paint.uvs, IsEmpty());
}

TEST(GltfPaint, LeavesOutImagesBeyondTheBuffer) {
  GltfBuilder b = Painted();
  const auto view = b.doc["images"][0]["bufferView"].get<std::size_t>();
  b.doc["bufferViews"][view]["byteLength"] = 1000000;
  const GltfPaint paint = PaintOf(b);
  EXPECT_THAT(paint.images, IsEmpty());
  EXPECT_EQ(paint.uvs.at(2), -1);
  EXPECT_EQ(paint.colours.at(0), 255);
}

TEST(GltfPaint, LeavesOutOtherTypesAndImagesOutsideOfTheFile) {
  GltfBuilder b = Painted();
  b.doc["images"][0]["mimeType"] = "text/html";
  EXPECT_THAT(PaintOf(b).images, IsEmpty());
  b.doc["images"][0] = {{"uri", "secret.png"}};
  EXPECT_THAT(PaintOf(b).images, IsEmpty());
}

TEST(GltfPaint, RefusesAnotherFileThanThatOfTheRig) {
  const absl::StatusOr<ImportedScene> scene = ImportFile(MakeStrip().Write());
  ASSERT_TRUE(scene.ok());
  GltfBuilder longer = MakeStrip();
  longer.AddAccessor<float>({0, 0, 0, 1, 0, 0, 1, 2, 0}, "VEC3");
  longer.doc["meshes"][0]["primitives"][0]["attributes"] = {{"POSITION", 5}};
  EXPECT_EQ(ReadGltfPaint(longer.Write(), scene->rig).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sinew::client
