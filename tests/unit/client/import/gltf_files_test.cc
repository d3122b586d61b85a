// The glTF reader on containers, URIs, extensions and messages as other programs write them.
#include <absl/strings/escaping.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

#include "sinew/import.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/problems.h"

namespace sinew::client {
namespace {

using testing::GltfBuilder;
using testing::HasProblem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeStrip;
using ::testing::Not;
using ::testing::SizeIs;

std::string Number(std::size_t n) {
  const auto value = static_cast<std::uint32_t>(n);
  return std::string(reinterpret_cast<const char*>(&value), 4);
}

// A GLB with these chunks, as they are. `between`: bytes that no length counts.
std::string Container(const std::string& json, const std::string& between, const std::string& bin) {
  return "glTF" + Number(2) + Number(28 + json.size() + between.size() + bin.size()) +
         Number(json.size()) + "JSON" + json + between + Number(bin.size()) +
         std::string("BIN\0", 4) + bin;
}

void ExpectStrip(const absl::StatusOr<ImportedScene>& scene) {
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->rig.vertices(), 4u);
  EXPECT_EQ(scene->rig.meshes.at(0).positions[7], 2);
  EXPECT_THAT(scene->problems, IsEmpty());
}

TEST(GltfContainer, NeedsNoPadding) {
  GltfBuilder b = MakeStrip();
  b.buffer += "x";
  b.doc["buffers"] = {{{"byteLength", b.buffer.size()}}};
  std::string json = b.doc.dump();
  while (json.size() % 4 != 1) json.insert(1, " ");
  ExpectStrip(ImportFile(testing::WriteFile("plain.glb", Container(json, "", b.buffer))));
  ExpectStrip(ImportFile(testing::WriteFile("uncounted.glb", Container(json, "   ", b.buffer))));
  json += std::string(3, '\0');
  ExpectStrip(ImportFile(testing::WriteFile("zeros.glb", Container(json, "", b.buffer))));
}

TEST(GltfContainer, VrmIsAGlb) {
  ExpectStrip(ImportFile(testing::WriteFile("hero.vrm", MakeStrip().Glb())));
  ExpectStrip(ImportFile(testing::WriteFile("HERO.VRM", MakeStrip().Glb())));
}

absl::StatusOr<ImportedScene> WithUri(const std::string& uri, std::size_t length = 0) {
  GltfBuilder b = MakeStrip();
  b.doc["buffers"] = {{{"byteLength", length > 0 ? length : b.buffer.size()}, {"uri", uri}}};
  return ImportFile(testing::WriteFile("scene.gltf", b.doc.dump()));
}

TEST(GltfUri, DataNeedsNoMediaType) {
  const std::string text = absl::Base64Escape(MakeStrip().buffer);
  for (const char* head : {"data:;base64,", "data:application/octet-stream;base64,",
                           "data:application/x-thing;charset=utf-8;base64,", "DATA:;BASE64,"}) {
    ExpectStrip(WithUri(head + text));
  }
}

TEST(GltfUri, MessagesQuoteNoData) {
  const std::string text = absl::Base64Escape(MakeStrip().buffer);
  for (const auto& scene :
       {WithUri("data:;base64," + text, 100000), WithUri("data:;base64," + text + "!"),
        WithUri("data:application/octet-stream," + text)}) {
    const std::string message(scene.status().message());
    EXPECT_THAT(message, HasSubstr("buffers[0]: uri: a data URI"));
    EXPECT_THAT(message, Not(HasSubstr(text.substr(0, 8))));
  }
}

TEST(GltfUri, BackSlashesAreSlashes) {
  const GltfBuilder b = MakeStrip();
  const std::filesystem::path folder(testing::TemporaryPath("parts"));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a b.bin", std::ios::binary) << b.buffer << "more than byteLength";
  ExpectStrip(WithUri(folder.filename().string() + "\\a%20b.bin"));
  ExpectStrip(WithUri(".\\" + folder.filename().string() + "/a b.bin"));
}

TEST(GltfAnimation, PointersAreLostAndNamed) {
  GltfBuilder b = MakeStrip();
  testing::AddAnimation(b, 2, "translation", {0, 1}, {0, 1, 0, 0, 3, 0}, "VEC3", "LINEAR");
  auto& channels = b.doc["animations"][0]["channels"];
  const nlohmann::json target = {
      {"path", "pointer"},
      {"extensions", {{"KHR_animation_pointer", {{"pointer", "/nodes/1/translation"}}}}}};
  const nlohmann::json channel = {{"sampler", 0}, {"target", target}};
  channels.insert(channels.begin(), channel);
  const auto scene = ImportFile(b.Write());
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_EQ(scene->clips.at(0).channels, 1u);
  EXPECT_TRUE(HasProblem(*scene, Severity::kWarning, "KHR_animation_pointer", kLostReason));
  EXPECT_THAT(scene->problems, SizeIs(1));
}

TEST(GltfMessages, AreOneShortLine) {
  GltfBuilder b = MakeStrip();
  b.doc["nodes"][0]["name"] = "a\nb" + std::string(5000, 'x');
  b.doc["meshes"][0]["primitives"][0]["mode"] = 0;
  b.doc["materials"] = {{{"name", 3}, {"pbrMetallicRoughness", 1}}};
  const auto scene = ImportFile(b.Write());
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_FALSE(scene->problems.empty());
  for (const Problem& problem : scene->problems) {
    for (const std::string& text : {problem.message, problem.field}) {
      EXPECT_LE(text.size(), 300u);
      EXPECT_THAT(text, Not(HasSubstr("\n")));
    }
  }
  b.doc["nodes"][0]["skin"] = 9;
  const std::string path = b.Write();
  const std::string message(ImportFile(path).status().message());
  EXPECT_LE(message.size(), path.size() + 302);
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace sinew::client
