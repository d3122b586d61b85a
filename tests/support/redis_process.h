// redis_process.h - a real redis-server as a child process, ended by its pid.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"

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
      ::execv(kProgram, arguments.data());
      ::_exit(127);
    }
    for (int i = 0; i < 2000 && !std::filesystem::exists(socket()); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  void Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  void Signal(int signal) const { ::kill(pid_, signal); }

 private:
  static constexpr char kProgram[] = "/usr/bin/redis-server";
  const TemporaryFolder folder_;
  const std::vector<std::string> more_;
  pid_t pid_ = -1;
};

}  // namespace sinew::testing
