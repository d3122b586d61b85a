#include "server/shared/redis_records.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "server/shared/random_name.h"

namespace sinew::server {
namespace {

using Command = RedisClient::Command;

// Longer than the time between two renewals of leases, with room for a few that fail.
constexpr std::int64_t kGraceMs = 30'000;
constexpr std::int64_t kDeletedMs = 24 * 3600 * 1000;
constexpr std::size_t kBlock = 500;        // sessions that are renewed at a time
constexpr std::int64_t kClaimMs = 20'000;  // renewed every few seconds

constexpr std::size_t kNameBytes = sizeof("sessions/") - 1 + 32;  // of a session

std::string SessionKey(const std::string& tenant, const std::string& name) {
  return absl::StrCat("sinew:session:", tenant, "/", name);
}
std::string RequestKey(const std::string& tenant, const std::string& id) {
  return absl::StrCat("sinew:request:", tenant, "/", id);
}
std::string ClaimKey(const std::string& name) {
  return absl::StrCat("sinew:claim:", name);
}

// The commands that write a record.
std::vector<Command> Write(const std::string& tenant, const std::string& name,
                           const SessionRecord& record) {
  const std::string key = SessionKey(tenant, name);
  const std::string time = absl::StrCat(record.ttl_ms + kGraceMs);
  std::vector<Command> commands = {
      {"HSET", key, "source", record.source.SerializeAsString(), "request", record.request_id,
       "ttl", absl::StrCat(record.ttl_ms), "last", absl::StrCat(record.last_ms)},
      {"PEXPIRE", key, time}};
  if (!record.request_id.empty()) {
    commands.push_back({"SET", RequestKey(tenant, record.request_id), name, "PX", time});
  }
  return commands;
}

absl::Status FirstError(const std::vector<RedisReply>& replies) {
  for (const RedisReply& reply : replies) {
    if (reply.kind == RedisReply::Kind::kError) {
      return absl::InternalError(absl::StrCat("redis: ", reply.text));
    }
  }
  return absl::OkStatus();
}

}  // namespace

RedisRecords::RedisRecords(std::unique_ptr<RedisClient> redis)
    : redis_(std::move(redis)), owner_(RandomHex()) {}

absl::Status RedisRecords::Keep(const std::string& tenant, const std::string& name,
                                const SessionRecord& record) {
  SINEW_ASSIGN_OR_RETURN(const auto replies, redis_->Run(Write(tenant, name, record)));
  return FirstError(replies);
}

absl::StatusOr<SessionRecord> RedisRecords::Find(const std::string& tenant,
                                                 const std::string& name) {
  // Nothing else is sent there that a client has made up.
  if (name.size() != kNameBytes) return absl::NotFoundError("session: unknown");
  SINEW_ASSIGN_OR_RETURN(const RedisReply reply,
                         redis_->Run({"HMGET", SessionKey(tenant, name), "source", "request", "ttl",
                                      "last", "deleted"}));
  const auto& values = reply.list;
  if (values.size() != 5 || values[4].kind != RedisReply::Kind::kNothing ||
      values[0].kind != RedisReply::Kind::kText) {
    return absl::NotFoundError("session: unknown");
  }
  SessionRecord record;
  record.request_id = values[1].text;
  if (!record.source.ParseFromString(values[0].text) ||
      !absl::SimpleAtoi(values[2].text, &record.ttl_ms) ||
      !absl::SimpleAtoi(values[3].text, &record.last_ms) || record.ttl_ms <= 0) {
    return absl::NotFoundError("session: its record is damaged");
  }
  return record;
}

absl::StatusOr<std::string> RedisRecords::FindRequest(const std::string& tenant,
                                                      const std::string& request_id) {
  SINEW_ASSIGN_OR_RETURN(RedisReply reply, redis_->Run({"GET", RequestKey(tenant, request_id)}));
  return std::move(reply.text);
}

absl::Status RedisRecords::Delete(const std::string& tenant, const std::string& name) {
  const std::string key = SessionKey(tenant, name);
  SINEW_ASSIGN_OR_RETURN(const auto replies,
                         redis_->Run({{"HSET", key, "deleted", "1"},
                                      {"HDEL", key, "source"},
                                      {"PEXPIRE", key, absl::StrCat(kDeletedMs)}}));
  return FirstError(replies);
}

absl::StatusOr<std::vector<bool>> RedisRecords::Renew(const std::vector<Held>& sessions) {
  redis_->Probe();
  // So that a wrong address is reported before the first session.
  if (sessions.empty()) SINEW_RETURN_IF_ERROR(redis_->Run(Command{"PING"}).status());
  std::vector<bool> goes_on;
  const std::span<const Held> all(sessions);
  for (std::size_t begin = 0; begin < all.size(); begin += kBlock) {
    const auto block = all.subspan(begin, std::min(kBlock, all.size() - begin));
    SINEW_ASSIGN_OR_RETURN(const std::vector<bool> results, RenewBlock(block));
    goes_on.insert(goes_on.end(), results.begin(), results.end());
  }
  return goes_on;
}

absl::StatusOr<std::vector<bool>> RedisRecords::RenewBlock(std::span<const Held> sessions) {
  std::vector<Command> questions;
  for (const Held& held : sessions) {
    questions.push_back({"HMGET", SessionKey(held.tenant, held.name), "deleted", "ttl"});
  }
  SINEW_ASSIGN_OR_RETURN(const auto answers, redis_->Run(questions));
  SINEW_RETURN_IF_ERROR(FirstError(answers));
  std::vector<bool> goes_on(sessions.size(), true);
  std::vector<Command> commands;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const Held& held = sessions[i];
    if (answers[i].list.size() != 2) return absl::InternalError("redis: HMGET: got no two values");
    const RedisReply& deleted = answers[i].list[0];
    std::int64_t ttl = 0;  // which another server may have changed
    if (deleted.kind != RedisReply::Kind::kNothing) {
      goes_on[i] = false;
      continue;
    }
    // Redis has lost it, or it was made while Redis was down.
    if (!absl::SimpleAtoi(answers[i].list[1].text, &ttl)) {
      for (Command& command : Write(held.tenant, held.name, held.record)) {
        commands.push_back(std::move(command));
      }
    } else if (held.used) {
      const std::string time = absl::StrCat(std::max(ttl, held.record.ttl_ms) + kGraceMs);
      commands.push_back({"PEXPIRE", SessionKey(held.tenant, held.name), time});
      if (!held.record.request_id.empty()) {
        commands.push_back({"PEXPIRE", RequestKey(held.tenant, held.record.request_id), time});
      }
    }
  }
  SINEW_ASSIGN_OR_RETURN(const auto replies, redis_->Run(commands));
  SINEW_RETURN_IF_ERROR(FirstError(replies));
  return goes_on;
}

class RedisRecords::HeldClaim final : public ObjectStore::Claim {
 public:
  HeldClaim(RedisRecords& records, std::string name) : records_(records), name_(std::move(name)) {}
  ~HeldClaim() override { records_.EndClaim(name_); }

 private:
  RedisRecords& records_;
  const std::string name_;
};

absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> RedisRecords::TakeClaim(
    const std::string& name) {
  // The reply to SET may be lost: then the claim is our own already.
  SINEW_ASSIGN_OR_RETURN(
      const auto replies,
      redis_->Run({{"SET", ClaimKey(name), owner_, "NX", "PX", absl::StrCat(kClaimMs)},
                   {"GET", ClaimKey(name)}}));
  SINEW_RETURN_IF_ERROR(FirstError(replies));
  if (replies[1].text != owner_) return nullptr;
  {
    const absl::MutexLock lock(&mutex_);
    ++claims_[name];
  }
  return std::make_unique<HeldClaim>(*this, name);
}

void RedisRecords::EndClaim(const std::string& name) {
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = claims_.find(name);
    if (found == claims_.end() || --found->second > 0) return;
    claims_.erase(found);
  }
  // A claim that has passed to another server, because this one paused, is left alone.
  static constexpr char kDeleteOwn[] =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return "
      "0";
  static_cast<void>(redis_->Run({"EVAL", kDeleteOwn, "1", ClaimKey(name), owner_}).status());
}

void RedisRecords::RenewClaims() {
  static constexpr char kProlongOwn[] =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], "
      "ARGV[2]) "
      "end return 0";
  std::vector<Command> commands;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [name, uses] : claims_) {
      commands.push_back(
          {"EVAL", kProlongOwn, "1", ClaimKey(name), owner_, absl::StrCat(kClaimMs)});
    }
  }
  static_cast<void>(redis_->Run(commands).status());
}

}  // namespace sinew::server
