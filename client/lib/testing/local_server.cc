#include "sinew/local_server.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/string_view.h>
#include <absl/time/clock.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(2);  // between looks at the process

std::string ProgramOf(const LocalServerOptions& options) {
  if (!options.program.empty()) return options.program;
  const char* chosen = std::getenv("SINEWD");
  return chosen != nullptr && *chosen != 0 ? chosen : "sinewd";
}

// The first address of "sinewd: listening on A, B" or, with --log-format json, of "addresses":["A",
// ...].
std::string FirstAddress(std::string_view line) {
  for (const auto& [before, after] :
       {std::pair<std::string_view, std::string_view>{"\"addresses\":[\"", "\""},
        {"listening on ", ","}}) {
    const std::size_t found = line.find(before);
    if (found == std::string_view::npos) continue;
    const std::string_view rest = line.substr(found + before.size());
    return std::string(rest.substr(0, rest.find(after)));
  }
  return {};
}

// Exit code, or minus the signal.
int ExitCode(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

absl::StatusOr<LocalServer> LocalServer::Start(const LocalServerOptions& options) {
  const std::string program = ProgramOf(options);
  std::vector<std::string> words = {program, "--listen",           options.listen, "--http",
                                    "off",   "--exit-with-parent", "--log-level",  "error"};
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  std::array<int, 2> pipe;
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    return absl::UnavailableError(absl::StrCat("pipe: ", std::strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  pid_t pid = -1;
  const int failed =
      ::posix_spawnp(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  if (failed != 0) {
    ::close(pipe[0]);
    return absl::NotFoundError(absl::StrCat("sinewd: cannot run ", program, ": ",
                                            std::strerror(failed),
                                            "; name it in LocalServerOptions or in $SINEWD"));
  }
  LocalServer server(pid, pipe[0]);
  SINEW_RETURN_IF_ERROR(server.ReadAddress(options.start_deadline));
  return server;
}

// Its first line, which it prints once it listens.
absl::Status LocalServer::ReadAddress(absl::Duration limit) {
  const absl::Time deadline = absl::Now() + limit;
  std::string line;
  while (!absl::StrContains(line, '\n')) {
    pollfd waiting{.fd = output_, .events = POLLIN, .revents = 0};
    const auto left = absl::ToInt64Milliseconds(deadline - absl::Now());
    if (left <= 0) return absl::DeadlineExceededError("sinewd: does not listen in time");
    if (::poll(&waiting, 1, static_cast<int>(left)) <= 0) continue;
    std::array<char, 512> buffer;
    const ssize_t got = ::read(output_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return absl::UnavailableError(absl::StrCat("sinewd: ended with exit code ", Stop(),
                                                 " before it listened; its stderr says why"));
    }
    line.append(buffer.data(), static_cast<std::size_t>(got));
  }
  address_ = FirstAddress(std::string_view(line).substr(0, line.find('\n')));
  if (address_.empty()) return absl::UnavailableError(absl::StrCat("sinewd: printed ", line));
  return absl::OkStatus();
}

LocalServer::LocalServer(LocalServer&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      address_(std::move(other.address_)) {}

LocalServer& LocalServer::operator=(LocalServer&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(output_, other.output_);
  std::swap(address_, other.address_);
  return *this;
}

LocalServer::~LocalServer() {
  Stop();
}

int LocalServer::Stop(absl::Duration deadline) {
  if (pid_ < 0) return 0;
  ::kill(pid_, SIGTERM);
  const absl::Time killed_at = absl::Now() + deadline;
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0 && absl::Now() < killed_at) {
    absl::SleepFor(kPoll);
  }
  if (ended == 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
  }
  pid_ = -1;
  ::close(std::exchange(output_, -1));
  return ExitCode(status);
}

}  // namespace sinew::client
