#include "server/access/tokens.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_split.h>
#include <absl/time/time.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/digest.h"
#include "core/base/status.h"

namespace sinew::server {
namespace {

constexpr std::size_t kHexDigits = 64;
constexpr char kPrefix[] = "sinew_";  // lets scanners for leaked secrets recognise a token

using Json = nlohmann::json;

absl::StatusOr<std::string> Text(const std::string& key, const Json& value) {
  if (!value.is_string()) return InvalidArgument(key, ": got ", value.type_name(), ", need text");
  return value.get<std::string>();
}

absl::StatusOr<Scopes> ReadScopes(const Json& value) {
  if (!value.is_array()) return InvalidArgument("scopes: got ", value.type_name(), ", need a list");
  Scopes scopes;
  for (const Json& item : value) {
    SINEW_ASSIGN_OR_RETURN(const std::string name, Text("scopes", item));
    const std::optional<Scope> scope = ScopeOf(name);
    if (!scope) {
      return InvalidArgument("scopes: got \"", name,
                             "\", need rigs:read, rigs:write, sessions:use or admin");
    }
    scopes.Add(*scope);
  }
  return scopes;
}

absl::StatusOr<Clock::WallTime> ReadTime(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) {
    return InvalidArgument("expires: got \"", text, "\", need a time such as 2027-01-31T00:00:00Z");
  }
  return absl::ToChronoTime(time);
}

}  // namespace

absl::StatusOr<Tokens::Entry> Tokens::ParseEntry(std::string_view line) {
  std::set<std::string> keys;
  std::string repeated;  // the parser keeps the last value of a key
  const auto note_keys = [&](int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::key && !keys.insert(parsed.get<std::string>()).second) {
      repeated = parsed.get<std::string>();
    }
    return true;
  };
  const Json json = Json::parse(line, note_keys, /*allow_exceptions=*/false);
  if (!json.is_object()) return InvalidArgument("not a JSON object");
  if (!repeated.empty()) return InvalidArgument(repeated, ": given twice");
  Entry entry;
  for (const auto& [key, value] : json.items()) {
    if (key == "scopes") {
      SINEW_ASSIGN_OR_RETURN(entry.identity.scopes, ReadScopes(value));
      continue;
    }
    constexpr std::array<std::string_view, 4> kTexts = {"name", "tenant", "sha256", "expires"};
    if (std::ranges::find(kTexts, key) == kTexts.end()) {
      return InvalidArgument("got the key \"", key,
                             "\", need name, sha256, tenant, scopes or expires");
    }
    SINEW_ASSIGN_OR_RETURN(const std::string text, Text(key, value));
    if (key == "name") {
      SINEW_RETURN_IF_ERROR(SetPrincipal(text, entry.identity));
    } else if (key == "tenant") {
      SINEW_RETURN_IF_ERROR(SetTenant(text, entry.identity));
    } else if (key == "sha256") {
      entry.sha256 = absl::AsciiStrToLower(text);
    } else {
      SINEW_ASSIGN_OR_RETURN(entry.expires, ReadTime(text));
    }
  }
  if (entry.identity.principal.empty()) return InvalidArgument("name: not set");
  if (entry.sha256.empty()) return InvalidArgument("sha256: not set");
  if (entry.sha256.size() != kHexDigits ||
      !std::ranges::all_of(entry.sha256, [](char c) { return absl::ascii_isxdigit(c); })) {
    return InvalidArgument("sha256: got ", entry.sha256.size(), " characters, need ", kHexDigits,
                           " hex digits");
  }
  return entry;
}

absl::StatusOr<Tokens> Tokens::Parse(std::string_view text) {
  Tokens tokens;
  std::size_t number = 0;
  for (const absl::string_view raw : absl::StrSplit(AbslView(text), '\n')) {
    ++number;
    const absl::string_view line = absl::StripAsciiWhitespace(raw);
    if (line.empty() || line.front() == '#') continue;
    absl::StatusOr<Entry> entry = ParseEntry(StdView(line));
    if (!entry.ok()) return InvalidArgument("line ", number, ": ", entry.status().message());
    const auto same = [&](const Entry& other) { return other.sha256 == entry->sha256; };
    if (std::ranges::any_of(tokens.entries_, same)) {
      return InvalidArgument("line ", number, ": sha256: that of an earlier line");
    }
    tokens.entries_.push_back(*std::move(entry));
  }
  return tokens;
}

const Identity* Tokens::Find(std::string_view token, Clock::WallTime now) const {
  const std::string hash = Sha256Hex(token);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (CRYPTO_memcmp(entry.sha256.data(), hash.data(), kHexDigits) == 0) found = &entry;
  }
  if (found == nullptr || (found->expires && now >= *found->expires)) return nullptr;
  return &found->identity;
}

absl::StatusOr<NewToken> MakeToken(const std::string& name) {
  Identity identity;
  SINEW_RETURN_IF_ERROR(SetPrincipal(name, identity));
  std::array<unsigned char, 32> random;
  if (RAND_bytes(random.data(), random.size()) != 1) {
    return absl::InternalError("no random numbers are available");
  }
  const std::string bytes(random.begin(), random.end());
  NewToken made;
  made.token = kPrefix + absl::WebSafeBase64Escape(bytes);
  nlohmann::ordered_json line;
  line["name"] = name;
  line["sha256"] = Sha256Hex(made.token);
  made.line = line.dump() + "\n";
  return made;
}

}  // namespace sinew::server
