// Bakes that are repeated, planned, followed by programs or repaired.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/cli/parts_fixture.h"

namespace sinew::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;
using Json = nlohmann::json;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST_F(Parts, ProgressIsReadableByPrograms) {
  const Finished json = Bake("a.pc2", {"--progress", "json", "--chunk", "10"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  std::set<std::string> tasks, events;
  for (const std::string& line : Lines(json.err)) {
    const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(event.is_object()) << line;
    events.insert(event["event"]);
    if (event["event"] == "progress") tasks.insert(event["task"]);
  }
  EXPECT_THAT(tasks, IsSupersetOf({"Bake", "Join"}));
  EXPECT_THAT(events, ElementsAre("note", "progress"));
  const Finished openjd = Bake("b.pc2", {"--progress", "openjd"});
  EXPECT_THAT(Lines(openjd.err), AllOf(Contains("openjd_progress: 100.0"),
                                       Contains(StartsWith("openjd_status: Bake "))));
  const Finished failed = Bake("c.pc2", {"--progress", "openjd", "--frames", "99"});
  EXPECT_EQ(failed.exit_code, 65);
  EXPECT_THAT(Lines(failed.err), Contains(StartsWith("openjd_fail: sinew: --frames: got 99")));
  const Finished event = Bake("c.pc2", {"--progress", "json", "--frames", "99"});
  const Json error = Json::parse(Lines(event.err).back());
  EXPECT_EQ(error["event"], "error");
  EXPECT_EQ(error["exit_code"], 65);
}

TEST_F(Parts, SkipsWhatIsCurrent) {
  const auto bake = [&](const Strings& more, const std::string& deformer = "ddm") {
    Strings options = {"--resume", "--json"};
    options.insert(options.end(), more.begin(), more.end());
    const Finished finished = Bake("a.pc2", options, deformer);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return Json::parse(finished.out)["frames_baked"].get<int>();
  };
  EXPECT_EQ(bake({}), 48);
  EXPECT_EQ(bake({}), 0);
  EXPECT_EQ(bake({"--frames", "0-20"}), 21) << "other frames";
  EXPECT_EQ(bake({"--frames", "0-20"}), 0);
  EXPECT_EQ(bake({"--frames", "0-20"}, "lbs"), 21) << "another recipe";
  EXPECT_EQ(bake({"--frames", "0-20", "--axes", "blender"}, "lbs"), 21) << "other axes";
  const std::string bytes = ReadAll(folder_ / "a.pc2");
  WriteAll(folder_ / "a.pc2", bytes.substr(1));
  EXPECT_EQ(bake({"--frames", "0-20", "--axes", "blender"}, "lbs"), 21) << "another size";
  const Finished text = Bake("a.pc2", {"--resume", "--frames", "0-20", "--axes", "blender"}, "lbs");
  EXPECT_EQ(text.out, folder_ / "a.pc2\n");
  EXPECT_THAT(text.err, HasSubstr("the cache is current, nothing is baked"));
}

TEST_F(Parts, DryRunWritesNothing) {
  const Finished plan = Bake("a.pc2", {"--dry-run", "--chunk", "10"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_EQ(plan.out, folder_ / "a.pc2: clip 'fist', 48 frames, 5.3 MB; 48 to bake in 5 parts\n");
  EXPECT_THAT(plan.err, AllOf(HasSubstr(" a frame, "), HasSubstr(" for the bound data")));
  const Finished json = Bake("a.pc2", {"--dry-run", "--json"});
  const Json read = Json::parse(json.out);
  EXPECT_EQ(read["frames_to_bake"], 48);
  EXPECT_GT(read["estimate"]["seconds"], 0);
  EXPECT_GT(read["estimate"]["bound_bytes"], 0);
  EXPECT_TRUE(folder_.Names().empty());
  // The sizes are those of the caches, of text within a quarter.
  for (const Strings& bake : std::vector<Strings>{{"b.npy", "--velocities", "--normals"},
                                                  {"b.mdd"},
                                                  {"b.glb", "--normals"},
                                                  {"b.usda", "--velocities", "--normals"},
                                                  {"b.##.obj", "--normals"},
                                                  {"b.##.obj"}}) {
    Strings options(bake.begin() + 1, bake.end());
    options.insert(options.end(), {"--frames", "0-11", "--json"});
    const Finished written = Bake(bake[0], options);
    options.emplace_back("--dry-run");
    const Finished planned = Bake(bake[0], options);
    ASSERT_EQ(planned.exit_code, 0) << planned.err;
    const double bytes = Json::parse(written.out)["bytes"],
                 estimate = Json::parse(planned.out)["bytes"];
    const bool is_exact = bake[0] == "b.npy" || bake[0] == "b.mdd";
    EXPECT_NEAR(estimate, bytes, is_exact ? 0 : bytes / 4) << bake[0];
  }
  ASSERT_EQ(Bake("a.pc2", {"--chunk", "10", "--part"}, "lbs").exit_code, 0);
  EXPECT_EQ(Bake("a.pc2", {"--chunk", "10", "--resume", "--dry-run"}).exit_code, 0);
  EXPECT_EQ(PartNames("a.pc2").size(), 5u) << "although they are of another recipe";
}

TEST_F(Parts, PlacesThatCannotBeWrittenAreKnownBeforeTheBake) {
  std::filesystem::create_directory(folder_ / "folder.pc2");
  WriteAll(folder_ / "there.pc2", "x");
  for (const Strings& options :
       {Strings{"folder.pc2", "--chunk", "10"}, Strings{"folder.pc2", "--part"},
        Strings{"there.pc2", "--chunk", "10", "--no-clobber"}}) {
    const Finished bake = Bake(options[0], Strings(options.begin() + 1, options.end()));
    EXPECT_EQ(bake.exit_code, 73) << options[0];
    EXPECT_THAT(folder_.Names(), ElementsAre("folder.pc2", "there.pc2"));
  }
}

TEST_F(Parts, RepairMakesTheCacheThatWasBaked) {
  for (const std::string out : {"a.pc2", "a.mdd", "a.npy"}) {
    ASSERT_EQ(Bake(out, {"--frames", "1-20x2", "--axes", "blender"}).exit_code, 0);
    const std::string path = folder_ / out, bytes = ReadAll(path), json = ReadAll(path + ".json");
    const auto repair = [&](const std::string& damaged, const std::string& said) {
      WriteAll(path, damaged);
      const Finished verify = Sinew({"verify", path});
      EXPECT_EQ(verify.exit_code, 65);
      EXPECT_THAT(verify.out, StartsWith("bad "));
      const Finished finished =
          Sinew({"repair", path, "model:hand", "--server", daemon_->address()});
      EXPECT_EQ(finished.exit_code, 0) << finished.err;
      EXPECT_EQ(finished.out, absl::StrCat("repaired ", path, ": ", said, "\n"));
      EXPECT_TRUE(ReadAll(path) == bytes) << said;
      EXPECT_EQ(ReadAll(path + ".json"), json);
    };
    const std::size_t frame = 9140 * 12, header = bytes.size() - 10 * frame;
    std::string damaged = bytes;
    for (const std::size_t k : {1, 2, 7}) damaged[header + k * frame + 5] ^= 4;
    repair(damaged, "frames 3, 5, 15");
    EXPECT_EQ(Sinew({"verify", path}).exit_code, 0);
    repair(bytes.substr(0, header + 8 * frame - 1), "frames 15-19x2");
    repair("", "frames 1-19x2");
    damaged = bytes;
    damaged[1] ^= 1;
    repair(damaged, "header or length");
    repair(bytes + "tail", "header or length");
    const Finished whole = Sinew({"repair", path, "model:hand", "--server", daemon_->address()});
    EXPECT_EQ(whole.exit_code, 0);
    EXPECT_EQ(whole.out, "ok " + path + "\n");
  }
}

TEST_F(Parts, RepairRefusesWhatItCannotMakeTheSame) {
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-3"}).exit_code, 0);
  const std::string path = folder_ / "a.pc2";
  std::string damaged = ReadAll(path);
  damaged.back() ^= 1;
  WriteAll(path, damaged);
  const auto refused = [&](const std::string& file, const std::string& why) {
    const Finished finished = Sinew({"repair", path, file, "--server", daemon_->address()});
    EXPECT_EQ(finished.exit_code, 65) << finished.out;
    EXPECT_THAT(finished.err, HasSubstr(why));
    EXPECT_TRUE(ReadAll(path) == damaged) << "unchanged";
  };
  refused("model:arm", "was baked from the clip 'fist', which model:arm does not have");
  std::string json = ReadAll(path + ".json");
  Json manifest = Json::parse(json);
  manifest["frame_hashes"][3] = "0123456789abcdef";
  WriteAll(path + ".json", manifest.dump());
  refused("model:hand", "baked again: sample 3 (frame 3) has checksum ");
  manifest["rig"] = "sha256-0";
  WriteAll(path + ".json", manifest.dump());
  refused("model:hand", "was baked with the rig 'sha256-0', not 'sha256-");
  manifest = Json::parse(json);
  manifest["first_frame"] = -3000000;
  WriteAll(path + ".json", manifest.dump());
  refused("model:hand", "has frame -3000000, need 0 to 1");
  manifest = Json::parse(json);
  manifest["pose_hashes"][0] = "0123456789abcdef";
  WriteAll(path + ".json", manifest.dump());
  refused("model:hand", "was baked from other poses than those of 'fist'");
  manifest = Json::parse(json);
  manifest["recipe"]["recipe_text"] = "implicit(contact=true, tracking=false)";
  WriteAll(path + ".json", manifest.dump());
  refused("model:hand",
          "a.pc2.json: the server refuses its recipe, 'implicit(contact=true, "
          "tracking=false)': stages[0].implicit.tracking: unknown parameter, need one of "
          "contact, samples, muscles, projection, max_iterations, gradient_threshold, step_length, "
          "potential_pit, smoothing; bake the cache again");
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2", "a.pc2.json"));
}

TEST_F(Parts, WrongOptionsAreRefused) {
  for (const Strings& options :
       {Strings{"--chunk", "0"}, Strings{"--chunk", "x"}, Strings{"--frames", ""},
        Strings{"--part", "--no-clobber"}, Strings{"--part", "--frames", "1,2.5"},
        Strings{"--frames", std::string(60'000, ' ')}}) {
    EXPECT_EQ(Bake("a.pc2", options).exit_code, 64) << options[0] << " " << options[1];
  }
  const Finished uneven = Bake("a.pc2", {"--frames", "0,1,5", "--chunk", "2"});
  EXPECT_EQ(uneven.exit_code, 65);
  EXPECT_THAT(uneven.err, HasSubstr(".pc2 holds frames at even distances"));
  EXPECT_TRUE(folder_.Names().empty());
  EXPECT_EQ(Bake("a.npy", {"--frames", "0,1,5", "--chunk", "2"}).exit_code, 0);
  ExpectWhole("a.npy", "ddm", {"--frames", "0,1,5"});
}

}  // namespace
}  // namespace sinew::testing
