#include "server/store/session_table.h"

#include <absl/strings/str_cat.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "server/base/printable.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

std::string SharedKey(const std::string& rig, const std::string& determinism_digest) {
  return absl::StrCat(rig, " ", determinism_digest);
}

bool IsOver(const SessionTable::Lease& lease, SessionTable::Time now) {
  const Session& session = *lease.session;
  if (lease.last <= now) return true;  // for new calls; those that are open go on
  return lease.expires <= now && session.calls.load() == 0 && !session.used.load();
}

void Extend(SessionTable::Lease& lease, SessionTable::Time now) {
  lease.expires = std::min(now + lease.ttl, lease.last);
  lease.renewed = true;
}

absl::Status Unknown(const std::string& name) {
  return absl::NotFoundError(
      absl::StrCat("session: no ", Printable(Shortened(name, 100)),
                   " on this server, or its lease is over or it has reached its age"));
}

bool SameSource(const v1::SessionSource& a, const v1::SessionSource& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

}  // namespace

SessionRecord RecordOf(const Session& session, std::chrono::nanoseconds ttl) {
  return {.source = session.source,
          .request_id = session.request_id,
          .ttl_ms = std::chrono::duration_cast<std::chrono::milliseconds>(ttl).count(),
          .last_ms = session.last_ms};
}

std::shared_ptr<Session> UseSession(const std::shared_ptr<Session>& session) {
  ++session->calls;
  return {session.get(), [session](Session*) {
            session->used.store(true);
            --session->calls;
          }};
}

absl::StatusOr<SessionTable::Lease> SessionTable::Add(const Caller& caller,
                                                      std::shared_ptr<Session> session,
                                                      Duration ttl, Time now,
                                                      std::optional<Duration> age) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  session->tenant = caller.tenant;
  const Key request{caller.tenant, session->request_id};
  const Key shared{caller.tenant, SharedKey(session->source.rig(), session->determinism_digest)};
  if (const Row* first = Find({caller.tenant, session->name}, now)) return first->lease;
  // The first of two concurrent requests adds the session.
  if (const Lease* first = Listed(requests_, request, now, dropped)) {
    if (SameSource(first->session->source, session->source)) return *first;
    return absl::AlreadyExistsError("request_id was already used with a different recipe");
  }
  if (session->shared) {
    if (const Lease* first = Listed(shared_, shared, now, dropped)) return *first;
  }
  SINEW_ASSIGN_OR_RETURN(Quota::Permit place, places_.Take(caller.client()));
  if (!session->request_id.empty()) requests_[request] = session->name;
  if (session->shared) shared_[shared] = session->name;
  Lease lease{.session = std::move(session),
              .ttl = ttl,
              .expires = now,
              .last = now + age.value_or(most_age_)};
  Extend(lease, now);
  rows_.emplace(Key{caller.tenant, lease.session->name}, Row{lease, std::move(place)});
  return lease;
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::FindRequest(const std::string& tenant,
                                                                   const std::string& request_id,
                                                                   const v1::SessionSource& source,
                                                                   Time now) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  const Lease* lease = Listed(requests_, {tenant, request_id}, now, dropped);
  if (lease == nullptr) return std::shared_ptr<Session>();
  if (SameSource(lease->session->source, source)) return lease->session;
  return absl::AlreadyExistsError("request_id was already used with a different recipe");
}

std::shared_ptr<Session> SessionTable::FindShared(const std::string& tenant, const std::string& rig,
                                                  const std::string& determinism_digest, Time now) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  Lease* lease = Listed(shared_, {tenant, SharedKey(rig, determinism_digest)}, now, dropped);
  if (lease == nullptr) return nullptr;
  // After a failed bind the next request tries again.
  if (lease->session->bound->snapshot().state == BoundDeformer::State::kFailed) {
    Erase(rows_.find({tenant, lease->session->name}), dropped);
    return nullptr;
  }
  Extend(*lease, now);
  return UseSession(lease->session);
}

SessionTable::Lease* SessionTable::Listed(Names& names, const Key& key, Time now,
                                          Dropped& dropped) {
  const auto name = names.find(key);
  if (name == names.end()) return nullptr;
  const auto found = rows_.find({key.first, name->second});
  if (!IsOver(found->second.lease, now)) return &found->second.lease;
  if (found->second.lease.session->calls.load() > 0) {
    names.erase(name);  // it is past its age: the next one is a new session
  } else {
    Erase(found, dropped);
  }
  return nullptr;
}

SessionTable::Row* SessionTable::Find(const Key& key, Time now) {
  const auto found = rows_.find(key);
  return found == rows_.end() || IsOver(found->second.lease, now) ? nullptr : &found->second;
}

absl::StatusOr<SessionTable::Lease> SessionTable::Get(const std::string& tenant,
                                                      const std::string& name, Time now) {
  const absl::MutexLock lock(&mutex_);
  const Row* const row = Find({tenant, name}, now);
  if (row == nullptr) return Unknown(name);
  return row->lease;
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::Use(const std::string& tenant,
                                                           const std::string& name, Time now) {
  const absl::MutexLock lock(&mutex_);
  Row* const row = Find({tenant, name}, now);
  if (row == nullptr) return Unknown(name);
  Extend(row->lease, now);
  return UseSession(row->lease.session);
}

absl::StatusOr<SessionTable::Lease> SessionTable::Renew(const std::string& tenant,
                                                        const std::string& name, Duration ttl,
                                                        Time now) {
  const absl::MutexLock lock(&mutex_);
  Row* const row = Find({tenant, name}, now);
  if (row == nullptr) return Unknown(name);
  if (ttl.count() > 0) row->lease.ttl = ttl;
  Extend(row->lease, now);
  return row->lease;
}

void SessionTable::Erase(Rows::iterator it, Dropped& dropped) {
  const std::shared_ptr<Session> session = it->second.lease.session;
  const std::string& tenant = session->tenant;
  session->ended.store(true);
  const auto unlist = [&](Names& names, const std::string& key) {
    const auto found = names.find({tenant, key});
    if (found != names.end() && found->second == session->name) names.erase(found);
  };
  unlist(requests_, session->request_id);
  unlist(shared_, SharedKey(session->source.rig(), session->determinism_digest));
  rows_.erase(it);
  dropped.push_back(session);  // freed by the caller after unlocking
}

absl::Status SessionTable::Delete(const std::string& tenant, const std::string& name) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  const auto found = rows_.find({tenant, name});
  if (found == rows_.end()) return Unknown(name);
  Erase(found, dropped);
  return absl::OkStatus();
}

std::size_t SessionTable::Expire(Time now) {
  Dropped dropped;
  const absl::MutexLock lock(&mutex_);
  for (auto it = rows_.begin(); it != rows_.end();) {
    const auto next = std::next(it);
    Lease& lease = it->second.lease;
    const bool used = lease.session->calls.load() > 0 || lease.session->used.exchange(false);
    if (used) Extend(lease, now);
    if (!used && lease.expires <= now) Erase(it, dropped);
    it = next;
  }
  return dropped.size();
}

std::vector<SessionTable::Lease> SessionTable::List(const std::string& tenant,
                                                    const std::string& after, std::size_t count,
                                                    bool& more) const {
  std::vector<Lease> leases;
  const absl::MutexLock lock(&mutex_);
  auto it = rows_.upper_bound({tenant, after});
  const auto in_tenant = [&] {
    mutex_.AssertReaderHeld();
    return it != rows_.end() && it->first.first == tenant;
  };
  for (; in_tenant() && leases.size() < count; ++it) leases.push_back(it->second.lease);
  more = in_tenant();
  return leases;
}

std::int64_t SessionTable::LastMs(std::chrono::system_clock::time_point wall_now) const {
  const auto last = wall_now.time_since_epoch() + most_age_;
  return std::chrono::duration_cast<std::chrono::milliseconds>(last).count();
}

std::vector<SessionTable::Lease> SessionTable::TakeRenewed() {
  std::vector<Lease> leases;
  const absl::MutexLock lock(&mutex_);
  for (auto& [key, row] : rows_) {
    Lease& lease = row.lease;
    leases.push_back(lease);
    // One that is in use is renewed by it.
    leases.back().renewed = lease.renewed || lease.session->calls.load() > 0;
    lease.renewed = false;
  }
  return leases;
}

void SessionTable::Clear() {
  Rows dropped;
  const absl::MutexLock lock(&mutex_);
  for (auto& [name, row] : rows_) row.lease.session->ended.store(true);
  dropped.swap(rows_);
  requests_.clear();
  shared_.clear();
}

std::size_t SessionTable::count(const std::string& tenant) const {
  const absl::MutexLock lock(&mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(rows_, [&](const auto& row) { return row.first.first == tenant; }));
}

std::size_t SessionTable::count() const {
  const absl::MutexLock lock(&mutex_);
  return rows_.size();
}

}  // namespace sinew::server
