// option.h - what is known about an option: name, unit, range and help.
#pragma once

#include <string_view>
#include <vector>

namespace sinew::server {

struct Option {
  std::string_view name, unit, help;
  double minimum = 0, maximum = 0;             // of numbers, inclusive
  bool limit = false;                          // limits clients; listed by GetServerInfo
  bool shared = false;                         // one client may hold a part of it, see client-share
  std::vector<std::string_view> choices = {};  // of strings; empty = any
};

}  // namespace sinew::server
