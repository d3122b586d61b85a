// Bakes in parts, as tasks of a farm and resumed: the joined cache is the one of a bake at once,
// byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/bake/formats/manifest.h"
#include "tests/integration/cli/parts_fixture.h"

namespace sinew::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST_F(Parts, JoinedCacheEqualsWholeInEveryFormat) {
  for (const std::string out : {"a.pc2", "a.mdd", "a.npy"}) {
    const Finished bake = Bake(out, {"--chunk", "7"});
    ASSERT_EQ(bake.exit_code, 0) << bake.err;
    EXPECT_EQ(bake.out, folder_ / out + "\n");
    ExpectWhole(out);
  }
  EXPECT_THAT(folder_.Names(),
              ElementsAre("a.mdd", "a.mdd.json", "a.npy", "a.npy.json", "a.pc2", "a.pc2.json"));
}

TEST_F(Parts, CachesOfMeshesAndTimesBetweenFramesHaveParts) {
  const Strings split = {"--split", "--mesh", "hand", "--axes", "blender"};
  Strings options = split;
  options.insert(options.end(), {"--chunk", "20"});
  ASSERT_EQ(Bake("{mesh}.pc2", options).exit_code, 0);
  ExpectWhole("hand.pc2", "ddm", {"--mesh", "hand", "--axes", "blender"});
  const Strings times = {"--fps", "2000", "--frames", "1000.121,1000.124,1000.2,1001-1002x0.125"};
  options = times;
  options.insert(options.end(), {"--chunk", "3"});
  ASSERT_EQ(Bake("times.mdd", options).exit_code, 0);
  ExpectWhole("times.mdd", "ddm", times);
}

// Each task of a farm has its own frames, in the syntax of its scheduler.
TEST_F(Parts, TasksOfAFarmAreJoined) {
  for (const std::string frames : {"20-29", "0-8x2,1,3", "5-19:2", "10-18x2", "30-"}) {
    const Finished task = Bake("a.pc2", {"--frames", frames, "--part"});
    ASSERT_EQ(task.exit_code, 0) << frames << ": " << task.err;
    EXPECT_EQ(task.out, folder_ / "a.pc2.parts\n");
    EXPECT_THAT(task.err, HasSubstr("when all parts are there, join with: sinew join '" +
                                    folder_ / "a.pc2" + "' --frames FIRST-LAST"));
  }
  const Finished join = Sinew({"join", folder_ / "a.pc2", "--frames", "0-47"});
  ASSERT_EQ(join.exit_code, 0) << join.err;
  ExpectWhole("a.pc2");
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2", "a.pc2.json"));
}

// Tasks whose frames are in the cache bake nothing, so the join has to take them from it.
TEST_F(Parts, JoinTakesFramesThatTheCacheHas) {
  const auto bake = [&](const std::string& out, const Strings& tasks) {
    for (const std::string& frames : tasks) {
      const Finished task = Bake(out, {"--frames", frames, "--part", "--resume"});
      ASSERT_EQ(task.exit_code, 0) << frames << ": " << task.err;
    }
  };
  const auto join = [&](const std::string& out, const std::string& frames) {
    return Sinew({"join", folder_ / out, "--frames", frames});
  };
  for (const std::string out : {"a.pc2", "a.mdd", "a.npy"}) {
    bake(out, {"0-9"});
    ASSERT_EQ(join(out, "0-9").exit_code, 0);
    bake(out, {"0-9", "10-19"});
    EXPECT_EQ(PartNames(out), Strings{"10-19.npy"});
    const Finished more = join(out, "0-19");
    ASSERT_EQ(more.exit_code, 0) << more.err;
    ExpectWhole(out, "ddm", {"--frames", "0-19"});
    bake(out, {"5-14"});
    const Finished fewer = join(out, "5-14");
    ASSERT_EQ(fewer.exit_code, 0) << fewer.err;
    ExpectWhole(out, "ddm", {"--frames", "5-14"});
  }
  // A part that was baked again is used, and one of another bake elsewhere does not matter.
  bake("b.pc2", {"0-9"});
  ASSERT_EQ(join("b.pc2", "0-9").exit_code, 0);
  ASSERT_EQ(Bake("b.pc2", {"--frames", "30-39", "--part"}, "dqs").exit_code, 0);
  ASSERT_EQ(Bake("b.pc2", {"--frames", "5-14", "--part"}).exit_code, 0);
  const Finished mixed = join("b.pc2", "0-14");
  ASSERT_EQ(mixed.exit_code, 0) << mixed.err;
  ExpectWhole("b.pc2", "ddm", {"--frames", "0-14"});
  EXPECT_EQ(PartNames("b.pc2"), Strings{"30-39.npy"});
  // Nothing is taken from it while frames are missing still.
  ASSERT_EQ(Bake("b.pc2", {"--frames", "15-19", "--part"}).exit_code, 0);
  const Finished gap = join("b.pc2", "0-24");
  EXPECT_EQ(gap.exit_code, 65);
  EXPECT_THAT(gap.err, HasSubstr("20 of 25 frames are missing: 0-14, 20-24"));
  EXPECT_EQ(PartNames("b.pc2"), (Strings{"15-19.npy", "30-39.npy"}));
  ExpectWhole("b.pc2", "ddm", {"--frames", "0-14"});
  // Single frames of a .usda cannot be read.
  bake("a.usda", {"0-9"});
  ASSERT_EQ(join("a.usda", "0-9").exit_code, 0);
  bake("a.usda", {"0-9", "10-19"});
  const Finished stuck = join("a.usda", "0-19");
  EXPECT_EQ(stuck.exit_code, 65);
  EXPECT_THAT(stuck.err, AllOf(HasSubstr("10 of 20 frames are missing: 0-9"),
                               HasSubstr("remove it, and bake all parts again")));
}

// A job of another recipe was stopped before it was joined.
TEST_F(Parts, PartsOfAnotherBakeAreRemovedWhereTheCacheIsCurrent) {
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-9"}, "dqs").exit_code, 0);
  for (const std::string deformer : {"ddm", "dqs"}) {
    for (const std::string frames : {"0-4", "5-9"}) {
      const Finished task = Bake("a.pc2", {"--frames", frames, "--part", "--resume"}, deformer);
      ASSERT_EQ(task.exit_code, 0) << task.err;
      const bool removes = deformer == "dqs";
      EXPECT_EQ(task.err.find("1 part of another bake removed") != std::string::npos, removes);
    }
  }
  EXPECT_EQ(PartNames("a.pc2"), Strings());
  const Finished join = Sinew({"join", folder_ / "a.pc2", "--frames", "0-9"});
  ASSERT_EQ(join.exit_code, 0) << join.err;
  ExpectWhole("a.pc2", "dqs", {"--frames", "0-9"});
}

TEST_F(Parts, JoinNamesMissingFramesAndKeepsParts) {
  const Finished none = Sinew({"join", folder_ / "a.pc2"});
  EXPECT_EQ(none.exit_code, 65);
  EXPECT_THAT(none.err, HasSubstr("a.pc2.parts: there are no parts to join"));
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-9", "--part"}).exit_code, 0);
  ASSERT_EQ(Bake("a.pc2", {"--frames", "20-29", "--part"}).exit_code, 0);
  const Finished gap = Sinew({"join", folder_ / "a.pc2"});
  EXPECT_EQ(gap.exit_code, 65);
  EXPECT_THAT(gap.err, HasSubstr("the parts have frame 9 and then 20; is one missing?"));
  const Finished missing = Sinew({"join", folder_ / "a.pc2", "--frames", "0-35,40"});
  EXPECT_EQ(missing.exit_code, 65);
  EXPECT_THAT(missing.err, HasSubstr("17 of 37 frames are missing: 10-19, 30-35, 40"));
  EXPECT_EQ(Sinew({"join", folder_ / "a.pc2", "--frames", "0-"}).exit_code, 64);
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2.parts"));
  EXPECT_EQ(PartNames("a.pc2").size(), 2u);
  EXPECT_EQ(Sinew({"join", folder_ / "a.pc2", "--frames", ""}).exit_code, 64);
  EXPECT_EQ(Sinew({"join", folder_ / "a.abc", "--frames", "0-9"}).exit_code, 64);
  // A part with frames that are not in the cache is kept.
  const Finished some = Sinew({"join", folder_ / "a.pc2", "--frames", "2-9"});
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_THAT(some.err, HasSubstr("8 frames of 9,140 vertices from 1 part;"));
  EXPECT_THAT(some.err, HasSubstr("; 2 parts are kept"));
  EXPECT_EQ(PartNames("a.pc2").size(), 2u);
  const Finished ten = Sinew({"join", folder_ / "a.pc2", "--frames", "0-9", "--json"});
  EXPECT_EQ(Json::parse(ten.out)["frames"], 10);
  EXPECT_EQ(Json::parse(ten.out)["parts_removed"], 1);
  EXPECT_THAT(PartNames("a.pc2"), ElementsAre("20-29.npy"));
}

TEST_F(Parts, OneJoinMakesTheCachesOfAllMeshes) {
  for (const std::string frames : {"0-3", "4-7x3,5"}) {
    ASSERT_EQ(Bake("{deformer}.{mesh}.npy",
                   {"--split", "--deformer", "lbs", "--frames", frames, "--part"})
                  .exit_code,
              0);
  }
  const Finished joined = Sinew({"join", folder_ / "ddm.hand.npy.parts/", folder_ / "lbs.hand.npy",
                                 "--frames", "0-5,7", "--json"});
  ASSERT_EQ(joined.exit_code, 0) << joined.err;
  EXPECT_EQ(Json::parse(joined.out)[1]["out"], folder_ / "lbs.hand.npy");
  EXPECT_EQ(Json::parse(joined.out)[0]["parts"], 2);
  EXPECT_EQ(Json::parse(joined.out)[0]["parts_kept"], 0);
  EXPECT_THAT(folder_.Names(), ElementsAre("ddm.hand.npy", "ddm.hand.npy.json", "lbs.hand.npy",
                                           "lbs.hand.npy.json"));
}

TEST_F(Parts, JoinRefusesPartsOfDifferentBakes) {
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-9", "--part"}).exit_code, 0);
  ASSERT_EQ(Bake("a.pc2", {"--frames", "10-19", "--part"}, "lbs").exit_code, 0);
  const Finished join = Sinew({"join", folder_ / "a.pc2"});
  EXPECT_EQ(join.exit_code, 65);
  EXPECT_THAT(join.err, AllOf(HasSubstr("0-9.npy"), HasSubstr("10-19.npy"),
                              HasSubstr("are of different bakes: recipe 'ddm(")));
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2.parts"));
}

TEST_F(Parts, ResumeBakesOnlyWhatIsMissingOrDamaged) {
  ASSERT_EQ(Bake("a.pc2", {"--chunk", "10", "--part"}).exit_code, 0);
  ASSERT_THAT(PartNames("a.pc2"),
              ElementsAre("0-9.npy", "10-19.npy", "20-29.npy", "30-39.npy", "40-47.npy"));
  std::filesystem::remove(folder_ / "a.pc2.parts/10-19.npy.json");
  std::string bytes = ReadAll(folder_ / "a.pc2.parts/30-39.npy");
  WriteAll(folder_ / "a.pc2.parts/30-39.npy", bytes.substr(0, bytes.size() - 1));
  WriteAll(folder_ / "a.pc2.parts/40-47.npy.json", "{");
  const Finished resumed = Bake("a.pc2", {"--chunk", "10", "--resume", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const Json json = Json::parse(resumed.out);
  EXPECT_EQ(json["frames_kept"], 20);
  EXPECT_EQ(json["frames_baked"], 28);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("30-39.npy is removed: the cache has "),
                                 HasSubstr("40-47.npy is removed: ")));
  ExpectWhole("a.pc2");
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2", "a.pc2.json"));
  const Finished again = Bake("a.pc2", {"--chunk", "10", "--resume", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["frames_baked"], 0);
  EXPECT_EQ(Json::parse(again.out)["current"], true);
  // A cache that is damaged is not current.
  bytes = ReadAll(folder_ / "a.pc2");
  bytes[bytes.size() / 3] ^= 1;
  WriteAll(folder_ / "a.pc2", bytes);
  ASSERT_EQ(Bake("a.pc2", {"--chunk", "10", "--resume"}).exit_code, 0);
  ExpectWhole("a.pc2");
}

TEST_F(Parts, ResumeDoesNotUsePartsOfAnotherRecipe) {
  ASSERT_EQ(Bake("a.pc2", {"--chunk", "10", "--part"}, "lbs").exit_code, 0);
  const Finished resumed = Bake("a.pc2", {"--chunk", "10", "--resume", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(Json::parse(resumed.out)["frames_baked"], 48);
  EXPECT_THAT(resumed.err, HasSubstr("0-9.npy is removed: it has the recipe 'lbs"));
  ExpectWhole("a.pc2");
}

// Where good parts have all frames, what lies beside them does not matter.
TEST_F(Parts, ResumeIsNotStoppedByPartsThatItDoesNotNeed) {
  ASSERT_EQ(Bake("a.pc2", {"--chunk", "24", "--part"}).exit_code, 0);
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-9", "--part"}, "lbs").exit_code, 0);
  const Finished same = Bake("a.pc2", {"--chunk", "24", "--resume", "--json"});
  ASSERT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(Json::parse(same.out)["frames_baked"], 0);
  ExpectWhole("a.pc2");
  // Parts of other frames are not this command's to judge or to remove.
  ASSERT_EQ(Bake("b.pc2", {"--frames", "30-39", "--part"}, "lbs").exit_code, 0);
  const Finished others = Bake("b.pc2", {"--frames", "0-9", "--chunk", "5"});
  ASSERT_EQ(others.exit_code, 0) << others.err;
  EXPECT_THAT(PartNames("b.pc2"), ElementsAre("30-39.npy"));
  ExpectWhole("b.pc2", "ddm", {"--frames", "0-9"});
}

}  // namespace
}  // namespace sinew::testing
