#include "server/shared/signed_names.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/status.h"
#include "server/base/files.h"
#include "server/shared/random_name.h"

namespace sinew::server {
namespace {

constexpr char kPrefix[] = "sessions/";
constexpr char kVersion = '1';
constexpr std::size_t kMacBytes = 16;
constexpr std::size_t kKeyCharacters = 32;
constexpr std::size_t kMostNameBytes = 16 << 10;
constexpr std::size_t kMostDeleted = 100'000;

std::string MacOf(const std::string& key, const std::string& tenant, absl::string_view content) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac;
  unsigned size = 0;
  const std::string text = absl::StrCat(tenant, absl::string_view("\0", 1), content);
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
  return {reinterpret_cast<const char*>(mac.data()), kMacBytes};
}

// The last characters of a name hold its signature, and identify it in little memory.
std::string EndOf(const std::string& name) {
  constexpr std::size_t kCharacters = 24;
  return name.substr(name.size() - std::min(kCharacters, name.size()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<SessionRecords>> SignedNames::Open(const std::string& key_file) {
  const absl::StatusOr<std::string> text = ReadPiece(key_file, 0, 64 << 10);
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("session-key-file: ", text.status().message()));
  }
  std::vector<std::string> keys;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (line.empty()) continue;
    if (line.size() < kKeyCharacters) {
      return absl::InvalidArgumentError(
          absl::StrCat("session-key-file: ", key_file, ": got a key of ", line.size(),
                       " characters, need ", kKeyCharacters, " or more"));
    }
    keys.emplace_back(line);
  }
  if (keys.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("session-key-file: ", key_file, ": got no key, need one or more, one a line"));
  }
  return std::make_unique<SignedNames>(std::move(keys));
}

std::string SignedNames::NewName(const std::string& tenant, const SessionRecord& record) {
  // Its validate_only is `shared`; its request_id begins with the time, and makes names differ.
  v1::CreateSessionRequest content;
  *content.mutable_source() = record.source;
  content.mutable_ttl()->set_seconds(record.ttl_ms / 1000);
  content.mutable_ttl()->set_nanos(static_cast<int>(record.ttl_ms % 1000) * 1'000'000);
  content.set_validate_only(record.shared);
  content.set_request_id(absl::StrCat(record.last_ms, ".", RandomHex()));
  const std::string bytes = absl::StrCat(std::string(1, kVersion), content.SerializeAsString());
  return absl::StrCat(kPrefix,
                      absl::WebSafeBase64Escape(bytes + MacOf(keys_.front(), tenant, bytes)));
}

absl::Status SignedNames::Keep(const std::string&, const std::string&, const SessionRecord&) {
  return absl::OkStatus();
}

absl::StatusOr<SessionRecord> SignedNames::Find(const std::string& tenant,
                                                const std::string& name) {
  const absl::Status unknown = absl::NotFoundError("session: unknown");
  std::string bytes;
  if (name.size() > kMostNameBytes || !absl::StartsWith(name, kPrefix) ||
      !absl::WebSafeBase64Unescape(absl::StripPrefix(name, kPrefix), &bytes) ||
      bytes.size() <= kMacBytes || bytes[0] != kVersion ||
      // One name for one session: Base64 can be written in several ways.
      absl::StrCat(kPrefix, absl::WebSafeBase64Escape(bytes)) != name) {
    return unknown;
  }
  const absl::string_view content = absl::string_view(bytes).substr(0, bytes.size() - kMacBytes);
  const char* const mac = bytes.data() + content.size();
  const bool is_ours = std::ranges::any_of(keys_, [&](const std::string& key) {
    return CRYPTO_memcmp(MacOf(key, tenant, content).data(), mac, kMacBytes) == 0;
  });
  v1::CreateSessionRequest parsed;
  if (!is_ours ||
      !parsed.ParseFromArray(content.data() + 1, static_cast<int>(content.size()) - 1)) {
    return unknown;
  }
  {
    const absl::MutexLock lock(&mutex_);
    if (deleted_.contains(EndOf(name))) return unknown;
  }
  SessionRecord record;
  record.source = parsed.source();
  record.ttl_ms = parsed.ttl().seconds() * 1000 + parsed.ttl().nanos() / 1'000'000;
  record.shared = parsed.validate_only();
  const std::vector<absl::string_view> time = absl::StrSplit(parsed.request_id(), '.');
  if (!absl::SimpleAtoi(time.front(), &record.last_ms)) return unknown;
  return record;
}

absl::StatusOr<std::string> SignedNames::FindRequest(const std::string&, const std::string&) {
  return std::string();
}

absl::Status SignedNames::Delete(const std::string&, const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  if (!deleted_.insert(EndOf(name)).second) return absl::OkStatus();
  deleted_order_.push_back(EndOf(name));
  if (deleted_order_.size() > kMostDeleted) {
    deleted_.erase(deleted_order_.front());
    deleted_order_.pop_front();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<bool>> SignedNames::Renew(const std::vector<Held>& sessions) {
  return std::vector<bool>(sessions.size(), true);
}

absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> SignedNames::TakeClaim(const std::string&) {
  return absl::UnimplementedError("claims: names know none");
}

}  // namespace sinew::server
