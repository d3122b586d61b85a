// `sinew decompose` with the real programs: caches of every format, what comes out, and what it
// refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/bake/formats/npy.h"
#include "sinew/client.h"
#include "tests/integration/cli/process.h"
#include "tests/support/npy_frame.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class Decompose : public DaemonTest {
 protected:
  std::string In(const std::string& name) const { return folder_ / name; }
  void Bake(const std::string& out, const std::string& deformer = "ddm",
            std::vector<std::string> options = {}) const {
    std::vector<std::string> arguments = {"bake",     "model:cylinder", "--deformer", deformer,
                                          "--frames", "0-120x10",       "--out",      In(out)};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished baked = At(arguments);
    ASSERT_EQ(baked.exit_code, 0) << baked.err;
  }
  Finished Run(const std::string& cache, const std::string& out,
               const std::string& rest = "model:cylinder") const {
    return Sinew(
        {"decompose", In(cache), "--rest", rest, "--joints", "4", "--json", "--out", In(out)});
  }
  std::string Refusal(const std::string& cache, const std::string& rest = "model:cylinder") const {
    const Finished refused = Run(cache, "refused.sinewrig", rest);
    EXPECT_EQ(refused.exit_code, 65) << refused.err;
    EXPECT_FALSE(std::filesystem::exists(In("refused.sinewrig")));
    EXPECT_FALSE(std::filesystem::exists(In("refused.poses.npy")));
    return refused.err;
  }
};

// An .obj states no unit, a bake needs one.
TEST_F(Decompose, MeshWithoutUnitCanBeBaked) {
  Bake("rest.####.obj", "lbs");
  Bake("walk.npy");
  const Finished finished = Run("walk.npy", "walk.sinewrig", In("rest.0000.obj"));
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("names no unit: taken for metres"));
  const Finished baked = At({"bake", In("walk.sinewrig"), "--poses", In("walk.poses.npy"),
                             "--deformer", "lbs", "--out", In("again.pc2")});
  EXPECT_EQ(baked.exit_code, 0) << baked.err;
}

TEST_F(Decompose, ItsPosesPlayTheAnimationBackWithTheErrorItReports) {
  Bake("walk.npy");
  const Finished finished = Run("walk.npy", "walk.sinewrig");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json report = Json::parse(finished.out);
  EXPECT_EQ(report["rig"], In("walk.sinewrig"));
  EXPECT_EQ(report["poses"], In("walk.poses.npy"));
  EXPECT_EQ(report["joints"].size(), 4u);
  EXPECT_EQ(report["frames"], 13);
  const double diagonal = report["diagonal"];
  EXPECT_LT(report["error"]["rms"]["percent"], 0.5);

  const Finished again = At({"bake", In("walk.sinewrig"), "--poses", In("walk.poses.npy"),
                             "--deformer", "lbs", "--out", In("again.npy")});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const std::string wanted = ReadAll(In("walk.npy")), got = ReadAll(In("again.npy"));
  double squares = 0, largest = 0;
  std::size_t count = 0;
  for (std::size_t f = 0; f < 13; ++f) {
    const std::vector<float> a = NpyFrame(wanted, f), b = NpyFrame(got, f);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); k += 3, ++count) {
      const double d = std::hypot(a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2]);
      squares += d * d;
      largest = std::max(largest, d);
    }
  }
  const double rms = std::sqrt(squares / static_cast<double>(count));
  EXPECT_GT(rms, 0);
  EXPECT_NEAR(rms, report["error"]["rms"]["units"], 1e-5 * diagonal);
  EXPECT_NEAR(largest, report["error"]["largest"]["units"], 1e-5 * diagonal);
}

// Joints add up to their places and inverse binds are their negatives, bit for bit.
TEST_F(Decompose, RestPoseIsTheMeshExactly) {
  Bake("walk.pc2");
  ASSERT_EQ(Run("walk.pc2", "walk.sinewrig").exit_code, 0);
  const auto rig = client::DecodeRig(ReadAll(In("walk.sinewrig")));
  ASSERT_TRUE(rig.ok()) << rig.status();
  std::vector<std::array<float, 3>> places;
  const client::Skin& skin = rig->meshes.at(0).skin;
  for (std::size_t j = 0; j < rig->joints.size(); ++j) {
    const std::int32_t parent = rig->joints[j].parent;
    std::array<float, 3>& at = places.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) {
      at[k] = rig->rest_local[j * 12 + 4 * k + 3] +
              (parent < 0 ? 0 : places[static_cast<std::size_t>(parent)][k]);
      EXPECT_EQ(skin.inverse_bind[j * 12 + 4 * k + 3], -at[k]);
    }
  }
  const Finished rest = At({"inspect", In("walk.sinewrig"), "--json"});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
}

TEST_F(Decompose, ConnectedJointsHaveNoGap) {
  Bake("walk.npy");
  const Finished finished =
      Sinew({"decompose", In("walk.npy"), "--rest", "model:cylinder", "--joints", "6",
             "--connected", "--json", "--out", In("walk.sinewrig")});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json report = Json::parse(finished.out);
  EXPECT_EQ(report["joint_gap"]["units"], 0);
  EXPECT_LT(report["error"]["rms"]["percent"], 0.5);
  // Each joint keeps its distance from its parent in every pose.
  const auto rig = client::DecodeRig(ReadAll(In("walk.sinewrig")));
  ASSERT_TRUE(rig.ok()) << rig.status();
  const std::string npy = ReadAll(In("walk.poses.npy"));
  const auto poses =
      bake::ReadPosesNpy({reinterpret_cast<const std::byte*>(npy.data()), npy.size()});
  ASSERT_TRUE(poses.ok()) << poses.status();
  for (std::size_t k = 0; k < poses->frames * poses->joints; ++k) {
    const std::size_t joint = k % poses->joints;
    if (rig->joints[joint].parent < 0) continue;
    const float* const own = &poses->values[k * 12];
    const float* const above =
        &poses->values[(k - joint + static_cast<std::size_t>(rig->joints[joint].parent)) * 12];
    const float* const rest = &rig->rest_local[joint * 12];
    EXPECT_NEAR(std::hypot(own[3] - above[3], own[7] - above[7], own[11] - above[11]),
                std::hypot(rest[3], rest[7], rest[11]), 1e-5);
  }
}

TEST_F(Decompose, SingleFrameIsNoAnimation) {
  const Finished baked =
      At({"bake", "model:cylinder", "--deformer", "lbs", "--frames", "60", "--out", In("one.npy")});
  ASSERT_EQ(baked.exit_code, 0) << baked.err;
  EXPECT_THAT(Run("one.npy", "one.sinewrig").err, HasSubstr("frames: 1 is no animation"));
}

TEST_F(Decompose, EveryFormatGivesTheSame) {
  std::vector<std::string> poses;
  for (const char* name : {"a.pc2", "a.mdd", "a.npy", "a.usda", "a.####.obj"}) {
    Bake(name);
    const Finished finished = Run(name, "out.sinewrig", "model:cylinder");
    ASSERT_EQ(finished.exit_code, 0) << name << ": " << finished.err;
    poses.push_back(ReadAll(In("out.poses.npy")));
    EXPECT_TRUE(poses.back() == poses.front()) << name;
  }
}

TEST_F(Decompose, CachesOfOtherProgramsNeedNoManifest) {
  Bake("a.pc2");
  Bake("a.####.obj");
  ASSERT_EQ(Run("a.pc2", "with.sinewrig").exit_code, 0);
  std::filesystem::remove(In("a.pc2.json"));
  std::filesystem::remove(In("a.####.obj.json"));
  for (const char* name : {"a.pc2", "a.####.obj"}) {
    const Finished finished = Run(name, "without.sinewrig", In("a.0000.obj"));
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }
}

TEST_F(Decompose, RefusesWhatDoesNotBelongTogether) {
  Bake("a.pc2");
  EXPECT_THAT(Refusal("a.pc2", "model:hand"), HasSubstr("vertices, the rest mesh has 9140"));
  EXPECT_THAT(Refusal("none.pc2"), HasSubstr("none.pc2"));
  EXPECT_THAT(Refusal("a.abc"), HasSubstr("a.abc: need .pc2, .mdd, .npy, .usda, or .obj with"));
  EXPECT_THAT(Refusal("a.obj"), HasSubstr("such as hero.####.obj"));

  std::string bytes = ReadAll(In("a.pc2"));
  bytes[1000] ^= 1;
  WriteAll(In("a.pc2"), bytes);
  EXPECT_THAT(Refusal("a.pc2"), HasSubstr("sample 0 (frame 0) has checksum"));
  std::filesystem::remove(In("a.pc2.json"));
  bytes.resize(bytes.size() / 2);
  WriteAll(In("a.pc2"), bytes);
  EXPECT_THAT(Refusal("a.pc2"), HasSubstr("a.pc2: pc2: got "));

  Bake("a.npy", "lbs");
  std::filesystem::remove(In("a.npy.json"));
  bytes = ReadAll(In("a.npy"));
  const float far = -1e30F;
  std::memcpy(bytes.data() + bytes.size() - sizeof far, &far, sizeof far);
  WriteAll(In("a.npy"), bytes);
  EXPECT_THAT(Refusal("a.npy"), HasSubstr("of frame 12: got -1e+30, need finite numbers within"));

  Bake("a.usda");
  std::filesystem::remove(In("a.usda.json"));
  EXPECT_THAT(Refusal("a.usda"), HasSubstr("a.usda: has no manifest"));

  Bake("a.####.obj");
  std::filesystem::remove(In("a.####.obj.json"));
  std::string text = ReadAll(In("a.0050.obj"));
  const std::size_t face = text.find("\nf ") + 3;
  text.replace(face, text.find('\n', face) - face, "1 2 3");
  WriteAll(In("a.0050.obj"), text);
  EXPECT_THAT(Refusal("a.####.obj"), HasSubstr("a.0050.obj: has other faces than the rest mesh"));
  std::filesystem::remove(In("a.0050.obj"));
  EXPECT_THAT(Refusal("a.####.obj"), HasSubstr("frame 60 follows 40, need frames at even"));
}

TEST_F(Decompose, InterruptedItWritesNothing) {
  Bake("a.pc2");
  Process process({ProgramPath("sinew"), "decompose", In("a.pc2"), "--rest", "model:cylinder",
                   "--joints", "200", "--iterations", "1000", "--out", In("a.sinewrig")});
  ASSERT_TRUE(process.ReadErrorsUntil("Decompose "));
  process.Signal(SIGINT);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.signal, SIGINT) << finished.exit_code << finished.err;
  EXPECT_FALSE(std::filesystem::exists(In("a.sinewrig")));
}

}  // namespace
}  // namespace sinew::testing
