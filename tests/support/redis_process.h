// redis_process.h - a real redis-server as a child process, ended by its pid.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/support/wait_until.h"

namespace sinew::testing {

class RedisProcess {
 public:
  // Whether Debian's redis-server is installed.
  static bool Installed() { return ::access(kProgram, X_OK) == 0; }

  // It listens on a Unix socket and keeps nothing when it ends. more: further options.
  explicit RedisProcess(std::vector<std::string> more = {}) : more_(std::move(more)) { Start(); }
  ~RedisProcess() { Kill(); }
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  std::string socket() const { return folder_ / "redis"; }
  std::string address() const { return "unix:" + socket(); }

  // Waits until it listens.
  void Start() {
    std::vector<std::string> words = {
        kProgram,       "--port", "0",     "--unixsocket",          socket(),      "--save", "",
        "--appendonly", "no",     "--dir", folder_.path().string(), "--daemonize", "no"};
    words.insert(words.end(), more_.begin(), more_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::filesystem::remove(socket());
    pid_ = ::fork();
    if (pid_ == 0) {
      const int nowhere = ::open("/dev/null", O_RDWR);
      ::dup2(nowhere, STDOUT_FILENO);
      ::dup2(nowhere, STDERR_FILENO);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also if the test crashes
      ::execv(kProgram, arguments.data());
      ::_exit(127);
    }
    WaitUntil([this] { return Answers(); }, [] { std::this_thread::sleep_for(kPoll); });
  }
  void Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  void Signal(int signal) const { ::kill(pid_, signal); }

 private:
  // Its socket has a name a moment before it can be connected to.
  bool Answers() const {
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket().copy(address.sun_path, sizeof(address.sun_path) - 1);
    const bool answers =
        ::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    ::close(file);
    return answers;
  }

  static constexpr std::chrono::milliseconds kPoll{5};
  static constexpr char kProgram[] = "/usr/bin/redis-server";
  const TemporaryFolder folder_;
  const std::vector<std::string> more_;
  pid_t pid_ = -1;
};

}  // namespace sinew::testing
