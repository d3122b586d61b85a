// Bakes in parts: on a farm, resumed after a failure, joined, checked and repaired. Whatever
// happens on the way, the cache is the one of an undisturbed bake, byte for byte.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "core/formats/manifest.h"
#include "tests/integration/cli/process.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;
using Json = nlohmann::json;
using Strings = std::vector<std::string>;

class Parts : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { daemon_ = new Daemon; }
  static void TearDownTestSuite() { delete daemon_; }

  // `sinew bake model:hand ... --out OUT` in the test's folder.
  static Strings Arguments(const std::string& out, const Strings& options,
                           const std::string& deformer = "ddm") {
    Strings arguments = {"bake",  "model:hand", "--deformer", deformer,
                         "--out", out,          "--server",   daemon_->address()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }
  Finished Bake(const std::string& out, const Strings& options,
                const std::string& deformer = "ddm") const {
    return Sinew(Arguments(folder_ / out, options, deformer));
  }
  void ExpectWhole(const std::string& out, const std::string& deformer = "ddm",
                   const Strings& options = {}) const {
    const TemporaryFolder undisturbed;
    const std::string name = "whole" + std::filesystem::path(out).extension().string();
    const Finished bake = Sinew(Arguments(undisturbed / name, options, deformer));
    ASSERT_EQ(bake.exit_code, 0) << bake.err;
    EXPECT_TRUE(ReadAll(folder_ / out) == ReadAll(undisturbed / name)) << out << " differs";
    EXPECT_EQ(ReadAll(folder_ / (out + ".json")), ReadAll(undisturbed / (name + ".json")));
  }
  Strings PartNames(const std::string& out) const {
    Strings names;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder_ / (out + ".parts"), error)) {
      if (entry.path().extension() == ".npy") names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  TemporaryFolder folder_;
  inline static Daemon* daemon_ = nullptr;
};

TEST_F(Parts, JoinedCacheEqualsWholeInEveryFormat) {
  for (const std::string out : {"a.pc2", "a.mdd", "a.npy"}) {
    const Finished bake = Bake(out, {"--chunk", "7"});
    ASSERT_EQ(bake.exit_code, 0) << bake.err;
    EXPECT_EQ(bake.out, folder_ / out + "\n");
    ExpectWhole(out);
  }
  EXPECT_THAT(folder_.Names(),
              ElementsAre("a.mdd", "a.mdd.json", "a.npy", "a.npy.json", "a.pc2", "a.pc2.json"));
}

TEST_F(Parts, CachesOfMeshesAndTimesBetweenFramesHaveParts) {
  const Strings split = {"--split", "--mesh", "hand", "--axes", "blender"};
  Strings options = split;
  options.insert(options.end(), {"--chunk", "20"});
  ASSERT_EQ(Bake("{mesh}.pc2", options).exit_code, 0);
  ExpectWhole("hand.pc2", "ddm", {"--mesh", "hand", "--axes", "blender"});
  const Strings times = {"--times", "1,1.25,3,7-8x0.125"};
  options = times;
  options.insert(options.end(), {"--chunk", "3"});
  ASSERT_EQ(Bake("times.mdd", options).exit_code, 0);
  ExpectWhole("times.mdd", "ddm", times);
}

// Each task of a farm has its own frames, in the syntax of its scheduler.
TEST_F(Parts, TasksOfAFarmAreJoined) {
  for (const std::string frames : {"20-29", "0-8x2,1,3", "5-19:2", "10-18x2", "30-"}) {
    const Finished task = Bake("a.pc2", {"--frames", frames, "--part"});
    ASSERT_EQ(task.exit_code, 0) << frames << ": " << task.err;
    EXPECT_EQ(task.out, folder_ / "a.pc2.parts\n");
  }
  const Finished join = Sinew({"join", folder_ / "a.pc2", "--frames", "0-47"});
  ASSERT_EQ(join.exit_code, 0) << join.err;
  ExpectWhole("a.pc2");
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2", "a.pc2.json"));
}

TEST_F(Parts, JoinNamesMissingFramesAndKeepsParts) {
  const Finished none = Sinew({"join", folder_ / "a.pc2"});
  EXPECT_EQ(none.exit_code, 65);
  EXPECT_THAT(none.err, HasSubstr("a.pc2.parts: there are no parts to join"));
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-9", "--part"}).exit_code, 0);
  ASSERT_EQ(Bake("a.pc2", {"--frames", "20-29", "--part"}).exit_code, 0);
  const Finished gap = Sinew({"join", folder_ / "a.pc2"});
  EXPECT_EQ(gap.exit_code, 65);
  EXPECT_THAT(gap.err, HasSubstr("the parts have frame 9 and then 20; is one missing?"));
  const Finished missing = Sinew({"join", folder_ / "a.pc2", "--frames", "0-35,40"});
  EXPECT_EQ(missing.exit_code, 65);
  EXPECT_THAT(missing.err, HasSubstr("17 of 37 frames are missing: 10-19, 30-35, 40"));
  EXPECT_EQ(Sinew({"join", folder_ / "a.pc2", "--frames", "0-"}).exit_code, 64);
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2.parts"));
  EXPECT_EQ(PartNames("a.pc2").size(), 2u);
  // Frames that are enough can be joined without a loss.
  const Finished some = Sinew({"join", folder_ / "a.pc2", "--frames", "2-9", "--keep-parts"});
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_EQ(PartNames("a.pc2").size(), 2u);
}

TEST_F(Parts, JoinRefusesPartsOfDifferentBakes) {
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-9", "--part"}).exit_code, 0);
  ASSERT_EQ(Bake("a.pc2", {"--frames", "10-19", "--part"}, "lbs").exit_code, 0);
  const Finished join = Sinew({"join", folder_ / "a.pc2"});
  EXPECT_EQ(join.exit_code, 65);
  EXPECT_THAT(join.err, AllOf(HasSubstr("0-9.npy"), HasSubstr("10-19.npy"),
                              HasSubstr("are of different bakes: recipe 'ddm(")));
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2.parts"));
}

TEST_F(Parts, JoinNamesDamagedFrame) {
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-9", "--part"}).exit_code, 0);
  const std::string part = folder_ / "a.pc2.parts/0-9.npy";
  std::string bytes = ReadAll(part);
  bytes[bytes.size() / 2] ^= 1;
  WriteAll(part, bytes);
  const Finished join = Sinew({"join", folder_ / "a.pc2"});
  EXPECT_EQ(join.exit_code, 65);
  EXPECT_THAT(join.err, HasSubstr("0-9.npy: sample 4 (frame 4) has checksum "));
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2.parts"));
}

TEST_F(Parts, ResumeBakesOnlyWhatIsMissingOrDamaged) {
  ASSERT_EQ(Bake("a.pc2", {"--chunk", "10", "--part"}).exit_code, 0);
  ASSERT_THAT(PartNames("a.pc2"),
              ElementsAre("0-9.npy", "10-19.npy", "20-29.npy", "30-39.npy", "40-47.npy"));
  std::filesystem::remove(folder_ / "a.pc2.parts/10-19.npy.json");
  std::string bytes = ReadAll(folder_ / "a.pc2.parts/30-39.npy");
  WriteAll(folder_ / "a.pc2.parts/30-39.npy", bytes.substr(0, bytes.size() - 1));
  WriteAll(folder_ / "a.pc2.parts/40-47.npy.json", "{");
  const Finished resumed = Bake("a.pc2", {"--chunk", "10", "--resume", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const Json json = Json::parse(resumed.out);
  EXPECT_EQ(json["frames_kept"], 20);
  EXPECT_EQ(json["frames_baked"], 28);
  EXPECT_THAT(resumed.err, AllOf(HasSubstr("30-39.npy is baked again: the cache has "),
                                 HasSubstr("40-47.npy is baked again: ")));
  ExpectWhole("a.pc2");
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2", "a.pc2.json"));
  const Finished again = Bake("a.pc2", {"--chunk", "10", "--resume", "--json"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["frames_baked"], 0);
  EXPECT_EQ(Json::parse(again.out)["current"], true);
}

TEST_F(Parts, ResumeDoesNotUsePartsOfAnotherRecipe) {
  ASSERT_EQ(Bake("a.pc2", {"--chunk", "10", "--part"}, "lbs").exit_code, 0);
  const Finished resumed = Bake("a.pc2", {"--chunk", "10", "--resume", "--json"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(Json::parse(resumed.out)["frames_baked"], 48);
  EXPECT_THAT(resumed.err, HasSubstr("is baked again: of another bake: recipe 'ddm("));
  ExpectWhole("a.pc2");
}

TEST_F(Parts, PartsOfRecipesWithStateEqualWhole) {
  const std::string tracking = "dqs | implicit(tracking=true)";
  const auto bake = [&](const std::string& out, const Strings& options) {
    Strings arguments = {"bake",  "model:cylinder", "--deformer", tracking,
                         "--out", folder_ / out,    "--server",   daemon_->address()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished finished = Sinew(arguments);
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  };
  bake("whole.npy", {"--frames", "0-11"});
  bake("tasks.npy", {"--frames", "6-11", "--part"});
  bake("tasks.npy", {"--frames", "0-5", "--part"});
  ASSERT_EQ(Sinew({"join", folder_ / "tasks.npy", "--frames", "0-11"}).exit_code, 0);
  bake("chunks.npy", {"--frames", "0-11", "--chunk", "5"});
  for (const std::string out : {"tasks.npy", "chunks.npy"}) {
    EXPECT_TRUE(ReadAll(folder_ / out) == ReadAll(folder_ / "whole.npy")) << out;
    EXPECT_EQ(ReadAll(folder_ / (out + ".json")), ReadAll(folder_ / "whole.npy.json"));
  }
  EXPECT_EQ(ParseManifest(ReadAll(folder_ / "whole.npy.json"))->preroll, "all");
  bake("short.npy", {"--frames", "6-11", "--preroll", "2"});
  EXPECT_EQ(ParseManifest(ReadAll(folder_ / "short.npy.json"))->preroll, "2");
  // A part that was begun two frames before is none of a whole bake.
  bake("mixed.npy", {"--frames", "0-5", "--part"});
  bake("mixed.npy", {"--frames", "6-11", "--part", "--preroll", "2"});
  const Finished mixed = Sinew({"join", folder_ / "mixed.npy"});
  EXPECT_EQ(mixed.exit_code, 65);
  EXPECT_THAT(mixed.err, HasSubstr("different bakes: preroll 'all' and '2'"));
}

TEST_F(Parts, ProcessesThatBakeTheSamePartsDoNoHarm) {
  Strings arguments = Arguments(folder_ / "a.pc2", {"--part", "--chunk", "4"});
  arguments.insert(arguments.begin(), ProgramPath("sinew"));
  Process first(arguments), second(arguments), third(arguments);
  for (Process* process : {&first, &second, &third}) {
    const Finished finished = process->Wait();
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
  }
  ASSERT_EQ(Sinew({"join", folder_ / "a.pc2", "--frames", "0-47"}).exit_code, 0);
  ExpectWhole("a.pc2");
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2", "a.pc2.json"));
}

// kill -9 at instants that a seed chooses. $SINEW_BAKE_KILLS: how many bakes, each killed once.
TEST_F(Parts, ResumesAfterKillsAtRandomInstants) {
  const char* wanted = std::getenv("SINEW_BAKE_KILLS");
  const int kills = wanted == nullptr ? 8 : std::atoi(wanted);
  constexpr std::size_t kChunk = 6, kFrames = 192;  // of "fist" at 96 frames a second: 189
  const Strings options = {"--fps", "96", "--chunk", absl::StrCat(kChunk), "--resume", "--json"};
  std::mt19937 dice(7);
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(Bake("timed.pc2", options).exit_code, 0);
  const double usual =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  int resumed_parts = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const TemporaryFolder folder;
    const std::string out = folder / "a.pc2";
    Strings arguments = Arguments(out, options);
    arguments.insert(arguments.begin(), ProgramPath("sinew"));
    {
      Process bake(arguments);
      const double part = std::uniform_real_distribution<double>(0, 1.1)(dice);
      std::this_thread::sleep_for(std::chrono::duration<double>(part * usual));
      bake.Signal(SIGKILL);
      bake.Wait();
    }
    std::size_t held = 0;  // frames in complete parts
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(out + ".parts", error)) {
      if (entry.path().extension() != ".json" ||
          absl::StartsWith(entry.path().filename().string(), ".")) {
        continue;
      }
      held += ParseManifest(ReadAll(entry.path().string()))->frames;
    }
    const bool was_complete = std::filesystem::exists(out + ".json");
    const Finished resumed = Sinew(Arguments(out, options));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    const Json json = Json::parse(resumed.out);
    const std::size_t frames = json["frames"];
    EXPECT_LT(frames, kFrames);
    if (!was_complete) {
      EXPECT_EQ(json["frames_baked"], frames - held);
    }
    resumed_parts += held > 0 ? 1 : 0;
    EXPECT_THAT(folder.Names(), ElementsAre("a.pc2", "a.pc2.json")) << "nothing is left behind";
    ASSERT_TRUE(ReadAll(out) == ReadAll(folder_ / "timed.pc2")) << "kill " << kill;
    ASSERT_EQ(ReadAll(out + ".json"), ReadAll(folder_ / "timed.pc2.json"));
  }
  RecordProperty("kills", kills);
  RecordProperty("resumed_with_parts", resumed_parts);
  std::printf("%d kills, %d of them with parts to resume from; a bake takes %.2f s\n", kills,
              resumed_parts, usual);
}

TEST_F(Parts, LostServerKeepsPartsAndResumeContinues) {
  auto daemon = std::make_optional<Daemon>();
  const std::string address = daemon->address();
  const Strings options = {"--fps", "96", "--chunk", "10", "--resume", "--wait", "0.5"};
  Strings arguments = {
      ProgramPath("sinew"), "bake",     "model:hand", "--deformer", "implicit_skinning", "--out",
      folder_ / "a.npy",    "--server", address};
  arguments.insert(arguments.end(), options.begin(), options.end());
  {
    Process bake(arguments);
    while (PartNames("a.npy").size() < 2 && bake.running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(bake.running()) << "the bake ended before it could be disturbed";
    daemon->process().Signal(SIGKILL);
    daemon.reset();
    const Finished lost = bake.Wait();
    EXPECT_EQ(lost.exit_code, 69);
    EXPECT_THAT(lost.err, HasSubstr("frames are kept in " + (folder_ / "a.npy.parts") +
                                    "; --resume continues"));
  }
  EXPECT_THAT(folder_.Names(), ElementsAre("a.npy.parts"));
  daemon.emplace(address);
  arguments.emplace_back("--json");
  const Finished resumed = Process(arguments).Wait();
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_GE(Json::parse(resumed.out)["frames_kept"], 20);
  ExpectWhole("a.npy", "implicit_skinning", {"--fps", "96"});
  EXPECT_THAT(folder_.Names(), ElementsAre("a.npy", "a.npy.json"));
}

TEST_F(Parts, WaitsForAServerThatIsStarted) {
  std::string address;
  {
    const Daemon daemon;
    address = daemon.address();
  }
  Process bake({ProgramPath("sinew"), "bake", "model:tube", "--deformer", "ddm", "--frames", "0-3",
                "--out", folder_ / "a.npy", "--server", address, "--wait", "60"});
  EXPECT_TRUE(bake.ReadErrorsUntil("; waiting up to "));
  const Daemon daemon(address);
  ASSERT_EQ(daemon.address(), address);
  const Finished finished = bake.Wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

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
    Strings options = {"--skip-if-current", "--json"};
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
  const Finished text =
      Bake("a.pc2", {"--skip-if-current", "--frames", "0-20", "--axes", "blender"}, "lbs");
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
    repair(damaged, "frames 3-5, 15");
    EXPECT_EQ(Sinew({"verify", path}).exit_code, 0);
    repair(bytes.substr(0, header + 8 * frame - 1), "frames 15-19");
    repair("", "frames 1-19");
    damaged = bytes;
    damaged[1] ^= 1;
    repair(damaged, "the header");
    repair(bytes + "tail", "the header");
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
  refused("model:arm", "--clip: got \"fist\"");
  std::string json = ReadAll(path + ".json");
  Json manifest = Json::parse(json);
  manifest["frame_hashes"][3] = "0123456789abcdef";
  WriteAll(path + ".json", manifest.dump());
  refused("model:hand", "baked again: sample 3 (frame 3) has checksum ");
  manifest["rig"] = "sha256-0";
  WriteAll(path + ".json", manifest.dump());
  refused("model:hand", "was baked from something else: rig 'sha256-0' and ");
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2", "a.pc2.json"));
}

TEST_F(Parts, WrongOptionsAreRefused) {
  for (const Strings& options :
       {Strings{"--chunk", "0"}, Strings{"--chunk", "x"}, Strings{"--preroll", "-1"}}) {
    EXPECT_EQ(Bake("a.pc2", options).exit_code, 64) << options[0] << " " << options[1];
  }
  const Finished uneven = Bake("a.pc2", {"--frames", "0,1,5", "--chunk", "2"});
  EXPECT_EQ(uneven.exit_code, 65);
  EXPECT_THAT(uneven.err, HasSubstr("a .pc2 holds frames at even distances"));
  EXPECT_TRUE(folder_.Names().empty());
  EXPECT_EQ(Bake("a.npy", {"--frames", "0,1,5", "--chunk", "2"}).exit_code, 0);
  ExpectWhole("a.npy", "ddm", {"--frames", "0,1,5"});
}

}  // namespace
}  // namespace sinew::testing
