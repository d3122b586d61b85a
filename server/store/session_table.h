// session_table.h - sessions: leases on bound data.
//
// A session ends `ttl` after its last use, at its greatest age, when deleted, or with the server;
// while a call uses it, its lease does not end. Names cannot be guessed, and a tenant finds its own
// sessions only: those of others are kNotFound. The time is a parameter, so that leases can be
// tested without waiting; it is that of the steady clock, so setting the time of day ends no lease.
// Thread-safe.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/base/caller.h"
#include "server/base/clock.h"
#include "server/base/config.h"
#include "server/shared/session_records.h"
#include "server/store/deformer_cache.h"
#include "server/threads/quota.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {

// Constant except for the atomics.
struct Session {
  std::string tenant;
  std::string name;  // sessions/<32 hex digits>, or what the records of sessions have instead
  v1::SessionSource source;
  v1::Recipe recipe;  // with every default filled in
  std::string determinism_digest;
  std::string request_id;    // may be empty
  bool shared = false;       // created for a Target with a recipe
  std::int64_t last_ms = 0;  // when it reaches its greatest age, since 1970
  DeformerCache::Use bound;
  std::atomic<bool> ended{false};
  std::atomic<int> calls{0};  // that use it now
  // A call that used it has ended, and its lease has not been renewed since.
  std::atomic<bool> used{false};
};

// What other servers need to continue the session, with a lease of `ttl`.
SessionRecord RecordOf(const Session& session, std::chrono::nanoseconds ttl);

// The session, as used by an open call until the result and its copies are gone.
std::shared_ptr<Session> UseSession(const std::shared_ptr<Session>& session);

class SessionTable {
 public:
  using Time = Clock::Time;
  using Duration = std::chrono::nanoseconds;

  // client_share: see Quota.
  SessionTable(const SessionConfig& config, double client_share)
      : places_(config.count, client_share, "max-sessions", "sessions", "session",
                std::chrono::seconds(10)),
        most_age_(
            std::chrono::duration_cast<Duration>(std::chrono::duration<double>(config.seconds))) {}

  struct Lease {
    std::shared_ptr<Session> session;
    Duration ttl;
    Time expires;
    Time last;            // the latest value of `expires`
    bool renewed = true;  // since the last call of TakeRenewed
  };

  // Adds a session of the caller's tenant, or returns the existing one with the same name or
  // request_id or, if shared, with the same rig and digest. kAlreadyExists: the request_id was used
  // with another recipe; kResourceExhausted: too many sessions, of all clients or of this one.
  //   age  until it reaches its greatest age; none = as configured
  absl::StatusOr<Lease> Add(const Caller& caller, std::shared_ptr<Session> session, Duration ttl,
                            Time now, std::optional<Duration> age = {});
  // When a session that begins now reaches its greatest age, since 1970.
  std::int64_t LastMs(std::chrono::system_clock::time_point wall_now) const;

  // The session of an earlier request with this id, or null if there is none or it has expired.
  // kAlreadyExists: it had another recipe.
  absl::StatusOr<std::shared_ptr<Session>> FindRequest(const std::string& tenant,
                                                       const std::string& request_id,
                                                       const v1::SessionSource& source, Time now);
  // The shared session for this rig and determinism digest, with its lease renewed and used as by
  // UseSession, or null.
  std::shared_ptr<Session> FindShared(const std::string& tenant, const std::string& rig,
                                      const std::string& determinism_digest, Time now);

  // A session and its lease, which is not renewed. kNotFound.
  absl::StatusOr<Lease> Get(const std::string& tenant, const std::string& name, Time now);
  // A session, with its lease renewed, used as by UseSession. kNotFound.
  absl::StatusOr<std::shared_ptr<Session>> Use(const std::string& tenant, const std::string& name,
                                               Time now);
  // ttl 0 = keep the current one. kNotFound.
  absl::StatusOr<Lease> Renew(const std::string& tenant, const std::string& name, Duration ttl,
                              Time now);
  absl::Status Delete(const std::string& tenant, const std::string& name);
  // Renews the leases of sessions in use, ends those whose lease is over and returns their number.
  std::size_t Expire(Time now);
  // The tenant's, sorted by name, after `after`; `more`: whether any are left.
  std::vector<Lease> List(const std::string& tenant, const std::string& after, std::size_t count,
                          bool& more) const;
  // All sessions, and whether their leases have been renewed since the last call.
  std::vector<Lease> TakeRenewed();
  // Ends all sessions.
  void Clear();
  Quota& quota() { return places_; }
  std::size_t count() const;  // of all tenants
  std::size_t count(const std::string& tenant) const;

 private:
  using Key = std::pair<std::string, std::string>;  // a tenant and what is unique within it
  struct Row {
    Lease lease;
    Quota::Permit place;
  };
  using Rows = std::map<Key, Row>;           // by name
  using Names = std::map<Key, std::string>;  // to names
  // Callers that erase declare it before their lock, so that sessions are freed after unlocking.
  using Dropped = std::vector<std::shared_ptr<Session>>;

  // The row, whose lease is not over, or null.
  Row* Find(const Key& key, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The session listed under `key`, or null; one whose lease is over is erased.
  Lease* Listed(Names& names, const Key& key, Time now, Dropped& dropped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Erase(Rows::iterator it, Dropped& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Quota places_;  // held by rows
  const Duration most_age_;
  mutable absl::Mutex mutex_;
  Rows rows_ ABSL_GUARDED_BY(mutex_);
  Names requests_ ABSL_GUARDED_BY(mutex_);  // by request_id
  Names shared_ ABSL_GUARDED_BY(mutex_);    // by rig + determinism digest
};

}  // namespace sinew::server
