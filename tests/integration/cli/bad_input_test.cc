// What is wrong is refused with exit 65 (64 for usage), a message that names it, and no file left
// behind.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "client/models/models.h"
#include "sinew/client.h"
#include "tests/integration/cli/poses_file.h"
#include "tests/integration/cli/process.h"
#include "tests/integration/cli/small_gltf.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

// Inspecting and baking `file` both end with 65, a message with `words`, and nothing written.
void ExpectRefused(const TemporaryFolder& folder, const std::string& file,
                   const std::string& words) {
  SCOPED_TRACE(file);
  const auto before = folder.Names();
  const Finished bake =
      Sinew({"bake", file, "--deformer", "lbs", "--out", folder / "out.pc2", "--local"});
  EXPECT_EQ(bake.exit_code, 65) << bake.err;
  EXPECT_THAT(absl::AsciiStrToLower(bake.err), HasSubstr(words));
  EXPECT_THAT(bake.err, HasSubstr("sinew: "));
  EXPECT_THAT(bake.out, IsEmpty());
  EXPECT_EQ(folder.Names(), before);
  const Finished inspect = Sinew({"inspect", file});
  EXPECT_EQ(inspect.exit_code, 65) << inspect.err;
  EXPECT_THAT(absl::AsciiStrToLower(inspect.err), HasSubstr(words));
}

struct Damage {
  const char* name;
  const char* words;  // lower case
  std::function<void(Json&)> apply;
};

TEST(BadInput, AcceptsUndamagedFile) {
  const TemporaryFolder folder;
  WriteAll(folder / "good.gltf", SmallGltf().dump());
  const Finished bake = Sinew(
      {"bake", folder / "good.gltf", "--deformer", "lbs", "--out", folder / "out.pc2", "--local"});
  EXPECT_EQ(bake.exit_code, 0) << bake.err;
}

TEST(BadInput, RejectsDamagedGltf) {
  const Damage rows[] = {
      {"no skin", "skin",
       [](Json& g) {
         g.erase("skins");
         g["nodes"][0].erase("skin");
       }},
      {"no joints", "joint", [](Json& g) { g["skins"][0]["joints"] = Json::array(); }},
      {"joint out of range", "joint",
       [](Json& g) {
         g["skins"][0]["joints"] = {1, 77};
       }},
      {"cycle", "nodes", [](Json& g) { g["nodes"][2]["children"] = {1}; }},
      {"weights negative", "weight", [](Json& g) { SetFloat(g, 2, 8, -0.5F); }},
      {"nan position", "position", [](Json& g) { SetFloat(g, 0, 4, NAN); }},
      {"infinite weight", "weight", [](Json& g) { SetFloat(g, 2, 0, INFINITY); }},
      {"nan bind", "bind", [](Json& g) { SetFloat(g, 4, 0, NAN); }},
      {"lying count", "accessors", [](Json& g) { g["accessors"][0]["count"] = 2'000'000'000; }},
      {"lying view", "bufferview", [](Json& g) { g["bufferViews"][0]["byteLength"] = 100'000; }},
      {"missing view", "bufferview", [](Json& g) { g["accessors"][0]["bufferView"] = 99; }},
      {"index out of range", "ind",
       [](Json& g) {
         g["accessors"][3]["count"] = 6;
         g["accessors"][0]["count"] = 2;
         g["accessors"][1]["count"] = 2;
         g["accessors"][2]["count"] = 2;
       }},
      {"required extension", "ext_mesh_gpu_instancing",
       [](Json& g) { g["extensionsRequired"] = {"EXT_mesh_gpu_instancing"}; }},
  };
  const TemporaryFolder folder;
  for (const Damage& row : rows) {
    SCOPED_TRACE(row.name);
    Json gltf = SmallGltf();
    row.apply(gltf);
    WriteAll(folder / "bad.gltf", gltf.dump());
    ExpectRefused(folder, folder / "bad.gltf", row.words);
  }
}

TEST(BadInput, RejectsOtherFileTypes) {
  const TemporaryFolder folder;
  const std::string good = SmallGltf().dump();
  const std::string rig = *client::EncodeRig(client::Make("tube")->rig);
  const std::pair<const char*, std::string> rows[] = {
      {"empty.glb", ""},
      {"empty.gltf", ""},
      {"empty.fbx", ""},
      {"empty.dae", ""},
      {"empty.sinewrig", ""},
      {"cut.gltf", good.substr(0, good.size() / 2)},
      {"cut.glb", std::string("glTF\x02\x00\x00\x00\xff\xff\x00\x00", 12)},
      {"picture.glb", "\x89PNG\r\n\x1a\n and so on"},
      {"garbage.fbx", "Kaydara FBX Binary  and then nothing"},
      {"garbage.dae", "<COLLADA><library"},
      {"cut.sinewrig", rig.substr(0, rig.size() / 2)},
      {"garbage.sinewrig", "\xff\xff\xff\xff nothing"},
      {"model.obj", "v 0 0 0\n"},
      {"noextension", good},
  };
  for (const auto& [name, bytes] : rows) {
    WriteAll(folder / name, bytes);
    ExpectRefused(folder, folder / name, "");
  }
  ExpectRefused(folder, folder / "missing.glb", "missing.glb");
  ExpectRefused(folder, folder.path().string(), "is a folder, need a file");
  ExpectRefused(folder, "/dev/stdin", "/dev/stdin: not a regular file");
  ExpectRefused(folder, "-", "not read from standard input");
  ExpectRefused(folder, folder / "noextension", "no extension, need .glb");
  ExpectRefused(folder, "model:dragon", "dragon");
  WriteAll(folder / "readme.md", "# Hero");
  ExpectRefused(folder, folder / "readme.md",
                "wrong type '.md', need .glb, .gltf, .vrm, .fbx, .dae or .sinewrig; or model:name");
}

TEST(BadInput, ReportsInvalidRigs) {
  const TemporaryFolder folder;
  client::RigData rig = client::Make("tube")->rig;
  rig.meshes[0].skin.influence_weights[0] += 0.5F;
  WriteAll(folder / "off.sinewrig", *client::EncodeRig(rig));
  const Finished upload = Sinew({"upload", folder / "off.sinewrig", "--local"});
  EXPECT_EQ(upload.exit_code, 65) << upload.err;
  EXPECT_THAT(upload.err, HasSubstr("weight"));
  EXPECT_EQ(Sinew({"inspect", folder / "off.sinewrig"}).exit_code, 65);
}

struct Wrong {
  std::vector<std::string> arguments;  // behind `bake model:tube --out OUT --local`
  int exit_code;
  const char* words;
};

TEST(BadInput, BakeRejectsWrongArguments) {
  const Wrong rows[] = {
      {{"--deformer", "dance"}, 65, "dance"},
      {{"--deformer", "lbs |"}, 65, "sinew: "},
      {{"--deformer", "ddm(nonsense=1)"}, 65, "nonsense"},
      {{"--deformer", "{\"stages\": [{\"lbs\": {\"nonsense\": 1}}]}"}, 65, "nonsense"},
      {{"--deformer", "{\"stages\""}, 65, "JSON"},
      {{"--deformer", "@missing.json"}, 65, "missing.json"},
      {{"--deformer", ""}, 64, "--deformer"},
      {{"--deformer", "lbs", "--clip", "moonwalk"}, 65, "moonwalk"},
      {{"--deformer", "lbs", "--clip", "7"}, 65, "7"},
      {{"--deformer", "lbs", "--clip", ""}, 64, "--clip: got \"\", need a value"},
      {{"--deformer", "lbs", "--frames", "0-100000"}, 65, "0-100000"},
      {{"--deformer", "lbs", "--frames", "5-2"}, 64, "5-2"},
      {{"--deformer", "lbs", "--frames", "all"}, 64, "all"},
      {{"--deformer", "lbs", "--format", "abc"}, 64, "pc2"},
      {{"--deformer", "lbs", "--poses", "missing.npy"}, 65, "missing.npy"},
  };
  const TemporaryFolder folder;
  for (const Wrong& row : rows) {
    std::vector<std::string> arguments = {"bake", "model:tube", "--out", folder / "out.pc2",
                                          "--local"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const Finished bake = Sinew(arguments);
    EXPECT_EQ(bake.exit_code, row.exit_code) << row.arguments.back() << ": " << bake.err;
    EXPECT_THAT(bake.err, HasSubstr(row.words));
    EXPECT_THAT(folder.Names(), IsEmpty());
  }
}

// Three frames of joints at their origins, but for the last value.
std::vector<float> Poses(std::size_t joints, float last) {
  std::vector<float> values;
  for (std::size_t k = 0; k < 3 * joints; ++k)
    values.insert(values.end(), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0});
  values.back() = last;
  return values;
}

TEST(BadInput, PosesAreCheckedLocallyAndOnServer) {
  const TemporaryFolder folder;
  const client::RigData rig = client::Make("tube")->rig;
  WriteAll(folder / "tube.sinewrig", *client::EncodeRig(rig));
  const auto bake = [&](const std::string& poses) {
    return Sinew({"bake", folder / "tube.sinewrig", "--poses", poses, "--deformer", "lbs", "--out",
                  folder / "out.pc2", "--local"});
  };
  const std::size_t count = rig.joints.size();
  WritePoses(folder / "short.npy", Poses(count - 1, 0), count - 1);
  const Finished joints = bake(folder / "short.npy");
  EXPECT_EQ(joints.exit_code, 65);
  EXPECT_THAT(joints.err, HasSubstr("joints"));
  WritePoses(folder / "nan.npy", Poses(count, NAN), count);
  const Finished nan = bake(folder / "nan.npy");
  EXPECT_EQ(nan.exit_code, 65) << nan.err;
  EXPECT_THAT(nan.err, HasSubstr("frame 2")) << "the pose is named";
  EXPECT_FALSE(std::filesystem::exists(folder / "out.pc2"));
  WritePoses(folder / "good.npy", Poses(count, 0), count);
  EXPECT_EQ(bake(folder / "good.npy").exit_code, 0);
  const Finished clip = Sinew({"bake", folder / "tube.sinewrig", "--deformer", "lbs", "--out",
                               folder / "x.pc2", "--local"});
  EXPECT_EQ(clip.exit_code, 65);
  EXPECT_THAT(clip.err, HasSubstr("--poses"));
}

TEST(BadInput, NamesThatMeanNoFileAreRefused) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--part"}}) {
    std::vector<std::string> bake = {"bake", "model:tube", "--deformer", "lbs",    "--out",
                                     "-",    "--format",   "npy",        "--local"};
    bake.insert(bake.end(), more.begin(), more.end());
    const Finished finished = Sinew(bake);
    EXPECT_EQ(finished.exit_code, 64);
    EXPECT_THAT(finished.err,
                HasSubstr("--out: got \"-\", need a file, not stdout; ./- is one of that name"));
    for (const char* name : {"-", "-.json", "-.parts"}) EXPECT_FALSE(std::filesystem::exists(name));
  }
  const TemporaryFolder folder;
  const Finished render = Sinew(
      {"render", "model:tube", "--deformer", "lbs", "--out", folder / "{clip}.png", "--local"});
  EXPECT_EQ(render.exit_code, 64);
  EXPECT_THAT(render.err, HasSubstr("--out: got {clip}, need a plain name: this is one picture"));
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(BadInput, ClipInAnotherUnitIsWarnedOf) {
  const TemporaryFolder folder;
  Json gltf = SmallGltf();
  gltf["animations"][0]["channels"][0]["target"] = {{"node", 1}, {"path", "scale"}};
  gltf["accessors"][6]["type"] = "VEC3";
  const auto warned = [&](float scale) {
    for (std::size_t k = 0; k < 6; ++k) SetFloat(gltf, 6, k, scale);
    WriteAll(folder / "hero.gltf", gltf.dump());
    const Finished bake = Sinew({"bake", folder / "hero.gltf", "--deformer", "lbs", "--out",
                                 folder / "out.pc2", "--local"});
    EXPECT_EQ(bake.exit_code, 0) << bake.err;
    const Finished inspect = Sinew({"inspect", folder / "hero.gltf"});
    EXPECT_EQ(inspect.exit_code, 0) << inspect.err;
    const bool said = bake.err.find("poses the character") != std::string::npos;
    EXPECT_EQ(inspect.out.find("poses the character") != std::string::npos, said);
    return said ? bake.err : "";
  };
  EXPECT_THAT(warned(100),
              HasSubstr("warning: clip 'bend' poses the character 224 across, at rest it is 2.24: "
                        "most likely the clip and the rig are in different units, by a factor of "
                        "100, or a node above the joints is scaled"));
  EXPECT_THAT(warned(0.01F), HasSubstr("poses the character 0.0224 across, at rest it is 2.24"));
  for (const float scale : {1.0F, 4.0F, 0.25F, 0.0F}) EXPECT_EQ(warned(scale), "") << scale;
}

TEST(BadInput, UnwritableOutputExits73) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "dir.pc2");
  for (const std::string& out :
       {folder / "missing/out.pc2", folder / "dir.pc2", std::string("/proc/out.pc2")}) {
    const Finished bake =
        Sinew({"bake", "model:tube", "--deformer", "lbs", "--out", out, "--local"});
    EXPECT_EQ(bake.exit_code, 73) << out << ": " << bake.err;
    EXPECT_THAT(bake.err, HasSubstr(out));
  }
  const Finished render =
      Sinew({"render", "model:tube", "--deformer", "lbs", "--out", folder / "no/x.png", "--local"});
  EXPECT_EQ(render.exit_code, 73) << render.err;
  WriteAll(folder / "old.pc2", "old");
  const Finished kept = Sinew({"bake", "model:tube", "--deformer", "lbs", "--out",
                               folder / "old.pc2", "--no-clobber", "--local"});
  EXPECT_EQ(kept.exit_code, 73);
  EXPECT_EQ(ReadAll(folder / "old.pc2"), "old");
}

// Outputs that fit into a buffer and that do not, before a command and by it.
TEST(BadInput, FullOutputIsNamedByItsCause) {
  for (const char* arguments :
       {"--help", "--version", "help bake", "methods", "methods --json", "methods lbs",
        "inspect model:hand", "inspect model:hand --json", "inspect model:hand --joints --json",
        "bind model:tube --deformer lbs --local -q --json",
        "compare model:tube --deformer lbs --frames 0 --local -q",
        "weights model:tube --method capsule --local -q --json"}) {
    const std::string command = absl::StrCat(ProgramPath("sinew"), " ", arguments, " > /dev/full");
    const Finished full = Process({"/bin/sh", "-c", command}).Wait();
    EXPECT_EQ(full.exit_code, 73) << command << full.err;
    EXPECT_EQ(full.err, "sinew: stdout: cannot write: No space left on device\n") << command;
  }
}

TEST(BadInput, CharacterFileIsNeverOverwritten) {
  const TemporaryFolder folder;
  WriteAll(folder / "hero.gltf", SmallGltf().dump());
  const Finished bake = Sinew({"bake", folder / "hero.gltf", "--deformer", "lbs", "--out",
                               folder / "hero.gltf", "--format", "pc2", "--local"});
  EXPECT_EQ(bake.exit_code, 64) << bake.err;
  EXPECT_EQ(ReadAll(folder / "hero.gltf"), SmallGltf().dump());
}

TEST(BadInput, MissingCachesAndManifestsAreNamedOnce) {
  const TemporaryFolder folder;
  WriteAll(folder / "a.pc2", "points");
  const std::string a = folder / "a.pc2", none = folder / "none.pc2";
  EXPECT_EQ(Sinew({"verify", a, none}).out, absl::StrCat("bad ", a, ": manifest: cannot read ", a,
                                                         ".json: No such file or directory\nbad ",
                                                         none, ": No such file or directory\n"));
}

TEST(BadInput, ChangedCacheExits65AndNamesFrame) {
  const TemporaryFolder folder;
  const std::string out = folder / "t.pc2";
  ASSERT_EQ(Sinew({"bake", "model:tube", "--deformer", "lbs", "--out", out, "--frames", "10-20x5",
                   "--local"})
                .exit_code,
            0);
  std::string bytes = ReadAll(out);
  ASSERT_EQ(Sinew({"verify", out}).exit_code, 0);
  std::string changed = bytes;
  changed[changed.size() - 5] ^= 1;
  WriteAll(out, changed);
  const Finished verify = Sinew({"verify", out});
  EXPECT_EQ(verify.exit_code, 65);
  EXPECT_THAT(verify.out, StartsWith("bad " + out + ": sample 2 (frame 20) has checksum "));
  EXPECT_EQ(verify.err, "sinew: " + out + ": bad\n") << "the error is reported once";
  WriteAll(out, bytes.substr(0, bytes.size() - 1));
  EXPECT_EQ(Sinew({"verify", out}).exit_code, 65);
  WriteAll(out, bytes);
  EXPECT_EQ(Sinew({"verify", out}).exit_code, 0);
  WriteAll(out + ".json", "{}");
  EXPECT_EQ(Sinew({"verify", out}).exit_code, 65);
  std::filesystem::remove(out + ".json");
  EXPECT_EQ(Sinew({"verify", out}).exit_code, 65);
}

}  // namespace
}  // namespace sinew::testing
