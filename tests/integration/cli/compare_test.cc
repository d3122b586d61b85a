// sinew compare: the table, the JSON, the picture, and what it refuses.
#include <absl/strings/ascii.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/models/models.h"
#include "sinew/client.h"
#include "tests/integration/cli/poses_file.h"
#include "tests/integration/cli/process.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using Json = nlohmann::json;

class Compare : public ::testing::Test {
 protected:
  static Finished Local(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    arguments.push_back("--local");
    return Sinew(std::move(arguments));
  }
  TemporaryFolder folder_;
};

// What does not depend on time.
Json Figures(Json report) {
  for (Json& method : report["methods"]) {
    method.erase("bind_seconds");
    method["worst"].erase("evaluate_seconds");
    method["mean"].erase("evaluate_seconds");
    for (Json& frame : method["frames"]) frame.erase("evaluate_seconds");
  }
  return report;
}

TEST_F(Compare, JsonHasEveryFrameLocallyAndRemotely) {
  const Daemon daemon;
  const std::vector<std::string> arguments = {"model:tube", "--deformers", "lbs",    "dqs",
                                              "ddm",        "--frames",    "2-20x3", "--json"};
  const Finished local = Local(arguments);
  ASSERT_EQ(local.exit_code, 0) << local.err;
  const Json report = Json::parse(local.out);
  EXPECT_EQ(report["frames"], 7);
  ASSERT_EQ(report["methods"].size(), 3u);
  for (const Json& method : report["methods"]) {
    ASSERT_EQ(method["frames"].size(), 7u);
    EXPECT_EQ(method["frames"][0]["frame"], 2);
    EXPECT_EQ(method["frames"][6]["frame"], 20);
    EXPECT_TRUE(method["frames"][2]["jerk"].is_null());
    EXPECT_TRUE(method["frames"][3]["jerk"].is_number());
    EXPECT_NEAR(method["worst"]["volume_ratio"].get<double>(), 1, 0.2);
    EXPECT_EQ(method["worst"]["self_intersections"], 0);
    const bool reference = method["deformer"] == "dqs";
    for (const char* figure : {"roughness", "roughness_999"}) {
      const double value = method["worst"][figure];
      EXPECT_TRUE(reference ? value == 0 : value > 0.01 && value < 1) << figure << " " << value;
    }
    EXPECT_EQ(method["worst"]["rough_fraction"], 0);
    EXPECT_TRUE(method["frames"][6]["roughness"].is_number());
  }
  EXPECT_EQ(report["methods"][1]["deformer"], "dqs");
  EXPECT_LT(report["methods"][0]["worst"]["volume_ratio"],
            report["methods"][1]["worst"]["volume_ratio"]);
  std::vector<std::string> remote = arguments;
  remote.insert(remote.begin(), "compare");
  const Finished far = SinewAt(daemon.address(), remote);
  ASSERT_EQ(far.exit_code, 0) << far.err;
  EXPECT_EQ(Figures(Json::parse(far.out)), Figures(report));
  const Finished sessions = SinewAt(daemon.address(), {"sessions", "--json"});
  EXPECT_EQ(Json::parse(sessions.out), Json::array());
}

// What implicit skinning is for: joints that close without passing through themselves and without
// swelling, where others do one or the other. The clip bends by one degree a frame.
TEST_F(Compare, ImplicitSkinningClosesTheCylinder) {
  const Finished finished =
      Local({"model:cylinder", "--deformers", "lbs", "dqs", "ddm", "implicit_skinning",
             "dqs | bulge_free", "--frames", "60-120x30", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json methods = Json::parse(finished.out)["methods"];
  for (const Json& method : methods) {
    const double overlap = method["worst"]["overlap"], bulge = method["worst"]["bulge"];
    if (method["deformer"] == "implicit_skinning") {
      EXPECT_LT(overlap, 1e-3);
      EXPECT_LE(bulge, 0.012);
    } else {
      EXPECT_GT(overlap, 0.01) << method["deformer"];
    }
  }
  EXPECT_GT(methods[1]["worst"]["bulge"], 0.08) << "dual quaternions";
  EXPECT_LT(methods[4]["worst"]["bulge"], 0.01) << "corrected, the leaf's half too";
}

TEST_F(Compare, ImplicitSkinningClosesTheHand) {
  const Finished finished = Local({"model:hand", "--deformers", "lbs", "dqs", "ddm",
                                   "implicit_skinning", "--frames", "12-24x3", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json methods = Json::parse(finished.out)["methods"];
  for (const Json& method : methods) {
    const double overlap = method["worst"]["overlap"];
    if (method["deformer"] == "implicit_skinning") {
      EXPECT_LT(overlap, 1e-3);
    } else {
      EXPECT_GT(overlap, 1e-3) << method["deformer"];
    }
  }
}

// Neither the thumb that closes over the fingers nor a finger may carry off the skin it presses on.
TEST_F(Compare, ImplicitKeepsFistSkinInPlace) {
  const Finished finished =
      Local({"model:hand", "--deformers", "dqs", "dqs | bulge_free", "dqs | implicit",
             "dqs | bulge_free | implicit", "--frames", "0-20x2", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json methods = Json::parse(finished.out)["methods"];
  for (const std::size_t skinned : {0, 1}) {
    const Json &before = methods[skinned]["worst"], &projected = methods[skinned + 2]["worst"];
    EXPECT_LT(projected["overlap"], 1e-3);
    EXPECT_LE(projected["bulge"], before["bulge"].get<double>() + 1e-3) << "it starts from there";
  }
}

// Shoulders, which many joints share.
TEST_F(Compare, ImplicitResolvesMostOverlapOfWalk) {
  const std::string file = (SharedData() / "models" / "CesiumMan.glb").string();
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << file;
  const Finished finished = Local({file, "--deformers", "dqs | bulge_free",
                                   "dqs | bulge_free | implicit", "--frames", "0-40x8", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json methods = Json::parse(finished.out)["methods"];
  const double skinned = methods[0]["worst"]["overlap"], projected = methods[1]["worst"]["overlap"];
  EXPECT_LT(projected, skinned / 3);
}

TEST_F(Compare, CylinderClosesTo150Degrees) {
  const Finished once = Local(
      {"model:cylinder", "--deformers", "implicit_skinning", "--frames", "120-150x30", "--json"});
  ASSERT_EQ(once.exit_code, 0) << once.err;
  const Json frames = Json::parse(once.out)["methods"][0]["frames"];
  EXPECT_LT(frames[0]["overlap"], 2e-4);
  EXPECT_LT(frames[0]["bulge"], 0.01);
  EXPECT_LT(frames[0]["flipped_fraction"], 0.011);
  EXPECT_LT(frames[1]["overlap"], 6e-4);
  EXPECT_LT(frames[1]["bulge"], 0.02);
  const Finished finished = Local({"model:cylinder", "--deformers", "implicit_skinning",
                                   "dqs | implicit", "--frames", "0-150", "--json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const Json methods = Json::parse(finished.out)["methods"];
  EXPECT_LT(methods[0]["worst"]["overlap"], 6e-4);
  EXPECT_LE(methods[0]["worst"]["bulge"], 0.012);
  EXPECT_LT(methods[1]["worst"]["overlap"], 6e-4);
  for (const Json& method : methods) {
    EXPECT_LT(method["worst"]["flipped_fraction"], 0.019) << "as much as lbs";
  }
}

TEST_F(Compare, TableHasRowPerMethod) {
  const Finished table = Local({"model:tube", "--deformers", "lbs", "enhanced_ddm", "--frames",
                                "6-8", "--no-self-intersections"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("volume"));
  EXPECT_THAT(table.out, ContainsRegex("roughness +over 1"));
  EXPECT_THAT(table.out, HasSubstr("\nlbs "));
  EXPECT_THAT(table.out, HasSubstr("\nenhanced_ddm "));
  EXPECT_THAT(table.out, HasSubstr("3 frames"));
}

TEST_F(Compare, PictureShowsRequestedOrWorstFrame) {
  const std::string chosen = folder_ / "chosen.png", worst = folder_ / "worst.png";
  const std::vector<std::string> base = {
      "model:tube", "--deformers", "lbs",    "dqs",     "--frames",
      "0-24x6",     "--json",      "--size", "120x160", "--no-self-intersections",
      "--picture"};
  std::vector<std::string> arguments = base;
  arguments.insert(arguments.end(), {chosen, "--frame", "6"});
  const Finished first = Local(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(Json::parse(first.out)["picture"]["frame"], 6);
  arguments = base;
  arguments.push_back(worst);
  const Finished second = Local(arguments);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  const Json report = Json::parse(second.out);
  double most = 0;
  int frame = -1;
  for (const Json& method : report["methods"]) {
    for (const Json& row : method["frames"]) {
      if (row["edge_distortion"] <= most) continue;
      most = row["edge_distortion"];
      frame = row["frame"];
    }
  }
  EXPECT_EQ(report["picture"]["frame"], frame);
  EXPECT_THAT(ReadAll(worst), StartsWith("\x89PNG"));
  EXPECT_NE(ReadAll(worst), ReadAll(chosen));
}

TEST_F(Compare, BadInputExits65WithItsName) {
  const auto before = folder_.Names();
  const std::string png = folder_ / "x.png";
  const Finished recipe_text = Local(
      {"model:tube", "--deformers", "lbs", "dqs(blend=7)", "--frames", "0", "--picture", png});
  EXPECT_EQ(recipe_text.exit_code, 65) << recipe_text.err;
  EXPECT_THAT(recipe_text.err, HasSubstr("dqs(blend=7)"));
  EXPECT_THAT(recipe_text.out, IsEmpty());
  EXPECT_EQ(Local({"model:tube", "--deformers", "lbs", "--frames", "0-9999"}).exit_code, 65);
  const Finished frame = Local(
      {"model:tube", "--deformers", "lbs", "--frames", "0-20x5", "--picture", png, "--frame", "7"});
  EXPECT_EQ(frame.exit_code, 65);
  EXPECT_THAT(frame.err, HasSubstr("in steps of 5"));
  EXPECT_EQ(folder_.Names(), before);
}

TEST_F(Compare, TooManyDeformersAreRejectedBeforeBind) {
  std::vector<std::string> arguments = {"model:tube", "--deformers"};
  arguments.resize(arguments.size() + 17, "lbs");
  const Finished many = Local(arguments);
  EXPECT_EQ(many.exit_code, 65) << many.err;
  EXPECT_THAT(many.err, HasSubstr("got 17, the server compares up to 16"));
}

TEST_F(Compare, BadPoseExits65WithItsName) {
  const client::RigData rig = client::Make("tube")->rig;
  const std::size_t joints = rig.joints.size();
  WriteAll(folder_ / "tube.sinewrig", *client::EncodeRig(rig));
  std::vector<float> values(3 * joints * 12);
  for (std::size_t i = 0; i < 3 * joints; ++i) {
    for (const std::size_t k : {0, 5, 10}) values[12 * i + k] = 1;
  }
  values[2 * joints * 12 + 3] = NAN;
  WritePoses(folder_ / "nan.npy", values, joints);
  const Finished bad = Local(
      {folder_ / "tube.sinewrig", "--poses", folder_ / "nan.npy", "--deformers", "lbs", "dqs"});
  EXPECT_EQ(bad.exit_code, 65) << bad.err;
  EXPECT_THAT(bad.err, HasSubstr("lbs: frame 2"));
}

TEST_F(Compare, UsageExits64AndUnwritableOutput73) {
  EXPECT_EQ(Local({"model:tube", "--deformers", "lbs", "--picture", "x.jpg"}).exit_code, 64);
  EXPECT_EQ(
      Local({"model:tube", "--deformers", "lbs", "--picture", folder_ / "no/x.png"}).exit_code, 73);
  EXPECT_EQ(SinewAt("127.0.0.1:1", {"compare", "model:tube", "--deformers", "lbs"}).exit_code, 69);
}

}  // namespace
}  // namespace sinew::testing
