// Servers that are absent, die and come back; signals; closed pipes.
#include <absl/strings/str_cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <iterator>
#include <optional>
#include <thread>

#include "client/models/models.h"
#include "sinew/client.h"
#include "tests/integration/cli/poses_file.h"
#include "tests/integration/cli/process.h"
#include "tests/support/heavy_recipe.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Waits until `done`, at most a minute.
bool Eventually(const std::function<bool()>& done) {
  for (int k = 0; k < 6000; ++k) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// Bytes of the largest file in the folder.
std::uintmax_t Largest(const TemporaryFolder& folder) {
  std::uintmax_t largest = 0;
  for (const std::string& name : folder.Names()) {
    std::error_code error;
    const auto size = std::filesystem::file_size(folder / name, error);
    if (!error) largest = std::max(largest, size);
  }
  return largest;
}

// A rig and a clip long enough that a bake can be caught half way: the tube's clip, over and over.
void WriteLongInputs(const TemporaryFolder& inputs) {
  constexpr int kTimes = 400;
  const client::Model tube = *client::Make("tube");
  std::vector<float> poses;
  for (int k = 0; k < kTimes; ++k) {
    poses.insert(poses.end(), tube.clip.joint_transforms.begin(), tube.clip.joint_transforms.end());
  }
  WriteAll(inputs / "tube.sinewrig", *client::EncodeRig(tube.rig));
  WritePoses(inputs / "long.npy", poses, tube.rig.joints.size());
}

std::vector<std::string> LongBake(const TemporaryFolder& inputs, const std::string& out) {
  return {ProgramPath("sinew"),
          "bake",
          inputs / "tube.sinewrig",
          "--poses",
          inputs / "long.npy",
          "--deformer",
          "enhanced_ddm",
          "--out",
          out};
}

// At the same time: each waits a moment for a lost server.
std::vector<std::unique_ptr<Process>> StartAll(
    const std::string& address, const std::vector<std::vector<std::string>>& commands) {
  std::vector<std::unique_ptr<Process>> running;
  for (std::vector<std::string> arguments : commands) {
    arguments.insert(arguments.begin(), ProgramPath("sinew"));
    arguments.insert(arguments.end(), {"--server", address});
    running.push_back(std::make_unique<Process>(arguments));
  }
  return running;
}

TEST(Faults, MissingServerExits69WithAdvice) {
  const TemporaryFolder folder;
  std::string address;
  {
    const Daemon daemon;
    address = daemon.address();
  }
  const std::vector<std::vector<std::string>> commands = {
      {"methods"},
      {"rigs"},
      {"sessions"},
      {"stats"},
      {"upload", "model:tube"},
      {"bind", "model:tube", "--deformer", "lbs"},
      {"delete", "sessions/x"},
      {"weights", "model:tube", "--method", "capsule", "--out", folder / "out.sinewrig"},
      {"bake", "model:tube", "--deformer", "lbs", "--out", folder / "out.pc2"},
      {"render", "model:tube", "--deformer", "lbs", "--out", folder / "out.png"},
      {"bench", "--deformer", "lbs"}};
  const auto running = StartAll(address, commands);
  for (std::size_t k = 0; k < running.size(); ++k) {
    const Finished finished = running[k]->Wait();
    EXPECT_EQ(finished.exit_code, 69) << commands[k][0] << ": " << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("--local"));
    EXPECT_THAT(finished.out, IsEmpty());
  }
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(Faults, ServerAddressFromEnvironment) {
  Daemon daemon;
  const Finished stats = Sinew({"stats"}, {}, {"SINEW_SERVER=" + daemon.address()});
  EXPECT_EQ(stats.exit_code, 0) << stats.err;
}

// The whole of 127/8 is loopback: an address of this test's own, where the usual port is free.
TEST(Faults, AddressWithoutPortUsesDefault) {
  const auto id = static_cast<unsigned>(::getpid());
  const std::string host =
      absl::StrCat("127.", 2 + id / 65536 % 250, ".", id / 256 % 256, ".", id % 256);
  const Daemon daemon(host + ":50051");
  ASSERT_EQ(daemon.address(), host + ":50051");
  const Finished found = SinewAt(host, {"stats"});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_EQ(SinewAt("dns:///" + host + ":50051", {"stats"}).exit_code, 0);
  const absl::StatusOr<client::Client> connection = client::Client::Connect({.address = host});
  ASSERT_TRUE(connection.ok()) << connection.status();
  EXPECT_TRUE(connection->GetServerInfo().ok());
  const Finished refused = SinewAt("dns:///" + host, {"stats"});
  EXPECT_EQ(refused.exit_code, 64);
  EXPECT_THAT(refused.err, HasSubstr("dns:///host:50051"));
}

TEST(Faults, ConnectsToIpv6AndUnixSocket) {
  const TemporaryFolder folder;
  for (const std::string& listen :
       {std::string("[::1]:0"), "unix:" + std::string(folder / "sinewd.sock")}) {
    const Daemon daemon(listen);
    ASSERT_FALSE(daemon.address().empty()) << listen;
    const Finished found = SinewAt(daemon.address(), {"stats"});
    EXPECT_EQ(found.exit_code, 0) << daemon.address() << ": " << found.err;
  }
}

TEST(Faults, BakeSurvivesKilledServerWithSameBits) {
  const TemporaryFolder inputs, folder, undisturbed;
  WriteLongInputs(inputs);
  auto daemon = std::make_optional<Daemon>();
  const std::string address = daemon->address();
  std::vector<std::string> arguments = LongBake(inputs, folder / "a.npy");
  arguments.insert(arguments.end(), {"--server", address});
  Process bake(arguments);
  const bool started = Eventually([&] { return Largest(folder) > 1'000'000 || !bake.running(); });
  ASSERT_TRUE(started);
  ASSERT_TRUE(bake.running()) << "the bake ended before it could be disturbed";
  daemon->process().Signal(SIGKILL);
  daemon.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  daemon.emplace(address);
  ASSERT_EQ(daemon->address(), address);
  const Finished finished = bake.Wait();
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  arguments = LongBake(inputs, undisturbed / "a.npy");
  arguments.insert(arguments.end(), {"--server", address});
  ASSERT_EQ(Process(arguments).Wait().exit_code, 0);
  EXPECT_EQ(ReadAll(folder / "a.npy.json"), ReadAll(undisturbed / "a.npy.json"));
  EXPECT_TRUE(ReadAll(folder / "a.npy") == ReadAll(undisturbed / "a.npy"));
  EXPECT_EQ(Sinew({"verify", folder / "a.npy"}).exit_code, 0);
}

// The server ends during a bind, which may take minutes, and keeps nothing.
TEST(Faults, BakeSurvivesRestartDuringBind) {
  const TemporaryFolder folder;
  const std::vector<std::string> slow = {"--threads", "1"};
  auto daemon = std::make_optional<Daemon>("127.0.0.1:0", slow);
  const std::string address = daemon->address();
  const client::Client observer = *client::Client::Connect({.address = address});
  Process bake({ProgramPath("sinew"), "bake", "model:hand", "--deformer", "implicit_skinning",
                "--frames", "0-1", "--out", folder / "a.npy", "--server", address});
  const bool binding = Eventually([&] {
    bool found = false;
    const absl::Status listed = observer.ForEachSession([&](const client::Session& session) {
      found |= session.state == client::SessionState::kBinding;
      return true;
    });
    return (listed.ok() && found) || !bake.running();
  });
  ASSERT_TRUE(binding && bake.running()) << "the bind ended before it could be disturbed";
  daemon->process().Signal(SIGKILL);
  daemon.reset();
  EXPECT_TRUE(bake.ReadErrorsUntil("server " + address + ": cannot be reached"));
  std::this_thread::sleep_for(std::chrono::seconds(3));
  daemon.emplace(address);
  const Finished finished = bake.Wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(Sinew({"verify", folder / "a.npy"}).exit_code, 0);
}

// Half a minute is long to look at nothing: the wait is announced when it begins.
TEST(Faults, ReportsWaitingForLostServer) {
  const TemporaryFolder folder;
  auto daemon = std::make_optional<Daemon>();
  const std::string address = daemon->address();
  const std::string slow = HeavyRecipe(15);
  std::vector<std::vector<std::string>> commands = {
      {"compare", "model:hand", "--deformers", slow, "implicit_skinning"},
      {"bake", "model:hand", "--deformer", slow, "--out", folder / "out.pc2"},
      {"render", "model:hand", "--frame", "40", "--out", folder / "out.png", "--deformer"}};
  for (int panel = 0; panel < 10; ++panel) commands[2].push_back(slow);
  const client::Client observer = *client::Client::Connect({.address = address});
  const auto ready_sessions = [&] {
    int ready = 0;
    const absl::Status listed = observer.ForEachSession([&](const client::Session& session) {
      ready += session.state == client::SessionState::kReady ? 1 : 0;
      return true;
    });
    return listed.ok() ? ready : 0;
  };
  // All of them at work on frames. The longest binds for the others.
  auto running = StartAll(address, {commands[0]});
  ASSERT_TRUE(Eventually([&] { return ready_sessions() == 2; }));
  std::ranges::move(StartAll(address, {commands[1], commands[2]}), std::back_inserter(running));
  ASSERT_TRUE(Eventually([&] { return ready_sessions() == 4; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  daemon->process().Signal(SIGKILL);
  daemon.reset();
  const auto killed = std::chrono::steady_clock::now();
  for (std::size_t k = 0; k < running.size(); ++k) {
    ASSERT_TRUE(running[k]->running()) << commands[k][0] << " ended before it could be disturbed";
    EXPECT_TRUE(running[k]->ReadErrorsUntil("server " + address + ": cannot be reached"));
    EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(5)) << commands[k][0];
  }
  for (std::size_t k = 0; k < running.size(); ++k) {
    const Finished finished = running[k]->Wait();
    EXPECT_EQ(finished.exit_code, 69) << commands[k][0] << ": " << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("server " + address));
    EXPECT_THAT(finished.err, Not(HasSubstr("cannot be reached"))) << "said twice";
  }
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(Faults, SignalsEndBakeWithoutLeftovers) {
  const TemporaryFolder inputs;
  WriteLongInputs(inputs);
  for (const int signal : {SIGINT, SIGTERM}) {
    const TemporaryFolder folder;
    std::vector<std::string> arguments = LongBake(inputs, folder / "a.npy");
    arguments.push_back("--local");
    Process bake(arguments);
    ASSERT_TRUE(Eventually([&] { return Largest(folder) > 1'000'000 || !bake.running(); }));
    ASSERT_TRUE(bake.running());
    bake.Signal(signal);
    const Finished finished = bake.Wait();
    EXPECT_EQ(finished.signal, signal)
        << "the shell sees the signal; " << finished.exit_code << finished.err;
    EXPECT_THAT(finished.err, HasSubstr("interrupted"));
    EXPECT_THAT(folder.Names(), IsEmpty());
  }
}

TEST(Faults, InterruptedPictureIsNotWritten) {
  const TemporaryFolder folder;
  Process process({ProgramPath("sinew"), "render", "model:hand", "--weights", "all", "--out",
                   folder / "never.png", "--size", "2200x2200"});
  EXPECT_TRUE(process.ReadErrorsUntil("Draw ")) << "no terminal, but lines now and then";
  ASSERT_TRUE(process.running()) << "minutes of drawing";
  process.Signal(SIGINT);
  EXPECT_EQ(process.Wait().signal, SIGINT);
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(Faults, ClosedOutputPipeIsNoCrash) {
  const Finished finished =
      Process({"/bin/sh", "-c",
               "{ " + ProgramPath("sinew") + " inspect model:hand --json; echo $? >&2; } | true"})
          .Wait();
  EXPECT_EQ(finished.err, "0\n");
}

// `head` leaves when it has enough: that is no error to talk about.
TEST(Faults, ClosedPipeReaderIsNoError) {
  for (const char* command : {"methods --local", "inspect model:hand --joints"}) {
    const Finished finished =
        Process({"/bin/sh", "-c",
                 "{ " + ProgramPath("sinew") + " " + command + "; echo $? >&2; } | true"})
            .Wait();
    EXPECT_EQ(finished.err, "0\n") << command;
  }
}

TEST(Faults, LostServerErrorNamesServerAndKeptFiles) {
  const TemporaryFolder folder;
  std::string address;
  {
    const Daemon daemon;
    address = daemon.address();
  }
  const auto running =
      StartAll(address, {{"bake", "model:tube", "--deformer", "lbs", "--out", folder / "out.pc2"},
                         {"compare", "model:tube", "--deformers", "lbs"},
                         {"bind", "model:tube", "--deformer", "lbs"},
                         {"weights", "model:tube", "--method", "capsule"}});
  const Finished bake = running[0]->Wait();
  EXPECT_EQ(bake.exit_code, 69);
  EXPECT_THAT(bake.err, HasSubstr(address));
  EXPECT_THAT(bake.err, HasSubstr("out.pc2 is not written"));
  const Finished compare = running[1]->Wait();
  EXPECT_EQ(compare.exit_code, 69);
  EXPECT_THAT(compare.err, HasSubstr(address));
  EXPECT_THAT(running[2]->Wait().err, HasSubstr("server " + address + ": "));
  EXPECT_THAT(running[3]->Wait().err, HasSubstr("server " + address + ": "));
}

TEST(Faults, PipedOutputHasNoEscapeCodes) {
  const TemporaryFolder folder;
  Daemon daemon;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"},
        {"inspect", "model:hand", "--joints"},
        {"methods"},
        {"stats"},
        {"upload", "model:hand"},
        {"bind", "model:hand", "--deformer", "ddm"},
        {"sessions"},
        {"rigs"},
        {"bake", "model:hand", "--deformer", "ddm", "--out", folder / "out.pc2"},
        {"verify", folder / "out.pc2"},
        {"bake", "model:hand", "--deformer", "dance", "--out", folder / "out.pc2"}}) {
    const Finished finished = SinewAt(daemon.address(), arguments);
    EXPECT_THAT(finished.out + finished.err, Not(HasSubstr("\x1b"))) << arguments[0];
    EXPECT_THAT(finished.out + finished.err, Not(HasSubstr("\r"))) << arguments[0];
  }
}

}  // namespace
}  // namespace sinew::testing
