// LocalServer: the real sinewd, as tests of other projects start it.
#include "sinew/local_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "sinew/client.h"
#include "tests/support/paths.h"
#include "tests/support/wait_until.h"

namespace sinew::client {
namespace {

using ::testing::HasSubstr;

LocalServerOptions Options() {
  return {.program = testing::ProgramPath("sinewd")};
}

std::string VersionAt(const std::string& address) {
  const auto client = Client::Connect({.address = address});
  if (!client.ok()) return client.status().ToString();
  const auto info = client->GetServerInfo();
  return info.ok() ? info->version : info.status().ToString();
}

TEST(LocalServer, ServesAndStops) {
  auto first = LocalServer::Start(Options());
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = LocalServer::Start(Options());  // beside it, on another port
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(first->address(), second->address());
  EXPECT_EQ(VersionAt(first->address()), VersionAt(second->address()));
  const pid_t pid = first->pid();
  EXPECT_EQ(first->Stop(), 0);
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(first->Stop(), 0);  // nothing more to do
}

TEST(LocalServer, ReadsTheAddressOfJsonToo) {
  LocalServerOptions options = Options();
  options.flags = {"--log-format", "json"};
  const auto server = LocalServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT(server->address(), HasSubstr("127.0.0.1:"));
}

TEST(LocalServer, MovesAndEndsWithItsObject) {
  pid_t pid = -1;
  {
    auto started = LocalServer::Start(Options());
    ASSERT_TRUE(started.ok()) << started.status();
    const LocalServer moved = *std::move(started);
    pid = moved.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(LocalServer, EndsWithAKilledProcess) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the server becomes our child
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const auto server = LocalServer::Start(Options());
    const pid_t pid = server.ok() ? server->pid() : -1;
    [[maybe_unused]] const ssize_t written = ::write(pipe[1], &pid, sizeof pid);
    ::pause();
  }
  pid_t server = -1;
  ASSERT_EQ(::read(pipe[0], &server, sizeof server), static_cast<ssize_t>(sizeof server));
  ASSERT_GT(server, 0);
  EXPECT_EQ(::kill(server, 0), 0);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  testing::WaitUntil([&] { return ::waitpid(server, nullptr, WNOHANG) == server; });
}

TEST(LocalServer, ErrorsSayWhy) {
  LocalServerOptions options = Options();
  options.program = "/no/such/sinewd";
  const auto missing = LocalServer::Start(options);
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr("/no/such/sinewd"));
  options = Options();
  options.flags = {"--no-such-option"};
  const auto ended = LocalServer::Start(options);
  EXPECT_EQ(ended.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(ended.status().message()), HasSubstr("exit code 64"));
}

}  // namespace
}  // namespace sinew::client
