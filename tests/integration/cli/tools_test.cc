// The commands around a bake: methods, sessions, rigs, delete, stats, render, bench.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "client/bake/formats/manifest.h"
#include "client/models/models.h"
#include "sinew/client.h"
#include "tests/integration/cli/process.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

class Tools : public DaemonTest {
 protected:
  static std::string Line(const Finished& finished) {
    return finished.out.substr(0, finished.out.find('\n'));
  }
};

TEST_F(Tools, MethodsListsSameParametersLocallyAndRemotely) {
  const Json remote = JsonAt({"methods"});
  EXPECT_EQ(remote, Json::parse(Sinew({"methods", "--json", "--local"}).out));
  std::vector<std::string> names;
  for (const Json& method : remote["methods"]) {
    names.push_back(method["name"]);
    for (const Json& parameter : method["parameters"])
      EXPECT_NE(parameter["description"], "") << parameter;
  }
  for (const char* name : {"lbs", "dqs", "ddm", "enhanced_ddm"}) EXPECT_THAT(names, Contains(name));
  const Finished one = At({"methods", "ddm"});
  EXPECT_THAT(one.out, HasSubstr("iterations"));
  EXPECT_EQ(At({"methods", "dance"}).exit_code, 65);
}

TEST_F(Tools, SessionsAreListedRenewedAndDeleted) {
  const std::string rig = Line(At({"upload", "model:tube"}));
  const std::string session =
      Line(At({"bind", rig, "--deformer", "ddm(iterations=3)", "--ttl", "1h"}));
  ASSERT_THAT(session, StartsWith("sessions/"));
  const Json shown = JsonAt({"sessions", session})[0];
  EXPECT_EQ(shown["state"], "READY");
  EXPECT_EQ(shown["rig"], rig);
  EXPECT_EQ(shown["ttl_seconds"], 3600);
  EXPECT_EQ(shown["recipe"]["stages"][0]["ddm"]["iterations"], 3);
  EXPECT_THAT(At({"sessions"}).out, HasSubstr(session));
  EXPECT_THAT(At({"rigs"}).out, HasSubstr(rig));
  EXPECT_EQ(Line(At({"delete", session})), session);
  EXPECT_EQ(At({"sessions", session}).exit_code, 65);
  const Finished again = At({"delete", session});
  EXPECT_THAT(again.exit_code, ::testing::AnyOf(0, 65)) << again.err;
  EXPECT_EQ(At({"delete", "nonsense"}).exit_code, 64);
  EXPECT_EQ(At({"bind", "rigs/sha256-" + std::string(64, '0'), "--deformer", "lbs"}).exit_code, 65);
}

TEST_F(Tools, DryRunCreatesNothing) {
  const std::string before = At({"sessions"}).out;
  const Finished dry = At({"bind", "model:tube", "--deformer", "enhanced_ddm", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("peak memory"));
  EXPECT_EQ(At({"sessions"}).out, before);
}

// The C library has variants with and without fused multiply-add; this setting selects
// the one for old processors.
TEST_F(Tools, OtherMathLibraryChangesDeterminismDigest) {
  const auto determinism_digest = [](const std::vector<std::string>& environment) {
    const Finished bound =
        Sinew({"bind", "model:tube", "--deformer", "lbs", "--local", "--json"}, {}, environment);
    EXPECT_EQ(bound.exit_code, 0) << bound.err;
    return Json::parse(bound.out)["determinism_digest"].get<std::string>();
  };
  EXPECT_EQ(determinism_digest({}), determinism_digest({}));
#if defined(__x86_64__) && defined(__GLIBC__)
  if (__builtin_cpu_supports("fma") == 0) GTEST_SKIP() << "this processor has one variant only";
  EXPECT_NE(determinism_digest({}),
            determinism_digest({"GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA"}));
#else
  GTEST_SKIP() << "variants of another C library are not known here";
#endif
}

TEST_F(Tools, BakeAndRenderLeaveNoSession) {
  const std::string before = At({"sessions"}).out;
  const Finished bake = At({"bake", "model:tube", "--deformer", "dqs(blend=0.25)", "--frames", "5",
                            "--out", folder_ / "a.npy"});
  ASSERT_EQ(bake.exit_code, 0) << bake.err;
  const Finished render = At({"render", "model:tube", "--deformer", "lbs", "dqs", "--size",
                              "160x120", "--out", folder_ / "a.png"});
  ASSERT_EQ(render.exit_code, 0) << render.err;
  EXPECT_EQ(At({"sessions"}).out, before);
}

TEST_F(Tools, RecipeFileEqualsRecipeText) {
  WriteAll(folder_ / "soft.json", R"({"stages": [{"ddm": {"iterations": 6}}]})");
  ASSERT_EQ(At({"bake", "model:tube", "--deformer", absl::StrCat("@", folder_ / "soft.json"),
                "--frames", "5", "--out", folder_ / "a.npy"})
                .exit_code,
            0);
  ASSERT_EQ(At({"bake", "model:tube", "--deformer", "ddm(iterations=6)", "--frames", "5", "--out",
                folder_ / "b.npy"})
                .exit_code,
            0);
  EXPECT_EQ(ReadAll(folder_ / "a.npy"), ReadAll(folder_ / "b.npy"));
  EXPECT_EQ(ReadAll(folder_ / "a.npy.json"), ReadAll(folder_ / "b.npy.json"));
}

TEST_F(Tools, ManifestRecipeBakesSameBits) {
  ASSERT_EQ(At({"bake", "model:tube", "--deformer", "enhanced_ddm", "--frames", "7", "--out",
                folder_ / "a.npy"})
                .exit_code,
            0);
  const std::string recipe = bake::ParseManifest(ReadAll(folder_ / "a.npy.json"))->recipe;
  const Finished again =
      At({"bake", "model:tube", "--deformer", recipe, "--frames", "7", "--out", folder_ / "b.npy"});
  ASSERT_EQ(again.exit_code, 0) << recipe << again.err;
  EXPECT_EQ(ReadAll(folder_ / "a.npy"), ReadAll(folder_ / "b.npy"));
}

TEST_F(Tools, FrameRangeEqualsPartOfWhole) {
  ASSERT_EQ(At({"bake", "model:tube", "--deformer", "dqs", "--out", folder_ / "all.npy"}).exit_code,
            0);
  ASSERT_EQ(At({"bake", "model:tube", "--deformer", "dqs", "--frames", "3-20x4", "--out",
                folder_ / "some.npy"})
                .exit_code,
            0);
  const auto all = bake::ParseManifest(ReadAll(folder_ / "all.npy.json")),
             some = bake::ParseManifest(ReadAll(folder_ / "some.npy.json"));
  ASSERT_TRUE(all.ok() && some.ok());
  EXPECT_EQ(some->first_frame, 3);
  EXPECT_EQ(some->frame_step, 4);
  ASSERT_EQ(some->frame_hashes.size(), 5U);
  for (std::size_t k = 0; k < 5; ++k)
    EXPECT_EQ(some->frame_hashes[k], all->frame_hashes[3 + 4 * k]);
}

TEST_F(Tools, FractionsMixWithRangesInEveryCommand) {
  const auto bake = [&](const char* frames, const std::string& out) {
    return At({"bake", "model:tube", "--deformer", "lbs", "--frames", frames, "--out", out});
  };
  ASSERT_EQ(bake("1-5,7.5,46.25-", folder_ / "mixed.npy").exit_code, 0);
  ASSERT_EQ(bake("5", folder_ / "five.npy").exit_code, 0);
  const auto mixed = bake::ParseManifest(ReadAll(folder_ / "mixed.npy.json")),
             five = bake::ParseManifest(ReadAll(folder_ / "five.npy.json"));
  ASSERT_TRUE(mixed.ok() && five.ok());
  std::vector<double> numbers;
  for (std::uint64_t k = 0; k < mixed->frames; ++k) numbers.push_back(mixed->FrameNumber(k));
  EXPECT_THAT(numbers, ::testing::ElementsAre(1, 2, 3, 4, 5, 7.5, 46.25));
  EXPECT_EQ(mixed->frame_hashes[4], five->frame_hashes[0]) << "the same bits as without fractions";

  const Finished drawn = At({"render", "model:tube", "--deformer", "lbs", "--frame", "12.5",
                             "--size", "64x64", "--out", folder_ / "a.png", "--json"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.out, HasSubstr("frame 12.5 (0.52 s)"));

  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"bake", "model:tube", "--deformer", "lbs", "--out", "x.npy"},
        {"compare", "model:tube", "--deformer", "lbs"},
        {"export", "model:tube", "--poses", folder_ / "x.npy"},
        {"join", folder_ / "x.npy"}}) {
    std::vector<std::string> words = command;
    words.insert(words.end(), {"--frames", "10..20"});
    const Finished refused = At(words);
    EXPECT_EQ(refused.exit_code, 64) << command[0];
    EXPECT_THAT(refused.err,
                HasSubstr("--frames: got \"10..20\", need FIRST, FIRST-LAST or FIRST-"))
        << command[0];
  }
  const Finished uneven = At({"compare", "model:tube", "--deformer", "lbs", "--frames", "0.5-2.5"});
  EXPECT_EQ(uneven.exit_code, 64);
  EXPECT_THAT(uneven.err, HasSubstr("need whole frames at even distances to compare"));
}

TEST_F(Tools, BakeWritesCachePerDeformerAndMesh) {
  const std::string before = At({"sessions"}).out;
  const Json caches =
      JsonAt({"bake", "model:hand", "--deformer", "lbs", "--deformer", "dqs", "--clip", "all",
              "--split", "--axes", "blender", "--out", folder_ / "{clip}.{deformer}.{mesh}.npy"});
  ASSERT_EQ(caches.size(), 2u);
  EXPECT_EQ(caches[1]["out"], folder_ / "fist.dqs.hand.npy");
  EXPECT_THAT(folder_.Names(),
              ::testing::ElementsAre("fist.dqs.hand.npy", "fist.dqs.hand.npy.json",
                                     "fist.lbs.hand.npy", "fist.lbs.hand.npy.json"));
  EXPECT_EQ(bake::ParseManifest(ReadAll(folder_ / "fist.lbs.hand.npy.json"))->up_axis, "Z");
  EXPECT_EQ(Sinew({"verify", folder_ / "fist.dqs.hand.npy"}).exit_code, 0);
  EXPECT_EQ(At({"sessions"}).out, before);
}

// What is exported gives the bits of the character itself, muscles and their control included.
TEST_F(Tools, ExportedFilesBakeSameBits) {
  const Json exported = JsonAt({"export", "model:arm", "--rig", folder_ / "arm.sinewrig", "--poses",
                                folder_ / "curl.npy", "--controls", folder_ / "tension.npy",
                                "--frames", "0-40x10", "--fps", "48"});
  EXPECT_EQ(exported["frames"], 5);
  EXPECT_EQ(exported["files"]["poses"]["path"], folder_ / "curl.npy");
  const std::vector<std::string> common = {"--deformer", "lbs | muscle", "--fps", "48", "--out"};
  std::vector<std::string> own = {"bake", "model:arm", "--frames", "0-40x10"},
                           files = {"bake",       folder_ / "arm.sinewrig",
                                    "--poses",    folder_ / "curl.npy",
                                    "--controls", folder_ / "tension.npy"};
  for (auto* arguments : {&own, &files}) {
    arguments->insert(arguments->end(), common.begin(), common.end());
  }
  own.push_back(folder_ / "own.npy");
  files.push_back(folder_ / "files.npy");
  ASSERT_EQ(At(own).exit_code, 0);
  const Finished baked = At(files);
  ASSERT_EQ(baked.exit_code, 0) << baked.err;
  EXPECT_TRUE(ReadAll(folder_ / "own.npy") == ReadAll(folder_ / "files.npy"));
}

TEST_F(Tools, DoctorFindsServerAndLeavesNothing) {
  const std::string rigs = At({"rigs"}).out, sessions = At({"sessions"}).out;
  const Json report = JsonAt({"doctor"});
  std::map<std::string, std::string> results;
  for (const Json& check : report["checks"]) results[check["check"]] = check["result"];
  EXPECT_EQ(results["server"], "ok");
  EXPECT_EQ(results["deformation"], "ok");
  EXPECT_EQ(results["bits"], "ok");
  EXPECT_EQ(results["sinewd"], "ok");
  EXPECT_EQ(At({"rigs"}).out, rigs);
  EXPECT_EQ(At({"sessions"}).out, sessions);
  EXPECT_EQ(Sinew({"doctor", "--local"}).exit_code, 0);
  const Finished lost = SinewAt("127.0.0.1:1", {"doctor"});
  EXPECT_EQ(lost.exit_code, 69);
  EXPECT_THAT(lost.out, HasSubstr("is it running"));
}

TEST_F(Tools, BakeDoesNotReplaceWhatItReads) {
  ASSERT_EQ(
      At({"export", "model:tube", "--rig", folder_ / "t.sinewrig", "--poses", folder_ / "p.npy"})
          .exit_code,
      0);
  const std::string poses = ReadAll(folder_ / "p.npy");
  const Finished bake = At({"bake", folder_ / "t.sinewrig", "--poses", folder_ / "p.npy",
                            "--deformer", "lbs", "--out", folder_ / "p.npy"});
  EXPECT_EQ(bake.exit_code, 64);
  EXPECT_THAT(bake.err, HasSubstr("is read by this command"));
  EXPECT_TRUE(ReadAll(folder_ / "p.npy") == poses);
}

TEST_F(Tools, ExportRefusesWrongRequests) {
  EXPECT_EQ(At({"export", "model:arm", "--rig", folder_ / "a", "--poses",
                folder_.path().string() + "/./a"})
                .exit_code,
            64);
  EXPECT_EQ(At({"export", "model:hand"}).exit_code, 64);
  EXPECT_EQ(
      At({"export", "model:hand", "--rig", folder_ / "a", "--poses", folder_ / "a"}).exit_code, 64);
  const Finished none = At({"export", "model:hand", "--controls", folder_ / "c.npy", "--rig",
                            folder_ / "hand.sinewrig"});
  EXPECT_EQ(none.exit_code, 65);
  EXPECT_THAT(none.err, HasSubstr("model:hand has no controls"));
  EXPECT_EQ(At({"export", "model:hand", "--rig", folder_ / "no/such/a.sinewrig"}).exit_code, 73);
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

TEST_F(Tools, BakeOfUnknownMeshExits65) {
  const Finished finished =
      At({"bake", "model:hand", "--deformer", "lbs", "--mesh", "hnad", "--out", folder_ / "a.npy"});
  EXPECT_EQ(finished.exit_code, 65);
  EXPECT_THAT(finished.err, HasSubstr("did you mean hand?"));
  EXPECT_THAT(folder_.Names(), IsEmpty());
}

TEST_F(Tools, RenderDrawsPanelPerDeformer) {
  const std::string one = folder_ / "one.png", two = folder_ / "two.png";
  const Json first = JsonAt({"render", "model:tube", "--deformer", "lbs", "--frame", "12", "--size",
                             "160x120", "--out", one});
  const Json second = JsonAt({"render", "model:tube", "--deformer", "lbs", "dqs", "--frame", "12",
                              "--size", "160x120", "--out", two});
  EXPECT_THAT(ReadAll(one), StartsWith("\x89PNG"));
  EXPECT_EQ(second["panels"], Json({"lbs", "dqs"}));
  EXPECT_GE(first["width"], 160);
  EXPECT_GT(second["width"].get<int>() * second["height"].get<int>(),
            first["width"].get<int>() * first["height"].get<int>());
  EXPECT_EQ(At({"render", "model:tube", "--deformer", "lbs", "--frame", "999", "--out",
                folder_ / "x.png"})
                .exit_code,
            65);
  EXPECT_EQ(
      At({"render", "model:tube", "--deformer", "lbs", "--size", "9x9", "--out", folder_ / "x.png"})
          .exit_code,
      64);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.png"));
}

TEST_F(Tools, RenderLooksAtJoint) {
  const auto draw = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"render",  "model:hand",  "--deformer", "lbs",
                                          "--frame", "6",           "--size",     "96x96",
                                          "--out",   folder_ / name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = At(arguments);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return ReadAll(folder_ / name);
  };
  const std::string whole = draw("whole.png", {});
  EXPECT_EQ(draw("same.png", {"--zoom", "1"}), whole);
  const std::string near = draw("near.png", {"--look-at", "index_proximal"});
  EXPECT_NE(near, whole);
  EXPECT_EQ(draw("near2.png", {"--look-at", "index_proximal", "--zoom", "4"}), near);
  EXPECT_NE(draw("thumb.png", {"--look-at", "thumb_proximal"}), near);
  const Finished bad = At({"render", "model:hand", "--deformer", "lbs", "--look-at", "tail",
                           "--out", folder_ / "x.png"});
  EXPECT_EQ(bad.exit_code, 65);
  EXPECT_THAT(bad.err, HasSubstr("tail"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x.png"));
}

TEST_F(Tools, InspectPrintsHowMuchSkinIsNotProjected) {
  EXPECT_TRUE(JsonAt({"inspect", "model:hand"})["unprojected_percent"].is_null());
  const double percent = JsonAt({"inspect", "model:hand", "--projection"})["unprojected_percent"];
  EXPECT_GE(percent, 0);
  EXPECT_LT(percent, 50);
  const Json bound = JsonAt({"bind", "model:hand", "--deformer", "dqs | implicit"});
  const auto same = [&](const Json& statistic) {
    return statistic["name"] == "unprojected_points" && statistic["value"] == percent;
  };
  EXPECT_EQ(std::ranges::count_if(bound["statistics"], same), 1);
  EXPECT_THAT(At({"inspect", "model:hand", "--projection"}).out,
              HasSubstr(absl::StrFormat("implicit does not project %.1f %% of the skin", percent)));
}

TEST_F(Tools, InspectWarnsOfBonesOutsideTheirSkin) {
  const auto warnings = [&](float scale) {
    client::RigData rig = client::Make("hand")->rig;
    std::vector<float>& bind = rig.meshes[0].skin.inverse_bind;
    for (std::size_t k = 3; k < bind.size(); k += 4) bind[k] *= scale;
    WriteAll(folder_ / "hand.sinewrig", *client::EncodeRig(rig));
    const Json shown = JsonAt({"inspect", folder_ / "hand.sinewrig", "--projection"});
    return std::ranges::count_if(shown["problems"], [](const Json& problem) {
      return problem["severity"] == "warning" && problem["where"] == "joints" &&
             problem["message"].get<std::string>().find("likely causes: mesh and skeleton") !=
                 std::string::npos;
    });
  };
  EXPECT_EQ(warnings(1), 0);
  for (const float scale : {0.01f, 0.1f, 2.f, 100.f}) EXPECT_EQ(warnings(scale), 1) << scale;
}

TEST_F(Tools, RenderShowsWeightsWithoutDeformer) {
  const Json all = JsonAt({"render", "model:tube", "--weights", "all", "--size", "96x96", "--out",
                           folder_ / "all.png"});
  ASSERT_GE(all["weights"].size(), 2U);
  double sum = 0;
  for (const Json& joint : all["weights"]) sum += joint["sum"].get<double>();
  const Json inspected = JsonAt({"inspect", "model:tube"});
  EXPECT_NEAR(sum, inspected["vertices"].get<double>(), 0.01);
  const std::string name = all["weights"][0]["joint"];
  const Json one = JsonAt(
      {"render", "model:tube", "--weights", name, "--size", "96x96", "--out", folder_ / "one.png"});
  EXPECT_EQ(one["panels"], Json({name}));
  EXPECT_EQ(one["weights"][0], all["weights"][0]);
  EXPECT_EQ(At({"render", "model:tube", "--weights", "tail", "--out", folder_ / "x.png"}).exit_code,
            65);
  EXPECT_EQ(At({"render", "model:tube", "--out", folder_ / "x.png"}).exit_code, 64);
}

TEST_F(Tools, RenderRequestsVertexStatusOnlyIfWritten) {
  const Finished refused = At({"render", "model:tube", "--deformer", "lbs", "--vertex-status",
                               "--size", "64x64", "--out", folder_ / "x.png"});
  EXPECT_EQ(refused.exit_code, 65);
  EXPECT_THAT(refused.err, HasSubstr("implicit"));
  const Finished bare = At({"render", "model:tube", "--deformer", "lbs", "--translucent", "--size",
                            "64x64", "--out", folder_ / "x.png"});
  EXPECT_EQ(bare.exit_code, 65);
  EXPECT_THAT(bare.err, HasSubstr("no muscles"));
}

TEST_F(Tools, MethodsShowsPresets) {
  const Json preset = JsonAt({"methods", "implicit_skinning"});
  ASSERT_EQ(preset["presets"].size(), 1U);
  EXPECT_EQ(preset["presets"][0]["name"], "implicit_skinning");
  std::vector<std::string> names;
  for (const Json& method : preset["methods"]) names.push_back(method["name"]);
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("dqs", "bulge_free", "implicit", "relax"));
  const Json both = JsonAt({"methods", "delta_mush"});
  EXPECT_EQ(both["presets"].size(), 1U);
  EXPECT_EQ(both["methods"].size(), 2U) << "lbs and delta_mush";
  EXPECT_THAT(At({"methods", "dance"}).err, HasSubstr("implicit_skinning"));
}

TEST_F(Tools, BenchReportsWhereTimeGoes) {
  const Json result = JsonAt({"bench", "--deformer", "dqs", "--vertices", "2000", "--streams", "2",
                              "--depth", "3", "--seconds", "0.2", "--rounds", "3", "--normals"});
  EXPECT_EQ(result["loop"], "closed");
  ASSERT_EQ(result["rows"].size(), 1U) << "one row needs no twin";
  const Json& row = result["rows"][0];
  EXPECT_GT(row["frames"], 0);
  const double vertices = result["vertices"];
  EXPECT_EQ(row["bytes"].get<double>(), row["frames"].get<double>() * vertices * 24)
      << "positions and normals";
  EXPECT_LE(row["p50_ms"], row["p99_ms"]);
  EXPECT_LE(row["p99_ms"], row["max_ms"]);
  EXPECT_LE(row["frames_per_second"]["lower_quartile"], row["frames_per_second"]["median"]);
  EXPECT_EQ(row["unsent"], 0);
  EXPECT_GT(row["warm_up"]["seconds"], 0);
  const Json& parts = result["parts_ms"];
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_GT(parts[0]["evaluate"], 0);
  EXPECT_LE(parts[0]["latency"], parts[1]["latency"]) << "all, and the slowest";
  for (const Json& line : parts) {
    double sum = 0;
    for (const char* part : {"hold", "queue", "evaluate", "encode", "send", "wait", "decode"}) {
      sum += line[part].get<double>();
    }
    EXPECT_NEAR(sum, line["latency"].get<double>(), 0.02 * sum) << line;
  }
}

TEST_F(Tools, BenchComparesListsWithTwin) {
  const Json result = JsonAt({"bench", "model:tube", "--deformer", "lbs", "--encoding", "float32",
                              "compact", "--depth", "1", "4", "--seconds", "0.1", "--rounds", "2",
                              "--plot", folder_ / "a.png", "--size", "640x360"});
  std::vector<std::string> rows;
  for (const Json& row : result["rows"]) {
    rows.push_back(absl::StrCat(row["row"].get<std::string>(), " ",
                                row["encoding"].get<std::string>(), " ", row["depth"].get<int>()));
  }
  EXPECT_THAT(rows, ::testing::ElementsAre("1 float32 1", "2 float32 4", "3 compact 1",
                                           "4 compact 4", "twin of 1 float32 1"));
  const auto bytes_of = [&](int row) {
    return result["rows"][row]["bytes"].get<double>() / result["rows"][row]["frames"].get<double>();
  };
  EXPECT_EQ(bytes_of(2), bytes_of(0) / 2);
  const std::string png = ReadAll(folder_ / "a.png");
  ASSERT_GT(png.size(), 24U);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\x02\x80\0\0\x01\x68", 8)) << "640 x 360";
}

TEST_F(Tools, BenchKeepsRatesAtSeveralServers) {
  const Finished text = At({"bench", "--deformer", "lbs", "--vertices", "500", "--rate", "50",
                            "--seconds", "0.4", "--rounds", "1"});
  EXPECT_THAT(text.out, HasSubstr("open loop, 50 poses a second"));
  EXPECT_THAT(text.out, HasSubstr("p99.9"));
  const Finished servers =
      Sinew({"bench", "--deformer", "lbs", "--vertices", "500", "--rate", "50", "100", "--seconds",
             "0.4", "--rounds", "1", "--servers", daemon_->address(), "local", "--json"});
  ASSERT_EQ(servers.exit_code, 0) << servers.err;
  const Json rows = Json::parse(servers.out)["rows"];
  ASSERT_EQ(rows.size(), 5U);
  for (const Json& row : rows) {
    EXPECT_EQ(row["frames"].get<int>() + row["unsent"].get<int>(),
              std::lround(0.4 * row["rate"].get<double>()))
        << row;
  }
  EXPECT_EQ(rows[0]["server"], daemon_->address());
  EXPECT_EQ(rows[2]["server"], "local");
}

TEST_F(Tools, BenchSaysWhatIsAllowed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows = {
      {{"--rate", "0"}, "--rate: got \"0\", need a number from 0.1 to"},
      {{"--rate", "10", "fast"}, "--rate: got \"fast\", need a number"},
      {{"--depth", "1", "257"}, "--depth: got \"257\", need a whole number from 1 to 256"},
      {{"--encoding", "float16"},
       "--encoding: got \"float16\", need float32, compact, compressed or auto"},
      {{"--servers", "localhost:99999"}, "--servers: "},
      {{"--local", "--servers", "local"}, "--servers: got --server or --local too"},
      {{"--plot", "a.jpg"}, "--plot: got \"a.jpg\", need .png"},
      {{"--plot", folder_ / "a.png", "--size", "100x100"}, "--size: got 100x100, need at least"},
      {{"--size", "640x480"}, "--plot"},
      {{"--depth", "1", "2", "3", "4", "5", "--rate", "1", "2", "3", "4", "5"},
       "26 rows, need at most 24"},
  };
  for (const auto& [options, advice] : rows) {
    std::vector<std::string> words = {"bench", "--deformer", "lbs"};
    words.insert(words.end(), options.begin(), options.end());
    const Finished refused = Sinew(words);
    EXPECT_EQ(refused.exit_code, 64) << advice;
    EXPECT_THAT(refused.err, HasSubstr(advice));
  }
}

TEST_F(Tools, StatsListsLimits) {
  const Json stats = JsonAt({"stats"});
  EXPECT_NE(stats["simd"], "");
  EXPECT_FALSE(stats["limits"].empty());
  const Finished limits = At({"stats", "--limits"});
  EXPECT_THAT(limits.out, HasSubstr(stats["limits"][0]["name"].get<std::string>()));
}

TEST_F(Tools, WarnsOfUnusedMorphs) {
  const std::string body = (SharedData() / "models" / "MakeHumanBody.glb").string();
  if (!std::filesystem::exists(body))
    GTEST_SKIP() << "no MakeHumanBody.glb in the shared test data";
  const auto bake = [&](const char* clip) {
    return At({"bake", body, "--deformer", "lbs", "--clip", clip, "--frames", "10-11", "--out",
               folder_ / "a.npy"});
  };
  const Finished moved = bake("morph_sweep");
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  EXPECT_THAT(moved.err, HasSubstr("morph targets"));
  EXPECT_THAT(bake("walk").err, Not(HasSubstr("morph targets")));
}

TEST_F(Tools, QuietPrintsDataOnly) {
  const Finished bake =
      At({"bake", "model:tube", "--deformer", "lbs", "--out", folder_ / "a.pc2", "-q"});
  EXPECT_EQ(bake.out, (folder_ / "a.pc2") + "\n");
  EXPECT_THAT(bake.err, IsEmpty());
}

}  // namespace
}  // namespace sinew::testing
