// Files that are wrong: each must give a clear error, never a crash or a rig.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sinew/import.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/paths.h"

// libassimp 5.2 loses what it had read of a damaged file, 48 KB over all of these, most of it
// through zlib. That has no frame pointers, so only the slow way to walk the stack finds libassimp
// above it.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libassimp";
}
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "fast_unwind_on_malloc=0";
}

namespace sinew::client {
namespace {

using testing::GltfBuilder;
using ::testing::HasSubstr;
using testing::MakeStrip;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

nlohmann::json& Attributes(GltfBuilder& b) {
  return b.doc["meshes"][0]["primitives"][0]["attributes"];
}

struct BadGltf {
  const char* name;
  std::function<void(GltfBuilder&)> spoil;
  const char* message;  // part of it
};

void PrintTo(const BadGltf& bad, std::ostream* out) {
  *out << bad.name;
}

class BadGltfFile : public ::testing::TestWithParam<BadGltf> {};

TEST_P(BadGltfFile, ErrorNamesCause) {
  GltfBuilder b = MakeStrip();
  GetParam().spoil(b);
  const auto scene = ImportFile(b.Write());
  EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(scene.status().message()), HasSubstr(GetParam().message));
}

const std::vector<BadGltf>& BadGltfs() {
  static const auto* const kTable = new std::vector<BadGltf>{
      {"NoSkin",
       [](GltfBuilder& b) {
         b.doc.erase("skins");
         b.doc["nodes"][0].erase("skin");
       },
       "no mesh has a skin, need at least one; `sinew weights` computes weights"},
      {"NoSkinnedMesh", [](GltfBuilder& b) { b.doc["nodes"][0].erase("skin"); },
       "no mesh has a skin"},
      {"NoJoints", [](GltfBuilder& b) { b.doc["skins"][0]["joints"] = nlohmann::json::array(); },
       "0 joints"},
      {"JointOutOfRange",
       [](GltfBuilder& b) {
         b.doc["skins"][0]["joints"] = {1, 99};
       },
       "joint node 99"},
      {"JointTwice",
       [](GltfBuilder& b) {
         b.doc["skins"][0]["joints"] = {1, 1};
       },
       "twice"},
      {"SkinOutOfRange", [](GltfBuilder& b) { b.doc["nodes"][0]["skin"] = 7; }, "skin 7"},
      {"MeshOutOfRange", [](GltfBuilder& b) { b.doc["nodes"][0]["mesh"] = 7; }, "mesh 7"},
      {"CyclicNodes", [](GltfBuilder& b) { b.doc["nodes"][2]["children"] = {1}; }, "cycle"},
      {"SelfChild", [](GltfBuilder& b) { b.doc["nodes"][0]["children"] = {0}; }, "cycle"},
      {"TwoParents", [](GltfBuilder& b) { b.doc["nodes"][0]["children"] = {2}; }, "child of both"},
      {"ChildOutOfRange", [](GltfBuilder& b) { b.doc["nodes"][0]["children"] = {-5}; }, "child -5"},
      {"DracoOnly",
       [](GltfBuilder& b) {
         b.doc["meshes"][0]["primitives"][0]["extensions"] = {
             {"KHR_draco_mesh_compression",
              {{"bufferView", 0}, {"attributes", {{"POSITION", 0}}}}}};
         b.doc["accessors"][0].erase("bufferView");
       },
       "KHR_draco_mesh_compression"},
      {"MeshoptView",
       [](GltfBuilder& b) {
         b.doc["bufferViews"][0]["extensions"] = {{"EXT_meshopt_compression", {{"buffer", 0}}}};
       },
       "EXT_meshopt_compression"},
      {"UnknownRequired", [](GltfBuilder& b) { b.doc["extensionsRequired"] = {"ACME_bent_space"}; },
       "ACME_bent_space"},
      {"OldVersion", [](GltfBuilder& b) { b.doc["asset"]["version"] = "1.0"; },
       "asset.version is '1.0'"},
      {"NoAsset", [](GltfBuilder& b) { b.doc.erase("asset"); }, "asset.version"},
      {"DeepExtras",
       [](GltfBuilder& b) {
         nlohmann::json deep = 1;
         for (int i = 0; i < 1000; ++i) deep = nlohmann::json::array({deep});
         b.doc["extras"] = deep;
       },
       "nested deeper"},
      {"CountOfTwoBillion", [](GltfBuilder& b) { b.doc["accessors"][0]["count"] = 2000000000; },
       "more than bufferView"},
      {"CountOfTwoBillionZeros",
       [](GltfBuilder& b) {
         b.doc["accessors"][1]["count"] = 2000000000;
         b.doc["accessors"][1].erase("bufferView");
       },
       "no bufferView but 2000000000"},
      {"CountBeyond64Bits", [](GltfBuilder& b) { b.doc["accessors"][0]["count"] = UINT64_MAX / 4; },
       "more than bufferView"},
      {"OffsetBeyond64Bits",
       [](GltfBuilder& b) { b.doc["accessors"][0]["byteOffset"] = UINT64_MAX - 3; },
       "more than bufferView"},
      {"ViewBeyondBuffer", [](GltfBuilder& b) { b.doc["bufferViews"][0]["byteLength"] = 100000; },
       "the buffer has"},
      {"ViewOffsetBeyondBuffer",
       [](GltfBuilder& b) { b.doc["bufferViews"][0]["byteOffset"] = UINT64_MAX - 7; },
       "the buffer has"},
      {"MissingView", [](GltfBuilder& b) { b.doc["accessors"][0]["bufferView"] = 77; },
       "bufferView 77"},
      {"NoView", [](GltfBuilder& b) { b.doc["accessors"][0].erase("bufferView"); },
       "no bufferView"},
      {"MissingBuffer", [](GltfBuilder& b) { b.doc["bufferViews"][0]["buffer"] = 3; }, "buffer 3"},
      {"ShortStride", [](GltfBuilder& b) { b.doc["bufferViews"][0]["byteStride"] = 4; },
       "byteStride 4"},
      {"OddStride", [](GltfBuilder& b) { b.doc["bufferViews"][0]["byteStride"] = 13; },
       "byteStride"},
      {"MissingAccessor", [](GltfBuilder& b) { Attributes(b)["POSITION"] = 99; }, "accessor 99"},
      {"NegativeAccessor", [](GltfBuilder& b) { Attributes(b)["JOINTS_0"] = -2; }, "accessor -2"},
      {"NoPosition", [](GltfBuilder& b) { Attributes(b).erase("POSITION"); }, "no POSITION"},
      {"FlatPosition", [](GltfBuilder& b) { b.doc["accessors"][0]["type"] = "VEC2"; },
       "three components"},
      {"UnknownComponent", [](GltfBuilder& b) { b.doc["accessors"][0]["componentType"] = 5124; },
       "component type 5124"},
      {"UnknownType", [](GltfBuilder& b) { b.doc["accessors"][0]["type"] = "VEC9"; }, "VEC9"},
      {"SparseIndexOutOfRange",
       [](GltfBuilder& b) {
         const int i = b.AddView<std::uint16_t>({4}), v = b.AddView<float>({0, 0, 0});
         b.doc["accessors"][0]["sparse"] = {
             {"count", 1},
             {"indices", {{"bufferView", i}, {"componentType", 5123}}},
             {"values", {{"bufferView", v}}}};
       },
       "sparse index 4"},
      {"SparseCountTooLarge",
       [](GltfBuilder& b) {
         const int i = b.AddView<std::uint16_t>({1}), v = b.AddView<float>({0, 0, 0});
         b.doc["accessors"][0]["sparse"] = {
             {"count", 4},
             {"indices", {{"bufferView", i}, {"componentType", 5123}}},
             {"values", {{"bufferView", v}}}};
       },
       "more than bufferView"},
      {"IndexOutOfRange",
       [](GltfBuilder& b) {
         b.doc["meshes"][0]["primitives"][0]["indices"] =
             b.AddAccessor<std::uint16_t>({0, 1, 4}, "SCALAR");
       },
       "index 2 is 4"},
      {"FloatIndices",
       [](GltfBuilder& b) {
         b.doc["meshes"][0]["primitives"][0]["indices"] = b.AddAccessor<float>({0, 1, 2}, "SCALAR");
       },
       "unsigned integer"},
      {"HalfATriangle",
       [](GltfBuilder& b) {
         b.doc["meshes"][0]["primitives"][0]["indices"] =
             b.AddAccessor<std::uint8_t>({0, 1}, "SCALAR");
       },
       "multiple of 3"},
      {"UnknownMode", [](GltfBuilder& b) { b.doc["meshes"][0]["primitives"][0]["mode"] = 9; },
       "mode 9"},
      {"NanPosition",
       [](GltfBuilder& b) {
         Attributes(b)["POSITION"] =
             b.AddAccessor<float>({0, 0, 0, 1, kNan, 0, 1, 2, 0, 0, 2, 0}, "VEC3");
       },
       "element 1 is nan"},
      {"InfiniteInverseBind",
       [](GltfBuilder& b) {
         std::vector<float> m(32, 1);
         m[3] = INFINITY;
         b.doc["skins"][0]["inverseBindMatrices"] = b.AddAccessor(m, "MAT4");
       },
       "joint 0 of its skin is not finite"},
      {"ProjectiveInverseBind",
       [](GltfBuilder& b) {
         b.doc["skins"][0]["inverseBindMatrices"] =
             b.AddAccessor(std::vector<float>(32, 1), "MAT4");
       },
       "last row"},
      {"TooFewInverseBinds", [](GltfBuilder& b) { b.doc["accessors"][4]["count"] = 1; },
       "need 2 of 16"},
      {"WeightsWithoutJoints", [](GltfBuilder& b) { Attributes(b)["WEIGHTS_1"] = 2; },
       "must come together"},
      {"FewerWeights", [](GltfBuilder& b) { b.doc["accessors"][2]["count"] = 3; }, "need 4 of 4"},
      {"FloatJoints", [](GltfBuilder& b) { Attributes(b)["JOINTS_0"] = 2; }, "unsigned integer"},
      {"PlainIntegerWeights", [](GltfBuilder& b) { Attributes(b)["WEIGHTS_0"] = 1; }, "normalized"},
      {"JointBeyondSkin",
       [](GltfBuilder& b) {
         Attributes(b)["JOINTS_0"] =
             b.AddAccessor<std::uint8_t>({0, 0, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, "VEC4");
       },
       "vertex 1 names joint 9"},
      {"NegativeWeight",
       [](GltfBuilder& b) {
         Attributes(b)["WEIGHTS_0"] = b.AddAccessor<float>(
             {1, 0, 0, 0, 1.5f, -0.5f, 0, 0, 0.25f, 0.75f, 0, 0, 1, 0, 0, 0}, "VEC4");
       },
       "vertex 1 has the weight -0.5"},
      {"NoWeights",
       [](GltfBuilder& b) {
         Attributes(b)["WEIGHTS_0"] =
             b.AddAccessor<float>({1, 0, 0, 0, 0, 0, 0, 0, 0.25f, 0.75f, 0, 0, 0, 0, 0, 0}, "VEC4");
       },
       "2 vertices have no weight, the first is 1"},
      {"ShortTarget",
       [](GltfBuilder& b) {
         b.doc["meshes"][0]["primitives"][0]["targets"] = {
             {{"POSITION", b.AddAccessor<float>({1, 0, 0}, "VEC3")}}};
       },
       "need 4 of 3"},
      {"ShortNormals",
       [](GltfBuilder& b) {
         Attributes(b)["NORMAL"] = b.AddAccessor<float>({1, 0, 0}, "VEC3");
       },
       "need 4 of 3"},
      {"ShortRotation",
       [](GltfBuilder& b) {
         b.doc["nodes"][1]["rotation"] = {0, 0, 1};
       },
       "rotation has 3 numbers"},
      {"OverflowingTransforms",
       [](GltfBuilder& b) {
         b.doc["nodes"][1]["scale"] = {1e30, 1e30, 1e30};
         b.doc["nodes"][2]["scale"] = {1e30, 1e30, 1e30};
         b.doc["skins"][0]["joints"] = {2};
         b.doc["skins"][0].erase("inverseBindMatrices");
         Attributes(b)["JOINTS_0"] = b.AddAccessor(std::vector<std::uint8_t>(16, 0), "VEC4");
       },
       "float32"},
      {"DeepNodes",
       [](GltfBuilder& b) {
         int parent = 2;
         for (int depth = 3; depth <= 4097; ++depth) {
           const int child = b.Push("nodes", {{"mesh", 0}});
           b.doc["nodes"][parent]["children"] = {child};
           parent = child;
         }
       },
       "nodes[4097]: nested 4097 nodes deep, need at most 4096"},
      {"FallingTimes",
       [](GltfBuilder& b) {
         testing::AddAnimation(b, 2, "translation", {1, 0}, {0, 0, 0, 0, 0, 0}, "VEC3", "LINEAR");
       },
       "key 1 is 0"},
      {"FewerValues",
       [](GltfBuilder& b) {
         testing::AddAnimation(b, 2, "translation", {0, 1}, {0, 0, 0}, "VEC3", "LINEAR");
       },
       "3 numbers for 2 keys"},
      {"FewerCubicValues",
       [](GltfBuilder& b) {
         testing::AddAnimation(b, 2, "translation", {0, 1}, {0, 0, 0, 0, 0, 0}, "VEC3",
                               "CUBICSPLINE");
       },
       "need 18"},
      {"NoKeys",
       [](GltfBuilder& b) {
         testing::AddAnimation(b, 2, "translation", {0}, {0, 0, 0}, "VEC3", "LINEAR");
         for (int i = 0; i < 2; ++i) b.doc["accessors"][5 + i]["count"] = 0;
       },
       "no keys"},
      {"ZeroRotation",
       [](GltfBuilder& b) {
         testing::AddAnimation(b, 2, "rotation", {0}, {0, 0, 0, 0}, "VEC4", "STEP");
       },
       "rotation of key 0 is zero"},
      {"NanKey",
       [](GltfBuilder& b) {
         testing::AddAnimation(b, 2, "scale", {0}, {1, kNan, 1}, "VEC3", "STEP");
       },
       "nan"},
      {"UnknownInterpolation",
       [](GltfBuilder& b) {
         testing::AddAnimation(b, 2, "scale", {0}, {1, 1, 1}, "VEC3", "SINE");
       },
       "SINE"},
      {"UnknownPath",
       [](GltfBuilder& b) {
         testing::AddAnimation(b, 2, "colour", {0}, {1, 1, 1}, "VEC3", "STEP");
       },
       "colour"},
      {"ChannelNodeOutOfRange",
       [](GltfBuilder& b) {
         testing::AddAnimation(b, 44, "scale", {0}, {1, 1, 1}, "VEC3", "STEP");
       },
       "node 44"},
      {"WeightsOfOtherCount",
       [](GltfBuilder& b) {
         b.doc["meshes"][0]["primitives"][0]["targets"] = {{{"POSITION", 0}}};
         testing::AddAnimation(b, 0, "weights", {0}, {1, 1}, "SCALAR", "STEP");
       },
       "has 1 morph target"},
      {"WrongJsonTypes", [](GltfBuilder& b) { b.doc["nodes"] = "none"; }, "joint node 1"},
      {"EmptyBuffer",
       [](GltfBuilder& b) {
         b.doc["buffers"] = {{{"byteLength", 0}}};
       },
       "the buffer has 0"},
      {"BufferBeyondFile",
       [](GltfBuilder& b) {
         b.doc["buffers"] = {{{"byteLength", 1 << 30}}};
       },
       "byteLength"},
      {"SideFileMissing",
       [](GltfBuilder& b) {
         b.doc["buffers"] = {{{"byteLength", 64}, {"uri", "nowhere.bin"}}};
       },
       "nowhere.bin"},
      {"SideFileIsADevice",
       [](GltfBuilder& b) {
         b.doc["buffers"] = {{{"byteLength", 64}, {"uri", "/dev/zero"}}};
       },
       "glTF"},
  };
  return *kTable;
}

INSTANTIATE_TEST_SUITE_P(All, BadGltfFile, ::testing::ValuesIn(BadGltfs()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(BadFile, NotThere) {
  EXPECT_EQ(ImportFile(testing::TemporaryPath("nothing.glb")).status().code(),
            absl::StatusCode::kNotFound);
}

TEST(BadFile, EmptyFolderOrUnknownExtension) {
  for (const char* name : {"x.glb", "x.gltf", "x.fbx", "x.dae"}) {
    EXPECT_THAT(std::string(ImportFile(testing::WriteFile(name, "")).status().message()),
                HasSubstr("empty"))
        << name;
  }
  const std::string folder = testing::TemporaryPath("folder.glb");
  std::filesystem::create_directories(folder);
  EXPECT_THAT(std::string(ImportFile(folder).status().message()),
              HasSubstr("is a folder, need a file"));
  EXPECT_THAT(
      std::string(ImportFile(testing::WriteFile("x.obj", "v 0 0 0")).status().message()),
      HasSubstr("wrong type '.obj', need .glb, .gltf, .vrm, .fbx or .dae: an .obj holds neither "
                "joints nor weights, which `sinew fit-skeleton` or `sinew weights FILE --skeleton "
                "FILE2` gives it"));
  EXPECT_THAT(std::string(ImportFile(testing::WriteFile("x.USDZ", "PK")).status().message()),
              ::testing::EndsWith(
                  "wrong type '.usdz', need .glb, .gltf, .vrm, .fbx or .dae; `python3 -m sinew.usd "
                  "FILE OUT.sinewrig` converts OpenUSD files"));
  EXPECT_THAT(std::string(ImportFile(testing::WriteFile("x.ply", "ply")).status().message()),
              ::testing::EndsWith("wrong type '.ply', need .glb, .gltf, .vrm, .fbx or .dae"));
}

TEST(BadFile, ContentOfAnotherType) {
  const std::string glb = MakeStrip().Glb();
  for (const char* name : {"x.gltf", "x.fbx", "x.dae"}) {
    EXPECT_THAT(std::string(ImportFile(testing::WriteFile(name, glb)).status().message()),
                HasSubstr("called .glb"))
        << name;
  }
  EXPECT_THAT(std::string(ImportFile(testing::WriteFile("x.glb", "plain text")).status().message()),
              HasSubstr("wrong type"));
  EXPECT_THAT(
      std::string(ImportFile(testing::WriteFile("x.gltf", "{\"asset\": ")).status().message()),
      HasSubstr("glTF: line 1, column 11: not JSON"));
}

TEST(BadFile, TextOfTwoBytesPerLetter) {
  using namespace std::string_literals;
  for (const std::string& text : {"\xff\xfe<\0?\0x\0m\0"s, "\xfe\xff\0<\0?\0x\0m"s}) {
    EXPECT_THAT(std::string(ImportFile(testing::WriteFile("x.dae", text)).status().message()),
                HasSubstr("x.dae: its text is UTF-16, need UTF-8"));
  }
}

TEST(BadFile, BrokenJsonIsNamedByLineAndColumn) {
  const std::string text = "{\n  \"asset\": {\"version\": \"2.0\"},\n  \"nodes\" []\n}\n";
  EXPECT_THAT(std::string(ImportFile(testing::WriteFile("x.gltf", text)).status().message()),
              HasSubstr("glTF: line 3, column 11: not JSON"));
}

TEST(BadFile, RefusesDuplicateKeys) {
  const auto message = [](const std::string& members) {
    const std::string text = R"({"asset": {"version": "2.0"}, )" + members + "}";
    return std::string(ImportFile(testing::WriteFile("x.gltf", text)).status().message());
  };
  EXPECT_THAT(message(R"("nodes": [], "nodes": [])"), HasSubstr("glTF: nodes: given twice"));
  EXPECT_THAT(message(R"("nodes": [{"name": "a"}, {"name": "b", "mesh": 0, "name": "c"}])"),
              HasSubstr("glTF: nodes[1].name: given twice, need it once"));
  EXPECT_THAT(message(R"("nodes": [{"name": "a"}, {"name": "a"}])"), Not(HasSubstr("twice")));
}

TEST(BadFile, BuffersOutsideTheFolderAreNeverOpened) {
  const std::pair<const char*, const char*> rows[] = {
      {"../../../etc/passwd", "../../../etc/passwd"}, {"/etc/passwd", "/etc/passwd"},
      {"file:///etc/passwd", "file:///etc/passwd"},   {"%2e%2e/secret.bin", "../secret.bin"},
      {"a/../../secret.bin", "a/../../secret.bin"},   {R"(..\\..\\secret.bin)", "../../secret.bin"},
      {R"(%2e%2e%5csecret.bin)", "../secret.bin"},    {R"(C:\\secret.bin)", "C:/secret.bin"},
  };
  for (const auto& [uri, said] : rows) {
    const std::string text = absl::StrCat(
        R"({"asset":{"version":"2.0"},"buffers":[{"byteLength":4,"uri":")", uri, R"("}]})");
    const auto scene = ImportFile(testing::WriteFile("outside.gltf", text));
    EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument) << uri;
    EXPECT_THAT(std::string(scene.status().message()),
                HasSubstr(absl::StrCat("uri: got \"", said)));
  }
}

TEST(BadFile, LargerThanTheLimit) {
  ImportOptions options;
  options.max_file_bytes = 100;
  EXPECT_THAT(std::string(ImportFile(MakeStrip().Write(), options).status().message()),
              HasSubstr("need at most 100"));
}

TEST(BadFile, OtherContainerVersion) {
  std::string glb = MakeStrip().Glb();
  glb[4] = 1;
  EXPECT_THAT(std::string(ImportFile(testing::WriteFile("v1.glb", glb)).status().message()),
              HasSubstr("container version 1"));
}

TEST(BadFile, EveryTruncationOfAGlb) {
  const std::string glb = MakeStrip().Glb();
  for (std::size_t size = 1; size < glb.size(); ++size) {
    const auto scene = ImportFile(testing::WriteFile("cut.glb", glb.substr(0, size)));
    EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument) << size;
  }
}

TEST(BadFile, TruncationsOfARealGlb) {
  const auto path = testing::SharedData() / "models" / "RiggedFigure.glb";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no shared test data";
  std::ifstream in(path, std::ios::binary);
  const std::string glb((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t size = 97; size < glb.size(); size += 97) {
    std::string cut = glb.substr(0, size);
    EXPECT_FALSE(ImportFile(testing::WriteFile("cut.glb", cut)).ok()) << size;
    const auto length = static_cast<std::uint32_t>(size);
    cut.replace(8, 4, reinterpret_cast<const char*>(&length), 4);  // a header that agrees
    EXPECT_FALSE(ImportFile(testing::WriteFile("cut.glb", cut)).ok()) << size;
  }
}

// Whatever is accepted must be whole: sampled without error and finite.
TEST(BadFile, FlippedBytesNeverCrash) {
  GltfBuilder b = MakeStrip();
  testing::AddAnimation(b, 2, "rotation", {0, 1}, {0, 0, 0, 1, 0, 0, 1, 0}, "VEC4", "LINEAR");
  const std::string glb = b.Glb();
  std::mt19937 random(7);
  for (int round = 0; round < 1500; ++round) {
    std::string bent = glb;
    for (int i = 0; i <= round % 3; ++i) bent[random() % bent.size()] = static_cast<char>(random());
    const auto scene = ImportFile(testing::WriteFile("bent.glb", bent));
    if (!scene.ok()) {
      EXPECT_EQ(scene.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    for (std::size_t c = 0; c < scene->clips.size(); ++c) {
      const auto clip = SampleClip(*scene, c, SampleOptions{.fps = 1, .last_frame = 3});
      if (!clip.ok()) continue;
      for (const float x : clip->joint_transforms) ASSERT_TRUE(std::isfinite(x)) << round;
    }
  }
}

}  // namespace
}  // namespace sinew::client
