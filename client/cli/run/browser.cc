#include "client/cli/run/browser.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sinew::cli {

bool Browser::HasUser() {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return (set("DISPLAY") || set("WAYLAND_DISPLAY")) && ::isatty(STDOUT_FILENO) == 1;
}

Browser::Browser(const std::string& link) {
  std::error_code error;
  std::string pattern =
      (std::filesystem::temp_directory_path(error) / "sinew-view-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) return;  // with mode 700
  folder_ = pattern;
  std::string file = folder_ + "/view.html";
  std::ofstream(file) << "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=" << link
                      << "\"><a href=\"" << link << "\">sinew view</a>\n";
  std::string program = "xdg-open";
  const std::array<char*, 3> arguments = {program.data(), file.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // In a session of its own: Ctrl-C is not for it.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t all;
  ::sigfillset(&all);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  }
  if (::posix_spawnp(&process_, program.c_str(), &actions, &attributes, arguments.data(),
                     environ) != 0) {
    process_ = -1;
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
}

Browser::~Browser() {
  if (process_ > 0) ::waitpid(process_, nullptr, WNOHANG);
  std::error_code error;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
}

}  // namespace sinew::cli
