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
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "client/bake/formats/npy.h"
#include "client/bake/formats/point_cache.h"
#include "sinew/client.h"
#include "sinew/import.h"
#include "tests/integration/cli/process.h"
#include "tests/support/npy_frame.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
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
  // Root mean square and largest, of 13 frames.
  std::pair<double, double> Distance(const std::string& a_name, const std::string& b_name) const {
    const std::string a_bytes = ReadAll(In(a_name)), b_bytes = ReadAll(In(b_name));
    double squares = 0, largest = 0;
    std::size_t count = 0;
    for (std::size_t f = 0; f < 13; ++f) {
      const std::vector<float> a = NpyFrame(a_bytes, f), b = NpyFrame(b_bytes, f);
      EXPECT_EQ(a.size(), b.size());
      for (std::size_t k = 0; k < std::min(a.size(), b.size()); k += 3, ++count) {
        const double d = std::hypot(a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2]);
        squares += d * d;
        largest = std::max(largest, d);
      }
    }
    return {std::sqrt(squares / static_cast<double>(count)), largest};
  }
  // Names of the folder, hidden ones too.
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(In(""))) {
      names.insert(file.path().filename());
    }
    return names;
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
  const auto [rms, largest] = Distance("walk.npy", "again.npy");
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
  const std::vector<double> errors = report["rms_by_connected_iteration"];
  ASSERT_FALSE(errors.empty());
  EXPECT_NEAR(report["error"]["rms"]["units"], errors.back(), 1e-5 * double(report["diagonal"]));
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
  const std::set<std::string> before = Names();
  for (const char* out : {"a.sinewrig", "a.glb"}) {
    Process process({ProgramPath("sinew"), "decompose", In("a.pc2"), "--rest", "model:cylinder",
                     "--joints", "200", "--iterations", "1000", "--out", In(out), "--progress",
                     "json"});
    ASSERT_TRUE(process.ReadErrorsUntil("\"task\":\"Decompose\""));
    process.Signal(SIGINT);
    const Finished finished = process.Wait();
    EXPECT_EQ(finished.signal, SIGINT) << finished.exit_code << finished.err;
    EXPECT_EQ(Names(), before) << out;
  }
}

TEST_F(Decompose, FullDiskLeavesNothing) {
  Bake("a.pc2");
  const std::set<std::string> before = Names();
  for (const char* out : {"a.sinewrig", "a.glb"}) {
    const Finished finished =
        Process({"/bin/sh", "-c", "ulimit -f 8; exec \"$@\"", "sh", ProgramPath("sinew"),
                 "decompose", In("a.pc2"), "--rest", "model:cylinder", "--out", In(out)})
            .Wait();
    EXPECT_EQ(finished.exit_code, 73) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("cannot write")) << out;
    EXPECT_EQ(Names(), before) << out;
  }
}

TEST_F(Decompose, GlbPlaysTheAnimationBackWithTheErrorItReports) {
  Bake("walk.npy");
  const Finished finished = Run("walk.npy", "walk.glb");
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, Not(HasSubstr("influences of a vertex")));
  EXPECT_FALSE(std::filesystem::exists(In("walk.poses.npy")));
  const Json report = Json::parse(finished.out);
  EXPECT_EQ(report["rig"], In("walk.glb"));
  EXPECT_FALSE(report.contains("poses"));
  EXPECT_EQ(report["clip"], Json({{"name", "walk"}, {"fps", 24}, {"seconds", 5}}));
  // Frames 0, 10, 20, ... of the cache are at these frames of the clip, too.
  const Finished again = At({"bake", In("walk.glb"), "--deformer", "lbs", "--clip", "walk",
                             "--frames", "0-120x10", "--out", In("again.npy")});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const double diagonal = report["diagonal"];
  const auto [rms, largest] = Distance("walk.npy", "again.npy");
  EXPECT_GT(rms, 0);
  EXPECT_NEAR(rms, report["error"]["rms"]["units"], 1e-5 * diagonal);
  EXPECT_NEAR(largest, report["error"]["largest"]["units"], 1e-5 * diagonal);

  EXPECT_THAT(ReadAll(In("walk.glb")), Not(HasSubstr("\"scale\"")));  // bones are rigid
  const auto scene = client::ImportFile(In("walk.glb"));
  ASSERT_TRUE(scene.ok()) << scene.status();
  const client::Skin& skin = scene->rig.meshes.at(0).skin;
  std::size_t at = 0;
  for (const std::uint32_t count : skin.influence_counts) {
    double sum = 0;
    for (std::uint32_t k = 0; k < count; ++k) sum += double{skin.influence_weights[at++]};
    ASSERT_EQ(sum, 1);
  }
}

TEST_F(Decompose, ConnectedGlbHasKeysOfPlacesForTheRootAlone) {
  Bake("walk.npy");
  const Finished finished =
      Sinew({"decompose", In("walk.npy"), "--rest", "model:cylinder", "--joints", "6",
             "--connected", "--json", "--out", In("walk.glb")});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const std::string file = ReadAll(In("walk.glb"));
  std::uint32_t size = 0;
  std::memcpy(&size, file.data() + 12, sizeof size);
  const Json document = Json::parse(file.substr(20, size));
  std::size_t turned = 0;
  for (const Json& channel : document["animations"][0]["channels"]) {
    if (channel["target"]["path"] == "rotation") ++turned;
    if (channel["target"]["path"] != "translation") continue;
    EXPECT_EQ(channel["target"]["node"], 1);
  }
  EXPECT_EQ(turned, 6u);
  const Finished again = At({"bake", In("walk.glb"), "--deformer", "lbs", "--clip", "walk",
                             "--frames", "0-120x10", "--out", In("again.npy")});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const Json report = Json::parse(finished.out);
  const auto [rms, largest] = Distance("walk.npy", "again.npy");
  EXPECT_NEAR(largest, report["error"]["largest"]["units"], 1e-5 * double(report["diagonal"]));
}

TEST_F(Decompose, ClipOfGlbKeepsTheTimesOfTheCache) {
  Bake("a.####.obj");
  Bake("a.npy");
  const auto clip_of = [&](const std::string& cache, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"decompose", In(cache), "--rest",   "model:cylinder",
                                          "--json",    "--out",   In("a.glb")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = Sinew(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    const bool has_rate =
        !more.empty() || cache == "a.mdd" || std::filesystem::exists(In(cache + ".json"));
    EXPECT_EQ(finished.err.find("taken for 24, see --fps") == std::string::npos, has_rate);
    return Json::parse(finished.out)["clip"];
  };
  EXPECT_EQ(clip_of("a.npy", {"--fps", "48"}),
            Json({{"name", "a"}, {"fps", 48}, {"seconds", 2.5}}));
  for (const char* name : {"a.mdd", "a.pc2"}) {
    Bake(name);
    std::filesystem::remove(In(std::string(name) + ".json"));
  }
  std::filesystem::remove(In("a.npy.json"));
  std::filesystem::remove(In("a.####.obj.json"));
  const Json mdd = clip_of("a.mdd", {});
  EXPECT_NEAR(mdd["fps"], 2.4, 1e-5);
  EXPECT_NEAR(mdd["seconds"], 5, 1e-5);
  std::string bytes = ReadAll(In("a.mdd"));
  std::fill_n(bytes.begin() + 8, 13 * sizeof(float), '\0');  // as programs do that have no times
  WriteAll(In("b.mdd"), bytes);
  EXPECT_EQ(clip_of("b.mdd", {}), Json({{"name", "b"}, {"fps", 24}, {"seconds", 0.5}}));
  EXPECT_EQ(clip_of("a.pc2", {}), Json({{"name", "a"}, {"fps", 24}, {"seconds", 5}}));
  EXPECT_EQ(clip_of("a.npy", {}), Json({{"name", "a"}, {"fps", 24}, {"seconds", 0.5}}));
  // The files say which frames they are.
  EXPECT_EQ(clip_of("a.####.obj", {"--fps", "12"}),
            Json({{"name", "a"}, {"fps", 12}, {"seconds", 10}}));
}

TEST_F(Decompose, WrongTimesAreNamed) {
  Bake("a.pc2");
  std::filesystem::remove(In("a.pc2.json"));
  std::string bytes = ReadAll(In("a.pc2"));
  const float rate = -1;
  std::memcpy(bytes.data() + 24, &rate, sizeof(rate));
  WriteAll(In("a.pc2"), bytes);
  const Finished finished = Run("a.pc2", "out.glb");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_THAT(finished.err, HasSubstr("animation: has a sample rate of -1, need more than 0"));
}

TEST_F(Decompose, AnimationFarFromTheOriginIsReported) {
  Bake("a.npy");
  std::filesystem::remove(In("a.npy.json"));
  const std::string npy = ReadAll(In("a.npy"));
  const auto points = bake::ReadPointCache(
      bake::CacheFormat::kNpy, {reinterpret_cast<const std::byte*>(npy.data()), npy.size()});
  ASSERT_TRUE(points.ok()) << points.status();
  std::vector<float> far = points->values;
  for (std::size_t k = 0; k < far.size(); k += 3) far[k] += 100000;
  const std::uint64_t shape[] = {points->frames, points->vertices, 3};
  WriteAll(In("far.npy"), bake::EncodeNpy(shape, far));
  const Finished finished = Run("far.npy", "out.glb");
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("animation: is up to 1e+05 units from the origin"));
}

TEST_F(Decompose, SaysThatEnginesReadFourInfluences) {
  Bake("a.pc2");
  const Finished finished = Sinew({"decompose", In("a.pc2"), "--rest", "model:cylinder",
                                   "--influences", "5", "--out", In("a.glb")});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("many engines read the first four influences of a vertex"));
}

// Before anything is read: there is no such cache.
TEST_F(Decompose, RefusesOtherOutputsAtOnce) {
  const auto refusal = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"decompose", In("none.pc2"), "--rest", "model:cylinder",
                                          "--out"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished refused = Sinew(arguments);
    EXPECT_EQ(refused.exit_code, 64) << refused.err;
    return refused.err;
  };
  EXPECT_THAT(refusal({"hero.fbx"}), HasSubstr("\"hero.fbx\", need .glb or .sinewrig"));
  EXPECT_THAT(refusal({"glb"}), HasSubstr("\"glb\", need .glb or .sinewrig"));
  EXPECT_THAT(refusal({In("a.sinewrig"), "--fps", "30"}), HasSubstr("--fps: got it for .sinewrig"));
}

}  // namespace
}  // namespace sinew::testing
