// Bakes of deformers that remember poses: every part of a clip has the bits of the whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/cli/process.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTracking[] = "dqs | implicit(tracking=true)";

std::vector<std::string> BakeArguments(const std::string& frames, const std::string& out) {
  return {"bake", "model:arm", "--deformer", kTracking,  "--frames",
          frames, "--out",     out,          "--format", "npy"};
}

// The frames of a bake, as bytes.
std::vector<std::string> FramesOf(const std::string& path) {
  const auto manifest = nlohmann::json::parse(ReadAll(path + ".json"));
  const std::size_t frames = manifest.at("frames").get<std::size_t>();
  const std::string bytes = ReadAll(path);
  const std::size_t header =
      10 + static_cast<unsigned char>(bytes.at(8)) + 256u * static_cast<unsigned char>(bytes.at(9));
  const std::size_t size = (bytes.size() - header) / frames;
  std::vector<std::string> result;
  for (std::size_t k = 0; k < frames; ++k) result.push_back(bytes.substr(header + k * size, size));
  return result;
}

std::vector<std::string> Bake(const Daemon& server, const std::string& frames,
                              const std::string& out) {
  const Finished finished = SinewAt(server.address(), BakeArguments(frames, out));
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return finished.exit_code == 0 ? FramesOf(out) : std::vector<std::string>();
}

TEST(Tracking, AnyRangeHasBitsOfWholeClip) {
  const TemporaryFolder folder;
  const Daemon one, other;
  const auto whole = Bake(one, "0-19", folder / "whole.npy");
  ASSERT_EQ(whole.size(), 20u);
  const auto expect_part = [&](const std::string& range, std::size_t first, std::size_t step,
                               std::size_t count) {
    const auto part = Bake(other, range, folder / (range + ".npy"));
    ASSERT_EQ(part.size(), count) << range;
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_TRUE(part[k] == whole[first + k * step]) << range << ", " << k;
    }
  };
  expect_part("0-9", 0, 1, 10);
  expect_part("10-19", 10, 1, 10);
  expect_part("2-19x5", 2, 5, 4);
  expect_part("17", 17, 1, 1);
}

// Not the pose alone: what happened to the skin on the way there.
TEST(Tracking, RenderShowsBakedFrame) {
  const TemporaryFolder folder;
  const Finished drawn = Sinew({"render", "model:cylinder", "--deformer", "dqs | implicit",
                                kTracking, "--frame", "130", "--vertex-status", "--size", "64x64",
                                "--local", "--json", "--out", folder / "a.png"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_THAT(drawn.err, HasSubstr("all 131 from frame 0 on are computed, 1 is kept"));
  const auto vertex_status = nlohmann::json::parse(drawn.out).at("vertex_status");
  EXPECT_GT(vertex_status[0]["counts"]["contact"], 0);
  EXPECT_GT(vertex_status[1]["counts"]["contact"], 0);
  EXPECT_NE(vertex_status[0]["counts"], vertex_status[1]["counts"])
      << "the pose alone is projected";
}

TEST(Tracking, ReportsExtraFramesComputed) {
  const TemporaryFolder folder;
  const Daemon server;
  const Finished part = SinewAt(server.address(), BakeArguments("5-9", folder / "a.npy"));
  EXPECT_THAT(part.err, HasSubstr("all 10 from frame 0 on are computed, 5 are kept"));
  const Finished all = SinewAt(server.address(), BakeArguments("0-9", folder / "a.npy"));
  EXPECT_THAT(all.err, Not(HasSubstr("are computed")));
  std::vector<std::string> without = BakeArguments("5-9", folder / "a.npy");
  without[3] = "dqs";
  EXPECT_THAT(SinewAt(server.address(), without).err, Not(HasSubstr("are computed")));
}

TEST(Tracking, KilledServerChangesNoBit) {
  const TemporaryFolder folder, undisturbed;
  auto server = std::make_optional<Daemon>();
  const std::string address = server->address();
  const auto whole = Bake(*server, "20-47", undisturbed / "a.npy");
  std::vector<std::string> arguments = BakeArguments("20-47", folder / "a.npy");
  arguments.insert(arguments.begin(), ProgramPath("sinew"));
  arguments.insert(arguments.end(), {"--server", address});
  Process bake(arguments);
  // Until some frames are there: the cache is written as they come.
  for (int k = 0; k < 60'000 && bake.running(); ++k) {
    bool begun = false;
    for (const std::string& name : folder.Names()) {
      std::error_code error;
      begun = begun || std::filesystem::file_size(folder / name, error) > 2 * whole.at(0).size();
    }
    if (begun) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(bake.running()) << "the bake ended before it could be disturbed";
  server->process().Signal(SIGKILL);
  server.reset();
  server.emplace(address);
  const Finished finished = bake.Wait();
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("connection lost; recomputing"));
  EXPECT_TRUE(FramesOf(folder / "a.npy") == whole);
}

}  // namespace
}  // namespace sinew::testing
