// Samples of motion blur, velocities and normals in caches, whole and in parts.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/bake/formats/manifest.h"
#include "tests/integration/cli/parts_fixture.h"
#include "tests/support/npy_frame.h"

namespace sinew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MotionBlur : public Parts {
 protected:
  // Frame `sample` of an array of the test's folder.
  std::vector<float> Frame(const std::string& name, std::uint32_t sample) const {
    return NpyFrame(ReadAll(folder_ / name), sample);
  }
  bake::Manifest ManifestOf(const std::string& name) const {
    const auto manifest = bake::ParseManifest(ReadAll(folder_ / (name + ".json")));
    EXPECT_TRUE(manifest.ok()) << manifest.status();
    return manifest.value_or(bake::Manifest());
  }
  void ExpectSame(const std::string& a, const std::string& b) const {
    const auto same = [&](const std::string& end) {
      EXPECT_TRUE(ReadAll(folder_ / (a + end)) == ReadAll(folder_ / (b + end)))
          << a << end << " and " << b << end << " differ";
    };
    for (const std::string end : {".npy", ".npy.normals.npy", ".npy.velocities.npy", ".npy.json"}) {
      same(end);
    }
  }
};

const Strings kAll = {"--shutter", "-0.25..0.25", "--normals", "--velocities"};

Strings With(Strings options, const Strings& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

TEST_F(MotionBlur, SamplesAreWhereTheShutterPutsThem) {
  ASSERT_EQ(Bake("plain.npy", {}).exit_code, 0);
  const Finished bake = Bake("blur.npy", {"--shutter", "-0.25..0.25", "--frames", "0,20,47"});
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  const bake::Manifest manifest = ManifestOf("blur.npy");
  EXPECT_THAT(manifest.frame_numbers,
              ElementsAre(-0.25, 0, 0.25, 19.75, 20, 20.25, 46.75, 47, 47.25));
  EXPECT_EQ(manifest.shutter, (bake::ManifestShutter{-0.25, 0.25, 3}));
  EXPECT_TRUE(Frame("blur.npy", 4) == Frame("plain.npy", 20));
  EXPECT_TRUE(Frame("blur.npy", 0) == Frame("plain.npy", 0)) << "the first pose holds before it";
  EXPECT_TRUE(Frame("blur.npy", 8) == Frame("plain.npy", 47)) << "the last pose holds after it";
  EXPECT_FALSE(Frame("blur.npy", 3) == Frame("plain.npy", 20));
  // One sample is in the middle, and a sample that two frames share is there once.
  ASSERT_EQ(Bake("one.npy", {"--shutter", "0..0.5", "--samples", "1", "--frames", "4-5"}).exit_code,
            0);
  EXPECT_EQ(ManifestOf("one.npy").first_frame, 4.25);
  ASSERT_EQ(Bake("full.npy", {"--shutter", "-0.5..0.5", "--frames", "4-5"}).exit_code, 0);
  EXPECT_EQ(ManifestOf("full.npy").frames, 5u);
  EXPECT_EQ(ManifestOf("full.npy").frame_step, 0.5);
}

TEST_F(MotionBlur, OnlyEvenSamplesFitIntoPc2) {
  const Finished uneven = Bake("a.pc2", {"--shutter", "-0.25..0.25"});
  EXPECT_EQ(uneven.exit_code, 65);
  EXPECT_THAT(uneven.err,
              HasSubstr("need a shutter of 1 frame, such as -0.5..0.5, or of 0.666667"));
  EXPECT_THAT(folder_.Names(), ElementsAre());
  ASSERT_EQ(Bake("a.pc2", {"--shutter", "-0.5..0.5", "--frames", "3-6"}).exit_code, 0);
  ASSERT_EQ(Bake("b.pc2", {"--shutter", "0..0.5", "--samples", "2"}).exit_code, 0);
  // What the error recommends, for numbers of samples whose distance has no end of digits too.
  for (const auto& [close, samples] : {std::pair("0.666667", "3"), std::pair("0.833333", "6"),
                                       std::pair("0.857143", "7"), std::pair("0.923077", "13")}) {
    const Finished third = Bake("c.pc2", {"--shutter", absl::StrCat("0..", close), "--samples",
                                          samples, "--frames", "0-9"});
    EXPECT_EQ(third.exit_code, 0) << samples << third.err;
  }
  EXPECT_EQ(
      Bake("c.pc2", {"--shutter", "-0.5..0.5", "--samples", "4", "--frames", "0-9"}).exit_code, 0);
  ASSERT_EQ(Bake("a.mdd", {"--shutter", "-0.25..0.25"}).exit_code, 0);
  const Finished verified =
      Sinew({"verify", folder_ / "a.pc2", folder_ / "b.pc2", folder_ / "a.mdd"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
}

TEST_F(MotionBlur, VelocitiesAreCentralDifferencesOfFrames) {
  ASSERT_EQ(Bake("plain.npy", {}).exit_code, 0);
  ASSERT_EQ(Bake("v.npy", {"--velocities", "--frames", "0,10,47"}).exit_code, 0);
  const auto expect = [&](std::uint32_t sample, std::uint32_t before, std::uint32_t after) {
    const std::vector<float> from = Frame("plain.npy", before), to = Frame("plain.npy", after);
    std::vector<float> expected(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      expected[i] =
          static_cast<float>((double{to[i]} - double{from[i]}) * (24.0 / (after - before)));
    }
    EXPECT_TRUE(Frame("v.npy.velocities.npy", sample) == expected) << sample;
  };
  expect(0, 0, 1);
  expect(1, 9, 11);
  expect(2, 46, 47);
  ASSERT_EQ(
      Bake("fine.npy", {"--velocities", "--velocity-step", "0.25", "--frames", "10"}).exit_code, 0);
  ASSERT_EQ(Bake("ends.npy", {"--frames", "9.75,10.25"}).exit_code, 0);
  const std::vector<float> from = Frame("ends.npy", 0), to = Frame("ends.npy", 1);
  const std::vector<float> fine = Frame("fine.npy.velocities.npy", 0);
  for (std::size_t i = 0; i < fine.size(); ++i) {
    ASSERT_EQ(fine[i], static_cast<float>((double{to[i]} - double{from[i]}) * 48)) << i;
  }
}

TEST_F(MotionBlur, NormalsHaveUnitLengthAndTurnWithThePoints) {
  ASSERT_EQ(Bake("y.npy", {"--normals", "--velocities", "--frames", "20"}).exit_code, 0);
  ASSERT_EQ(
      Bake("z.npy", {"--normals", "--velocities", "--frames", "20", "--axes", "blender"}).exit_code,
      0);
  for (const std::string array : {".npy", ".npy.normals.npy", ".npy.velocities.npy"}) {
    const std::vector<float> y = Frame("y" + array, 0), z = Frame("z" + array, 0);
    for (std::size_t i = 0; i < y.size(); i += 3) {
      ASSERT_EQ(z[i], y[i]);
      ASSERT_EQ(z[i + 1], -y[i + 2]);
      ASSERT_EQ(z[i + 2], y[i + 1]);
      if (array != ".npy.normals.npy") continue;
      ASSERT_NEAR(std::hypot(y[i], y[i + 1], y[i + 2]), 1, 1e-6);
    }
  }
}

TEST_F(MotionBlur, PartsEqualWhole) {
  ASSERT_EQ(Bake("whole.npy", kAll).exit_code, 0);
  ASSERT_EQ(Bake("chunks.npy", With(kAll, {"--chunk", "10"})).exit_code, 0);
  ExpectSame("chunks", "whole");
  for (const std::string frames : {"10-30", "31-", "0-9"}) {
    ASSERT_EQ(Bake("tasks.npy", With(kAll, {"--frames", frames, "--part"})).exit_code, 0);
  }
  const Finished unnamed = Sinew({"join", folder_ / "tasks.npy"});
  EXPECT_EQ(unnamed.exit_code, 65);
  EXPECT_THAT(unnamed.err, HasSubstr("samples of a shutter need --frames"));
  const Finished join = Sinew({"join", folder_ / "tasks.npy", "--frames", "0-47"});
  ASSERT_EQ(join.exit_code, 0) << join.err;
  ExpectSame("tasks", "whole");
  const Finished again = Sinew({"join", folder_ / "tasks.npy", "--frames", "0-47", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["was_joined"], true);
  const Finished resumed = Bake("tasks.npy", With(kAll, {"--resume", "--json"}));
  EXPECT_EQ(nlohmann::json::parse(resumed.out)["current"], true);
  // Without the velocities it is another cache.
  const Finished other = Bake("tasks.npy", {"--shutter", "-0.25..0.25", "--resume", "--json"});
  EXPECT_EQ(nlohmann::json::parse(other.out)["current"], false);
}

TEST_F(MotionBlur, SharedSamplesOfPartsAreJoined) {
  const Strings full = {"--shutter", "-0.5..0.5"};
  ASSERT_EQ(Bake("whole.pc2", With(full, {"--frames", "0-9"})).exit_code, 0);
  ASSERT_EQ(Bake("a.pc2", With(full, {"--frames", "0-4", "--part"})).exit_code, 0);
  ASSERT_EQ(Bake("a.pc2", With(full, {"--frames", "5-9", "--part"})).exit_code, 0);
  ASSERT_EQ(Sinew({"join", folder_ / "a.pc2", "--frames", "0-9"}).exit_code, 0);
  EXPECT_TRUE(ReadAll(folder_ / "a.pc2") == ReadAll(folder_ / "whole.pc2"));
  EXPECT_EQ(ReadAll(folder_ / "a.pc2.json"), ReadAll(folder_ / "whole.pc2.json"));
}

TEST_F(MotionBlur, DamagedArraysAreNamedAndRepaired) {
  ASSERT_EQ(Bake("a.npy", With(kAll, {"--frames", "0-5"})).exit_code, 0);
  ASSERT_EQ(Bake("b.npy", With(kAll, {"--frames", "0-5"})).exit_code, 0);
  for (const std::string array : {".npy", ".npy.normals.npy", ".npy.velocities.npy"}) {
    std::string bytes = ReadAll(folder_ / ("a" + array));
    bytes[bytes.size() / 2 + 100] ^= 1;
    WriteAll(folder_ / ("a" + array), bytes);
    const Finished verified = Sinew({"verify", folder_ / "a.npy"});
    EXPECT_EQ(verified.exit_code, 65);
    EXPECT_THAT(verified.out, HasSubstr("bad frames: 2.75"));
    const Finished repair =
        Sinew({"repair", folder_ / "a.npy", "model:hand", "--server", daemon_->address()});
    ASSERT_EQ(repair.exit_code, 0) << repair.err;
    ExpectSame("a", "b");
  }
  std::filesystem::remove(folder_ / "a.npy.normals.npy");
  const Finished missing = Sinew({"verify", folder_ / "a.npy"});
  EXPECT_EQ(missing.exit_code, 65);
  EXPECT_THAT(missing.out, HasSubstr("a.npy.normals.npy"));
}

TEST_F(MotionBlur, ArraysBelongToOneCacheAndGoWithIt) {
  ASSERT_EQ(Bake("a.npy", {"--velocities", "--normals", "--frames", "0-3"}).exit_code, 0);
  ASSERT_EQ(Bake("a.mdd", {"--velocities", "--frames", "0-5"}).exit_code, 0);
  const Finished verified = Sinew({"verify", folder_ / "a.npy", folder_ / "a.mdd"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
  WriteAll(folder_ / "a.npy.normals.npy", "of another program");
  ASSERT_EQ(Bake("a.npy", {"--frames", "0-3"}).exit_code, 0);
  EXPECT_THAT(folder_.Names(), ElementsAre("a.mdd", "a.mdd.json", "a.mdd.velocities.npy", "a.npy",
                                           "a.npy.json", "a.npy.normals.npy"));
  ASSERT_EQ(Bake("a.mdd", {"--frames", "0-5", "--chunk", "2"}).exit_code, 0);
  EXPECT_THAT(folder_.Names(),
              ElementsAre("a.mdd", "a.mdd.json", "a.npy", "a.npy.json", "a.npy.normals.npy"));
}

TEST_F(MotionBlur, UnevenFramesOfPc2HaveWaysOut) {
  const auto refused = [&](const Strings& options, const std::string& message) {
    const Finished bake = Bake("x.pc2", options);
    EXPECT_EQ(bake.exit_code, 65) << message;
    EXPECT_THAT(bake.err, HasSubstr(message));
  };
  refused(
      {"--frames", "0,1,5"},
      "--frames: got 0-1,5; .pc2 holds frames at even distances, such as --frames 0-5 or 0-5x2; "
      "or bake .mdd or .npy, which hold any");
  refused({"--frames", "1,2.5,3"}, "--frames: got 1,2.5,3; .pc2 holds frames at even distances, ");
  refused({"--frames", "0-8x2", "--shutter", "-0.5..0.5"},
          "--frames: got 0-8x2; with --shutter, .pc2 holds frames without gaps, such as "
          "--frames 0-8; or bake .mdd");
  EXPECT_EQ(Bake("x.pc2", {"--frames", "0-8", "--shutter", "-0.5..0.5"}).exit_code, 0);
}

TEST_F(MotionBlur, PosesOfAFileHaveVelocitiesButNoShutter) {
  const std::string poses = folder_ / "poses.npy";
  ASSERT_EQ(Sinew({"export", "model:hand", "--poses", poses, "--frames", "0-9"}).exit_code, 0);
  ASSERT_EQ(Bake("v.npy", {"--poses", poses, "--velocities"}).exit_code, 0);
  ASSERT_EQ(Bake("c.npy", {"--velocities"}).exit_code, 0);
  EXPECT_TRUE(Frame("v.npy.velocities.npy", 4) == Frame("c.npy.velocities.npy", 4));
  const Finished step = Bake("x.npy", {"--poses", poses, "--velocities", "--velocity-step", "0.5"});
  EXPECT_EQ(step.exit_code, 65);
  EXPECT_THAT(step.err, HasSubstr("need a whole number for --poses"));
  EXPECT_EQ(Bake("x.npy", {"--poses", poses, "--shutter", "0..0.5"}).exit_code, 64);
}

TEST_F(MotionBlur, WrongOptionsAreExplained) {
  struct Case {
    Strings options;
    std::string message;
  };
  for (const Case& wrong : std::vector<Case>{
           {{"--shutter", "0.5"}, "--shutter: got \"0.5\", need OPEN..CLOSE"},
           {{"--shutter", "0..nan"}, "--shutter: got \"0..nan\", need OPEN..CLOSE"},
           {{"--shutter", "0.5..0"}, "need an OPEN that is not after CLOSE"},
           {{"--shutter", "0..0"}, "need an OPEN before CLOSE for 3 samples"},
           {{"--shutter", "-2..0"}, "need OPEN and CLOSE from -1 to 1 frames"},
           {{"--shutter", "0..1000"}, "need OPEN and CLOSE from -1 to 1 frames"},
           {{"--shutter", "0..0.00001"}, "for 3 samples, by 2e-05 frames or more"},
           {{"--shutter", "0..0.5", "--samples", "0"}, "need a whole number from 1 to 64"},
           {{"--velocities", "--velocity-step", "11"}, "need a number from 0.01 to 10"},
           {{"--shutter", "0..0.5", "--frames", "1.5"}, "whole --frames"},
           {{"--samples", "3"}, "--samples: are those of --shutter"},
           {{"--velocity-step", "1"}, "--velocity-step: is that of --velocities"},
       }) {
    const Finished bake = Bake("x.npy", wrong.options);
    EXPECT_EQ(bake.exit_code, 64) << wrong.message;
    EXPECT_THAT(bake.err, HasSubstr(wrong.message));
  }
  EXPECT_THAT(folder_.Names(), ElementsAre());
}

}  // namespace
}  // namespace sinew::testing
