// `sinew weights` with the real programs: characters with and without skin, what comes out, how it
// ends.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "client/bake/formats/obj.h"
#include "client/models/models.h"
#include "sinew/client.h"
#include "tests/integration/cli/process.h"
#include "tests/integration/cli/small_gltf.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

constexpr const char* kMethods[] = {"capsule", "heat", "geodesic"};

class Weights : public DaemonTest {
 protected:
  static std::uint64_t BindsRunning(const std::string& address) {
    const Finished stats = SinewAt(address, {"stats", "--json"});
    const Json json = Json::parse(stats.out, nullptr, false);
    return json.is_discarded() ? 0 : json["binds_running"].get<std::uint64_t>();
  }
  // Waits for a computation to run, or to have ended.
  static bool WaitFor(const std::string& address, bool running) {
    for (int i = 0; i < 400; ++i) {
      if ((BindsRunning(address) > 0) == running) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  // The small character without its skin.
  std::string Bare() {
    Json gltf = SmallGltf();
    gltf.erase("skins");
    gltf["nodes"][0].erase("skin");
    WriteAll(folder_ / "bare.gltf", gltf.dump());
    return folder_ / "bare.gltf";
  }
  // Many seconds of work.
  std::string Large() {
    const auto tube = client::Tube({.rings = 4000, .segments = 50, .joints = 100, .length = 40});
    WriteAll(folder_ / "large.sinewrig", *client::EncodeRig(tube.rig));
    return folder_ / "large.sinewrig";
  }
  std::string Whole() {
    WriteAll(folder_ / "whole.gltf", SmallGltf().dump());
    return folder_ / "whole.gltf";
  }
};

TEST_F(Weights, SinewrigWorksAsCharacterFile) {
  for (const char* method : kMethods) {
    const std::string out = folder_ / absl::StrCat(method, ".sinewrig");
    const Finished weights =
        At({"weights", "model:tube", "--method", method, "--out", out, "--max-influences", "3"});
    ASSERT_EQ(weights.exit_code, 0) << weights.err;
    EXPECT_THAT(weights.out, StartsWith("rigs/sha256-"));
    EXPECT_THAT(weights.out, HasSubstr("joint"));
    EXPECT_THAT(weights.err, HasSubstr("mean absolute difference"));
    const auto rig = client::DecodeRig(ReadAll(out));
    ASSERT_TRUE(rig.ok()) << rig.status();
    EXPECT_EQ(client::RigName(ReadAll(out)), weights.out.substr(0, weights.out.find('\n')));
    for (const std::uint32_t count : rig->meshes[0].skin.influence_counts) {
      EXPECT_TRUE(count >= 1 && count <= 3) << count;
    }
    // The joints that carry something, the largest share first.
    std::vector<double> shares;
    for (const std::string& line : std::vector<std::string>(absl::StrSplit(weights.out, '\n'))) {
      double share = 0;
      std::array<char, 32> vertices = {};
      if (std::sscanf(line.c_str(), "%*s %31s %lf %%", vertices.data(), &share) != 2) continue;
      EXPECT_STRNE(vertices.data(), "0") << line;
      shares.push_back(share);
    }
    EXPECT_GT(shares.size(), 1u) << weights.out;
    EXPECT_TRUE(std::ranges::is_sorted(shares, std::greater())) << weights.out;
    EXPECT_NEAR(std::reduce(shares.begin(), shares.end()), 100, 0.1);
    EXPECT_EQ(At({"inspect", out}).exit_code, 0);
    for (const char* deformer : {"dqs", "ddm"}) {
      const Finished bind = At({"bind", out, "--deformer", deformer});
      EXPECT_EQ(bind.exit_code, 0) << bind.err;
    }
    // It has no clip: a picture shows it at rest, as it does any other file.
    const std::string png = folder_ / "rest.png";
    const std::vector<std::string> still = {"render", out, "--deformer", "lbs",
                                            "--out",  png, "--size",     "64x64"};
    const Finished render = At(still);
    EXPECT_EQ(render.exit_code, 0) << render.err;
    EXPECT_THAT(render.err, HasSubstr("has no clip: drawn in its rest pose"));
    EXPECT_THAT(ReadAll(png), StartsWith("\x89PNG"));
    std::vector<std::string> moving = still;
    moving.insert(moving.end(), {"--clip", "walk"});
    EXPECT_EQ(At(moving).exit_code, 65) << "a clip is asked for";
  }
}

// The server says why, once; which vertices it is follows as a note.
TEST_F(Weights, VerticesThatNoBoneReachesAreWarnedOfOnce) {
  const Finished weights = At({"weights", "model:tube", "--method", "capsule", "--outer", "1.1"});
  ASSERT_EQ(weights.exit_code, 0) << weights.err;
  EXPECT_THAT(weights.err, HasSubstr("warning: mesh: 48 points follow the nearest bone, since"));
  EXPECT_THAT(weights.err,
              HasSubstr("sinew: vertices that no bone sees or reaches: 48 of 986 (936, "
                        "937, 938, 939, 940, ...; --json lists up to 1000)\n"));
  EXPECT_EQ(weights.err.find("warning"), weights.err.rfind("warning"));
}

TEST_F(Weights, SameBytesLocallyAndRepeated) {
  const std::vector<std::string> arguments = {"weights", "model:tube", "--method", "heat"};
  const Finished remote = At(arguments), again = At(arguments);
  std::vector<std::string> local = arguments;
  local.push_back("--local");
  EXPECT_EQ(remote.out, again.out);
  EXPECT_EQ(Sinew(local).out, remote.out);
}

TEST_F(Weights, SkeletonOptionGivesMeshJoints) {
  for (const char* method : kMethods) {
    const std::string out = folder_ / "dressed.sinewrig";
    const Json report = JsonAt({"weights", Bare(), "--skeleton", Whole(), "--method", method,
                                "--out", out, "--all-joints"});
    EXPECT_EQ(report["vertices"], 4);
    EXPECT_FALSE(report.contains("difference")) << "it had no weights";
    ASSERT_EQ(report["joints"].size(), 2u);
    EXPECT_EQ(report["joints"][0]["name"], "root");
    const Finished bake = At({"bind", out, "--deformer", "lbs"});
    EXPECT_EQ(bake.exit_code, 0) << bake.err;
  }
}

TEST_F(Weights, RejectsMismatchedSkeleton) {
  const Finished none = At({"weights", Bare(), "--method", "heat"});
  EXPECT_EQ(none.exit_code, 65);
  EXPECT_THAT(none.err, HasSubstr("--skeleton"));
  const Finished own = At({"weights", Whole(), "--skeleton", Whole(), "--method", "heat"});
  EXPECT_EQ(own.exit_code, 65);
  EXPECT_THAT(own.err, HasSubstr("joints of its own"));
  const Finished jointless = At({"weights", Bare(), "--skeleton", Bare(), "--method", "heat"});
  EXPECT_EQ(jointless.exit_code, 65);
  EXPECT_THAT(jointless.err, HasSubstr("has no joints"));
  Json far = SmallGltf();
  far["nodes"][1]["translation"] = {50, 0, 0};
  WriteAll(folder_ / "far.gltf", far.dump());
  const Finished apart =
      At({"weights", Bare(), "--skeleton", folder_ / "far.gltf", "--method", "heat"});
  EXPECT_EQ(apart.exit_code, 65);
  EXPECT_THAT(apart.err, HasSubstr("overlap"));
  // Other commands refuse the bare file as before.
  EXPECT_EQ(At({"upload", Bare()}).exit_code, 65);
}

TEST_F(Weights, ObjGetsWeightsOfSameMesh) {
  auto tube = client::Tube({});
  client::Mesh& mesh = tube.rig.meshes[0];
  const auto obj = bake::EncodeObj(
      "tube",
      std::vector<bake::ObjPart>{{"tube", mesh.positions, mesh.face_sizes, mesh.face_vertices}});
  ASSERT_TRUE(obj.ok()) << obj.status();
  WriteAll(folder_ / "tube.obj", *obj);
  tube.rig.joints.clear();
  tube.rig.rest_local.clear();
  mesh.skin = {};
  WriteAll(folder_ / "bare.sinewrig", *client::EncodeRig(tube.rig));
  const auto weigh = [&](const char* file, const char* method) {
    const std::string out = folder_ / "out.sinewrig";
    const Finished done = At(
        {"weights", folder_ / file, "--skeleton", "model:tube", "--method", method, "--out", out});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(At({"bind", out, "--deformer", "ddm"}).exit_code, 0);
    const auto rig = client::DecodeRig(ReadAll(out));
    return rig.ok() && !rig->meshes.empty() ? rig->meshes[0].skin : client::Skin();
  };
  for (const char* method : kMethods) {
    const client::Skin got = weigh("tube.obj", method), want = weigh("bare.sinewrig", method);
    EXPECT_EQ(got.influence_counts.size(), mesh.vertices()) << method;
    EXPECT_EQ(got.influence_counts, want.influence_counts) << method;
    EXPECT_EQ(got.influence_joints, want.influence_joints) << method;
    EXPECT_EQ(got.influence_weights, want.influence_weights) << method;
  }
}

// Around the skeleton's root, so that the boxes overlap: only the sizes tell.
TEST_F(Weights, WarnsOfMeshInOtherUnits) {
  const auto tube = client::Tube({});
  const auto scaled = [&](double factor) {
    client::RigData rig = tube.rig;
    for (float& x : rig.meshes[0].positions) x = static_cast<float>(x * factor);
    return rig;
  };
  const auto weigh = [&](const std::string& file, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"weights", file, "--method", "capsule"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = At(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.err;
  };
  const std::string obj = folder_ / "tube.obj", own = folder_ / "own.sinewrig";
  for (const double factor : {0.01, 1.0, 100.0}) {
    client::RigData rig = scaled(factor);
    client::Mesh& mesh = rig.meshes[0];
    const std::vector<bake::ObjPart> parts = {
        {"tube", mesh.positions, mesh.face_sizes, mesh.face_vertices}};
    WriteAll(obj, *bake::EncodeObj("tube", parts));
    mesh.skin = {};
    WriteAll(own, *client::EncodeRig(rig));
    const Finished inspect = Sinew({"inspect", own});
    EXPECT_EQ(inspect.exit_code, 0);
    for (const std::string& said :
         {weigh(obj, {"--skeleton", "model:tube"}), weigh(own, {}), inspect.out}) {
      EXPECT_EQ(said.find("different units, by a factor of 100") != said.npos, factor != 1) << said;
    }
    if (factor == 1) continue;
    EXPECT_THAT(weigh(own, {}), HasSubstr("sinew: warning: the mesh is "));
    EXPECT_THAT(inspect.out, HasSubstr("warning"));
  }
}

TEST_F(Weights, RejectsObjWithoutSkeleton) {
  WriteAll(folder_ / "statue.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  const std::string obj = folder_ / "statue.obj";
  const Finished alone = At({"weights", obj, "--method", "heat"});
  EXPECT_EQ(alone.exit_code, 65);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("statue.obj has no joints, need --skeleton FILE2"),
                               HasSubstr("fit-skeleton")));
  for (const char* command : {"inspect", "upload"}) {
    const Finished finished = At({command, obj});
    EXPECT_EQ(finished.exit_code, 65) << command;
    EXPECT_THAT(
        finished.err,
        HasSubstr(
            "need .glb, .gltf, .vrm, .fbx, .dae or .sinewrig: an .obj holds neither joints nor "
            "weights, which `sinew fit-skeleton` or `sinew weights FILE --skeleton FILE2` gives "
            "it"))
        << command;
  }
}

TEST_F(Weights, DamagedObjErrorNamesLine) {
  const std::string points = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  const std::pair<std::string, const char*> rows[] = {
      {"", "the file is empty"},
      {points + "f 1 2 3\nv 0 inf 0\n", "line 5: got \"inf\""},
      {points + "f 1 2 9\n", "line 4: got vertex 9 in a face, the file has 3"},
      {points + "f 1 2 -9\n", "line 4: got the corner \"-9\""},
      {points + "f 1 2", "line 4: got a face of 2 corners"},
  };
  const std::string obj = folder_ / "damaged.obj", out = folder_ / "out.sinewrig";
  for (const auto& [text, said] : rows) {
    WriteAll(obj, text);
    const Finished done =
        At({"weights", obj, "--skeleton", Whole(), "--method", "heat", "--out", out});
    EXPECT_EQ(done.exit_code, 65) << text;
    EXPECT_THAT(done.err, HasSubstr(absl::StrCat("damaged.obj: ", said)));
    EXPECT_FALSE(std::filesystem::exists(out));
  }
}

TEST_F(Weights, WrongValueErrorNamesOption) {
  // 64: the command line is wrong by itself; 65: it does not fit the character.
  const std::tuple<std::vector<std::string>, int, const char*> rows[] = {
      {{"--method", "magic"}, 64, "--method: got \"magic\", need capsule, heat or geodesic"},
      {{"--method", "heat", "--max-influences", "0"},
       64,
       "--max-influences: got \"0\", need a whole number from 1 to 255"},
      {{"--method", "heat", "--prune", "0.75"},
       64,
       "--prune: got \"0.75\", need a number from 0 to 0.5"},
      {{"--method", "heat", "--smooth", "101"},
       64,
       "--smooth: got \"101\", need a whole number from 0 to 100"},
      {{"--method", "heat", "--inner", "1"},
       64,
       "--inner: got it with --method heat, need --method capsule"},
      {{"--method", "capsule", "--resolution", "64"},
       64,
       "--resolution: got it with --method capsule, need --method geodesic"},
      {{"--method", "geodesic", "--resolution", "15"},
       64,
       "--resolution: got \"15\", need a whole number from 16 to 512"},
      {{"--method", "geodesic", "--smoothness", "inf"},
       64,
       "--smoothness: got \"inf\", need a number from 0 to 1"},
      {{"--method", "heat", "--joints", "tail"}, 65, "--joints: got \"tail\""},
      {{"--method", "heat", "--joints", "\xff"}, 65, "--joints: got \"\\xff\", which is no joint"},
  };
  for (const auto& [options, code, need] : rows) {
    std::vector<std::string> arguments = {"weights", "model:tube"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished finished = At(arguments);
    EXPECT_EQ(finished.exit_code, code) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(need));
  }
  EXPECT_EQ(At({"weights", "model:tube", "--method", "heat", "--out", "a.glb"}).exit_code, 64);
  EXPECT_EQ(
      At({"weights", "model:tube", "--method", "heat", "--out", "/nowhere/a.sinewrig"}).exit_code,
      73);
  EXPECT_EQ(At({"weights", folder_ / "none.glb", "--method", "heat"}).exit_code, 65);
}

TEST_F(Weights, InterruptLeavesNoFile) {
  const std::string out = folder_ / "never.sinewrig";
  Process process({ProgramPath("sinew"), "weights", Large(), "--method", "heat", "--smooth", "100",
                   "--out", out, "--server", daemon_->address()});
  ASSERT_TRUE(WaitFor(daemon_->address(), true));
  process.Signal(SIGINT);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.signal, SIGINT) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_TRUE(WaitFor(daemon_->address(), false)) << "the server stops too";
}

TEST_F(Weights, LostServerExits69) {
  Daemon own;
  Process process({ProgramPath("sinew"), "weights", Large(), "--method", "heat", "--smooth", "100",
                   "--server", own.address()});
  ASSERT_TRUE(WaitFor(own.address(), true));
  own.process().Signal(SIGKILL);
  const Finished finished = process.Wait();
  EXPECT_EQ(finished.exit_code, 69) << finished.err;
}

// Every real character through every method, beside its author's weights.
class ModelWeights : public Weights, public ::testing::WithParamInterface<const char*> {};

TEST_P(ModelWeights, CanBeComputedAndBound) {
  std::string file = GetParam();
  if (file.rfind("model:", 0) != 0) {
    file = (SharedData() / "models" / GetParam()).string();
    if (!std::filesystem::exists(file)) {
      GTEST_SKIP() << "no " << GetParam() << " in the shared test data";
    }
  }
  for (const char* method : kMethods) {
    const std::string out = folder_ / absl::StrCat(method, ".sinewrig");
    const Json report = JsonAt({"weights", file, "--method", method, "--out", out});
    ASSERT_TRUE(report.contains("difference")) << method;
    const double moved = report["difference"]["moved"];
    // An author's weights are a matter of taste, but not of another limb.
    EXPECT_LT(moved, 0.6) << method;
    const Finished bind = At({"bind", out, "--deformer", "lbs"});
    EXPECT_EQ(bind.exit_code, 0) << bind.err;
  }
}

std::string NameOf(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, ModelWeights,
                         ::testing::Values("CesiumMan.glb", "Horse.glb", "MakeHumanBody.glb",
                                           "RiggedFigure.glb", "SimpleSkin.gltf", "mannequiny.glb",
                                           "maya_kenney_character_7700_binary.fbx", "model:hand",
                                           "model:tube"),
                         NameOf);

}  // namespace
}  // namespace sinew::testing
