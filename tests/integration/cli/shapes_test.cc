// Morph targets from the file to the vertices: what a glTF viewer shows is what `shapes |` bakes,
// through a server and with --local.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numbers>

#include "client/bake/formats/npy.h"
#include "sinew/import.h"
#include "tests/integration/cli/process.h"
#include "tests/support/gltf_builder.h"
#include "tests/support/linear_blend.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

constexpr double kFps = 8;
constexpr std::size_t kFrames = 17;  // two seconds
constexpr char kFrameRange[] = "0-16";

// Offsets of the strip's four vertices in its two targets, and the weights' keys.
const std::vector<float> kSmile = {0, 0, 0.5f, 0.25f, 0, 0, 0, 0, 0, 0, 0, -1};
const std::vector<float> kFrown = {0, 0.5f, 0, 0, 0.5f, 0, 0, 0.5f, 0, -0.5f, 0.5f, 0};
const std::vector<float> kTimes = {0.25f, 1, 1.5f};
const std::vector<float> kWeights = {0, 0.25f, 1.5f, -0.5f, 0.75f, 1};
// Cubic keys: in-tangents, values, out-tangents.
const std::vector<float> kCubic = {0,     0,  0, 0.25f, 2,    -1,    1, 0.5f, 1.5f,
                                   -0.5f, -1, 0, 0.5f,  0.5f, 0.75f, 1, 0,    0};

// The two weights at a time, from the keys, as the glTF specification defines them.
std::array<double, 2> WeightsAt(const std::string& interpolation, double t) {
  const bool cubic = interpolation == "CUBICSPLINE";
  const auto value = [&](std::size_t key, std::size_t w, std::size_t part = 1) -> double {
    return cubic ? kCubic[(key * 3 + part) * 2 + w] : kWeights[key * 2 + w];
  };
  std::array<double, 2> weights{};
  for (std::size_t w = 0; w < 2; ++w) {
    if (t <= kTimes.front()) {
      weights[w] = value(0, w);
    } else if (t >= kTimes.back()) {
      weights[w] = value(2, w);
    } else {
      const std::size_t k = t >= kTimes[1] ? 1 : 0;
      const double span = kTimes[k + 1] - kTimes[k], u = (t - kTimes[k]) / span;
      if (interpolation == "STEP") {
        weights[w] = value(k, w);
      } else if (!cubic) {
        weights[w] = value(k, w) + u * (value(k + 1, w) - value(k, w));
      } else {
        weights[w] = (2 * u * u * u - 3 * u * u + 1) * value(k, w) +
                     span * (u * u * u - 2 * u * u + u) * value(k, w, 2) +
                     (3 * u * u - 2 * u * u * u) * value(k + 1, w) +
                     span * (u * u * u - u * u) * value(k + 1, w, 0);
      }
    }
  }
  return weights;
}

// The whole strip turns about z by 45 degrees a second while its weights run; the joints do not
// bend, so every method must carry the morphed points rigidly.
double DegreesAt(double t) {
  return 45 * std::min(t, 2.0);
}

GltfBuilder MorphedStrip(const std::string& interpolation) {
  GltfBuilder b = MakeStrip();
  const int smile = b.AddAccessor(kSmile, "VEC3"), frown = b.AddAccessor(kFrown, "VEC3");
  b.doc["meshes"][0]["primitives"][0]["targets"] = {{{"POSITION", smile}}, {{"POSITION", frown}}};
  b.doc["meshes"][0]["weights"] = {0.125f, 0};
  b.doc["meshes"][0]["extras"] = {{"targetNames", {"smile", "frown"}}};
  AddAnimation(b, 0, "weights", kTimes, interpolation == "CUBICSPLINE" ? kCubic : kWeights,
               "SCALAR", interpolation);
  std::vector<float> times, turns;
  for (const double t : {0.0, 1.0, 2.0}) {
    const double half = DegreesAt(t) * std::numbers::pi / 360;
    times.push_back(static_cast<float>(t));
    for (const double x : {0.0, 0.0, std::sin(half), std::cos(half)}) {
      turns.push_back(static_cast<float>(x));
    }
  }
  const int input = b.AddAccessor(times, "SCALAR"), output = b.AddAccessor(turns, "VEC4");
  Json& animation = b.doc["animations"][0];
  animation["samplers"].push_back({{"input", input}, {"output", output}});
  animation["channels"].push_back(
      {{"sampler", 1}, {"target", {{"node", 1}, {"path", "rotation"}}}});
  return b;
}

// [frames * 4 * 3] where a glTF viewer puts the vertices.
std::vector<double> Viewer(const std::string& interpolation, bool morphs) {
  const std::vector<float> rest = {0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0};
  std::vector<double> points;
  for (std::size_t f = 0; f < kFrames; ++f) {
    const double t = static_cast<double>(f) / kFps;
    const auto weights = morphs ? WeightsAt(interpolation, t) : std::array<double, 2>{};
    const double angle = DegreesAt(t) * std::numbers::pi / 180;
    for (std::size_t v = 0; v < 4; ++v) {
      double p[3];
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t i = v * 3 + c;
        p[c] = rest[i] + weights[0] * double{kSmile[i]} + weights[1] * double{kFrown[i]};
      }
      points.push_back(std::cos(angle) * p[0] - std::sin(angle) * p[1]);
      points.push_back(std::sin(angle) * p[0] + std::cos(angle) * p[1]);
      points.push_back(p[2]);
    }
  }
  return points;
}

// The numbers of a baked .npy, frame after frame.
std::vector<float> Baked(const std::string& path) {
  const std::string file = ReadAll(path);
  const auto header = bake::ParseNpyHeader(std::as_bytes(std::span(file)));
  if (!header.ok()) {
    ADD_FAILURE() << header.status();
    return {};
  }
  std::vector<float> values((file.size() - header->data_offset) / sizeof(float));
  std::memcpy(values.data(), file.data() + header->data_offset, values.size() * sizeof(float));
  return values;
}

template <class Expected>
double Largest(const Expected& expected, const std::vector<float>& got) {
  if (expected.size() != got.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double d = std::abs(double{expected[i]} - double{got[i]});
    if (!(d <= largest)) largest = std::isnan(d) ? HUGE_VAL : d;
  }
  return largest;
}

class MorphTargets : public DaemonTest {
 protected:
  // Against the server, or in the command itself.
  Finished Run(bool local, std::vector<std::string> arguments) {
    if (!local) return At(std::move(arguments));
    arguments.push_back("--local");
    return Sinew(std::move(arguments));
  }
};

// A file without clips has no clip 'rest'.
TEST_F(MorphTargets, OfTheRestPoseAreWarnedOf) {
  GltfBuilder b = MorphedStrip("LINEAR");
  b.doc.erase("animations");
  const Finished drawn = Run(true, {"render", WriteFile("a.glb", b.Glb()), "--deformer", "lbs",
                                    "--size", "64x64", "--json", "--out", folder_ / "a.png"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.err, HasSubstr("warning: the rest pose of the file sets morph targets"));
  EXPECT_THAT(Json::parse(drawn.out)["title"].get<std::string>(),
              ::testing::EndsWith("a.glb, at rest"));
}

TEST_F(MorphTargets, ThatMoveNothingAreNotWarnedOf) {
  GltfBuilder b = MorphedStrip("LINEAR");
  b.doc.erase("animations");
  const int none = b.AddAccessor(std::vector<float>(12, 0.f), "VEC3");
  b.doc["meshes"][0]["primitives"][0]["targets"] = {{{"POSITION", none}}, {{"POSITION", none}}};
  const Finished drawn = Run(true, {"render", WriteFile("a.glb", b.Glb()), "--deformer", "lbs",
                                    "--size", "64x64", "--out", folder_ / "a.png"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.err, Not(HasSubstr("morph targets")));
}

TEST_F(MorphTargets, WarningsStandInTheObjectOfTheirClip) {
  GltfBuilder b = MorphedStrip("LINEAR");
  b.doc["meshes"][0]["weights"] = {0, 0};
  Json& animations = b.doc["animations"];
  animations[0]["name"] = "talk";
  Json walk = animations[0];
  walk["name"] = "walk";
  walk["channels"].erase(0);  // that of the weights
  animations.push_back(walk);
  const std::string file = WriteFile("a.glb", b.Glb()), out = folder_ / "a.{clip}.npy";
  const Finished bake =
      Run(true, {"bake", file, "--deformer", "lbs", "--clip", "all", "--json", "--out", out});
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  const Json caches = Json::parse(bake.out);
  ASSERT_EQ(caches.size(), 2u);
  EXPECT_EQ(caches[0]["clip"], "talk");
  EXPECT_THAT(caches[0]["warnings"].dump(), HasSubstr("clip 'talk' sets morph targets"));
  EXPECT_THAT(caches[1]["warnings"].dump(), Not(HasSubstr("morph targets")));
}

TEST_F(MorphTargets, BakeMatchesGltfViewer) {
  for (const char* interpolation : {"STEP", "LINEAR", "CUBICSPLINE"}) {
    const std::string file =
        WriteFile(absl::StrCat(interpolation, ".glb"), MorphedStrip(interpolation).Glb());
    const auto expected = Viewer(interpolation, true);
    for (const bool local : {false, true}) {
      for (const char* recipe : {"shapes | lbs", "shapes | dqs"}) {
        const std::string out = folder_ / "a.npy";
        const Finished bake = Run(local, {"bake", file, "--deformer", recipe, "--fps", "8",
                                          "--frames", kFrameRange, "--out", out});
        ASSERT_EQ(bake.exit_code, 0) << bake.err;
        EXPECT_THAT(bake.err, Not(HasSubstr("morph targets")));
        EXPECT_LE(Largest(expected, Baked(out)), 2e-6)
            << interpolation << ", " << recipe << (local ? ", local" : ", server");
      }
    }
  }
}

TEST_F(MorphTargets, WarnsOfMorphsWithoutShapesStage) {
  const std::string file = WriteFile("a.glb", MorphedStrip("LINEAR").Glb());
  const std::string out = folder_ / "a.npy";
  const Finished bake = Run(false, {"bake", file, "--deformer", "dqs", "--fps", "8", "--frames",
                                    kFrameRange, "--out", out});
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  EXPECT_THAT(bake.err, HasSubstr("'shapes | lbs'"));
  EXPECT_LE(Largest(Viewer("LINEAR", false), Baked(out)), 2e-6);
  const Finished inspect = Sinew({"inspect", file});
  EXPECT_THAT(inspect.out, HasSubstr("2 morph targets move only if the recipe begins with shapes"));
  const Json json = Json::parse(Sinew({"inspect", file, "--json"}).out);
  EXPECT_EQ(json["controls"], Json({"smile", "frown"}));
  EXPECT_EQ(json["meshes"][0]["morph_targets"], 2);
}

TEST_F(MorphTargets, NoWeightsAreFittedToThem) {
  const std::string file = WriteFile("a.glb", MorphedStrip("LINEAR").Glb()),
                    cache = folder_ / "a.npy";
  ASSERT_EQ(
      At({"bake", file, "--deformer", "shapes | lbs", "--fps", "8", "--out", cache}).exit_code, 0);
  const Finished refused = Sinew({"fit-weights", file, "--examples", cache, "--model", "lbs"});
  EXPECT_EQ(refused.exit_code, 65);
  EXPECT_THAT(refused.err, HasSubstr("moves morph targets, which weights cannot follow"));
  std::filesystem::remove(cache + ".json");
  const Finished warned =
      Sinew({"fit-weights", file, "--examples", cache, "--fps", "8", "--model", "lbs"});
  EXPECT_THAT(warned.err, HasSubstr("the character has morph targets"));
}

TEST_F(MorphTargets, StrengthScalesOffsets) {
  const std::string file = WriteFile("a.glb", MorphedStrip("LINEAR").Glb());
  const auto bake = [&](const char* recipe) {
    const std::string out = folder_ / "a.npy";
    const Finished finished = Run(true, {"bake", file, "--deformer", recipe, "--fps", "8",
                                         "--frames", kFrameRange, "--out", out});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return Baked(out);
  };
  const auto moved = Viewer("LINEAR", true), still = Viewer("LINEAR", false);
  std::vector<double> half;
  for (std::size_t i = 0; i < moved.size(); ++i) half.push_back(0.5 * (moved[i] + still[i]));
  EXPECT_LE(Largest(half, bake("shapes(strength=0.5) | dqs")), 2e-6);
  EXPECT_LE(Largest(still, bake("shapes(strength=0) | dqs")), 2e-6);
  const Finished refused = Run(
      true, {"bake", file, "--deformer", "shapes(strength=11) | dqs", "--out", folder_ / "b.npy"});
  EXPECT_EQ(refused.exit_code, 65);
  EXPECT_THAT(refused.err, HasSubstr("strength: got 11, need -10 to 10"));
}

// A clip that leaves the weights alone shows the file's default ones; so does a picture.
TEST_F(MorphTargets, StartAtDefaultWeights) {
  GltfBuilder b = MorphedStrip("LINEAR");
  b.doc["animations"][0]["channels"].erase(0);
  const std::string file = WriteFile("a.glb", b.Glb()), out = folder_ / "a.npy";
  const Finished bake = Run(false, {"bake", file, "--deformer", "shapes | dqs", "--fps", "8",
                                    "--frames", "0", "--out", out});
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  EXPECT_THAT(Baked(out),
              ::testing::ElementsAre(0, 0, 0.0625f, 1.03125f, 0, 0, 1, 2, 0, 0, 2, -0.125f));
}

TEST_F(MorphTargets, RenderShowsMorphs) {
  const std::string file = WriteFile("a.glb", MorphedStrip("LINEAR").Glb());
  const auto picture = [&](bool local, const char* recipe) {
    const std::string out = folder_ / "a.png";
    // The label is part of the picture: the same recipe on both sides.
    const Finished render = Run(local, {"render", file, "--deformer", recipe, "--fps", "8",
                                        "--frame", "8", "--size", "160x120", "--out", out});
    EXPECT_EQ(render.exit_code, 0) << render.err;
    return ReadAll(out);
  };
  const std::string on = picture(false, "shapes(strength=1) | dqs");
  EXPECT_EQ(on, picture(true, "shapes(strength=1) | dqs"));
  EXPECT_NE(on, picture(false, "shapes(strength=0) | dqs"));
}

TEST_F(MorphTargets, RealCharacterFollowsItsClip) {
  const std::string file = (SharedData() / "models" / "MakeHumanBody.glb").string();
  if (!std::filesystem::exists(file))
    GTEST_SKIP() << "no MakeHumanBody.glb in the shared test data";
  auto scene = client::ImportFile(file);
  ASSERT_TRUE(scene.ok()) << scene.status();
  const auto clip = client::SampleClip(*scene, client::FindClip(*scene, "morph_sweep").value(),
                                       {.first_frame = 0, .step = 12});
  ASSERT_TRUE(clip.ok()) << clip.status();
  const client::Mesh rest = scene->rig.meshes.at(0);
  const std::size_t controls = scene->rig.controls.size();
  std::vector<double> expected;
  for (std::size_t f = 0; f < clip->frames; ++f) {
    std::vector<double> moved(rest.positions.begin(), rest.positions.end());
    for (const client::Shape& shape : rest.shapes) {
      std::size_t k = 0;
      while (scene->rig.controls[k].name != shape.control) ++k;
      const client::ShapeTarget& target = shape.targets.at(0);
      const double weight = clip->controls[f * controls + k];
      for (std::size_t i = 0; i < target.offsets.size(); ++i) {
        const std::size_t v = target.vertices.empty() ? i / 3 : target.vertices[i / 3];
        moved[v * 3 + i % 3] += weight * double{target.offsets[i]};
      }
    }
    client::Mesh mesh = rest;
    std::transform(moved.begin(), moved.end(), mesh.positions.begin(),
                   [](double x) { return static_cast<float>(x); });
    for (const Point& p : LinearBlend(scene->rig, mesh, *clip, f)) {
      expected.insert(expected.end(), p.begin(), p.end());
    }
  }
  const std::string out = folder_ / "a.npy", off = folder_ / "b.npy";
  ASSERT_EQ(
      Run(false, {"bake", file, "--deformer", "shapes | lbs", "--clip", "morph_sweep", "--frames",
                  absl::StrCat("0-", (clip->frames - 1) * 12, "x12"), "--out", out})
          .exit_code,
      0);
  EXPECT_LE(Largest(expected, Baked(out)), 3e-6) << "metres";
  ASSERT_EQ(Run(false, {"bake", file, "--deformer", "lbs", "--clip", "morph_sweep", "--frames",
                        absl::StrCat("0-", (clip->frames - 1) * 12, "x12"), "--out", off})
                .exit_code,
            0);
  EXPECT_GE(Largest(expected, Baked(off)), 5e-3) << "or the clip moved nothing";
}

}  // namespace
}  // namespace sinew::testing
