// Bakes with the frame numbers of a shot: in what each format stores, in parts, and in messages.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/bake/formats/byte_order.h"
#include "client/bake/formats/manifest.h"
#include "tests/integration/cli/parts_fixture.h"

namespace sinew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class StartFrame : public Parts {
 protected:
  static constexpr std::size_t kFrameBytes = std::size_t{9140} * 12;

  bake::Manifest ManifestOf(const std::string& name) const {
    const auto manifest = bake::ParseManifest(ReadAll(folder_ / (name + ".json")));
    EXPECT_TRUE(manifest.ok()) << manifest.status();
    return manifest.value_or(bake::Manifest());
  }
  // A bake of the shot, and the same frames without its numbers.
  bake::Manifest BakeBoth(const std::string& out, Strings shot, Strings plain) const {
    shot.insert(shot.end(), {"--start-frame", "1001"});
    const Finished bake = Bake(out, shot), other = Bake("plain." + out, plain);
    EXPECT_EQ(bake.exit_code, 0) << bake.err;
    EXPECT_EQ(other.exit_code, 0) << other.err;
    const bake::Manifest manifest = ManifestOf(out), without = ManifestOf("plain." + out);
    EXPECT_EQ(manifest.frame_hashes, without.frame_hashes) << "the points are the same";
    EXPECT_EQ(manifest.pose_hashes, without.pose_hashes);
    for (std::size_t k = 0; k < manifest.attributes.size(); ++k) {
      EXPECT_EQ(manifest.attributes[k].frame_hashes, without.attributes[k].frame_hashes);
    }
    EXPECT_EQ(manifest.start_frame, 1001u);
    for (std::uint32_t k = 0; k < manifest.frames; ++k) {
      EXPECT_NEAR(manifest.FrameNumber(k), without.FrameNumber(k) + 1001, 1e-9);
    }
    EXPECT_EQ(Sinew({"verify", folder_ / out}).exit_code, 0);
    return manifest;
  }
  void ExpectWhole(const std::string& out) const {
    Parts::ExpectWhole(out, "ddm", {"--start-frame", "1001"});
  }
};

TEST_F(StartFrame, EveryFormatHasTheNumbersOfTheShot) {
  const Strings shot = {"--frames", "1003-1012x3"}, plain = {"--frames", "2-11x3"};
  for (const std::string out : {"a.pc2", "a.mdd", "a.npy", "a.usda", "a.glb"}) {
    const bake::Manifest manifest = BakeBoth(out, shot, plain);
    EXPECT_EQ(manifest.first_frame, 1003);
    EXPECT_EQ(manifest.frame_step, 3);
  }
  const std::string pc2 = ReadAll(folder_ / "a.pc2");
  float first = 0;
  std::memcpy(&first, pc2.data() + 20, sizeof first);
  EXPECT_EQ(first, 1003);
  const std::string mdd = ReadAll(folder_ / "a.mdd");
  std::vector<float> times;
  for (std::size_t k = 0; k < 4; ++k) {
    times.push_back(bake::LoadBytes<float>(std::as_bytes(std::span(mdd)).data() + 8 + 4 * k,
                                           bake::ByteOrder::kBig));
  }
  EXPECT_THAT(times, ElementsAre(1003 / 24.0F, 1006 / 24.0F, 1009 / 24.0F, 1012 / 24.0F));
  EXPECT_TRUE(ReadAll(folder_ / "a.npy") == ReadAll(folder_ / "plain.a.npy"));
  const std::string usda = ReadAll(folder_ / "a.usda");
  for (const std::string said :
       {"startTimeCode = 1003\n", "endTimeCode = 1012\n", " 1003: [", " 1012: ["}) {
    EXPECT_THAT(usda, HasSubstr(said));
  }
  EXPECT_THAT(ReadAll(folder_ / "a.glb"), HasSubstr(R"("frame 1006")"));
}

TEST_F(StartFrame, SequencesAreNamedByTheShot) {
  const bake::Manifest manifest =
      BakeBoth("a.####.obj", {"--frames", "1001-1002"}, {"--frames", "0-1"});
  ASSERT_EQ(manifest.files.size(), 2u);
  EXPECT_EQ(manifest.files[1].name, "a.1002.obj");
  EXPECT_TRUE(ReadAll(folder_ / "a.1001.obj") == ReadAll(folder_ / "plain.a.0000.obj"));
  std::filesystem::remove(folder_ / "a.1002.obj");
  const Finished resumed =
      Bake("a.####.obj", {"--start-frame", "1001", "--frames", "1001-1002", "--resume", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(Json::parse(resumed.out)["frames_baked"], 1);
  EXPECT_TRUE(ReadAll(folder_ / "a.1002.obj") == ReadAll(folder_ / "plain.a.0001.obj"));
}

TEST_F(StartFrame, SamplesBetweenFramesHaveTheSameBits) {
  const Strings blur = {"--shutter", "-0.3..0.3", "--samples", "4", "--normals", "--velocities"};
  Strings shot = blur, plain = blur;
  shot.insert(shot.end(), {"--frames", "1001-1003", "--velocity-step", "0.7"});
  plain.insert(plain.end(), {"--frames", "0-2", "--velocity-step", "0.7"});
  BakeBoth("a.mdd", shot, plain);
  BakeBoth("b.npy", {"--frames", "1001.1,1002.333333,1003-1004x0.7"},
           {"--frames", "0.1,1.333333,2-3x0.7"});
  // Its frames before the clip are repaired as well.
  const std::string path = folder_ / "a.mdd", bytes = ReadAll(path);
  std::string damaged = bytes;
  damaged[damaged.size() - 11 * kFrameBytes - 1] ^= 1;
  WriteAll(path, damaged);
  const Finished repair = Sinew({"repair", path, "model:hand", "--server", daemon_->address()});
  EXPECT_EQ(repair.exit_code, 0) << repair.err;
  EXPECT_THAT(repair.out, HasSubstr(": frames 1000.7\n"));
  EXPECT_TRUE(ReadAll(path) == bytes);
}

TEST_F(StartFrame, PartsJoinAndRepairSpeakOfTheShot) {
  const auto task = [&](const std::string& frames) {
    return Bake("a.pc2", {"--start-frame", "1001", "--frames", frames, "--part", "--resume"});
  };
  ASSERT_EQ(task("1001-1016").exit_code, 0);
  ASSERT_EQ(task("1018-").exit_code, 0);
  EXPECT_EQ(PartNames("a.pc2"), (Strings{"1001-1016.npy", "1018-1048.npy"}));
  const Strings join = {"join", folder_ / "a.pc2", "--frames", "1001-1048"};
  const Finished gap = Sinew(join);
  EXPECT_EQ(gap.exit_code, 65);
  EXPECT_THAT(gap.err, HasSubstr("1 of 48 frames is missing: 1017"));
  ASSERT_EQ(task("1017").exit_code, 0);
  const Finished joined = Sinew(join);
  ASSERT_EQ(joined.exit_code, 0) << joined.err;
  ExpectWhole("a.pc2");
  std::string damaged = ReadAll(folder_ / "a.pc2");
  damaged[32 + 16 * kFrameBytes] ^= 1;
  WriteAll(folder_ / "a.pc2", damaged);
  EXPECT_THAT(Sinew({"verify", folder_ / "a.pc2"}).out, HasSubstr("bad frames: 1017\n"));
  const Finished repair =
      Sinew({"repair", folder_ / "a.pc2", "model:hand", "--server", daemon_->address()});
  EXPECT_EQ(repair.exit_code, 0) << repair.err;
  EXPECT_THAT(repair.out, HasSubstr(": frames 1017\n"));
  ExpectWhole("a.pc2");
}

TEST_F(StartFrame, ResumeContinuesOnlyTheSameShot) {
  const auto resumed = [&](const Strings& options) {
    Strings all = {"--chunk", "16", "--resume", "--json"};
    all.insert(all.end(), options.begin(), options.end());
    Finished bake = Bake("a.pc2", all);
    EXPECT_EQ(bake.exit_code, 0) << bake.err;
    return bake;
  };
  ASSERT_EQ(Bake("a.pc2", {"--start-frame", "10", "--frames", "10-25", "--part"}).exit_code, 0);
  ASSERT_EQ(Bake("a.pc2", {"--start-frame", "20", "--frames", "26-41", "--part"}).exit_code, 0);
  const Finished mixed = Sinew({"join", folder_ / "a.pc2", "--frames", "10-41"});
  EXPECT_EQ(mixed.exit_code, 65);
  EXPECT_THAT(mixed.err, HasSubstr("are of different bakes: start frame '10' and '20'"));
  const Finished other = resumed({"--start-frame", "10"});
  EXPECT_EQ(Json::parse(other.out)["frames_kept"], 16);
  EXPECT_THAT(other.err, HasSubstr("26-41.npy is removed: it has the start frame '20', not '10'"));
  Parts::ExpectWhole("a.pc2", "ddm", {"--start-frame", "10"});
  const Strings skip = {"--resume", "--json"};
  EXPECT_EQ(
      Json::parse(Bake("a.pc2", {"--start-frame", "10", "--resume", "--json"}).out)["current"],
      true);
  EXPECT_EQ(Json::parse(Bake("a.pc2", skip).out)["current"], false);
}

// A join would take them for parts of the cache.
TEST_F(StartFrame, WholeBakeLeavesNoPartsOfAnother) {
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-9", "--part"}).exit_code, 0);
  const Finished whole = Bake("a.pc2", {"--start-frame", "1001", "--chunk", "20", "--resume"});
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.err, HasSubstr("0-9.npy is removed: it has the start frame"));
  EXPECT_EQ(PartNames("a.pc2"), Strings());
}

TEST_F(StartFrame, NumbersOutsideTheShotAreRefused) {
  const auto refused = [&](const Strings& options, int code, const std::string& why) {
    const Finished bake = Bake("a.mdd", options);
    EXPECT_EQ(bake.exit_code, code) << bake.out;
    EXPECT_THAT(bake.err, HasSubstr(why));
  };
  for (const std::string start : {"-1", "1048577", "1.5", "1e300", "nan"}) {
    refused({"--start-frame", start}, 64,
            absl::StrCat("--start-frame: got \"", start, "\", need "));
  }
  refused({"--start-frame", "1001", "--frames", "0-9"}, 65,
          "--frames: got 0-9; allowed are frames 1001-1048, which clip 'fist' has at 24 fps");
  refused({"--start-frame", "1001", "--frames", "1000.5,1001"}, 65,
          "--frames: got 1000.5; allowed are frames 1001-1048, which clip 'fist' has at 24 fps");
  // The largest one is exact in every format.
  BakeBoth("b.mdd", {"--frames", "1001"}, {"--frames", "0"});
  ASSERT_EQ(Bake("c.pc2", {"--start-frame", "1048576", "--frames", "1048576-1048579"}).exit_code,
            0);
  EXPECT_EQ(PartNames("c.pc2"), Strings());
  EXPECT_EQ(ManifestOf("c.pc2").first_frame, 1048576);
  EXPECT_EQ(Sinew({"verify", folder_ / "c.pc2"}).exit_code, 0);
}

}  // namespace
}  // namespace sinew::testing
