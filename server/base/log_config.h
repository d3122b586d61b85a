// log_config.h - the part of the configuration about the log. A part of config.h.
#pragma once

#include <functional>
#include <string>

namespace sinew::server {

struct LogConfig {
  std::string format = "text";
  std::string level = "info";
  std::string audit;  // file of the audit log; empty = none
  // Not an option: takes the messages of a server inside another program, in place of stderr.
  // Called by the thread of the log.
  std::function<void(const std::string& message)> take = {};
};

}  // namespace sinew::server
