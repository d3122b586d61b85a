// thread_names.h - the threads of a server.
#pragma once

#include <absl/strings/str_cat.h>
#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace sinew::testing {

// The threads of an idle server with the default options. Until it runs, a new thread has the name
// of the program.
inline const std::multiset<std::string> kIdleThreads{"control", "io",     "listener",
                                                     "log",     "sinewd", "timers"};

// Names of the process's threads but those of gRPC, whose number changes.
inline std::multiset<std::string> ThreadNames(pid_t process) {
  const std::set<std::string> of_grpc{"default-executo", "resolver-execut", "grpc_global_tim",
                                      "event_engine",    "timer_manager",   "nexting_thread",
                                      "grpcpp_sync_ser"};
  std::multiset<std::string> names;
  for (const auto& thread :
       std::filesystem::directory_iterator(absl::StrCat("/proc/", process, "/task"))) {
    std::string name;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    if (!of_grpc.contains(name)) names.insert(name);
  }
  return names;
}

}  // namespace sinew::testing
