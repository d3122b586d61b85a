// unique_names.h - hands out names that do not repeat: `arm`, `arm.2`, `arm.3`.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace sinew::client {

class UniqueNames {
 public:
  // `wanted`, or `fallback` if that is empty, with the lowest suffix that makes it new. Amortised
  // O(1).
  std::string Take(const std::string& wanted, const std::string& fallback) {
    const std::string& base = wanted.empty() ? fallback : wanted;
    if (taken_.insert(base).second) return base;
    int& suffix = next_suffix_.try_emplace(base, 2).first->second;
    for (;;) {
      std::string name = base + "." + std::to_string(suffix++);
      if (taken_.insert(name).second) return name;
    }
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_suffix_;
};

}  // namespace sinew::client
