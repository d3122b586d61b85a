// Clips of other files in every command, and what the importer says before a command works.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/cli/process.h"
#include "tests/integration/cli/small_gltf.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

// The small character without its clip.
Json Character() {
  Json gltf = SmallGltf();
  gltf.erase("animations");
  return gltf;
}

// Its clip and joints without the mesh; `prefix` is put before the names.
Json Clip(const std::string& prefix = {}) {
  Json gltf = SmallGltf();
  gltf.erase("meshes");
  gltf.erase("skins");
  gltf["nodes"][0] = {{"name", "camera"}};
  for (const int node : {1, 2}) {
    gltf["nodes"][node]["name"] = prefix + gltf["nodes"][node]["name"].get<std::string>();
  }
  return gltf;
}

// `count` clips, each with a channel that the importer drops.
Json WithLosses(std::size_t count) {
  Json gltf = SmallGltf();
  Json clip = gltf["animations"][0];
  clip["channels"].push_back(clip["channels"][0]);
  for (std::size_t k = 0; k < count; ++k) gltf["animations"][k] = clip;
  return gltf;
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class ClipFiles : public ::testing::Test {
 protected:
  ClipFiles() {
    WriteAll(hero_, Character().dump());
    WriteAll(walk_, Clip().dump());
  }

  Finished Bake(const std::string& out, const Strings& options, const std::string& file = {}) {
    Strings arguments = {"bake",       file.empty() ? hero_ : file,
                         "--deformer", "lbs",
                         "--out",      folder_ / out,
                         "--fps",      "8",
                         "--local"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return Sinew(arguments);
  }
  Json ManifestOf(const std::string& out) const {
    return Json::parse(ReadAll(folder_ / (out + ".json")));
  }

  TemporaryFolder folder_;
  const std::string hero_ = folder_ / "hero.gltf", walk_ = folder_ / "walk.gltf";
};

TEST_F(ClipFiles, MoveTheCharacterAsItsOwnClipWould) {
  WriteAll(folder_ / "whole.gltf", SmallGltf().dump());
  ASSERT_EQ(Bake("whole.npy", {}, folder_ / "whole.gltf").exit_code, 0);
  for (const std::string prefix : {"", "rig:", "mixamorig_"}) {
    WriteAll(walk_, Clip(prefix).dump());
    const Finished bake = Bake("out.npy", {"--clip-file", walk_, "--clip", "bend"});
    ASSERT_EQ(bake.exit_code, 0) << bake.err;
    EXPECT_THAT(bake.err, Not(HasSubstr("warning")));
    EXPECT_EQ(ReadAll(folder_ / "out.npy"), ReadAll(folder_ / "whole.npy")) << prefix;
  }
}

TEST_F(ClipFiles, EveryCommandWithClipsKnowsThem) {
  const std::string file = walk_;
  const Finished inspect = Sinew({"inspect", hero_, "--clip-file", file, "--json"});
  ASSERT_EQ(inspect.exit_code, 0) << inspect.err;
  EXPECT_EQ(Json::parse(inspect.out)["clips"][0]["name"], "bend");
  EXPECT_EQ(Json::parse(inspect.out)["clips"][0]["file"], "walk.gltf");
  EXPECT_THAT(Sinew({"inspect", hero_, "--clip-file", file}).out, HasSubstr("walk.gltf"));
  const Strings commands[] = {
      {"render", hero_, "--deformer", "lbs", "--frame", "4", "--size", "64x64", "--out",
       folder_ / "frame.png", "--local"},
      {"export", hero_, "--poses", folder_ / "poses.npy"},
      {"compare", hero_, "--deformers", "lbs", "--frames", "0-4", "--local"},
      {"bench", hero_, "--deformer", "lbs", "--seconds", "0.1", "--rounds", "1", "--local"}};
  for (Strings command : commands) {
    const Finished without = Sinew(command);
    command.insert(command.end(), {"--clip-file", file, "--clip", "bend"});
    const Finished with = Sinew(command);
    EXPECT_EQ(with.exit_code, 0) << with.err;
    EXPECT_THAT(without.err, AnyOf(HasSubstr("has none"), HasSubstr("has no clip"))) << command[0];
  }
}

TEST_F(ClipFiles, TheirFirstClipIsTheDefault) {
  WriteAll(folder_ / "whole.gltf", SmallGltf().dump());
  Json walk = Clip();
  walk["animations"][0]["name"] = "walk";
  WriteAll(walk_, walk.dump());
  ASSERT_EQ(Bake("a.npy", {"--clip-file", walk_}, folder_ / "whole.gltf").exit_code, 0);
  EXPECT_EQ(ManifestOf("a.npy")["clip"]["name"], "walk");
  const Finished all =
      Bake("{clip}.npy", {"--clip-file", walk_, "--clip", "all"}, folder_ / "whole.gltf");
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(ReadAll(folder_ / "walk.npy"), ReadAll(folder_ / "bend.npy"));
  EXPECT_FALSE(ManifestOf("bend.npy")["clip"].contains("source"));
  EXPECT_EQ(ManifestOf("walk.npy")["clip"]["source"], "walk.gltf");
}

TEST_F(ClipFiles, OtherClipFileIsAnotherBake) {
  const Strings options = {"--clip-file", walk_, "--chunk", "2", "--resume"};
  ASSERT_EQ(Bake("a.npy", options).exit_code, 0);
  EXPECT_THAT(Bake("a.npy", options).err, HasSubstr("nothing is baked"));
  // Another clip, which poses the character in the same way.
  Json other = Clip();
  other["asset"]["generator"] = "another program";
  WriteAll(walk_, other.dump());
  const Finished again = Bake("a.npy", options);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, Not(HasSubstr("nothing is baked")));
  ASSERT_EQ(Bake("b.npy", {"--clip-file", walk_, "--part", "--frames", "0-3"}).exit_code, 0);
  WriteAll(walk_, Clip().dump());
  ASSERT_EQ(Bake("b.npy", {"--clip-file", walk_, "--part", "--frames", "4-8"}).exit_code, 0);
  const Finished join = Sinew({"join", folder_ / "b.npy", "--frames", "0-8"});
  EXPECT_EQ(join.exit_code, 65);
  EXPECT_THAT(join.err, HasSubstr("digest of the clip's file"));
}

TEST_F(ClipFiles, RepairNeedsThem) {
  ASSERT_EQ(Bake("a.npy", {"--clip-file", walk_}).exit_code, 0);
  const std::string good = ReadAll(folder_ / "a.npy");
  std::string bad = good;
  bad[bad.size() - 5] ^= 1;
  WriteAll(folder_ / "a.npy", bad);
  const Finished without = Sinew({"repair", folder_ / "a.npy", hero_, "--local"});
  EXPECT_EQ(without.exit_code, 65);
  EXPECT_THAT(without.err, HasSubstr("need the file of the clip, walk.gltf, as --clip-file"));
  const Finished with =
      Sinew({"repair", folder_ / "a.npy", hero_, "--clip-file", walk_, "--local"});
  EXPECT_EQ(with.exit_code, 0) << with.err;
  EXPECT_EQ(ReadAll(folder_ / "a.npy"), good);
}

TEST_F(ClipFiles, AreNotOverwritten) {
  const Finished bake = Bake("walk.gltf", {"--clip-file", walk_, "--format", "npy"});
  EXPECT_EQ(bake.exit_code, 64);
  EXPECT_THAT(bake.err, HasSubstr("is read by this command"));
  const Finished poses = Sinew({"export", hero_, "--clip-file", walk_, "--poses", walk_});
  EXPECT_EQ(poses.exit_code, 64);
  EXPECT_EQ(ReadAll(walk_), Clip().dump());
}

TEST_F(ClipFiles, AreNeitherForPosesNorForTheTube) {
  const Finished poses = Bake("out.npy", {"--clip-file", walk_, "--poses", folder_ / "poses.npy"});
  EXPECT_EQ(poses.exit_code, 64);
  EXPECT_THAT(poses.err, HasSubstr("need them without --clip-file"));
  EXPECT_EQ(Sinew({"bench", "--deformer", "lbs", "--clip-file", walk_, "--local"}).exit_code, 64);
}

TEST_F(ClipFiles, WrongOnesAreRefused) {
  WriteAll(folder_ / "other.gltf", [] {
    Json other = Clip();
    other["nodes"][1]["name"] = "hip";
    other["nodes"][2]["name"] = "knee";
    return other.dump();
  }());
  WriteAll(folder_ / "a.sinewrig", "");
  const struct {
    std::string file, clip_file, words;
  } rows[] = {{hero_, folder_ / "missing.fbx", "no such file"},
              {hero_, hero_, "hero.gltf: has no clip"},
              {hero_, folder_ / "other.gltf",
               "'camera', 'hip', 'knee', hero.gltf has the joints 'root', 'tip'"},
              {walk_, walk_, "has clips but no mesh"},
              {"model:hand", walk_, "--clip-file: got "},
              {hero_, folder_ / "a.sinewrig",
               "a.sinewrig: wrong type '.sinewrig', need .glb, .gltf, .vrm, .fbx or .dae\n"}};
  for (const auto& row : rows) {
    const Finished bake = Bake("out.npy", {"--clip-file", row.clip_file}, row.file);
    EXPECT_EQ(bake.exit_code, 65) << row.words;
    EXPECT_THAT(bake.err, HasSubstr(row.words));
  }
  const Finished twice = Bake("out.npy", {"--clip-file", walk_, "--clip-file", walk_}, hero_);
  EXPECT_EQ(twice.exit_code, 65);
  EXPECT_THAT(twice.err, HasSubstr("walk.gltf twice, need it once"));
  EXPECT_EQ(folder_.Names(), (Strings{"a.sinewrig", "hero.gltf", "other.gltf", "walk.gltf"}));
}

TEST_F(ClipFiles, MissingJointsAreReportedOnceAlsoWithQuiet) {
  Json walk = Clip();
  walk["nodes"][1]["name"] = "elsewhere";
  WriteAll(walk_, walk.dump());
  const Finished bake = Bake("out.npy", {"--clip-file", walk_, "--quiet"});
  EXPECT_EQ(bake.exit_code, 0) << bake.err;
  EXPECT_EQ(bake.err,
            "sinew: warning: hero.gltf: walk.gltf: 1 of 2 joints is missing and keeps its rest "
            "pose: 'root'\n");
}

// Clips whose channels repeat: each is a loss.
class ImportWarnings : public ClipFiles {
 protected:
  ImportWarnings() { WriteAll(hero_, WithLosses(15).dump()); }
};

TEST_F(ImportWarnings, AreLimitedInNumber) {
  const Finished bake = Bake("out.npy", {"--quiet"});
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  EXPECT_EQ(CountOf(bake.err, "\n"), 11u) << bake.err;
  EXPECT_EQ(CountOf(bake.err, "sinew: warning: hero.gltf: animations["), 10u) << bake.err;
  EXPECT_THAT(bake.err, HasSubstr("and 5 more; `sinew inspect FILE` lists all"));
  EXPECT_THAT(Bake("out.npy", {}).err, HasSubstr("hero.gltf: 15 warnings\n"));
  EXPECT_EQ(CountOf(Sinew({"inspect", hero_}).out, "channel that animates"), 15u);
}

TEST_F(ImportWarnings, ArePartOfJson) {
  const Strings commands[] = {
      {"bake", hero_, "--deformer", "lbs", "--clip", "0", "--out", folder_ / "a.npy", "--local"},
      {"bake", hero_, "--deformer", "lbs", "--clip", "0", "--out", folder_ / "b.npy", "--local",
       "--dry-run"},
      {"render", hero_, "--deformer", "lbs", "--size", "64x64", "--out", folder_ / "a.png",
       "--local"},
      {"compare", hero_, "--deformers", "lbs", "--frames", "0-1", "--local"},
      {"upload", hero_, "--local"},
      {"export", hero_, "--rig", folder_ / "a.sinewrig"},
      {"bind", hero_, "--deformer", "lbs", "--local"},
      {"weights", hero_, "--method", "capsule", "--local"}};
  for (Strings command : commands) {
    SCOPED_TRACE(command[0]);
    command.push_back("--json");
    const Finished run = Sinew(command);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.err, HasSubstr("sinew: warning: hero.gltf: animations[0] 'bend': "));
    const Json warnings = Json::parse(run.out)["warnings"];
    EXPECT_GE(warnings.size(), 15u);
    EXPECT_THAT(warnings.dump(),
                HasSubstr("hero.gltf: animations[0] 'bend': not imported: 1 channel that"));
  }
}

TEST_F(ImportWarnings, StrictRefusesThemBeforeAnythingIsWritten) {
  const Strings commands[] = {
      {"bake", hero_, "--deformer", "lbs", "--out", folder_ / "a.npy", "--local"},
      {"render", hero_, "--deformer", "lbs", "--out", folder_ / "a.png", "--local"},
      {"compare", hero_, "--deformers", "lbs", "--picture", folder_ / "b.png", "--local"},
      {"export", hero_, "--rig", folder_ / "a.sinewrig"},
      {"weights", hero_, "--method", "capsule", "--out", folder_ / "b.sinewrig", "--local"},
      {"upload", hero_, "--server", "127.0.0.1:1", "--wait", "0"},
      {"bind", hero_, "--deformer", "lbs", "--server", "127.0.0.1:1", "--wait", "0"},
      {"inspect", hero_}};
  const Strings before = folder_.Names();
  for (Strings command : commands) {
    SCOPED_TRACE(command[0]);
    command.push_back("--strict");
    const Finished run = Sinew(command);
    EXPECT_EQ(run.exit_code, 65) << run.err;
    EXPECT_THAT(run.err,
                AllOf(HasSubstr("hero.gltf: 15 warnings"), HasSubstr("--strict allows none")));
  }
  EXPECT_EQ(folder_.Names(), before);
  WriteAll(hero_, SmallGltf().dump());
  EXPECT_EQ(Bake("a.npy", {"--strict"}).exit_code, 0);
}

TEST(ClipNumbers, AllMeansEachClipWhateverItsName) {
  const TemporaryFolder folder;
  Json gltf = SmallGltf();
  const std::vector<std::string> names = {"idle", "0", "2"};
  for (std::size_t k = 0; k < names.size(); ++k) {
    gltf["animations"][k] = gltf["animations"][0];
    gltf["animations"][k]["name"] = names[k];
    gltf["animations"][k]["channels"][0]["target"]["node"] = k == 0 ? 2 : 1;
  }
  WriteAll(folder / "hero.gltf", gltf.dump());
  const Finished bake = Sinew({"bake", folder / "hero.gltf", "--deformer", "lbs", "--clip", "all",
                               "--out", folder / "{clip}.npy", "--local"});
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  for (const std::string& name : names) {
    EXPECT_EQ(Json::parse(ReadAll(folder / (name + ".npy.json")))["clip"]["name"], name);
  }
  EXPECT_NE(ReadAll(folder / "idle.npy"), ReadAll(folder / "0.npy"));
  EXPECT_EQ(ReadAll(folder / "0.npy"), ReadAll(folder / "2.npy"));
}

}  // namespace
}  // namespace sinew::testing
