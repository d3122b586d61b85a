#include "tests/integration/cli/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string_view>

#include "tests/support/paths.h"

extern char** environ;

namespace sinew::testing {
namespace {

std::vector<std::string> Environment(const std::vector<std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    if (variable.starts_with("SINEW_SERVER=") || variable.starts_with("TRACEPARENT=")) continue;
    all.emplace_back(variable);
  }
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::string& folder,
                 const std::vector<std::string>& environment) {
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) std::abort();
  const std::vector<std::string> variables = Environment(environment);
  const std::vector<char*> argv = Pointers(arguments), envp = Pointers(variables);
  pid_ = ::fork();
  if (pid_ == 0) {
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    if (!folder.empty() && ::chdir(folder.c_str()) != 0) ::_exit(126);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
}

Process::~Process() {
  if (!reaped_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &state_, 0);
  }
  ::close(out_);
  ::close(err_);
}

void Process::Signal(int signal) const {
  ::kill(pid_, signal);
}

bool Process::running() {
  if (!reaped_ && ::waitpid(pid_, &state_, WNOHANG) == pid_) reaped_ = true;
  return !reaped_;
}

Finished Process::Wait() {
  Finished finished;
  std::array<pollfd, 2> files = {pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  std::array<std::string*, 2> texts = {&finished.out, &finished.err};
  std::array<char, 65536> buffer;
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    if (::poll(files.data(), files.size(), -1) < 0) continue;
    for (std::size_t k = 0; k < files.size(); ++k) {
      if (files[k].fd < 0 || files[k].revents == 0) continue;
      const ssize_t got = ::read(files[k].fd, buffer.data(), buffer.size());
      if (got > 0) texts[k]->append(buffer.data(), static_cast<std::size_t>(got));
      if (got <= 0) files[k].fd = -1;
    }
  }
  if (!reaped_) ::waitpid(pid_, &state_, 0);
  reaped_ = true;
  finished.exit_code = WIFEXITED(state_) ? WEXITSTATUS(state_) : -1;
  finished.signal = WIFSIGNALED(state_) ? WTERMSIG(state_) : 0;
  return finished;
}

std::string Process::ReadLine() {
  char c = 0;
  std::string line;
  while (::read(out_, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

bool Process::ReadErrorsUntil(const std::string& text) {
  std::string line;
  for (char c = 0; ::read(err_, &c, 1) == 1;) {
    line += c;
    if (c != '\n') continue;
    if (line.find(text) != std::string::npos) return true;
    line.clear();
  }
  return false;
}

Daemon::Daemon(const std::string& listen, const std::vector<std::string>& flags)
    : process_([&] {
        std::vector<std::string> arguments = {
            ProgramPath("sinewd"), "--listen", listen, "--http", "off", "--log-level", "error"};
        arguments.insert(arguments.end(), flags.begin(), flags.end());
        return arguments;
      }()) {
  const std::string line = process_.ReadLine();
  constexpr char kReady[] = "sinewd: listening on ";
  if (line.rfind(kReady, 0) == 0) address_ = line.substr(sizeof kReady - 1);
}

Finished Sinew(std::vector<std::string> arguments, const std::string& folder,
               const std::vector<std::string>& environment) {
  arguments.insert(arguments.begin(), ProgramPath("sinew"));
  return Process(arguments, folder, environment).Wait();
}

Finished SinewAt(const std::string& address, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--server", address});
  return Sinew(std::move(arguments));
}

}  // namespace sinew::testing
