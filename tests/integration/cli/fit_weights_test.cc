// `sinew fit-weights` with the real program: from a cache to a rig that follows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/bake/formats/npy.h"
#include "client/bake/formats/point_cache.h"
#include "sinew/client.h"
#include "tests/integration/cli/process.h"
#include "tests/integration/cli/small_gltf.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class FitWeights : public DaemonTest {
 protected:
  std::string Path(const std::string& name) const { return folder_ / name; }
  // The hand's fist through a recipe, as a cache with its manifest.
  std::string Cache(const std::string& recipe, const std::string& name = "fist.pc2") {
    const Finished baked = At({"bake", "model:hand", "--deformer", recipe, "--out", Path(name)});
    EXPECT_EQ(baked.exit_code, 0) << baked.err;
    return Path(name);
  }
  Json Fit(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"fit-weights", "model:hand", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished fitted = Sinew(arguments);
    EXPECT_EQ(fitted.exit_code, 0) << fitted.err;
    return Json::parse(fitted.out, nullptr, false);
  }
  static double Rms(const Json& report, std::size_t row) {
    return report["errors"][row]["rms"]["units"];
  }
};

// Root of the mean squared distance over every third frame.
double HeldOutRms(const std::string& a, const std::string& b, std::size_t frames) {
  const auto floats = [](const std::string& file) {
    const std::string bytes = ReadAll(file);
    constexpr std::size_t kHeader = 128;
    std::vector<float> values((bytes.size() - kHeader) / sizeof(float));
    std::memcpy(values.data(), bytes.data() + kHeader, values.size() * sizeof(float));
    return values;
  };
  const std::vector<float> x = floats(a), y = floats(b);
  EXPECT_EQ(x.size(), y.size());
  const std::size_t size = x.size() / frames;
  double squares = 0, count = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (k / size % 3 != 2) continue;
    squares += std::pow(double{x[k]} - double{y[k]}, 2);
    count += 1.0 / 3;
  }
  return std::sqrt(squares / count);
}

TEST_F(FitWeights, RigFollowsTheCacheAsReported) {
  const std::string cache = Cache("ddm", "fist.npy"), poses = Path("poses.npy");
  const Finished exported = Sinew({"export", "model:hand", "--poses", poses});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  for (const std::string model : {"lbs", "animation_space", "multi_weight"}) {
    const std::string out = Path(model + ".sinewrig"), again = Path(model + ".npy");
    const Json report = Fit({"--examples", cache, "--model", model, "--out", out});
    ASSERT_EQ(report["errors"].size(), 4u);
    EXPECT_EQ(report["errors"][2]["frames"], "held out");
    EXPECT_LT(Rms(report, 3), (model == "lbs" ? 0.95 : 0.5) * Rms(report, 2)) << model;
    const Finished baked = At({"bake", out, "--deformer", model, "--poses", poses, "--out", again});
    ASSERT_EQ(baked.exit_code, 0) << baked.err;
    EXPECT_EQ(baked.err.find("no coefficients"), std::string::npos) << baked.err;
    const double measured = HeldOutRms(again, cache, report["frames"]);
    EXPECT_NEAR(measured, Rms(report, 3), 1e-3 * measured) << model;
    const auto data = client::DecodeRig(ReadAll(out));
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(data->meshes[0].skin.coefficients.empty(), model == "lbs");
  }
}

TEST_F(FitWeights, LinearBlendIsFoundAgain) {
  const Json report = Fit({"--examples", Cache("lbs"), "--model", "lbs", "--influences", "8"});
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_LT(double{report["errors"][row]["rms"]["percent"]}, 1e-3) << row;
  }
}

TEST_F(FitWeights, MethodWithoutCoefficientsWarns) {
  const Finished baked =
      At({"bake", "model:hand", "--deformer", "animation_space", "--out", Path("none.pc2")});
  EXPECT_EQ(baked.exit_code, 0);
  EXPECT_THAT(baked.err, HasSubstr("`sinew fit-weights --model animation_space` makes them"));
}

TEST_F(FitWeights, WrongInputIsRefused) {
  const std::string cache = Cache("ddm");
  const auto refused = [&](std::vector<std::string> arguments, int code, const char* message) {
    arguments.insert(arguments.begin(), "fit-weights");
    const Finished finished = Sinew(arguments);
    EXPECT_EQ(finished.exit_code, code) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(message));
  };
  refused({"model:hand", "--examples", cache, "--model", "dqs"}, 64,
          "--model: got \"dqs\", need lbs, animation_space or multi_weight");
  refused({"model:hand", "--examples", cache, "--model", "lbs", "--out", "x.glb"}, 64,
          "--out: got \"x.glb\", need .sinewrig");
  refused({"model:hand", "--examples", cache, "--model", "lbs", "--influences", "17"}, 64,
          "--influences");
  refused({"model:arm", "--examples", cache, "--model", "lbs"}, 65, "vertices, the rest mesh has ");
  refused({"model:hand", "--examples", cache, "--model", "lbs", "--frames", "0-3"}, 65,
          "--frames: needs --clip or --poses");
  refused({"model:hand", "--examples", cache, "--model", "lbs", "--fps", "30"}, 65,
          "--fps: got 30, ");
  refused(
      {"model:hand", "--examples", cache, "--model", "lbs", "--clip", "fist", "--frames", "0-3"},
      65, "choose the poses with --clip, --fps and --frames, or --poses");
  refused({"model:hand", "--examples", Path("absent.npy"), "--model", "lbs"}, 65, "absent.npy");
  // Options are checked before the examples are read.
  refused({"model:hand", "--examples", Path("absent.npy"), "--model", "lbs", "--hold-out", "1"}, 64,
          "--hold-out: got 1, need 0, or 2 to 1000");
  refused({"model:hand", "--examples", Path("absent.npy"), "--model", "lbs", "--clip", "wave"}, 65,
          "\"wave\"");
  refused({"model:hand", "--examples", Path("absent.npy"), "--model", "lbs", "--out",
           Path("no/folder.sinewrig")},
          73, "does not exist");
  WriteAll(Path("other.abc"), "points");
  refused({"model:hand", "--examples", Path("other.abc"), "--model", "lbs"}, 65,
          "need .pc2, .mdd, .npy, .usda, or .obj");
  // A byte of a frame is changed.
  std::string bytes = ReadAll(cache);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  WriteAll(cache, bytes);
  refused({"model:hand", "--examples", cache, "--model", "lbs"}, 65, "has checksum");
}

// Bind matrices may scale: a mesh in centimetres, bound in metres, is the same character.
TEST_F(FitWeights, PercentagesAreOfTheCharacterAtRest) {
  Json gltf = SmallGltf();
  WriteAll(Path("metres.gltf"), gltf.dump());
  const float corners[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 2, 0};
  for (std::size_t k = 0; k < 12; ++k) SetFloat(gltf, 0, k, 100 * corners[k]);
  gltf["accessors"][0]["max"] = {100, 200, 0};
  for (std::size_t joint = 0; joint < 2; ++joint) {
    for (std::size_t k = 0; k < 3; ++k) SetFloat(gltf, 4, 16 * joint + 5 * k, 0.01F);
  }
  WriteAll(Path("centimetres.gltf"), gltf.dump());
  const Finished baked =
      At({"bake", Path("metres.gltf"), "--deformer", "dqs", "--out", Path("a.npy")});
  ASSERT_EQ(baked.exit_code, 0) << baked.err;
  std::filesystem::remove(Path("a.npy.json"));
  std::vector<double> percents;
  for (const char* file : {"metres.gltf", "centimetres.gltf"}) {
    const Finished fitted =
        Sinew({"fit-weights", Path(file), "--examples", Path("a.npy"), "--model", "lbs", "--json"});
    ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
    const Json report = Json::parse(fitted.out);
    EXPECT_NEAR(report["diagonal"].get<double>(), std::sqrt(5.0), 1e-5) << file;
    percents.push_back(report["errors"][0]["rms"]["percent"]);
  }
  EXPECT_GT(percents[0], 0.1);
  EXPECT_NEAR(percents[1], percents[0], 1e-3 * percents[0]);
}

// The frames of the hand as another program would write them, changed.
TEST_F(FitWeights, AbsurdExamplesAreRefusedByPlace) {
  const std::string cache = Cache("lbs", "fist.npy");
  std::filesystem::remove(cache + ".json");
  const std::string bytes = ReadAll(cache);
  const auto good = bake::ReadPointCache(
      bake::CacheFormat::kNpy, {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  ASSERT_TRUE(good.ok()) << good.status();
  const std::uint64_t shape[] = {good->frames, good->vertices, 3};
  const auto run = [&](const std::function<void(std::vector<float>&)>& change) {
    std::vector<float> values = good->values;
    change(values);
    WriteAll(Path("bad.npy"), bake::EncodeNpy(shape, values));
    return Sinew({"fit-weights", "model:hand", "--examples", Path("bad.npy"), "--model", "lbs",
                  "--out", Path("bad.sinewrig")});
  };
  const auto refused = [&](const char* message,
                           const std::function<void(std::vector<float>&)>& change) {
    const Finished finished = run(change);
    EXPECT_EQ(finished.exit_code, 65) << message << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(Path("bad.sinewrig")));
  };
  const std::size_t held_out = (std::size_t{2} * good->vertices + 5) * 3;
  refused("bad.npy: vertex 5 of frame 2: got nan, need finite numbers within",
          [&](auto& values) { values[held_out + 1] = NAN; });
  refused("bad.npy: vertex 5 of frame 2: got 1e+30, need finite",
          [&](auto& values) { values[held_out] = 1e30F; });
  refused(
      "--examples: their edges are 100 times as long as those of the mesh, need the same vertices",
      [](auto& values) {
        for (float& x : values) x *= 100;
      });
  refused("--examples: their edges are 0 times as long", [](auto& values) {
    for (float& x : values) x = 0;
  });
  const Finished moved = run([](auto& values) {
    for (float& x : values) x += 1;
  });
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  EXPECT_THAT(moved.err, HasSubstr("the examples are far from the rig in these poses"));
  // Poses, too.
  const Finished exported = Sinew({"export", "model:hand", "--poses", Path("poses.npy")});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  std::string poses = ReadAll(Path("poses.npy"));
  const float nan = NAN;
  std::memcpy(poses.data() + poses.size() - sizeof nan, &nan, sizeof nan);
  WriteAll(Path("poses.npy"), poses);
  const Finished wild = Sinew({"fit-weights", "model:hand", "--examples", cache, "--poses",
                               Path("poses.npy"), "--model", "lbs"});
  EXPECT_EQ(wild.exit_code, 65);
  EXPECT_THAT(wild.err, HasSubstr("of frame 47: got nan, need finite numbers"));
}

TEST_F(FitWeights, ArrayOfAnotherProgramNeedsItsPoses) {
  const std::vector<float> points(2 * 6 * 3, 0.5f);
  const std::uint64_t shape[] = {2, 6, 3};
  WriteAll(Path("small.npy"), bake::EncodeNpy(shape, points));
  const Finished finished =
      Sinew({"fit-weights", "model:hand", "--examples", Path("small.npy"), "--model", "lbs"});
  EXPECT_EQ(finished.exit_code, 65);
  EXPECT_THAT(finished.err, HasSubstr("got 6 vertices, the rest mesh has "));
}

}  // namespace
}  // namespace sinew::testing
