// Bakes in parts while processes are killed, servers lost and files damaged: no frame is wrong, and
// nothing is lost or left behind.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "client/bake/formats/manifest.h"
#include "tests/integration/cli/parts_fixture.h"
#include "tests/support/paths.h"

namespace sinew::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

// A scheduler may queue a job again.
TEST_F(Parts, JoinMayBeRepeated) {
  ASSERT_EQ(Bake("a.pc2", {"--chunk", "16", "--part"}).exit_code, 0);
  const TemporaryFolder copy;
  std::filesystem::copy(folder_ / "a.pc2.parts", copy.path(),
                        std::filesystem::copy_options::recursive);
  const Strings join = {"join", folder_ / "a.pc2", "--frames", "0-47", "--json"};
  ASSERT_EQ(Sinew(join).exit_code, 0);
  const Finished again = Sinew(join);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["was_joined"], true);
  // Killed while it removed the parts.
  std::filesystem::create_directory(folder_ / "a.pc2.parts");
  for (const std::string name : {"16-31.npy", "16-31.npy.json", "32-47.npy"}) {
    std::filesystem::copy(copy / name, folder_ / ("a.pc2.parts/" + name));
  }
  const Finished third = Sinew(join);
  EXPECT_EQ(third.exit_code, 0) << third.err;
  EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2", "a.pc2.json"));
  ExpectWhole("a.pc2");
  EXPECT_EQ(Sinew({"join", folder_ / "a.pc2", "--frames", "0-48"}).exit_code, 65);
  ExpectWhole("a.pc2");
  // The tasks may be repeated as well: their frames are in the cache.
  const Finished task = Bake("a.pc2", {"--frames", "16-31", "--part", "--resume", "--json"});
  EXPECT_EQ(Json::parse(task.out)["frames_baked"], 0);
}

TEST_F(Parts, JoinRefusesFramesThatTwoPartsHaveDifferently) {
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-23", "--part"}).exit_code, 0);
  ASSERT_EQ(Bake("a.pc2", {"--frames", "24-47", "--part"}).exit_code, 0);
  Json manifest = Json::parse(ReadAll(folder_ / "a.pc2.parts/24-47.npy.json"));
  manifest["first_frame"] = 20.0;
  WriteAll(folder_ / "a.pc2.parts/20-43.npy.json", manifest.dump());
  std::filesystem::copy(folder_ / "a.pc2.parts/24-47.npy", folder_ / "a.pc2.parts/20-43.npy");
  const Finished join = Sinew({"join", folder_ / "a.pc2", "--frames", "0-47"});
  EXPECT_EQ(join.exit_code, 65);
  EXPECT_THAT(join.err, HasSubstr(" have different points for frame 20; remove the one"));
}

TEST_F(Parts, ResumedBakesOfTheSameCacheDoNoHarm) {
  Strings arguments = Arguments(folder_ / "a.pc2", {"--chunk", "4", "--resume"});
  arguments.insert(arguments.begin(), ProgramPath("sinew"));
  for (int round = 0; round < 5; ++round) {
    Process first(arguments), second(arguments);
    for (Process* process : {&first, &second}) {
      const Finished finished = process->Wait();
      EXPECT_EQ(finished.exit_code, 0) << finished.err;
    }
    EXPECT_THAT(folder_.Names(), ElementsAre("a.pc2", "a.pc2.json"));
    ExpectWhole("a.pc2");
    std::filesystem::remove(folder_ / "a.pc2.json");
  }
}

// What a file claims is not believed.
TEST_F(Parts, HostileManifestsAreRefused) {
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-3", "--part"}).exit_code, 0);
  const std::string part = folder_ / "a.pc2.parts/0-3.npy", text = ReadAll(part + ".json");
  const auto joined = [&](const std::string& key, const Json& value) {
    Json manifest = Json::parse(text);
    manifest[key] = value;
    if (key == "vertices") manifest["meshes"][0]["vertices"] = value;
    if (key == "frames") manifest["frame_hashes"] = manifest["pose_hashes"] = Json::array();
    WriteAll(part + ".json", manifest.dump());
    const Finished join = Sinew({"join", folder_ / "a.pc2"});
    EXPECT_EQ(join.exit_code, 65) << key << ": " << join.out << join.err;
    return join.err;
  };
  EXPECT_THAT(joined("frames", 0), HasSubstr("0-3.npy.json: is of an empty cache"));
  EXPECT_THAT(joined("vertices", 2147483647),
              HasSubstr("its manifest says 4 frames of 2147483647 vertices"));
  EXPECT_THAT(joined("vertices", 4294976436),
              HasSubstr("4 frames of 4294976436 vertices, need at most 2147483647"));
  EXPECT_THAT(joined("first_frame", 1e300), HasSubstr("manifest.first_frame"));
  EXPECT_THAT(joined("frame_numbers", Json::array({3, 2, 1, 0})),
              HasSubstr("manifest.frame_numbers[1]"));
  // One that is not needed does not matter.
  WriteAll(part + ".json", "{");
  ASSERT_EQ(Bake("a.pc2", {"--frames", "0-5", "--part"}).exit_code, 0);
  EXPECT_EQ(Sinew({"join", folder_ / "a.pc2"}).exit_code, 0);
}

TEST_F(Parts, OnlyFoldersOfPartsAndTheirFilesAreRemoved) {
  WriteAll(folder_ / "a.pc2.parts", "a file of the user");
  EXPECT_EQ(Bake("a.pc2", {"--chunk", "20"}).exit_code, 73);
  EXPECT_EQ(ReadAll(folder_ / "a.pc2.parts"), "a file of the user");
  ASSERT_EQ(Bake("b.pc2", {"--frames", "0-9", "--part"}).exit_code, 0);
  WriteAll(folder_ / "b.pc2.parts/.notes.part", "of the user");
  WriteAll(folder_ / "b.pc2.parts/.10-19.npy.1.0.part", "of a process that was killed");
  ASSERT_EQ(Bake("b.pc2", {"--frames", "20-29", "--chunk", "5", "--resume"}).exit_code, 0);
  EXPECT_THAT(PartNames("b.pc2"), ElementsAre("0-9.npy")) << "of other frames";
  ASSERT_EQ(Bake("b.pc2", {"--frames", "0-9", "--chunk", "5"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "b.pc2.parts/.notes.part"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "b.pc2.parts/.10-19.npy.1.0.part"));
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
  constexpr std::size_t kChunk = 6, kFrames = 189;  // of "fist" at 96 frames a second
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
      held += bake::ParseManifest(ReadAll(entry.path().string()))->frames;
    }
    const bool was_complete = std::filesystem::exists(out + ".json");
    const Finished resumed = Sinew(Arguments(out, options));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    const Json json = Json::parse(resumed.out);
    const std::size_t frames = json["frames"];
    EXPECT_EQ(frames, kFrames);
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

}  // namespace
}  // namespace sinew::testing
