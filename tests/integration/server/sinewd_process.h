// sinewd_process.h - the real sinewd as a child process: started on port 0, found by its ready
// file, ended by its pid.
//
//   SinewdProcess server({"--threads", "1"});
//   auto channel = grpc::CreateChannel(server.address(), grpc::InsecureChannelCredentials());
#pragma once

#include <fcntl.h>
#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace sinew::testing {

class SinewdProcess {
 public:
  // Adds --listen 127.0.0.1:0 and --ready-file, unless `flags` hold their own. wait: until it is
  // ready, where the file is ours, or has ended. err: its stderr instead of a file. max_files: hard
  // limit of its open files. max_space: of its address space. program: another than the built one.
  explicit SinewdProcess(std::vector<std::string> flags = {}, bool wait = true, int err = -1,
                         rlim_t max_files = 0, rlim_t max_space = 0,
                         const std::string& program = ProgramPath("sinewd")) {
    ready_file_ = folder_.path() / "ready.json";
    const auto has = [&](const std::string& name) {
      return std::ranges::any_of(flags,
                                 [&](const std::string& flag) { return flag.starts_with(name); });
    };
    std::vector<std::string> arguments{program};
    if (!has("--listen")) arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
    if (!has("--ready-file")) {
      arguments.insert(arguments.end(), {"--ready-file", ready_file_.string()});
    }
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    Spawn(arguments, err, max_files, max_space);
    if (wait) WaitReady();
  }

  // Kills it if it still runs.
  ~SinewdProcess() {
    if (pid_ > 0 && !ended_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  SinewdProcess(const SinewdProcess&) = delete;
  SinewdProcess& operator=(const SinewdProcess&) = delete;

  // True once it listens; false if it has ended or takes longer than half a minute.
  bool WaitReady() {
    for (int i = 0; i < 6000 && !std::filesystem::exists(ready_file_); ++i) {
      if (HasEnded()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const std::string ready = ReadAll(ready_file_);
    const auto quoted = [&](std::size_t from) {
      const std::size_t begin = ready.find('"', from) + 1;
      return ready.substr(begin, ready.find('"', begin) - begin);
    };
    if (ready.empty()) return false;
    address_ = quoted(ready.find('['));
    const auto value = [&](const std::string& key) { return quoted(ready.find(key) + key.size()); };
    http_ = value("\"http\":");
    web_ = value("\"web\":");
    return true;
  }

  // Where it listens, e.g. "127.0.0.1:41234" (the first of several addresses).
  const std::string& address() const { return address_; }
  // Its side port, or empty.
  const std::string& http() const { return http_; }
  // Where its page is, or empty.
  const std::string& web() const { return web_; }
  pid_t pid() const { return pid_; }
  const std::filesystem::path& ready_file() const { return ready_file_; }
  std::string out() const { return ReadAll(folder_.path() / "out"); }
  std::string err() const { return ReadAll(folder_.path() / "err"); }

  void Signal(int signal) { ::kill(pid_, signal); }

  // Its exit code, or minus the signal that killed it; -1000 if it does not end in time.
  int Wait(std::chrono::seconds limit = std::chrono::seconds(60)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!HasEnded()) {
      if (std::chrono::steady_clock::now() > deadline) return -1000;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return exit_code_;
  }
  // SIGTERM, then Wait.
  int Stop() {
    Signal(SIGTERM);
    return Wait();
  }

  bool HasEnded() {
    int status = 0;
    if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
      ended_ = true;
      exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    return ended_;
  }

 private:
  void Spawn(std::vector<std::string>& arguments, int err, rlim_t max_files, rlim_t max_space) {
    const std::string out = (folder_.path() / "out").string();
    const std::string err_file = (folder_.path() / "err").string();
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    const auto redirect = [](const std::string& path, int to) {
      const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      ::dup2(file, to);
    };
    redirect(out, STDOUT_FILENO);
    if (err < 0) {
      redirect(err_file, STDERR_FILENO);
    } else {
      ::dup2(err, STDERR_FILENO);
    }
    if (max_files > 0) {
      const rlimit limit{.rlim_cur = max_files, .rlim_max = max_files};
      ::setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (max_space > 0) {
      const rlimit limit{.rlim_cur = max_space, .rlim_max = max_space};
      ::setrlimit(RLIMIT_AS, &limit);
    }
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }

  TemporaryFolder folder_;
  std::filesystem::path ready_file_;
  std::string address_, http_, web_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int exit_code_ = 0;
};

// A connection of its own, made again soon after it is lost.
inline std::shared_ptr<grpc::Channel> Connect(const SinewdProcess& server) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  return grpc::CreateCustomChannel(server.address(), grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace sinew::testing
