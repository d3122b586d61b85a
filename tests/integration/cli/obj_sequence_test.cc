// Bakes as one .obj for every frame: whole, in parts, resumed, and checked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/bake/formats/manifest.h"
#include "client/bake/formats/obj.h"
#include "tests/integration/cli/parts_fixture.h"

namespace sinew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

class ObjSequences : public Parts {
 protected:
  static constexpr std::size_t kVertices = 9140;

  bake::ObjArrays Read(const std::string& name, std::size_t vertices = kVertices) const {
    const auto arrays = bake::ReadObjArrays(ReadAll(folder_ / name), vertices);
    EXPECT_TRUE(arrays.ok()) << name << ": " << arrays.status();
    return arrays.value_or(bake::ObjArrays());
  }
  void ExpectSameFiles(const std::vector<std::string>& names, const std::string& a,
                       const std::string& b) const {
    for (const std::string& name : names) {
      EXPECT_TRUE(ReadAll(folder_ / (a + name)) == ReadAll(folder_ / (b + name))) << a << name;
    }
  }
};

TEST_F(ObjSequences, FilesHaveTheFacesAndPointsOfEachFrame) {
  const Finished bake = Bake("a.####.obj", {"--frames", "8-10", "--normals"});
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  EXPECT_THAT(folder_.Names(),
              ElementsAre("a.####.obj.json", "a.0008.obj", "a.0009.obj", "a.0010.obj"));
  const auto manifest = bake::ParseManifest(ReadAll(folder_ / "a.####.obj.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  ASSERT_EQ(manifest->files.size(), 3u);
  EXPECT_EQ(manifest->files[2].name, "a.0010.obj");
  const std::string text = ReadAll(folder_ / "a.0009.obj");
  EXPECT_EQ(manifest->files[1].bytes, text.size());
  const bake::ObjArrays arrays = Read("a.0009.obj");
  EXPECT_EQ(bake::HashPositions(arrays.points), manifest->frame_hashes[1]) << "every bit is there";
  EXPECT_EQ(bake::HashPositions(arrays.normals), manifest->attributes[0].frame_hashes[1]);
  EXPECT_THAT(text, HasSubstr("\ng hand\nf "));
  EXPECT_THAT(text, HasSubstr("1 unit = 1 m, Y is up"));
  const std::string later = ReadAll(folder_ / "a.0010.obj");
  EXPECT_EQ(text.substr(text.find("\ng ")), later.substr(later.find("\ng "))) << "the same faces";
  EXPECT_NE(text, later);
  EXPECT_EQ(Sinew({"verify", folder_ / "a.####.obj"}).exit_code, 0);
}

TEST_F(ObjSequences, PrintfNumbersAndLongOnesWork) {
  ASSERT_EQ(Bake("a.%04d.obj", {"--frames", "3"}).exit_code, 0);
  ASSERT_EQ(Bake("b.#.obj", {"--frames", "12"}).exit_code, 0);
  EXPECT_THAT(folder_.Names(),
              ElementsAre("a.%04d.obj.json", "a.0003.obj", "b.#.obj.json", "b.12.obj"));
}

TEST_F(ObjSequences, ResumeBakesOnlyFramesThatAreMissingOrDamaged) {
  const Strings range = {"--frames", "0-19"};
  ASSERT_EQ(Bake("whole.####.obj", range).exit_code, 0);
  ASSERT_EQ(Bake("a.####.obj", range).exit_code, 0);
  const auto resume = [&] {
    const Finished resumed = Bake("a.####.obj", {"--frames", "0-19", "--resume", "--json"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    return Json::parse(resumed.out)["frames_baked"].get<int>();
  };
  EXPECT_EQ(resume(), 0);
  std::filesystem::remove(folder_ / "a.0007.obj");
  std::string text = ReadAll(folder_ / "a.0012.obj");
  text[text.find("\nv ") + 5] ^= 1;
  WriteAll(folder_ / "a.0012.obj", text);
  const auto untouched = std::filesystem::last_write_time(folder_ / "a.0008.obj");
  const Finished verified = Sinew({"verify", folder_ / "a.####.obj"});
  EXPECT_EQ(verified.exit_code, 65);
  EXPECT_THAT(verified.out, HasSubstr("bad frames: 7, 12"));
  const Finished repair =
      Sinew({"repair", folder_ / "a.####.obj", "model:hand", "--server", daemon_->address()});
  EXPECT_EQ(repair.exit_code, 65);
  EXPECT_THAT(repair.err, HasSubstr("--resume keeps the frames that are right"));
  EXPECT_EQ(resume(), 2);
  EXPECT_EQ(std::filesystem::last_write_time(folder_ / "a.0008.obj"), untouched);
  EXPECT_EQ(resume(), 0);
  ExpectSameFiles({"0000.obj", "0007.obj", "0012.obj", "0019.obj"}, "a.", "whole.");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.####.obj.parts"));
  // More frames keep those that are there.
  const Finished more = Bake("a.####.obj", {"--frames", "0-24", "--resume", "--json"});
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(Json::parse(more.out)["frames_baked"], 5);
  // Another recipe keeps none.
  const Finished other = Bake("a.####.obj", {"--frames", "0-19", "--resume", "--json"}, "lbs");
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(Json::parse(other.out)["frames_baked"], 20);
}

TEST_F(ObjSequences, PartsEqualWhole) {
  ASSERT_EQ(Bake("whole.####.obj", {"--frames", "0-11"}).exit_code, 0);
  for (const std::string frames : {"6-11", "0-5"}) {
    ASSERT_EQ(Bake("a.####.obj", {"--frames", frames, "--part"}).exit_code, 0);
  }
  const Finished join = Sinew({"join", folder_ / "a.####.obj", "--frames", "0-11"});
  ASSERT_EQ(join.exit_code, 0) << join.err;
  ExpectSameFiles({"0000.obj", "0005.obj", "0006.obj", "0011.obj"}, "a.", "whole.");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.####.obj.parts"));
  EXPECT_EQ(Sinew({"join", folder_ / "a.####.obj", "--frames", "0-11"}).exit_code, 0);
  ASSERT_EQ(Bake("c.####.obj", {"--frames", "0-11", "--chunk", "5"}).exit_code, 0);
  ExpectSameFiles({"0000.obj", "0011.obj"}, "c.", "whole.");
}

TEST_F(ObjSequences, FramesOfOtherRangesStay) {
  ASSERT_EQ(Bake("a.####.obj", {"--frames", "0-2"}).exit_code, 0);
  ASSERT_EQ(Bake("a.####.obj", {"--frames", "2-4"}).exit_code, 0);
  ASSERT_EQ(Bake("a.####.obj", {"--frames", "3", "--resume"}).exit_code, 0);
  EXPECT_THAT(folder_.Names(), ElementsAre("a.####.obj.json", "a.0000.obj", "a.0001.obj",
                                           "a.0002.obj", "a.0003.obj", "a.0004.obj"));
  EXPECT_EQ(Sinew({"verify", folder_ / "a.####.obj"}).exit_code, 0);
}

TEST_F(ObjSequences, WrongOptionsAreExplained) {
  struct Case {
    std::string out;
    Strings options;
    int exit_code;
    std::string message;
  };
  for (const Case& wrong : std::vector<Case>{
           {"a.obj", {}, 64, "need #### or %04d in the name of an .obj"},
           {"a.####.obj", {"--velocities"}, 64, "--velocities: .obj cannot hold them"},
           {"a.####.obj", {"--frames", "1.5"}, 65, "frame 1.5, need whole frames"},
           {"a.####.obj", {"--usd", "over"}, 64, "--usd: is for .usda"},
       }) {
    const Finished bake = Bake(wrong.out, wrong.options);
    EXPECT_EQ(bake.exit_code, wrong.exit_code) << bake.err;
    EXPECT_THAT(bake.err, HasSubstr(wrong.message));
  }
  EXPECT_THAT(folder_.Names(), IsEmpty());
  WriteAll(folder_ / "a.0003.obj", "mine");
  const Finished kept = Bake("a.####.obj", {"--frames", "2-4", "--no-clobber"});
  EXPECT_EQ(kept.exit_code, 73);
  EXPECT_THAT(folder_.Names(), ElementsAre("a.0003.obj"));
}

}  // namespace
}  // namespace sinew::testing
