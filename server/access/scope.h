// scope.h - what a principal may do.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sinew::server {

enum class Scope : std::uint8_t {
  kAny = 0,          // any caller that is authenticated
  kRigsRead = 1,     // see and download rigs
  kRigsWrite = 2,    // upload and delete rigs, compute weights
  kSessionsUse = 4,  // sessions and frames
  kAdmin = 8,        // what concerns other tenants or the server itself
};

inline constexpr std::array<Scope, 4> kScopes = {Scope::kRigsRead, Scope::kRigsWrite,
                                                 Scope::kSessionsUse, Scope::kAdmin};

constexpr std::string_view ScopeName(Scope scope) {
  switch (scope) {
    case Scope::kRigsRead:
      return "rigs:read";
    case Scope::kRigsWrite:
      return "rigs:write";
    case Scope::kSessionsUse:
      return "sessions:use";
    case Scope::kAdmin:
      return "admin";
    case Scope::kAny:
      break;
  }
  return "";
}

constexpr std::optional<Scope> ScopeOf(std::string_view name) {
  for (const Scope scope : kScopes) {
    if (ScopeName(scope) == name) return scope;
  }
  return std::nullopt;
}

// A set of scopes.
class Scopes {
 public:
  static constexpr Scopes AllButAdmin() {
    Scopes scopes;
    for (const Scope scope : kScopes) {
      if (scope != Scope::kAdmin) scopes.Add(scope);
    }
    return scopes;
  }

  constexpr void Add(Scope scope) { bits_ |= static_cast<std::uint8_t>(scope); }
  constexpr bool Has(Scope scope) const {
    const auto needed = static_cast<std::uint8_t>(scope);
    return (bits_ & needed) == needed;
  }

 private:
  std::uint8_t bits_ = 0;
};

}  // namespace sinew::server
