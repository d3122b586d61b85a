// sinewd under conditions that operators meet: readers of the log that stop, floods of connections,
// slow probes, changes of the configuration.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "server/access/tokens.h"
#include "server/base/files.h"
#include "tests/integration/server/bare_socket.h"
#include "tests/integration/server/http_get.h"
#include "tests/integration/server/server_fixture.h"
#include "tests/integration/server/sinewd_process.h"
#include "tests/support/redis_process.h"

namespace sinew::testing {
namespace {

using grpc::StatusCode;
using server::Descriptor;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Operations, UnreadLogStopsNeitherWorkNorShutdown) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Descriptor reader(ends[0]), writer(ends[1]);
  ASSERT_GE(::fcntl(writer.fd(), F_SETPIPE_SZ, 4096), 0);
  SinewdProcess server({"--log-level", "debug"}, true, writer.fd());
  Stubs stubs(Connect(server));
  const std::string bytes = TubeRig().SerializeAsString();
  for (int i = 0; i < 1000; ++i) ASSERT_CODE(stubs.Upload(bytes), StatusCode::OK);
  // Each upload is a line, of which the pipe takes fewer than a hundred.
  WaitUntil([&] { return MetricOf(server.http(), "sinew_log_lines_dropped_total") != ""; });
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(std::chrono::seconds(3)), 0);
}

TEST(Operations, FloodOfConnectionsEndsWithTheFlood) {
  SinewdProcess server({}, true, -1, 1024);
  {
    std::vector<Descriptor> flood;
    for (int i = 0; i < 5000; ++i) {
      flood.push_back(ConnectBare(server.address()));
      if (!flood.back().ok()) break;  // this process has fewer files
    }
    ASSERT_GT(flood.size(), 1100u);
    WaitUntil([&] { return HttpGet(server.http(), "/readyz").status == 503; });
    EXPECT_NE(HttpGet(server.http(), "/readyz?verbose").body.find("[-]port"), std::string::npos);
    EXPECT_EQ(HttpGet(server.http(), "/livez").status, 200);
  }
  Stubs stubs(Connect(server));
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
  v1::GetServerInfoResponse response;
  EXPECT_CODE(stubs.info->GetServerInfo(&context, {}, &response), StatusCode::OK);
  WaitUntil([&] { return HttpGet(server.http(), "/readyz").status == 200; });
  EXPECT_NE(MetricOf(server.http(), "sinew_connections_refused_total"), "0");
  EXPECT_EQ(MetricOf(server.http(), "process_max_fds"), "1024");
  EXPECT_EQ(server.Stop(), 0);
}

TEST(Operations, SlowClientsDoNotBlockProbes) {
  SinewdProcess server;
  std::vector<Descriptor> slow;
  for (int i = 0; i < 100; ++i) {
    slow.push_back(ConnectBare(server.http()));
    ASSERT_TRUE(slow.back().ok());
    EXPECT_EQ(::send(slow.back().fd(), "G", 1, MSG_NOSIGNAL), 1);
    if (i % 10 == 9) {
      EXPECT_EQ(HttpGet(server.http(), "/livez").status, 200) << i;
      EXPECT_EQ(HttpGet(server.http(), "/readyz").status, 200) << i;
      EXPECT_EQ(HttpGet(server.http(), "/metrics").status, 200) << i;
    }
  }
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(std::chrono::seconds(3)), 0) << "it does not wait for them either";
}

TEST(Operations, ReadsConfigurationAgainOnSignal) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "sinewd.yaml").string();
  const std::string audit = (folder.path() / "audit").string();
  std::ofstream(file) << "max-streams: 7\nlog-level: info\naudit-log: " << audit << "\n";
  SinewdProcess server({"--config", file, "--max-queued-binds", "5"});
  Stubs stubs(Connect(server));
  const auto limit = [&](const std::string& name) {
    grpc::ClientContext context;
    v1::GetServerInfoResponse info;
    EXPECT_CODE(stubs.info->GetServerInfo(&context, {}, &info), StatusCode::OK);
    for (const v1::Limit& row : info.limits()) {
      if (row.name() == name) return row.value();
    }
    return std::uint64_t{0};
  };
  const auto said = [&](const std::string& text) {
    return server.err().find(text) != std::string::npos;
  };
  EXPECT_EQ(limit("max-streams"), 7u);
  std::filesystem::rename(audit, audit + ".1");  // as logrotate does
  std::ofstream(file) << "max-streams: 9\nmax-queued-binds: 6\nmax-window: 8\nlog-level: debug\n"
                      << "max-rigs: 3\nmax-sessions: 4\nset: [max-bound-bytes=5000000]\n"
                      << "max-calls-per-second: 7000\naudit-log: " << audit << "\n";
  server.Signal(SIGHUP);
  WaitUntil([&] { return said("need a restart: max-window"); });
  EXPECT_TRUE(
      said("changed: log-level, max-calls-per-second, max-rigs, max-bound-bytes, "
           "max-sessions, max-streams\n"))
      << server.err();
  EXPECT_EQ(limit("max-rigs"), 3u);
  EXPECT_EQ(limit("max-calls-per-second"), 7000u);
  EXPECT_EQ(MetricOf(server.http(), "sinew_limit{limit=\"max-sessions\"}"), "4");
  EXPECT_EQ(limit("max-streams"), 9u);
  EXPECT_EQ(limit("max-queued-binds"), 5u) << "flags override the file";
  EXPECT_EQ(MetricOf(server.http(), "sinew_limit{limit=\"max-streams\"}"), "9");
  const std::string rig = stubs.UploadTube();
  WaitUntil([&] { return ReadAll(audit).find(rig) != std::string::npos; });
  WaitUntil([&] { return said("debug InfoService/GetServerInfo OK"); });
  std::ofstream(file) << "max-streams: many\n";
  server.Signal(SIGHUP);
  WaitUntil([&] { return said("configuration not changed: sinewd: config " + file); });
  EXPECT_EQ(limit("max-streams"), 9u);
  EXPECT_EQ(server.Stop(), 0);
}

TEST(Operations, AuditLogHoldsWhoChangedWhat) {
  const TemporaryFolder folder;
  const std::string audit = (folder.path() / "audit").string();
  SinewdProcess server({"--audit-log", audit});
  Stubs stubs(Connect(server));
  const std::string rig = stubs.UploadTube();
  const std::string session = stubs.Create(rig, "lbs").name();
  // These change nothing.
  EXPECT_CODE(stubs.Get(session), StatusCode::OK);
  v1::CreateSessionRequest validate;
  validate.mutable_source()->set_rig(rig);
  validate.mutable_source()->set_recipe_text("dqs");
  validate.set_validate_only(true);
  v1::Session forecast;
  EXPECT_CODE(stubs.Create(validate, forecast), StatusCode::OK);
  EXPECT_EQ(stubs.UploadTube(), rig);
  for (int i = 0; i < 2; ++i) {
    grpc::ClientContext context;
    v1::DeleteRigRequest request;
    request.set_name(rig);
    v1::DeleteRigResponse response;
    stubs.rigs->DeleteRig(&context, request, &response);
  }
  EXPECT_EQ(server.Stop(), 0);
  std::ifstream lines(audit);
  const auto expect = [&](const std::string& action, const std::string& object,
                          const std::string& outcome) {
    std::string line;
    std::getline(lines, line);
    EXPECT_NE(
        line.find("\"peer\":\"127.0.0.1\",\"tenant\":\"\",\"principal\":\"\",\"action\":\"" +
                  action + "\",\"object\":\"" + object + "\",\"outcome\":\"" + outcome + "\"}"),
        std::string::npos)
        << line;
  };
  expect("RigService/UploadRig", rig, "OK");
  expect("SessionService/CreateSession", session, "OK");
  expect("RigService/DeleteRig", rig, "OK");
  expect("RigService/DeleteRig", rig, "NOT_FOUND");
  std::string line;
  EXPECT_FALSE(std::getline(lines, line)) << line;
  EXPECT_EQ(std::filesystem::status(audit).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

// A client that cancels its call may have deleted a rig all the same.
TEST(Operations, AuditLogHoldsChangesOfCancelledCalls) {
  const TemporaryFolder folder;
  const std::string audit = (folder.path() / "audit").string();
  const std::filesystem::path data = folder.path() / "data";
  SinewdProcess server({"--audit-log", audit, "--data-dir", data.string()});
  Stubs stubs(Connect(server));
  std::set<std::string> rigs;
  for (std::uint32_t k = 0; k < 60; ++k) rigs.insert(stubs.UploadTube({.rings = 4 + k}));
  int delay = 0;
  for (const std::string& rig : rigs) {
    grpc::ClientContext context;
    v1::DeleteRigRequest request;
    request.set_name(rig);
    v1::DeleteRigResponse response;
    std::promise<void> ended;
    stubs.rigs->async()->DeleteRig(&context, &request, &response,
                                   [&](const grpc::Status&) { ended.set_value(); });
    std::this_thread::sleep_for(std::chrono::microseconds(20 * delay++));
    context.TryCancel();
    ended.get_future().wait();
  }
  EXPECT_EQ(server.Stop(), 0);
  std::set<std::string> deleted;
  std::ifstream file(audit);
  for (std::string line; std::getline(file, line);) {
    const auto event = nlohmann::json::parse(line);
    if (event["action"] == "RigService/DeleteRig" && event["outcome"] == "OK") {
      deleted.insert(event["object"].get<std::string>());
    }
  }
  for (const std::string& rig : rigs) {
    EXPECT_EQ(std::filesystem::exists(data / (rig + ".sinewrig")), !deleted.contains(rig)) << rig;
  }
  EXPECT_FALSE(deleted.empty());
}

TEST(Operations, AuditLogHoldsFewFailures) {
  const TemporaryFolder folder;
  const std::string audit = (folder.path() / "audit").string();
  const std::string tokens = (folder.path() / "tokens").string();
  const server::NewToken anna = server::MakeToken("anna").value();
  std::ofstream(tokens) << anna.line;
  SinewdProcess server({"--audit-log", audit, "--token-file", tokens});
  Stubs stubs(Connect(server));
  const auto remove = [&](const std::string& token) {
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer " + token);
    v1::DeleteRigRequest request;
    request.set_name("rigs/sha256-" + std::string(64, 'a'));
    v1::DeleteRigResponse response;
    return stubs.rigs->DeleteRig(&context, request, &response).error_code();
  };
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(remove(anna.token), grpc::StatusCode::NOT_FOUND);
    EXPECT_EQ(remove("wrong"), grpc::StatusCode::UNAUTHENTICATED);
  }
  EXPECT_EQ(server.Stop(), 0);
  int lines = 0, suppressed = 0;
  std::ifstream file(audit);
  for (std::string line; std::getline(file, line);) {
    const auto event = nlohmann::json::parse(line);
    if (event["action"] == "suppressed") {
      suppressed += event["failed_calls"].get<int>();
    } else {
      ++lines;
    }
  }
  EXPECT_GE(lines, 20) << "ten of each kind";
  EXPECT_LE(lines, 40) << "in ten seconds";
  EXPECT_EQ(lines + suppressed, 60) << "also those of the last seconds";
}

TEST(Operations, LogNamesClientsOfFailedCallsAndSuppressesRepeats) {
  SinewdProcess server;
  Stubs stubs(Connect(server));
  for (int i = 0; i < 100; ++i) EXPECT_CODE(stubs.Get("sessions/none"), StatusCode::NOT_FOUND);
  EXPECT_EQ(server.Stop(), 0);
  const std::string log = server.err(), line = " info SessionService/GetSession NOT_FOUND ";
  int lines = 0;
  for (std::size_t at = log.find(line); at != std::string::npos; at = log.find(line, at + 1)) {
    ++lines;
  }
  EXPECT_GE(lines, 10);
  EXPECT_LE(lines, 30) << "ten in ten seconds";
  EXPECT_NE(log.find(" more failed calls in 10 s, suppressed"), std::string::npos) << log;
  EXPECT_NE(log.find(" s peer=127.0.0.1 "), std::string::npos) << log;
  EXPECT_EQ(log.find(" error "), std::string::npos) << log;
}

TEST(Operations, IsNotReadyWithoutItsFolder) {
  const TemporaryFolder folder;
  const auto data = folder.path() / "data", elsewhere = folder.path() / "elsewhere";
  SinewdProcess server({"--data-dir", data.string()});
  const auto ready = [&] { return HttpGet(server.http(), "/readyz?verbose"); };
  EXPECT_EQ(ready().status, 200);
  std::filesystem::rename(data, elsewhere);
  WaitUntil([&] { return ready().status == 503; });
  EXPECT_NE(ready().body.find("[-]disk cannot write"), std::string::npos) << ready().body;
  std::filesystem::rename(elsewhere, data);
  WaitUntil([&] { return ready().status == 200; });
  EXPECT_EQ(server.Stop(), 0);
}

TEST(Operations, CheckEndsWithoutServing) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "sinewd.yaml").string();
  std::ofstream(file) << "max-window: 8\n";
  SinewdProcess good({"--check", "--config", file, "--listen", "127.0.0.1:0"}, false);
  EXPECT_EQ(good.Wait(), 0) << good.err();
  EXPECT_EQ(good.out(), "sinewd: the configuration is valid\n");
  std::ofstream(file) << "max-window: 0\n";
  SinewdProcess bad({"--check", "--config", file}, false);
  EXPECT_EQ(bad.Wait(), 78);
  EXPECT_EQ(bad.err(), "sinewd: max-window: got \"0\", need a whole number from 1 to 65536\n");
}

TEST(Operations, SocketReplacesNoOtherFile) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "file").string();
  std::ofstream(path) << "kept";
  SinewdProcess server({"--listen", "unix:" + path});
  EXPECT_EQ(server.Wait(), 69);
  EXPECT_NE(server.err().find("is a file, but not a socket"), std::string::npos) << server.err();
  EXPECT_EQ(ReadAll(path), "kept");
}

TEST(Operations, CheckReadsTheFilesThatAreNamed) {
  const TemporaryFolder folder;
  const auto check = [&](const std::vector<std::string>& flags, const std::string& complaint,
                         int code = 78) {
    std::vector<std::string> all{"--check"};
    all.insert(all.end(), flags.begin(), flags.end());
    if (std::ranges::count(flags, "--listen") == 0) all.insert(all.end(), {"--listen", "[::1]:0"});
    SinewdProcess checked(all, false);
    EXPECT_EQ(checked.Wait(), complaint.empty() ? 0 : code) << complaint << checked.err();
    EXPECT_NE(checked.err().find(complaint), std::string::npos) << checked.err();
  };
  const auto file = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
    return (folder.path() / name).string();
  };
  check({"--token-file", file("tokens", server::MakeToken("anna").value().line)}, "");
  check({"--token-file", file("tokens", "{broken")}, "sinewd: token-file");
  const auto warns = [&](const std::vector<std::string>& flags,
                         const ::testing::Matcher<std::string>& says) {
    std::vector<std::string> all{"--check", "--listen", "[::1]:0"};
    all.insert(all.end(), flags.begin(), flags.end());
    SinewdProcess checked(all, false);
    EXPECT_EQ(checked.Wait(), 0) << checked.err();
    EXPECT_EQ(checked.out(), "sinewd: the configuration is valid\n");
    EXPECT_THAT(checked.err(), says);
  };
  warns({"--token-file", file("empty", "# none yet\n")},
        HasSubstr("sinewd: warning: token-file: " + (folder.path() / "empty").string() +
                  ": has no token"));
  const std::string store = "file://" + (folder.path() / "store").string();
  warns({"--store", store, "--redis", "unix:" + (folder.path() / "no-redis").string()},
        HasSubstr("sinewd: warning: redis: cannot connect to " +
                  (folder.path() / "no-redis").string()));
  if (RedisProcess::Installed())
    warns({"--store", store, "--redis", RedisProcess().address()}, Not(HasSubstr("warning")));
  check({"--jwks-file", file("keys", "{}"), "--jwt-audience", "sinew"}, "sinewd: jwks-file");
  check({"--tls-cert", file("cert", "x"), "--tls-key", file("key", "x")}, "sinewd: tls-cert");
  check({"--data-dir", (folder.path() / "new").string()}, "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "new"));
  check({"--data-dir", file("file", "")}, "is not a folder");
  check({"--data-dir", file("file", "") + "/new"}, "file: is not a folder");
  check({"--audit-log", (folder.path() / "audit").string()}, "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "audit"));
  check({"--audit-log", (folder.path() / "none" / "audit").string()}, "audit-log: ");
  check({"--audit-log", folder.path().string()}, "is a folder");
  check({"--ready-file", (folder.path() / "none" / "ready").string()}, "ready-file: ");
  check({"--listen", "unix:" + (folder.path() / "socket").string()}, "");
  check({"--listen", "unix:" + (folder.path() / "none" / "socket").string()}, "listen: ", 69);
  check({"--listen", "unix:" + file("file", "")}, "is a file, but not a socket", 69);
  check({"--memory-bytes", "134217727"}, "memory-bytes: got 134217727, need 0 or at least", 64);
  check({"--memory-bytes", "100000000000000"},
        "memory-bytes: got 100000000000000, this process may use ");
  check({"--memory-bytes", "200000000", "--max-rig-bytes", "100000000"}, "max-rig-bytes: ");
  check({"--data-dir", "/proc/new"}, "data-dir: /proc: ");
  file("format", "999\n");
  check({"--data-dir", folder.path().string()}, "this server needs a format");
  // Also while a server uses the folder.
  SinewdProcess server({"--data-dir", (folder.path() / "used").string()});
  check({"--data-dir", (folder.path() / "used").string()}, "");
  EXPECT_TRUE(std::ranges::none_of(
      std::filesystem::directory_iterator(folder.path() / "used"),
      [](const auto& entry) { return entry.path().filename().string().starts_with("."); }));
  const std::string in_use = ": Address already in use";
  for (const char* option : {"--listen", "--http"}) {
    check({option, server.address()}, "cannot bind " + server.address() + in_use, 69);
  }
  SinewdProcess on_socket({"--listen", "unix:" + (folder.path() / "socket").string()});
  check({"--listen", "unix:" + (folder.path() / "socket").string()}, in_use, 69);
  EXPECT_EQ(on_socket.Stop(), 0);
  EXPECT_EQ(server.Stop(), 0);
}

}  // namespace
}  // namespace sinew::testing
