// option.h - what is known about an option: name, unit, range and help.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace sinew::server {

struct Option {
  std::string_view name, unit, help;
  double minimum = 0, maximum = 0;             // of numbers, inclusive
  bool limit = false;                          // limits clients; listed by GetServerInfo
  bool shared = false;                         // one client may hold a part of it, see client-share
  std::vector<std::string_view> choices = {};  // of strings; empty = any
};

inline constexpr double kHuge = 1e15;  // the largest limit of bytes

// Writes rows of a table of options: calls visit(Option, member&).
template <class Visit>
class OptionRows {
 public:
  explicit OptionRows(Visit& visit) : visit_(visit) {}

  using View = std::string_view;
  template <class Member>
  void Text(Member& member, View name, View help, std::vector<View> choices = {}) const {
    visit_(Option{name, "", help, 0, 0, false, false, std::move(choices)}, member);
  }
  template <class Member>
  void Number(Member& member, View name, View unit, View help, double minimum,
              double maximum) const {
    visit_(Option{name, unit, help, minimum, maximum}, member);
  }
  // A number that limits clients.
  template <class Member>
  void Limit(Member& member, View name, View unit, View help, double minimum,
             double maximum) const {
    visit_(Option{name, unit, help, minimum, maximum, true}, member);
  }
  // A limit of what all clients hold together.
  template <class Member>
  void Shared(Member& member, View name, View unit, View help, double minimum,
              double maximum) const {
    visit_(Option{name, unit, help, minimum, maximum, true, true}, member);
  }

 private:
  Visit& visit_;
};

}  // namespace sinew::server
