// The program itself: start, signals, exit codes, and what survives a kill.
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "server/base/files.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/integration/server/sinewd_process.h"
#include "tests/integration/server/thread_names.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;

// Fills the window of a stream, which is 1: afterwards pose 3 has arrived.
void FillWindow(Stream& stream) {
  stream.Opened();
  for (std::uint64_t frame = 1; frame <= 3; ++frame) stream.Send(TubePose(frame));
  stream.ReadUntil(1, false);
  stream.Acknowledge(1);
  stream.ReadUntil(2, false);
}

// Nothing else can arrive on the stream.
void WaitForNotice(Stream& stream) {
  v1::StreamDeformResponse response;
  ASSERT_TRUE(stream.Read(response));
  EXPECT_TRUE(response.has_notice());
}

TEST(Sinewd, PrintsOneLineWhenReadyAndExitsCleanly) {
  SinewdProcess server;
  ASSERT_FALSE(server.address().empty()) << server.err();
  EXPECT_EQ(server.out(), "sinewd: listening on " + server.address() + "\n");
  const std::string ready = ReadAll(server.ready_file());
  EXPECT_NE(ready.find("\"pid\": " + std::to_string(server.pid())), std::string::npos) << ready;
  EXPECT_EQ(server.http().rfind("127.0.0.1:", 0), 0u);
  Stubs stubs(Connect(server));
  EXPECT_EQ(stubs.Stats().rigs(), 0u);
  EXPECT_EQ(server.Stop(), 0) << server.err();
  EXPECT_EQ(server.out(), "sinewd: listening on " + server.address() + "\n");
}

TEST(Sinewd, LineWhenReadyIsJsonWithJsonLog) {
  SinewdProcess server({"--log-format", "json"});
  ASSERT_FALSE(server.address().empty()) << server.err();
  EXPECT_EQ(server.out(),
            absl::StrCat("{\"addresses\":[\"", server.address(), "\"],\"http\":\"", server.http(),
                         "\",\"web\":\"\",\"pid\":", server.pid(), "}\n"));
}

// A test that is killed cannot stop its server.
TEST(Sinewd, EndsWithItsParent) {
  const TemporaryFolder folder;
  const std::string ready = (folder.path() / "ready.json").string();
  const std::string command = absl::StrCat(
      "'", ProgramPath("sinewd"), "' --listen 127.0.0.1:0 --exit-with-parent --ready-file ", ready,
      " >/dev/null 2>&1 & exec sleep 1000");
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  const auto exists = [&] { return std::filesystem::exists(ready); };
  WaitUntil(exists);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  WaitUntil([&] { return !exists(); });  // the last thing that a server does
}

// A test that is killed while its server starts.
TEST(Sinewd, EndsIfItsParentEndedBeforeItStarted) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the server becomes a child of this process
  int address[2], started[2];
  ASSERT_EQ(::pipe2(address, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(started, O_CLOEXEC), 0);
  const std::string program = ProgramPath("sinewd");
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child > 0) {
      [[maybe_unused]] const ssize_t written = ::write(started[1], &child, sizeof child);
      ::_exit(0);
    }
    while (::getppid() == self) ::sched_yield();
    ::close(address[0]);
    ::dup2(address[1], STDOUT_FILENO);
    ::execl(program.c_str(), "sinewd", "--listen", "127.0.0.1:0", "--http", "off",
            "--exit-with-parent", nullptr);
    ::_exit(127);
  }
  ::close(address[0]);  // the test reads nothing either
  ::close(address[1]);
  pid_t server = -1;
  ASSERT_EQ(::read(started[0], &server, sizeof server), static_cast<ssize_t>(sizeof server));
  ::close(started[0]);
  ::close(started[1]);
  ::waitpid(parent, nullptr, 0);
  int status = -1;
  WaitUntil([&] { return ::waitpid(server, &status, WNOHANG) == server; });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Sinewd, ListensOnTcpAndUnixSockets) {
  const TemporaryFolder folder;
  const std::string path = "unix:" + (folder.path() / "s 5%").string();
  SinewdProcess server({"--listen", path, "--listen", "127.0.0.1:0", "--http", "off"});
  EXPECT_EQ(server.address(), path);
  EXPECT_EQ(server.http(), "");
  Stubs stubs(Connect(server));
  EXPECT_EQ(stubs.Stats().rigs(), 0u);
  EXPECT_EQ(server.Stop(), 0);
}

TEST(Sinewd, WrongFlagsAndFilesHaveExitCodes) {
  const TemporaryFolder folder;
  std::string said;
  const auto run = [&](std::vector<std::string> flags) {
    SinewdProcess server(std::move(flags));
    const int code = server.Wait();
    said = server.err();
    EXPECT_EQ(server.out(), "") << "no word of listening";
    EXPECT_EQ(server.err().rfind("sinewd: ", 0), 0u) << server.err();
    return code;
  };
  EXPECT_EQ(run({"--no-such-flag"}), 64);
  EXPECT_EQ(run({"--theads", "2"}), 64);
  EXPECT_EQ(said, "sinewd: --theads: no such option; did you mean --threads?\n");
  EXPECT_EQ(run({"--listen", "unix:/tmp/a,b"}), 64);
  EXPECT_EQ(said,
            "sinewd: listen: got \"unix:/tmp/a,b\", need a path without , ? # and % before two hex "
            "digits: gRPC clients would look for another one\n");
  EXPECT_EQ(run({"--threads", "many"}), 64);
  EXPECT_EQ(run({"--threads", "-1"}), 64);
  EXPECT_EQ(said, "sinewd: threads: got \"-1\", need a whole number from 0 to 1024\n");
  EXPECT_EQ(run({"--set", "max-vertex-influences=256"}), 64);
  EXPECT_EQ(said,
            "sinewd: max-vertex-influences: got \"256\", need a whole number from 1 to 255\n");
  EXPECT_EQ(run({"--set", "max-stored-bytes=1e9"}), 64);
  EXPECT_EQ(said,
            "sinewd: max-stored-bytes: got \"1e9\", need a whole number from 1024 to "
            "1000000000000000\n");
  EXPECT_EQ(run({"--max-stall-seconds", "0"}), 64);
  EXPECT_EQ(said, "sinewd: max-stall-seconds: got \"0\", need a number from 0.1 to 1000000\n");
  EXPECT_EQ(run({"--ready-file", "/no/such/folder/ready"}), 78);
  EXPECT_EQ(said,
            "sinewd: ready-file: cannot write /no/such/folder/ready: No such file or directory\n");
  EXPECT_EQ(run({"--ready-file", folder.path().string()}), 78);
  EXPECT_EQ(run({"--ready-file", "/proc/version"}), 78);
  EXPECT_EQ(run({"--config", "/no/such/file"}), 78);
  const std::string file = (folder.path() / "bad.yaml").string();
  std::ofstream(file) << "no_such_key: 1\n";
  EXPECT_EQ(run({"--config", file}), 78);
  EXPECT_EQ(run({"--config", folder.path().string()}), 78);
  EXPECT_EQ(run({"--config", "/dev/zero"}), 78);
  std::ofstream(file) << std::string(100'000, '[');
  EXPECT_EQ(run({"--config", file}), 78);
  EXPECT_EQ(run({"--data-dir", "/proc/no/such/place"}), 78);
  SinewdProcess first;
  EXPECT_EQ(run({"--listen", first.address()}), 69);
  EXPECT_EQ(run({"--http", first.address()}), 69);
}

TEST(Sinewd, SocketFileHasOneServer) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "s";
  const std::vector<std::string> flags = {"--listen", "unix:" + path.string()};
  SinewdProcess first(flags);
  SinewdProcess second(flags);
  EXPECT_EQ(second.Wait(), 69);
  EXPECT_NE(second.err().find("Address already in use"), std::string::npos) << second.err();
  EXPECT_EQ(Stubs(Connect(first)).Stats().rigs(), 0u);
  first.Signal(SIGKILL);
  EXPECT_EQ(first.Wait(), -SIGKILL);
  ASSERT_TRUE(std::filesystem::exists(path));
  SinewdProcess third(flags);  // no server listens on the file now
  EXPECT_EQ(Stubs(Connect(third)).Stats().rigs(), 0u);
  EXPECT_EQ(third.Stop(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Sinewd, DataDirHasOneServer) {
  const TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data-dir", folder.path().string()};
  SinewdProcess first(flags);
  SinewdProcess second(flags);
  EXPECT_EQ(second.Wait(), 78);
  EXPECT_NE(second.err().find("another server uses it"), std::string::npos) << second.err();
  EXPECT_EQ(first.Stop(), 0);
  SinewdProcess third(flags);
  EXPECT_EQ(third.Stop(), 0) << third.err();
}

TEST(Sinewd, RemovedLockFileAdmitsNoSecondServer) {
  const TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data-dir", folder.path().string()};
  SinewdProcess first(flags);
  for (int i = 0; i < 2; ++i) {  // the refused server may have made the file again
    std::filesystem::remove(folder / "lock");
    SinewdProcess second(flags);
    EXPECT_EQ(second.Wait(), 78);
    EXPECT_NE(second.err().find("another server uses it"), std::string::npos) << second.err();
  }
  EXPECT_EQ(first.Stop(), 0);
  SinewdProcess third(flags);
  EXPECT_EQ(third.Stop(), 0) << third.err();
}

// The lock of a server whose file system does not lock folders beyond its machine.
TEST(Sinewd, HeldLockFileAdmitsNoServer) {
  const TemporaryFolder folder;
  const server::Descriptor lock(
      ::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(lock.fd(), LOCK_EX), 0);
  SinewdProcess server({"--data-dir", folder.path().string()});
  EXPECT_EQ(server.Wait(), 78);
  EXPECT_NE(server.err().find("another server uses it"), std::string::npos) << server.err();
}

TEST(Sinewd, DataDirOfNewerServerIsRefused) {
  const TemporaryFolder folder;
  WriteAll(folder / "format", "1000\n");
  SinewdProcess server({"--data-dir", folder.path().string()});
  EXPECT_EQ(server.Wait(), 78);
  EXPECT_NE(server.err().find("this server needs a format"), std::string::npos) << server.err();
}

TEST(Sinewd, ReadyFileExistsWhileServerRuns) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "ready").string();
  const std::vector<std::string> failing = {"--data-dir", "/proc/no/such/place", "--ready-file",
                                            file};
  std::ofstream(file) << R"({"addresses": [], "http": "", "pid": 1})";
  EXPECT_EQ(SinewdProcess(failing).Wait(), 78);
  EXPECT_FALSE(std::filesystem::exists(file));
  SinewdProcess server, replaced;
  // Only the server that wrote the file last removes it.
  std::filesystem::copy(server.ready_file(), replaced.ready_file(),
                        std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(replaced.Stop(), 0);
  EXPECT_TRUE(std::filesystem::exists(replaced.ready_file()));
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_FALSE(std::filesystem::exists(server.ready_file()));
}

TEST(Sinewd, LogsJsonIfConfigured) {
  SinewdProcess server({"--log-format", "json"});
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_EQ(server.err().rfind("{\"time\":", 0), 0u) << server.err();
}

TEST(Sinewd, ProbeExitCodeTellsHealth) {
  const auto probe = [](const std::string& address) {
    return SinewdProcess({"--probe", address}, false).Wait();
  };
  SinewdProcess server;
  EXPECT_EQ(probe(server.address()), 0);
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_EQ(probe(server.address()), 1);
}

TEST(Sinewd, DrainsWorkInFlight) {
  SinewdProcess server;
  Stubs stubs(Connect(server));
  const std::string rig = stubs.UploadTube();
  v1::StreamOpen open;
  open.mutable_target()->mutable_source()->set_rig(rig);
  open.mutable_target()->mutable_source()->set_recipe_text("lbs");
  open.set_window(1);
  Stream stream(stubs, open);
  FillWindow(stream);
  server.Signal(SIGTERM);
  WaitForNotice(stream);
  EXPECT_FALSE(server.HasEnded());
  stream.Acknowledge(2);
  EXPECT_EQ(stream.ReadUntil(3).back().frame.frame(), 3u);
  EXPECT_CODE(stream.Finish(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(server.Wait(), 0) << server.err();
}

TEST(Sinewd, SecondSignalOrDeadlineEndsDrain) {
  for (const bool second : {true, false}) {
    SinewdProcess server({"--drain-seconds", second ? "600" : "0.3"});
    Stubs stubs(Connect(server));
    const std::string rig = stubs.UploadTube();
    v1::StreamOpen open;
    open.mutable_target()->mutable_source()->set_rig(rig);
    open.mutable_target()->mutable_source()->set_recipe_text("lbs");
    open.set_window(1);
    Stream stream(stubs, open);
    FillWindow(stream);
    server.Signal(SIGTERM);
    WaitForNotice(stream);
    if (second) {
      EXPECT_FALSE(server.HasEnded());
      server.Signal(SIGTERM);
    }
    EXPECT_EQ(server.Wait(), 1) << server.err();
    EXPECT_FALSE(stream.Finish().ok());
  }
}

TEST(Sinewd, DataDirKeepsRigsAndBoundData) {
  const TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data-dir", folder.path().string()};
  const std::string bytes = TubeRig().SerializeAsString();
  std::string positions;
  for (const bool first : {true, false}) {
    SinewdProcess server(flags);
    Stubs stubs(Connect(server));
    if (first) {
      EXPECT_CODE(stubs.Upload(bytes), StatusCode::OK);
    }
    v1::DeformRequest request;
    request.mutable_target()->mutable_source()->set_rig(RigNameOf(bytes));
    request.mutable_target()->mutable_source()->set_recipe_text("ddm");
    *request.mutable_pose() = TubePose(1, 0.5f);
    v1::DeformResponse response;
    EXPECT_CODE(stubs.Deform(request, response), StatusCode::OK);
    if (first) positions = response.frame().positions();
    EXPECT_SAME_BYTES(response.frame().positions(), positions);
    if (first) {
      server.Signal(SIGKILL);  // what was acknowledged is safe without a goodbye
      EXPECT_EQ(server.Wait(), -SIGKILL);
    } else {
      EXPECT_EQ(server.Stop(), 0);
    }
  }
}

TEST(Sinewd, DeletedRigStaysDeletedAfterKill) {
  const TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data-dir", folder.path().string()};
  std::string name;
  {
    SinewdProcess server(flags);
    Stubs stubs(Connect(server));
    name = stubs.UploadTube();
    EXPECT_EQ(stubs.Watch(stubs.Create(name, "lbs").name()).state(), v1::Session::STATE_READY);
    EXPECT_FALSE(std::filesystem::is_empty(folder / "bound"));
    grpc::ClientContext context;
    v1::DeleteRigRequest request;
    request.set_name(name);
    v1::DeleteRigResponse response;
    EXPECT_CODE(stubs.rigs->DeleteRig(&context, request, &response), StatusCode::OK);
    server.Signal(SIGKILL);
    EXPECT_EQ(server.Wait(), -SIGKILL);
  }
  for (const char* part : {"rigs", "bound", "uploads"}) {
    EXPECT_TRUE(std::filesystem::is_empty(folder / part)) << part;
  }
  SinewdProcess server(flags);
  EXPECT_EQ(Stubs(Connect(server)).Stats().rigs(), 0u);
}

TEST(Sinewd, DamagedRigIsReportedThenReplaced) {
  const TemporaryFolder folder;
  SinewdProcess server({"--data-dir", folder.path().string()});
  Stubs stubs(Connect(server));
  const std::string bytes = TubeRig().SerializeAsString();
  ASSERT_CODE(stubs.Upload(bytes), StatusCode::OK);
  const auto download = [&](std::string& got) {
    grpc::ClientContext context;
    v1::DownloadRigRequest request;
    request.set_name(RigNameOf(bytes));
    const auto reader = stubs.rigs->DownloadRig(&context, request);
    v1::DownloadRigResponse piece;
    while (reader->Read(&piece)) got += piece.data();
    return reader->Finish();
  };
  std::string damaged = bytes, got;
  damaged[damaged.size() / 2] ^= 1;
  WriteAll(folder / ("rigs/sha256-" + Sha256Hex(bytes) + ".sinewrig"), damaged);
  const grpc::Status status = download(got);
  EXPECT_CODE(status, StatusCode::DATA_LOSS);
  EXPECT_EQ(status.error_message().find(folder.path().string()), std::string::npos);
  EXPECT_EQ(got, "");
  EXPECT_CODE(stubs.Upload(bytes), StatusCode::OK);
  EXPECT_CODE(download(got), StatusCode::OK);
  EXPECT_SAME_BYTES(got, bytes);
}

TEST(Sinewd, UploadResumesAfterKill) {
  const TemporaryFolder folder;
  const std::vector<std::string> flags = {"--data-dir", folder.path().string()};
  const std::string bytes = TubeRig({.rings = 300, .segments = 100}).SerializeAsString();
  const std::size_t half = bytes.size() / 2;
  v1::UploadRigRequest request;
  request.mutable_header()->set_sha256(Sha256Hex(bytes));
  request.mutable_header()->set_size_bytes(bytes.size());
  v1::UploadRigResponse response;
  {
    SinewdProcess server(flags);
    Stubs stubs(Connect(server));
    grpc::ClientContext context;
    v1::UploadRigRequest piece = request;
    piece.set_data(bytes.substr(0, half));
    auto writer = stubs.rigs->UploadRig(&context, &response);
    ASSERT_TRUE(writer->Write(piece));
    // The stream stays open; another call sees how far it has come.
    std::uint64_t held = 0;
    while (held < half) {
      grpc::ClientContext ask;
      auto question = stubs.rigs->UploadRig(&ask, &response);
      question->Write(request);
      question->WritesDone();
      ASSERT_TRUE(question->Finish().ok());
      held = response.committed_bytes();
    }
    server.Signal(SIGKILL);
    EXPECT_EQ(server.Wait(), -SIGKILL);
    EXPECT_FALSE(writer->Finish().ok());
  }
  SinewdProcess server(flags);
  Stubs stubs(Connect(server));
  grpc::ClientContext question_context, context;
  auto question = stubs.rigs->UploadRig(&question_context, &response);
  question->Write(request);
  question->WritesDone();
  EXPECT_CODE(question->Finish(), StatusCode::OK);
  EXPECT_EQ(response.committed_bytes(), half);
  request.set_offset(half);
  request.set_data(bytes.substr(half));
  auto writer = stubs.rigs->UploadRig(&context, &response);
  writer->Write(request);
  writer->WritesDone();
  EXPECT_CODE(writer->Finish(), StatusCode::OK);
  EXPECT_EQ(response.rig().name(), RigNameOf(bytes));
}

// What serves a feature that is off, or has not been used, needs no thread.
TEST(Sinewd, IdleThreadsAreFewAndNamed) {
  SinewdProcess server({"--log-format", "text"});
  WaitUntil([&] { return ThreadNames(server.pid()) == kIdleThreads; });
  EXPECT_EQ(server.Stop(), 0);
}

TEST(Sinewd, HasAThreadForEachCoreOfItsAffinityMask) {
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  SinewdProcess server({"--log-format", "text"});
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
  WaitUntil([&] { return server.err().find("; 1 thread, ") != std::string::npos; });
  EXPECT_EQ(server.Stop(), 0);
}

// Stacks and heaps of threads reserve far more than this by default.
TEST(Sinewd, ServesInAnAddressSpaceOfOneGigabyte) {
  SinewdProcess server({}, true, -1, 0, 1'000'000'000);
  ASSERT_FALSE(server.address().empty()) << server.err();
  WaitUntil([&] { return server.err().find("memory 600 MB") != std::string::npos; });
  EXPECT_EQ(server.Stop(), 0);
}

TEST(Sinewd, KeepsItsThreadsWhenItReadsTheConfigurationAgain) {
  SinewdProcess server({"--threads", "1024"}, true, -1, 0, 1'000'000'000);
  ASSERT_FALSE(server.address().empty()) << server.err();
  const auto said = [&](const std::string& text) {
    return server.err().find(text) != std::string::npos;
  };
  EXPECT_TRUE(said(" instead of 1024, because this process can start no more")) << server.err();
  server.Signal(SIGHUP);
  WaitUntil([&] { return said("configuration read again; changed: nothing"); });
  EXPECT_EQ(server.Stop(), 0);
  EXPECT_FALSE(said("need a restart")) << server.err();
}

TEST(Sinewd, SaysWhichLimitLeavesTooFewThreads) {
  SinewdProcess server({}, true, -1, 0, 150'000'000);
  EXPECT_EQ(server.Wait(), 78);
  EXPECT_NE(server.err().find("needs"), std::string::npos) << server.err();
  EXPECT_NE(server.err().find("RLIMIT_AS 150000000"), std::string::npos) << server.err();
}

TEST(Sinewd, EveryInstructionSetGivesSameBits) {
  std::vector<std::string> results;
  for (const char* isa : {"scalar", "avx2", "avx512", "neon"}) {
    SinewdProcess server({"--set", std::string("isa=") + isa});
    if (server.address().empty()) {
      EXPECT_EQ(server.Wait(), 78) << isa;  // this machine cannot run it
      continue;
    }
    Stubs stubs(Connect(server));
    v1::DeformRequest request;
    request.mutable_target()->mutable_source()->set_rig(stubs.UploadTube());
    request.mutable_target()->mutable_source()->set_recipe_text("ddm");
    *request.mutable_pose() = TubePose(1, 0.5f);
    v1::DeformResponse response;
    EXPECT_CODE(stubs.Deform(request, response), StatusCode::OK);
    results.push_back(response.frame().positions());
    EXPECT_SAME_BYTES(results.front(), results.back()) << isa;
    EXPECT_EQ(server.Stop(), 0);
  }
  EXPECT_FALSE(results.empty());
}

}  // namespace
}  // namespace sinew::testing
