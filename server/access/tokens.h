// tokens.h - static bearer tokens: the token file, and making a token.
//
// A token file has one JSON object a line; empty lines and lines that begin with # are skipped:
//   {"name": "alice", "sha256": "<64 hex digits>", "tenant": "film", "scopes": ["rigs:read"],
//    "expires": "2027-01-31T00:00:00Z"}
// Only `name` and `sha256` are required. Without `tenant` the principal belongs to the default
// tenant; without `scopes` it has all but `admin`.
#pragma once

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/identity.h"
#include "server/base/clock.h"

namespace sinew::server {

// Thread-safe once parsed.
class Tokens {
 public:
  // kInvalidArgument: "line N: what".
  static absl::StatusOr<Tokens> Parse(std::string_view text);
  bool empty() const { return entries_.empty(); }

  // Whose token this is; null: unknown or expired. Takes the same time for every token.
  const Identity* Find(std::string_view token, Clock::WallTime now) const;

 private:
  struct Entry {
    Identity identity;
    std::string sha256;  // hex, lower case
    std::optional<Clock::WallTime> expires;
  };
  static absl::StatusOr<Entry> ParseEntry(std::string_view line);

  std::vector<Entry> entries_;
};

struct NewToken {
  std::string token;
  std::string line;  // for the token file, with a line break
};
// 256 random bits for `name`. Such a token cannot be guessed from its hash, so plain SHA-256 is
// enough: slow, salted hashes protect passwords, which people choose.
absl::StatusOr<NewToken> MakeToken(const std::string& name);

}  // namespace sinew::server
