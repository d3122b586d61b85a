// `sinew fit-skeleton` with the real programs: what comes out, what is refused, and clips of other
// skeletons.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/bake/formats/npy.h"
#include "sinew/client.h"
#include "tests/integration/cli/process.h"
#include "tests/integration/cli/small_gltf.h"
#include "tests/support/figures.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

class Fit : public DaemonTest {
 protected:
  std::string Statue() {
    const Body body = Standing("human").body;
    std::string text;
    for (const Vec3d& p : body.points) absl::StrAppend(&text, "v ", p.x, " ", p.y, " ", p.z, "\n");
    for (const auto& face : body.faces) {
      absl::StrAppend(&text, "f");
      for (const std::uint32_t v : face) absl::StrAppend(&text, " ", v + 1);
      absl::StrAppend(&text, "\n");
    }
    WriteAll(folder_ / "statue.obj", text);
    return folder_ / "statue.obj";
  }
  // A clip of a skeleton with Mixamo's names that raises the left arm by 90 degrees.
  std::string Wave() {
    Json gltf = SmallGltf();
    gltf.erase("meshes");
    gltf.erase("skins");
    Json nodes = Json::array();
    const auto add = [&](const char* name, std::vector<float> at, std::vector<int> children) {
      Json node = {{"name", absl::StrCat("mixamorig:", name)}, {"translation", at}};
      if (!children.empty()) node["children"] = children;
      nodes.push_back(node);
    };
    add("Hips", {0, 1, 0}, {1, 3, 4});
    add("Spine", {0, .5f, 0}, {2});
    add("LeftArm", {.2f, 0, 0}, {5});
    add("LeftUpLeg", {.1f, 0, 0}, {});
    add("RightUpLeg", {-.1f, 0, 0}, {});
    add("LeftForeArm", {.3f, 0, 0}, {6});
    add("LeftHand", {.3f, 0, 0}, {});
    gltf["nodes"] = nodes;
    gltf["scenes"][0]["nodes"] = {0};
    gltf["animations"][0]["channels"] = {gltf["animations"][0]["channels"][0]};
    gltf["animations"][0]["channels"][0]["target"] = {{"node", 2}, {"path", "rotation"}};
    WriteAll(folder_ / "wave.gltf", gltf.dump());
    return folder_ / "wave.gltf";
  }
  Finished Refused(const Strings& more, const std::string& file) {
    Strings arguments = {"fit-skeleton", file, "--out", folder_ / "none.sinewrig"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = At(arguments);
    EXPECT_THAT(finished.out, IsEmpty());
    EXPECT_THAT(finished.err, HasSubstr("sinew: "));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "none.sinewrig"));
    return finished;
  }
  Finished Refused(const Strings& more) { return Refused(more, Statue()); }
};

TEST_F(Fit, WritesRigPictureAndReport) {
  const std::string out = folder_ / "hero.sinewrig", png = folder_ / "hero.png";
  const Json report = JsonAt({"fit-skeleton", Statue(), "--template", "human", "--resolution", "96",
                              "--weights", "heat", "--out", out, "--picture", png, "--size",
                              "64x96", "--meters-per-unit", "0.01"});
  EXPECT_LT(report["facing"]["residual"], 0.1);
  EXPECT_EQ(report["facing"]["up"], (Json{0, 1, 0}));
  EXPECT_EQ(report["joints"].size(), 22u);
  EXPECT_EQ(report["joints"][0]["name"], "chest");
  EXPECT_EQ(report["picture"], png);
  EXPECT_THAT(ReadAll(png), StartsWith("\x89PNG"));
  const auto rig = client::DecodeRig(ReadAll(out));
  ASSERT_TRUE(rig.ok()) << rig.status();
  EXPECT_EQ(rig->joints.size(), 22u);
  EXPECT_FALSE(rig->meshes[0].skin.empty());
  EXPECT_EQ(client::RigName(ReadAll(out)), report["rig"]);
  EXPECT_EQ(rig->up_axis, client::UpAxis::kY);
  EXPECT_EQ(rig->meters_per_unit, 0.01);
  EXPECT_EQ(At({"bind", out, "--deformer", "ddm"}).exit_code, 0);
}

TEST_F(Fit, HintsAndTemplateFilesCount) {
  WriteAll(folder_ / "stick.json", R"({"joints": [
    {"name": "chest", "at": [0, 0.5, 0], "wide": true},
    {"name": "hips", "parent": "chest", "at": [0, 0, 0], "wide": true},
    {"name": "left_foot", "parent": "hips", "at": [0.15, -0.8, 0], "foot": true,
     "partner": "right_foot"},
    {"name": "right_foot", "parent": "hips", "at": [-0.15, -0.8, 0], "foot": true,
     "partner": "left_foot"}]})");
  const Json report = JsonAt({"fit-skeleton", Statue(), "--template", folder_ / "stick.json",
                              "--resolution", "96", "--at", "hips=0,0.05,0.01"});
  ASSERT_EQ(report["joints"].size(), 4u);
  EXPECT_NEAR(report["joints"][1]["at"][1].get<double>(), 0.05, 1e-6);
  EXPECT_NEAR(report["joints"][1]["at"][2].get<double>(), 0.01, 1e-6);
  EXPECT_FALSE(report.contains("out"));
}

TEST_F(Fit, PlacesFarFromTheOriginAreWrittenInFull) {
  const std::string text = ReadAll(Statue());
  std::string moved;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const Strings words = absl::StrSplit(line, ' ');
    double x = 0;
    if (words[0] == "v" && absl::SimpleAtod(words[1], &x)) {
      absl::StrAppend(&moved, "v ", absl::StrFormat("%.9g", x + 10000), " ", words[2], " ",
                      words[3], "\n");
    } else {
      absl::StrAppend(&moved, line, "\n");
    }
  }
  WriteAll(folder_ / "far.obj", moved);
  const Strings command = {"fit-skeleton", folder_ / "far.obj", "--template",
                           "human",        "--resolution",      "96"};
  const Finished printed = At(command);
  ASSERT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr("the skeleton is not kept: give --out"));
  Strings as_json = command;
  as_json.insert(as_json.end(), {"--out", folder_ / "far.sinewrig"});
  const Json report = JsonAt(as_json);
  const auto rig = client::DecodeRig(ReadAll(folder_ / "far.sinewrig"));
  ASSERT_TRUE(rig.ok()) << rig.status();
  double stored = 0;  // sum of the x of a chain
  for (std::size_t j = 0; j < rig->joints.size(); ++j) {
    const double at = report["joints"][j]["at"][0];
    if (rig->joints[j].name == "left_hand_end") {
      EXPECT_NEAR(at, 10000.6, 0.05);
      EXPECT_THAT(printed.out, HasSubstr(absl::StrFormat("%.3f", at)));
      for (int k = static_cast<int>(j); k >= 0;
           k = rig->joints[static_cast<std::size_t>(k)].parent) {
        stored += double{rig->rest_local[static_cast<std::size_t>(k) * 12 + 3]};
      }
      EXPECT_NEAR(stored, at, 1e-3);
    }
  }
  EXPECT_NE(stored, 0);
}

// Its first search finds a place for the skeleton, a wider one runs out of assignments.
TEST_F(Fit, SearchThatRunsOutKeepsWhatItFound) {
  const std::filesystem::path man = SharedData() / "models" / "CesiumMan.glb";
  if (!std::filesystem::exists(man)) GTEST_SKIP() << man << " is not there";
  const Finished baked =
      At({"bake", man, "--deformer", "lbs", "--frames", "0", "--out", folder_ / "man.####.obj"});
  ASSERT_EQ(baked.exit_code, 0) << baked.err;
  const Finished fitted = At({"fit-skeleton", folder_ / "man.0000.obj", "--template", "human",
                              "--faces-forward", "--json"});
  EXPECT_EQ(fitted.exit_code, 0) << fitted.err;
}

// It can be looked at before it has weights.
TEST_F(Fit, SkeletonIsDrawnAtRest) {
  const std::string out = folder_ / "bare.sinewrig", picture = folder_ / "bare.png";
  ASSERT_EQ(
      At({"fit-skeleton", Statue(), "--template", "human", "--resolution", "96", "--out", out})
          .exit_code,
      0);
  const Finished drawn =
      Sinew({"render", out, "--skeleton", "--size", "100x100", "--out", picture});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_TRUE(std::filesystem::exists(picture));
  for (const Strings& command : {Strings{"render", out, "--deformer", "lbs", "--out", picture},
                                 Strings{"bind", out, "--deformer", "lbs"}, Strings{"view", out}}) {
    const Finished refused = At(command);
    EXPECT_EQ(refused.exit_code, 65) << command[0];
    EXPECT_THAT(refused.err, HasSubstr("bare.sinewrig: mesh \"statue\" has no skin weights"));
  }
}

TEST_F(Fit, MistakesAreNamed) {
  const auto data = [&](const Strings& more) {
    const Finished finished = Refused(more);
    EXPECT_EQ(finished.exit_code, 65) << finished.err;
    return finished.err;
  };
  EXPECT_THAT(data({"--template", "squid"}),
              AllOf(HasSubstr("got \"squid\""),
                    HasSubstr("human, quadruped, horse, centaur or joints of your own")));
  EXPECT_THAT(data({"--template", "human", "--at", "nose=0,0,0"}), HasSubstr("got \"nose\""));
  EXPECT_THAT(data({"--template", "human", "--at", "left_kne=0,0,0"}),
              HasSubstr("did you mean left_knee?"));
  WriteAll(folder_ / "bad.json", R"({"joints": [{"name": "a", "at": [0, 0, 0]},
                                               {"name": "b", "at": [0, 1, 0], "parent": "c"}]})");
  EXPECT_THAT(data({"--template", folder_ / "bad.json"}),
              HasSubstr("bad.json: joints[1].parent: got \"c\""));
  WriteAll(folder_ / "bad.json", R"({"joints": [{"name": "a", "at": [0, 0, 0]},
                                               {"name": "b", "at": [0, 0, 0], "parent": "a"}]})");
  EXPECT_THAT(data({"--template", folder_ / "bad.json"}),
              HasSubstr("--template: " + std::string(folder_ / "bad.json") +
                        ": joint \"b\": place: equals that of its parent"));
  WriteAll(folder_ / "tail.json", R"({"joints": [{"name": "a", "at": [0, 0, 0], "foot": true},
                                                {"name": "b", "at": [0, 1, 0], "parent": "a"},
                                                {"name": "c", "at": [0, 2, 5], "parent": "b"}]})");
  WriteAll(folder_ / "box.obj",
           "v 0 0 0\nv 0 0 1\nv 0 1 0\nv 0 1 1\nv 1 0 0\nv 1 0 1\nv 1 1 0\nv 1 1 1\n"
           "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n");
  EXPECT_THAT(
      Refused({"--template", folder_ / "tail.json"}, folder_ / "box.obj").err,
      HasSubstr("--template: " + std::string(folder_ / "tail.json") + " does not fit the body"));
  const auto usage = [&](const Strings& more) {
    const Finished finished = Refused(more);
    EXPECT_EQ(finished.exit_code, 64) << finished.err;
    return finished.err;
  };
  EXPECT_THAT(usage({"--template", "human", "--at", "head=0,0"}), HasSubstr("JOINT=X,Y,Z"));
  EXPECT_THAT(usage({"--template", "human", "--scale", "3"}), HasSubstr("--scale"));
  EXPECT_THAT(usage({"--template", "human", "--picture", folder_ / "p.jpg"}), HasSubstr(".png"));
  EXPECT_THAT(usage({"--template", "human", "--clip-file", Wave()}), HasSubstr("--clip-file"));
  // Before the fit, so a mesh that is none does not count.
  WriteAll(folder_ / "none.obj", "");
  const std::string other = folder_ / "other.gltf";
  std::filesystem::copy_file(Wave(), other);
  for (const Strings& files : {Strings{Wave()}, Strings{Wave(), other}}) {
    Strings options = {"--template", "human",           "--weights", "heat",
                       "--picture",  folder_ / "p.png", "--clip",    "run"};
    for (const std::string& file : files) {
      options.insert(options.end(), {"--clip-file", file});
    }
    const Finished clip = Refused(options, folder_ / "none.obj");
    EXPECT_EQ(clip.exit_code, 65);
    EXPECT_THAT(clip.err, HasSubstr("clip: got 'run'"));
  }
  const Finished absent = Refused({"--template", "human", "--weights", "heat", "--picture",
                                   folder_ / "p.png", "--clip-file", folder_ / "absent.glb"},
                                  folder_ / "none.obj");
  EXPECT_THAT(absent.err, HasSubstr("absent.glb: no such file"));
  const Finished twice =
      Refused({"--template", "human", "--weights", "heat", "--picture", folder_ / "p.png",
               "--clip-file", other, "--clip-file", folder_ / "./other.gltf"},
              folder_ / "none.obj");
  EXPECT_EQ(twice.exit_code, 65);
  EXPECT_THAT(twice.err, HasSubstr("other.gltf twice, need it once"));
  WriteAll(folder_ / "motion.bvh", "HIERARCHY");
  const Finished motion = Refused({"--template", "human"}, folder_ / "motion.bvh");
  EXPECT_EQ(motion.exit_code, 65);
  EXPECT_THAT(motion.err, HasSubstr("need .glb, .gltf, .vrm, .obj, .fbx"));
  WriteAll(folder_ / "whole.gltf", SmallGltf().dump());
  const Finished skinned = Refused({"--template", "human"}, folder_ / "whole.gltf");
  EXPECT_EQ(skinned.exit_code, 65);
  EXPECT_THAT(skinned.err, HasSubstr("has a skin"));
}

TEST_F(Fit, ClipsOfOtherSkeletonsMoveIt) {
  const std::string out = folder_ / "hero.sinewrig", png = folder_ / "hero.png";
  const Finished fitted =
      At({"fit-skeleton", Statue(), "--template", "human", "--resolution", "96", "--weights",
          "heat", "--clip-file", Wave(), "--out", out, "--picture", png, "--size", "64x96"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_THAT(fitted.err, HasSubstr("have no counterpart and follow the joints above"));
  EXPECT_THAT(fitted.err, HasSubstr("names no unit: taken for metres"));
  const Finished baked = At({"bake", out, "--clip-file", Wave(), "--retarget", "--deformer", "ddm",
                             "--out", folder_ / "wave.usda", "--fps", "4"});
  EXPECT_EQ(baked.exit_code, 0) << baked.err;
  const Finished by_name = At({"bake", out, "--clip-file", Wave(), "--deformer", "lbs", "--out",
                               folder_ / "walk.npy", "--fps", "4"});
  EXPECT_EQ(by_name.exit_code, 65);
  EXPECT_THAT(by_name.err, HasSubstr("has no joint of hero.sinewrig"));
  Strings moving = {"export", out, "--clip-file", Wave(), "--poses", folder_ / "wave.npy",
                    "--fps",  "1"};
  moving.push_back("--retarget");
  const Finished exported = At(moving);
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  const std::string npy = ReadAll(folder_ / "wave.npy");
  const auto poses =
      bake::ReadPosesNpy({reinterpret_cast<const std::byte*>(npy.data()), npy.size()});
  ASSERT_TRUE(poses.ok()) << poses.status();
  const auto rig = client::DecodeRig(ReadAll(out));
  ASSERT_TRUE(rig.ok()) << rig.status();
  const auto joint = [&](const char* name) {
    const auto found = std::ranges::find(rig->joints, name, &client::Joint::name);
    return static_cast<std::size_t>(found - rig->joints.begin());
  };
  ASSERT_EQ(poses->joints, 22u);
  const auto place = [&](std::size_t frame, const char* name) {
    const float* m = &poses->values[(frame * 22 + joint(name)) * 12];
    return Vec3d{m[3], m[7], m[11]};
  };
  // Straight out at first, as in the rest pose of the clip's file; then turned as its arm is.
  const Vec3d first = Unit(place(0, "left_elbow") - place(0, "left_shoulder"));
  EXPECT_GT(first.x, 0.999);
  const std::size_t last = poses->frames - 1;
  EXPECT_LT(Unit(place(last, "left_elbow") - place(last, "left_shoulder")).x, 0.9);
  EXPECT_LT(Length(place(last, "right_hand") - place(0, "right_hand")), 1e-5);
  moving.insert(moving.end(), {"--joint-map", "nose=mixamorig:Hips"});
  const Finished unknown = At(moving);
  EXPECT_EQ(unknown.exit_code, 65);
  EXPECT_THAT(unknown.err, HasSubstr("--joint-map: got 'nose'"));
}

}  // namespace
}  // namespace sinew::testing
