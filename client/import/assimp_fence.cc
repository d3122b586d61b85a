#include "client/import/assimp_fence.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>

namespace sinew::client {
namespace {

constexpr std::uint64_t kMemoryBytes = std::uint64_t{2} << 30;  // beside what the process has
constexpr std::uint64_t kMemoryPerFileByte = 64;
constexpr std::size_t kSeconds = 10, kFileBytesPerSecond = std::size_t{1} << 20;
constexpr std::size_t kMaxMessage = 1024;  // fits a pipe's buffer, so that writing never blocks

std::size_t CpuSeconds(std::size_t file_bytes) {
  return kSeconds + file_bytes / kFileBytesPerSecond;
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

// The rest of the child's life: 0 if `work` succeeds, else 1 and its message in `pipe`.
[[noreturn]] void RunChild(const std::function<absl::Status()>& work, std::size_t file_bytes,
                           int pipe) {
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  const rlim_t seconds = CpuSeconds(file_bytes);
  const rlimit cpu{.rlim_cur = seconds, .rlim_max = seconds + 1};
  setrlimit(RLIMIT_CPU, &cpu);
  LimitMemory(file_bytes);
  for (const int signal : {SIGXCPU, SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // What a dying library prints would only confuse the user.
  if (const int quiet = open("/dev/null", O_WRONLY); quiet >= 0) dup2(quiet, STDERR_FILENO);
  std::string message;
  try {
    const absl::Status status = work();
    if (status.ok()) _exit(0);
    message = std::string(status.message());
  } catch (const std::exception& error) {
    message = error.what();
  }
  (void)!write(pipe, message.data(), std::min(message.size(), kMaxMessage));
  _exit(1);
}

// Everything until the child closes its end.
std::string ReadAll(int pipe) {
  std::string text(kMaxMessage, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = read(pipe, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

absl::Status CannotStart(const std::string& label) {
  return absl::ResourceExhaustedError(
      absl::StrCat(label, ": cannot start a process to try the file: ", std::strerror(errno)));
}

}  // namespace

absl::Status TryInChild(const std::function<absl::Status()>& work, std::size_t file_bytes,
                        const std::string& label) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return CannotStart(label);
  const pid_t child = fork();
  if (child == 0) RunChild(work, file_bytes, ends[1]);
  close(ends[1]);
  const std::string message = child > 0 ? ReadAll(ends[0]) : std::string();
  close(ends[0]);
  if (child < 0) return CannotStart(label);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return CannotStart(label);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (!message.empty()) return absl::InvalidArgumentError(message);
  const bool too_long = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  return absl::InvalidArgumentError(
      too_long ? absl::StrCat(label, ": damaged: the parser does not finish in ",
                              CpuSeconds(file_bytes), " s")
               : absl::StrCat(label, ": damaged: the parser crashes on it"));
}

}  // namespace sinew::client
