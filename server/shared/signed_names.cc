#include "server/shared/signed_names.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <google/protobuf/util/time_util.h>
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

using google::protobuf::util::TimeUtil;

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

absl::StatusOr<std::vector<std::string>> ReadKeys(const std::string& key_file) {
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
  return keys;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SessionRecords>> SignedNames::Open(const std::string& key_file,
                                                                  Log log) {
  SINEW_ASSIGN_OR_RETURN(Keys keys, ReadKeys(key_file));
  return std::unique_ptr<SessionRecords>(
      new SignedNames(key_file, std::move(keys), std::move(log)));
}

void SignedNames::ReadAgain() {
  absl::StatusOr<Keys> keys = ReadKeys(key_file_);
  const absl::MutexLock lock(&mutex_);
  const std::string unusable(keys.ok() ? "" : keys.status().message());
  // Read twice with the same result: a file that is being written is read in part.
  const Keys before = std::exchange(last_read_, keys.ok() ? *keys : Keys());
  if (keys.ok() && *keys != keys_) {
    if (*keys != before) return;
    keys_ = *std::move(keys);
    log_->info("read again: {}", key_file_);
  } else if (!unusable.empty() && unusable != unusable_) {
    log_->error("cannot use the new contents, the old ones stay: {}", unusable);
  }
  unusable_ = unusable;
}

void SignedNames::LogOtherKey() {
  constexpr std::chrono::minutes kBetween{1};
  const auto now = std::chrono::steady_clock::now();
  const absl::MutexLock lock(&mutex_);
  ++other_keys_;
  if (now < next_log_) return;
  log_->warn(
      "session-key-file: session names with a key that is not in {}, {} since the last such line; "
      "do all servers have the same keys?",
      key_file_, std::exchange(other_keys_, 0));
  next_log_ = now + kBetween;
}

std::string SignedNames::NewName(const std::string& tenant, const SessionRecord& record) {
  v1::Session content;
  content.set_name(RandomHex());  // makes names differ
  *content.mutable_source() = record.source;
  *content.mutable_ttl() = TimeUtil::MillisecondsToDuration(record.ttl_ms);
  *content.mutable_expire_time() = TimeUtil::MillisecondsToTimestamp(record.last_ms);
  const std::string bytes = absl::StrCat(std::string(1, kVersion), content.SerializeAsString());
  const absl::MutexLock lock(&mutex_);
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
  {
    absl::ReleasableMutexLock lock(&mutex_);
    const bool is_ours = std::ranges::any_of(keys_, [&](const std::string& key) {
      return CRYPTO_memcmp(MacOf(key, tenant, content).data(), mac, kMacBytes) == 0;
    });
    const auto deleted = deleted_.find(tenant);
    if (deleted != deleted_.end() && deleted->second.names.contains(EndOf(name))) return unknown;
    lock.Release();
    if (!is_ours) LogOtherKey();
    if (!is_ours) return unknown;
  }
  v1::Session parsed;
  if (!parsed.ParseFromArray(content.data() + 1, static_cast<int>(content.size()) - 1)) {
    return unknown;
  }
  SessionRecord record;
  record.source = parsed.source();
  record.ttl_ms = TimeUtil::DurationToMilliseconds(parsed.ttl());
  record.last_ms = TimeUtil::TimestampToMilliseconds(parsed.expire_time());
  return record;
}

absl::StatusOr<std::string> SignedNames::FindRequest(const std::string&, const std::string&) {
  return std::string();
}

absl::Status SignedNames::Delete(const std::string& tenant, const std::string& name) {
  const absl::MutexLock lock(&mutex_);
  Deleted& deleted = deleted_[tenant];
  if (!deleted.names.insert(EndOf(name)).second) return absl::OkStatus();
  deleted.order.push_back(EndOf(name));
  if (++deleted_count_ <= kMostDeleted) return absl::OkStatus();
  // The tenant with the most forgets one: it cannot make others' sessions come back.
  const auto most = std::ranges::max_element(
      deleted_, {}, [](const auto& tenants) { return tenants.second.order.size(); });
  most->second.names.erase(most->second.order.front());
  most->second.order.pop_front();
  if (most->second.order.empty()) deleted_.erase(most);
  --deleted_count_;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<bool>> SignedNames::Renew(const std::vector<Held>& sessions) {
  ReadAgain();
  return std::vector<bool>(sessions.size(), true);
}

absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> SignedNames::TakeClaim(const std::string&) {
  return absl::UnimplementedError("claims: names know none");
}

}  // namespace sinew::server
