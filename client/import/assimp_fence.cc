#include "client/import/assimp_fence.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <fstream>

namespace sinew::client {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{2} << 30;  // beside what the process has
constexpr std::uint64_t kMemoryPerFileByte = 64;
constexpr unsigned kSeconds = 30;
constexpr std::size_t kFileBytesPerSecond = std::size_t{1} << 20;

unsigned TimeLimit(std::size_t file_bytes) {
  return kSeconds + static_cast<unsigned>(file_bytes / kFileBytesPerSecond);
}

void LimitMemory([[maybe_unused]] std::size_t file_bytes) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::uint64_t have = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = have + kMemoryBytes + kMemoryPerFileByte * file_bytes;
  setrlimit(RLIMIT_AS, &limit);
#endif
}

// The rest of the child's life. An exception is no crash: the parent will meet and report it.
[[noreturn]] void RunChild(const std::function<void()>& work, std::size_t file_bytes) {
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  LimitMemory(file_bytes);
  for (const int signal : {SIGALRM, SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // What a dying library prints would only puzzle the user.
  if (const int quiet = open("/dev/null", O_WRONLY); quiet >= 0) dup2(quiet, STDERR_FILENO);
  alarm(TimeLimit(file_bytes));
  try {
    work();
  } catch (const std::exception&) {
  }
  _exit(0);
}

}  // namespace

absl::Status TryInChild(const std::function<void()>& work, std::size_t file_bytes) {
  const pid_t child = fork();
  if (child < 0) return absl::OkStatus();
  if (child == 0) RunChild(work, file_bytes);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return absl::OkStatus();
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return absl::InvalidArgumentError(absl::StrCat(
        "damaged: the parser does not come to an end in ", TimeLimit(file_bytes), " s"));
  }
  return absl::InvalidArgumentError("damaged: the parser fails on it");
}

}  // namespace sinew::client
