// option.h - what is known about an option: name, unit, range and help.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace sinew::server {

struct Option {
  std::string_view name, unit, help;
  double minimum = 0, maximum = 0;             // of numbers, inclusive
  bool limit = false;                          // limits clients; listed by GetServerInfo
  std::vector<std::string_view> choices = {};  // of strings; empty = any
  // Constants of the server: neither a flag nor a key, only --set NAME=VALUE changes them.
  bool internal = false;
  // > 0: 0 stands for this share of memory-bytes, or with a data folder for disk_bytes if that is
  // > 0.
  std::uint64_t percent = 0, disk_bytes = 0;
  std::uint64_t least = 0;  // of such a share, on a small machine
};

// A character of 20,000 vertices binds to every recipe, and 16 clients stream it, also in a
// container of 256 MB.
inline constexpr std::uint64_t kLeastMemory = 128 << 20;
inline constexpr double kHuge = 1e15;  // the largest limit of bytes

// Writes rows of a table of options: calls visit(Option, member&).
template <class Visit>
class OptionRows {
 public:
  explicit OptionRows(Visit& visit) : visit_(visit) {}

  // Rows of internal options, see Option.
  OptionRows Internal() const { return OptionRows(visit_, true); }
  OptionRows Share(std::uint64_t percent, std::uint64_t disk_bytes = 0,
                   std::uint64_t least = 0) const {
    return OptionRows(visit_, true, percent, disk_bytes, least);
  }

  using View = std::string_view;
  template <class Member>
  void Text(Member& member, View name, View help, std::vector<View> choices = {}) const {
    visit_(Row({name, "", help, 0, 0, false, std::move(choices)}), member);
  }
  template <class Member>
  void Number(Member& member, View name, View unit, View help, double minimum,
              double maximum) const {
    visit_(Row({name, unit, help, minimum, maximum}), member);
  }
  // A number that limits clients.
  template <class Member>
  void Limit(Member& member, View name, View unit, View help, double minimum,
             double maximum) const {
    visit_(Row({name, unit, help, minimum, maximum, true}), member);
  }

 private:
  OptionRows(Visit& visit, bool internal, std::uint64_t percent = 0, std::uint64_t disk_bytes = 0,
             std::uint64_t least = 0)
      : visit_(visit),
        internal_(internal),
        percent_(percent),
        disk_bytes_(disk_bytes),
        least_(least) {}
  Option Row(Option option) const {
    option.internal = internal_;
    option.percent = percent_;
    option.disk_bytes = disk_bytes_;
    option.least = least_;
    return option;
  }

  Visit& visit_;
  const bool internal_ = false;
  const std::uint64_t percent_ = 0, disk_bytes_ = 0, least_ = 0;
};

}  // namespace sinew::server
