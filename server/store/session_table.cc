#include "server/store/session_table.h"

#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>
#include <google/protobuf/util/message_differencer.h>
#include <openssl/rand.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

std::string SharedKey(const std::string& rig, const std::string& determinism_digest) {
  return absl::StrCat(rig, " ", determinism_digest);
}

absl::Status Unknown(const std::string& name) {
  return absl::NotFoundError(
      absl::StrCat("session: no ", name.substr(0, 100), " on this server, or its lease is over"));
}

bool SameSource(const v1::SessionSource& a, const v1::SessionSource& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

}  // namespace

std::string RandomSessionName() {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) throw std::runtime_error("no randomness");
  const std::string raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return absl::StrCat("sessions/", absl::BytesToHexString(raw));
}

absl::StatusOr<SessionTable::Lease> SessionTable::Add(std::shared_ptr<Session> session,
                                                      Duration ttl, Time now) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  const std::string shared_key = SharedKey(session->source.rig(), session->determinism_digest);
  // Of two concurrent requests the first one adds the session.
  if (const Lease* first = Listed(requests_, session->request_id, now, dropped)) {
    if (SameSource(first->session->source, session->source)) return *first;
    return absl::AlreadyExistsError("request_id was already used with a different recipe");
  }
  if (session->shared) {
    if (const Lease* first = Listed(shared_, shared_key, now, dropped)) return *first;
  }
  if (sessions_.size() >= config_.count) {
    return WithRetry(
        LimitExceeded("session", sessions_.size() + 1, config_.count, "sessions", "max-sessions"),
        absl::Seconds(10));
  }
  if (!session->request_id.empty()) requests_[session->request_id] = session->name;
  if (session->shared) shared_[shared_key] = session->name;
  const Lease lease{std::move(session), ttl, now + ttl};
  sessions_.emplace(lease.session->name, lease);
  return lease;
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::FindRequest(const std::string& request_id,
                                                                   const v1::SessionSource& source,
                                                                   Time now) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  const Lease* lease = Listed(requests_, request_id, now, dropped);
  if (lease == nullptr) return std::shared_ptr<Session>();
  if (SameSource(lease->session->source, source)) return lease->session;
  return absl::AlreadyExistsError("request_id was already used with a different recipe");
}

std::shared_ptr<Session> SessionTable::FindShared(const std::string& rig,
                                                  const std::string& determinism_digest, Time now) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  Lease* lease = Listed(shared_, SharedKey(rig, determinism_digest), now, dropped);
  if (lease == nullptr) return nullptr;
  // After a failed bind the next request tries again.
  if (lease->session->bound->snapshot().state == BoundDeformer::State::kFailed) {
    Erase(sessions_.find(lease->session->name), dropped);
    return nullptr;
  }
  lease->expires = now + lease->ttl;
  return lease->session;
}

SessionTable::Lease* SessionTable::Listed(const Names& names, const std::string& key, Time now,
                                          Dropped& dropped) {
  const auto name = names.find(key);
  if (name == names.end()) return nullptr;
  const auto found = sessions_.find(name->second);
  if (found->second.expires > now) return &found->second;
  Erase(found, dropped);
  return nullptr;
}

absl::StatusOr<SessionTable::Sessions::iterator> SessionTable::Find(const std::string& name,
                                                                    Time now) {
  const auto found = sessions_.find(name);
  if (found == sessions_.end() || found->second.expires <= now) return Unknown(name);
  return found;
}

absl::StatusOr<SessionTable::Lease> SessionTable::Get(const std::string& name, Time now) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(name);
  if (found == sessions_.end() || found->second.expires <= now) return Unknown(name);
  return found->second;
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::Use(const std::string& name, Time now) {
  const absl::MutexLock lock(&mutex_);
  SINEW_ASSIGN_OR_RETURN(const auto found, Find(name, now));
  found->second.expires = now + found->second.ttl;
  return found->second.session;
}

absl::StatusOr<SessionTable::Lease> SessionTable::Renew(const std::string& name, Duration ttl,
                                                        Time now) {
  const absl::MutexLock lock(&mutex_);
  SINEW_ASSIGN_OR_RETURN(const auto found, Find(name, now));
  if (ttl.count() > 0) found->second.ttl = ttl;
  found->second.expires = now + found->second.ttl;
  return found->second;
}

void SessionTable::Erase(Sessions::iterator it, Dropped& dropped) {
  const std::shared_ptr<Session> session = it->second.session;
  session->ended.store(true);
  if (!session->request_id.empty()) requests_.erase(session->request_id);
  if (session->shared) shared_.erase(SharedKey(session->source.rig(), session->determinism_digest));
  sessions_.erase(it);
  dropped.push_back(session);  // freed by the caller after unlocking
}

absl::Status SessionTable::Delete(const std::string& name) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  const auto found = sessions_.find(name);
  if (found == sessions_.end()) return Unknown(name);
  Erase(found, dropped);
  return absl::OkStatus();
}

std::size_t SessionTable::Expire(Time now) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  for (auto it = sessions_.begin(); it != sessions_.end();) {
    const auto next = std::next(it);
    if (it->second.expires <= now) Erase(it, dropped);
    it = next;
  }
  return dropped.size();
}

std::vector<SessionTable::Lease> SessionTable::List(const std::string& after, std::size_t count,
                                                    bool& more) const {
  std::vector<Lease> leases;
  const absl::MutexLock lock(&mutex_);
  auto it = sessions_.upper_bound(after);
  for (; it != sessions_.end() && leases.size() < count; ++it) leases.push_back(it->second);
  more = it != sessions_.end();
  return leases;
}

void SessionTable::Clear() {
  Sessions dropped;
  const absl::MutexLock lock(&mutex_);
  for (auto& [name, lease] : sessions_) lease.session->ended.store(true);
  dropped.swap(sessions_);
  requests_.clear();
  shared_.clear();
}

std::size_t SessionTable::count() const {
  const absl::MutexLock lock(&mutex_);
  return sessions_.size();
}

}  // namespace sinew::server
