#include "client/import/gltf_paint.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/gltf_builder.h"

namespace sinew::client {
namespace {

using ::sinew::testing::GltfBuilder;
using ::sinew::testing::MakeStrip;
using ::sinew::testing::WriteFile;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kPng[] = "\x89PNG\r\n\x1a\n", kJpeg[] = "\xff\xd8\xff";  // how they begin

// A strip with an image, upside down texture coordinates and a factor.
GltfBuilder Painted() {
  GltfBuilder b = MakeStrip();
  const int uvs = b.AddAccessor<float>({0, 1, 1, 1, 1, 0, 0, 0}, "VEC2");
  b.doc["accessors"][static_cast<std::size_t>(uvs)]["count"] = 4;
  nlohmann::json& primitive = b.doc["meshes"][0]["primitives"][0];
  primitive["attributes"]["TEXCOORD_0"] = uvs;
  primitive["attributes"]["COLOR_0"] =
      b.AddAccessor<float>({1, 1, 1, 1, 1, 1, 0, 0, 0, 0.5f, 1, 1}, "VEC3");
  primitive["material"] = 0;
  const std::vector<std::uint8_t> image(kPng, kPng + sizeof(kPng) - 1);
  b.Push("images", {{"bufferView", b.AddView(image)}, {"mimeType", "image/png"}});
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
  EXPECT_EQ(paint.images[0].bytes, kPng);
  EXPECT_FALSE(paint.lacks_images);
}

TEST(GltfPaint, IsEmptyWithoutColours) {
  const GltfPaint paint = PaintOf(MakeStrip());
  EXPECT_FALSE(paint.lacks_images);
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

TEST(GltfPaint, ReadsImagesOfSideFilesAndDataUris) {
  GltfBuilder b = Painted();
  const std::string side = WriteFile("skin 1.jpg", std::string(kJpeg) + "side");
  const std::string name = std::filesystem::path(side).filename();
  b.doc["images"][0] = {{"uri", absl::StrReplaceAll(name, {{" ", "%20"}})}};
  const GltfPaint paint = PaintOf(b);
  ASSERT_EQ(paint.images.size(), 1u);
  EXPECT_EQ(paint.images[0].type, "image/jpeg");
  EXPECT_EQ(paint.images[0].bytes, std::string(kJpeg) + "side");
  EXPECT_EQ(paint.uvs.at(2), 0);
  b.doc["images"][0] = {{"uri", absl::StrCat("data:;base64,", absl::Base64Escape(kPng))}};
  const GltfPaint data = PaintOf(b);
  ASSERT_EQ(data.images.size(), 1u);
  EXPECT_EQ(data.images[0].type, "image/png");
  EXPECT_EQ(data.images[0].bytes, kPng);
}

TEST(GltfPaint, LeavesOutOtherTypesAndImagesOfOtherFolders) {
  GltfBuilder b = Painted();
  b.buffer.replace(b.buffer.find(kPng), 4, "<htm");
  EXPECT_THAT(PaintOf(b).images, IsEmpty());
  const std::string outside = WriteFile("outside.png", kPng);
  for (const std::string& uri : {std::string("missing.png"), outside, "file://" + outside}) {
    b.doc["images"][0] = {{"uri", uri}};
    EXPECT_THAT(PaintOf(b).images, IsEmpty()) << uri;
    EXPECT_EQ(PaintOf(b).uvs.at(2), -1);
    EXPECT_TRUE(PaintOf(b).lacks_images);
  }
}

// The example of KHR_texture_transform: only the lower left quadrant, rotated clockwise.
TEST(GltfPaint, TransformsTextureCoordinates) {
  GltfBuilder b = Painted();
  nlohmann::json& texture = b.doc["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"];
  texture["texCoord"] = 3;  // overridden
  texture["extensions"]["KHR_texture_transform"] = {
      {"offset", {0, 1}}, {"rotation", 1.57079632679}, {"scale", {0.5, 0.25}}, {"texCoord", 0}};
  const std::vector<float> uvs = PaintOf(b).uvs;
  const auto is = [](float value) { return ::testing::FloatNear(value, 1e-6f); };
  EXPECT_THAT(uvs, ElementsAre(is(0.25f), is(1), 0, is(0.25f), is(0.5f), 0, is(0), is(0.5f), 0,
                               is(0), is(1), 0));
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
