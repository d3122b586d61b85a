#include "tests/integration/client/running_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

extern char** environ;

namespace sinew::client {
namespace {

// The first line that comes out of `fd`, without its end.
std::string ReadLine(int fd) {
  std::string line;
  char c;
  while (read(fd, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

}  // namespace

RunningServer::RunningServer(const std::string& listen, const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {SINEWD, "--listen", listen, "--http", "off"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : all) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::array<int, 2> pipe_ends = {-1, -1};
  EXPECT_EQ(pipe2(pipe_ends.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  EXPECT_EQ(posix_spawn(&pid_, SINEWD, &actions, nullptr, argv.data(), environ), 0) << SINEWD;
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  const std::string line = ReadLine(pipe_ends[0]);
  close(pipe_ends[0]);
  const std::string prefix = "sinewd: listening on ";
  EXPECT_EQ(line.substr(0, prefix.size()), prefix) << "from " << SINEWD;
  if (line.size() > prefix.size()) address_ = line.substr(prefix.size());
}

RunningServer::~RunningServer() {
  if (pid_ <= 0) return;
  Signal(SIGKILL);
  Wait();
}

ClientOptions RunningServer::Options() const {
  ClientOptions options;
  options.address = address_;
  options.retry.initial_backoff = absl::Milliseconds(20);
  options.retry.max_backoff = absl::Milliseconds(200);
  return options;
}

void RunningServer::Signal(int signal) const {
  kill(pid_, signal);
}

int RunningServer::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace sinew::client
