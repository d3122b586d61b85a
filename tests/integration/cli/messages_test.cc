// What the command line says about recipes, in the words of who typed them.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "client/cli/character/muscle_help.h"
#include "core/base/counted_text.h"
#include "tests/integration/cli/process.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Finished Bind(const std::string& deformer, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"bind", "model:tube", "--deformer", deformer, "--local"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Sinew(std::move(arguments));
}

TEST(Messages, ErrorsNameTypedOption) {
  const std::pair<const char*, const char*> rows[] = {
      {"ddm(radius=5)", "sinew: --deformer stage 1 (ddm), radius: got 5, need 0 to 1"},
      {"shapes | dqs | delta_mush(map=\"elbow 9\")",
       "sinew: --deformer stage 3 (delta_mush), map: the rig has no vertex map 'elbow 9'"},
      {"dance", "sinew: --deformer: got method 'dance'"},
      {"lbs | lbs", "sinew: --deformer stage 2: lbs reads rest positions"},
      {"{\"stages\": [{\"lbs\": {}}, {\"delta_mush\": {\"step\": 7}}]}",
       "sinew: --deformer stage 2 (delta_mush), step: got 7, need 0 to 1"},
      {"ddm(iterations=-3)", "got '-3', need a whole number from 1 to 1000"},
      {"ddm(iterations=2.5)", "got '2.5', need a whole number from 1 to 1000"},
      {R"({"stages": [{"ddm": {"iterations": -3}}]})",
       "sinew: --deformer stage 1 (ddm), iterations: got '-3', need a whole number from 1 to 1000"},
      {R"({"stages": [{"ddm": {}}, {"relax": {"iterations": 2.5}}]})",
       "sinew: --deformer stage 2 (relax), iterations: got '2.5', need a whole number from "},
      {R"({"stages": [{"implicit_skinning": {}}]})",
       "a preset is no method, but a recipe text\nsinew: `sinew bind model:tube --local --dry-run "
       "--json --deformer PRESET` prints the JSON of a preset\n"},
      {"lbs,dqs", "need '|' or the end\nsinew: separate recipes by blanks\n"},
      {"[]", "sinew: --deformer: JSON: got JSON without stages, need a recipe such as ddm, or {"},
      {"ddm(radius=inf)", "got 'inf', need a number from 0 to 1"},
      {"dqs(blend=nan)", "got 'nan', need a number from 0 to 1"},
  };
  for (const auto& [deformer, need] : rows) {
    const Finished finished = Bind(deformer);
    EXPECT_EQ(finished.exit_code, 65) << deformer;
    EXPECT_THAT(finished.err, AllOf(HasSubstr(need), Not(HasSubstr("source.")))) << deformer;
  }
}

// The libraries below name members of a request.
TEST(Messages, MembersBecomeOptionsOfTheCommand) {
  const TemporaryFolder folder;
  const auto said = [](std::vector<std::string> arguments) {
    arguments.emplace_back("--local");
    return Sinew(std::move(arguments)).err;
  };
  const std::string out = folder / "{deformer}.pc2";
  EXPECT_EQ(said({"bake", "model:hand", "--deformer", "{\"stages\":[", "--out", out}),
            "sinew: --deformer: JSON: line 1, column 12: not JSON\n"
            "sinew: see `sinew methods` for names, parameters and ranges\n");
  WriteAll(folder / "list.json", "[]");
  EXPECT_THAT(
      said({"bake", "model:hand", "--deformer", "@" + (folder / "list.json"), "--out", out}),
      HasSubstr("list.json: got JSON without stages"));
  EXPECT_THAT(said({"bake", "model:hand", "--deformer", "lbs,dqs", "--out", out}),
              HasSubstr("give --deformer once for each recipe"));
  EXPECT_THAT(said({"delete", "rigs/nope"}), StartsWith("sinew: NAME: got \"rigs/nope\", need "));
  EXPECT_THAT(said({"sessions", "nope"}),
              StartsWith("sinew: NAME: got \"nope\", need sessions/...\n"));
  // A label in front, which may have the name of an option.
  WriteAll(folder / "mesh.json", R"({"stages": [{"lbs": {}}]})");
  EXPECT_THAT(said({"bake", "model:hand", "--deformer", "@" + (folder / "mesh.json"), "--deformer",
                    "dqs", "--frames", "0,1,5", "--out", out}),
              AllOf(StartsWith("sinew: mesh: --frames: got 0-1,5; "),
                    HasSubstr("such as --frames 0-5 or")));
  // Commands without --out name the option of the file.
  const std::string nowhere = folder / "none/file";
  EXPECT_THAT(said({"export", "model:hand", "--rig", nowhere}),
              StartsWith("sinew: --rig: cannot write"));
  EXPECT_THAT(said({"export", "model:hand", "--rig", folder / "hand.sinewrig"}), "");
  EXPECT_THAT(said({"export", folder / "hand.sinewrig", "--poses", nowhere}),
              "sinew: hand.sinewrig has no clip, need one for --poses and --controls\n");
  EXPECT_THAT(said({"compare", "model:hand", "--deformers", "lbs", "--picture", nowhere + ".png"}),
              StartsWith("sinew: --picture: cannot write"));
}

TEST(Messages, LongWordsAreOnlyWrong) {
  const TemporaryFolder folder;
  const std::string run(100'000, 'a');
  const auto bake = [&](const std::string& name, const std::string& clip) {
    return Sinew({"bake", "model:hand", "--deformer", "lbs", "--out", folder / name, "--clip", clip,
                  "--local"})
        .exit_code;
  };
  EXPECT_EQ(bake("x.pc2", "`" + run), 65);
  EXPECT_EQ(bake("{" + run + "}.pc2", "0"), 73);
  EXPECT_EQ(bake(std::string(100'000, '#') + ".obj", "0"), 73);
}

// What a script writes where its variable is empty.
TEST(Messages, EmptyMapMeansNone) {
  const Finished empty = Bind("lbs | delta_mush(map=\"\")");
  EXPECT_EQ(empty.exit_code, 0) << empty.err;
  EXPECT_EQ(Bind("lbs | delta_mush(map=)").exit_code, 65);
}

// The next file would otherwise get the number of a closed stream, and progress would be in it.
TEST(Messages, ClosedStreamsAreNoFiles) {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& name, const std::string& closed) {
    return Process({"/bin/sh", "-c",
                    absl::StrCat(ProgramPath("sinew"),
                                 " render model:tube --deformer lbs --local --progress json --out ",
                                 folder / name, " ", closed)})
        .Wait();
  };
  EXPECT_EQ(run("open.png", "").exit_code, 0);
  for (const char* closed : {"2>&-", "<&-", "<&- 2>&-"}) {
    EXPECT_EQ(run("closed.png", closed).exit_code, 0) << closed;
    EXPECT_EQ(ReadAll(folder / "closed.png"), ReadAll(folder / "open.png")) << closed;
  }
  EXPECT_EQ(run("out.png", ">&-").exit_code, 73) << "the name of the file cannot be printed";
}

TEST(Messages, PicturesNameTheirOptions) {
  const TemporaryFolder folder;
  for (const std::string option : {"--vertex-status", "--translucent"}) {
    const Finished finished = Sinew({"render", "model:tube", "--deformer", "lbs", option, "--out",
                                     folder / "a.png", "--local"});
    EXPECT_EQ(finished.exit_code, 65) << finished.err;
    EXPECT_THAT(finished.err, StartsWith("sinew: " + option + ": "));
    EXPECT_FALSE(std::filesystem::exists(folder / "a.png"));
  }
}

TEST(Messages, InvalidUtf8Exits65) {
  const TemporaryFolder folder;
  WriteAll(folder / "bad.json", "{\"stages\": [{\"lbs\xff\": {}}]}");
  const std::pair<std::string, std::string> rows[] = {
      {"lbs\xff", "--deformer: byte"},
      {"\xc0\x80", "--deformer: byte"},
      {absl::StrCat("@", folder / "bad.json"), "bad.json: line 1, column 18: not JSON"}};
  for (const auto& [deformer, said] : rows) {
    const Finished finished = Bind(deformer);
    EXPECT_EQ(finished.exit_code, 65) << finished.err;
    EXPECT_THAT(finished.err, HasSubstr(said));
  }
}

TEST(Messages, WarnsOfParametersWithoutEffect) {
  const std::pair<const char*, const char*> rows[] = {
      {"ddm(radius=0.05, lambda=2)", "warning: --deformer stage 1 (ddm), lambda: got 2"},
      {"dqs | bulge_free(method=bisector, sharpness=3)",
       "warning: --deformer stage 2 (bulge_free), sharpness: got 3"},
      {"lbs | delta_mush(radius=0.05, iterations=3)",
       "warning: --deformer stage 2 (delta_mush), iterations: got 3"},
  };
  for (const auto& [deformer, warning] : rows) {
    for (const auto& more : {std::vector<std::string>{}, {"--dry-run"}}) {
      const Finished finished = Bind(deformer, more);
      EXPECT_EQ(finished.exit_code, 0) << finished.err;
      EXPECT_THAT(finished.err, HasSubstr(warning)) << deformer;
    }
  }
  EXPECT_THAT(Bind("ddm(radius=0.05)").err, Not(HasSubstr("warning")));
}

TEST(Messages, WarnsOfMuscleStageWithoutMuscles) {
  const std::string said = "warning: --deformer stage 2 (muscle): the rig has no muscles";
  EXPECT_THAT(Bind("dqs | muscle").err, HasSubstr(said));
  EXPECT_THAT(Bind("dqs | muscle", {"--dry-run"}).err, HasSubstr(said));
  EXPECT_THAT(Bind("dqs | bulge_free | implicit(muscles=false)").err,
              HasSubstr("warning: --deformer stage 3 (implicit), muscles: got false"));
  const Finished arm = Sinew({"bind", "model:arm", "--deformer", "dqs | muscle", "--local"});
  EXPECT_EQ(arm.exit_code, 0) << arm.err;
  EXPECT_THAT(arm.err, Not(HasSubstr("warning")));
}

TEST(Messages, MuscleErrorsNamePlaceInFile) {
  const TemporaryFolder folder;
  const std::string file = folder / "arm.json";
  const nlohmann::json example = nlohmann::json::parse(cli::kMuscleExample);
  const auto upload = [&](const nlohmann::json& muscles) {
    WriteAll(file, muscles.dump());
    return Sinew({"upload", "model:arm", "--muscles", file, "--local"});
  };
  const Finished good = upload(example);
  EXPECT_EQ(good.exit_code, 0) << good.err;
  // What `sinew help muscles` says of ranges.
  const std::tuple<const char*, nlohmann::json, const char*> rows[] = {
      {"tendons", {0, -0.1}, "muscles[0].tendons[1]: got -0.1, need 0 to"},
      {"tendons", {-1, 0}, "muscles[0].tendons[0]: got -1, need 0 to"},
      {"tendons", {5, 5}, "muscles[0]: tendons add up to 10, need at most"},
      {"width", 0, "muscles[0].width: got 0, need more than 0"},
      {"depth", 2e9, "muscles[0].depth: got 2e+09, need more than 0 and at most 1e+09"},
      {"warp", 0.5, "muscles[0].warp: got 0.5, need 1 for an ellipsoid"},
      {"warp", 11, "muscles[0].warp: got 11, need 0.1 to 10"},
      {"tension", 4.5, "muscles[0].tension: got 4.5, need 0.25 to 4"},
      {"fat", -1, "muscles[0].fat: got -1, need 0 to"},
      {"fat", 1e8, "muscles[0].fat: got 1e+08, need at most 0.7"},
      {"width", 1e8, "muscles[0].width: got 1e+08, need at most 0.7"},
      {"name", "", "muscles[0].name: got '', need a non-empty, unique name"},
  };
  for (const auto& [member, value, said] : rows) {
    nlohmann::json muscles = example;
    muscles["muscles"][0][member] = value;
    const Finished finished = upload(muscles);
    EXPECT_EQ(finished.exit_code, 65) << member;
    EXPECT_THAT(finished.err, HasSubstr(absl::StrCat("sinew: ", file, ": ", said)));
    const Finished inspect = Sinew({"inspect", "model:arm", "--muscles", file});
    EXPECT_EQ(inspect.exit_code, 65) << member;
    EXPECT_EQ(inspect.err, finished.err) << "the same words";
    EXPECT_THAT(inspect.out, HasSubstr(said));
  }
  const Finished render = Sinew({"render", "model:arm", "--muscles", file, "--deformer",
                                 "dqs | muscle", "--local", "--out", folder / "arm.png"});
  EXPECT_EQ(render.exit_code, 65);
  EXPECT_THAT(render.err, HasSubstr(absl::StrCat("sinew: ", file, ": muscles[0].name: got ''")));
}

TEST(Messages, InspectAndUploadReportSameMuscleError) {
  const TemporaryFolder folder;
  const std::string file = folder / "arm.json";
  nlohmann::json muscles = nlohmann::json::parse(cli::kMuscleExample);
  nlohmann::json& via = muscles["muscles"][0]["via"];
  for (int k = 0; k < 40; ++k) via.push_back(via[0]);
  WriteAll(file, muscles.dump());
  const Finished upload = Sinew({"upload", "model:arm", "--muscles", file, "--local"});
  EXPECT_EQ(upload.exit_code, 65) << upload.err;
  const Finished inspect = Sinew({"inspect", "model:arm", "--muscles", file});
  EXPECT_EQ(inspect.exit_code, 65);
  EXPECT_EQ(inspect.err, upload.err) << "the same words";
  EXPECT_THAT(inspect.out, HasSubstr("error "));
  EXPECT_THAT(inspect.out, HasSubstr("refuses " + file + ": muscles[0].via: got 41"));
}

TEST(Messages, NamesDeformerWithoutVertexStatus) {
  const TemporaryFolder folder;
  const auto render = [&](std::vector<std::string> deformers) {
    std::vector<std::string> arguments = {"render",  "model:cylinder", "--vertex-status",
                                          "--local", "--size",         "32x32",
                                          "--out",   folder / "a.png", "--deformer"};
    arguments.insert(arguments.end(), deformers.begin(), deformers.end());
    return Sinew(arguments);
  };
  const Finished one = render({"lbs"}), two = render({"dqs | implicit", "lbs"});
  EXPECT_EQ(one.exit_code, 65);
  EXPECT_EQ(one.err,
            "sinew: --vertex-status: no stage of the recipe writes vertex status, need implicit\n");
  EXPECT_EQ(two.exit_code, 65);
  // After the progress of the bind, if that took long enough to print any.
  EXPECT_THAT(two.err, EndsWith("sinew: lbs: " + one.err.substr(7)));
}

// Before a deformer is bound.
TEST(Messages, RefusesPicturesTooLargeBeforeTheWork) {
  const TemporaryFolder folder;
  const Finished render =
      Sinew({"render", "model:tube", "--deformer", "lbs", "dqs", "cor", "ddm", "lbs", "--size",
             "8192x8192", "--out", folder / "a.png", "--server", "127.0.0.1:1", "--wait", "0"});
  EXPECT_EQ(render.exit_code, 65);
  EXPECT_THAT(render.err, HasSubstr("sinew: --size: 5 panels make "));
}

TEST(Messages, WarnsOfMusclesFarOutside) {
  const TemporaryFolder folder;
  const std::string file = folder / "arm.json";
  nlohmann::json muscles = nlohmann::json::parse(cli::kMuscleExample);
  muscles["muscles"][0]["via"][0]["at"] = {0, 0.255, 0.4};
  WriteAll(file, muscles.dump());
  const auto render = [&](const char* deformer) {
    return Sinew({"render", "model:arm", "--muscles", file, "--deformer", deformer, "--local",
                  "--size", "32x32", "--out", folder / "arm.png"});
  };
  const Finished with = render("dqs | muscle"), without = render("dqs");
  EXPECT_EQ(with.exit_code, 0) << with.err;
  EXPECT_THAT(with.err, HasSubstr(absl::StrCat("sinew: warning: ", file,
                                               ": muscles[0]: 'biceps' extends 0.3")));
  EXPECT_EQ(without.err.find("biceps"), std::string::npos) << "it moves nothing";
  const Finished inspect = Sinew({"inspect", "model:arm", "--muscles", file});
  EXPECT_EQ(inspect.exit_code, 0);
  EXPECT_THAT(inspect.out, HasSubstr("muscles[0]: 'biceps' extends 0.3"));
}

TEST(Messages, WarnsOfMusclesInOtherUnit) {
  const TemporaryFolder folder;
  const std::string file = folder / "arm.json";
  nlohmann::json muscles = nlohmann::json::parse(cli::kMuscleExample);
  for (nlohmann::json& muscle : muscles["muscles"]) {  // metres beside millimetres
    std::vector<nlohmann::json*> points = {&muscle["origin"], &muscle["insertion"]};
    for (nlohmann::json& via : muscle["via"]) points.push_back(&via);
    for (nlohmann::json* point : points) {
      for (nlohmann::json& x : (*point)["at"]) x = x.get<double>() / 1000;
    }
    for (nlohmann::json& tendon : muscle["tendons"]) tendon = tendon.get<double>() / 1000;
    for (const char* axis : {"width", "depth"}) muscle[axis] = muscle[axis].get<double>() / 1000;
  }
  WriteAll(file, muscles.dump());
  const std::string said = file + ": muscles[0]: 'biceps' has semi-axes of 2.2e-05 and 2e-05";
  for (const char* deformer : {"dqs | muscle", "dqs | bulge_free | implicit"}) {
    const Finished bind =
        Sinew({"bind", "model:arm", "--muscles", file, "--deformer", deformer, "--local"});
    EXPECT_EQ(bind.exit_code, 0);
    EXPECT_THAT(bind.err, HasSubstr("'biceps' has semi-axes of 2.2e-05 and 2e-05")) << deformer;
    EXPECT_THAT(bind.err, HasSubstr("metres beside millimetres"));
  }
  const Finished inspect = Sinew({"inspect", "model:arm", "--muscles", file});
  EXPECT_EQ(inspect.exit_code, 0);
  EXPECT_THAT(inspect.out, HasSubstr(said));
}

TEST(Messages, CountsMusclesOutsideSkin) {
  const TemporaryFolder folder;
  const std::string file = folder / "arm.json";
  nlohmann::json muscles = nlohmann::json::parse(cli::kMuscleExample);
  const std::size_t count = muscles["muscles"].size();
  nlohmann::json& first = muscles["muscles"][0];
  first.erase("via");
  for (const char* end : {"origin", "insertion"}) {
    first[end]["at"][2] = first[end]["at"][2].get<double>() + 0.2;
  }
  WriteAll(file, muscles.dump());
  const auto bind = [&](const char* deformer) {
    return Sinew({"bind", "model:arm", "--muscles", file, "--deformer", deformer, "--local"});
  };
  const std::string outside = absl::StrCat("1 of ", CountedText(count, "muscle"), " has no effect");
  for (const char* deformer : {"dqs | implicit", "dqs | muscle", "dqs | implicit | muscle"}) {
    const Finished finished = bind(deformer);
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_THAT(finished.err, HasSubstr(outside)) << deformer;
  }
  for (const char* deformer :
       {"dqs", "dqs | muscle(strength=0)", "dqs | implicit(muscles=false)"}) {
    EXPECT_THAT(bind(deformer).err, Not(HasSubstr(outside))) << deformer;
  }
  EXPECT_THAT(Sinew({"inspect", "model:arm", "--muscles", file}).out, HasSubstr(outside));
}

TEST(Messages, EstimateIsCalledUpperBound) {
  const Finished finished = Bind("ddm", {"--dry-run"});
  EXPECT_THAT(finished.out, AllOf(HasSubstr("bound data at most"), HasSubstr("upper bound"),
                                  HasSubstr("peak memory at most")));
}

}  // namespace
}  // namespace sinew::testing
