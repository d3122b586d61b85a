// session_table.h - sessions: leases on bound data.
//
// A session ends `ttl` after its last use, when deleted, or with the server. Names are random. The
// time is a parameter, so that leases can be tested without waiting. Thread-safe.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "server/base/config.h"
#include "server/store/deformer_cache.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {

// Constant except `ended`.
struct Session {
  std::string name;  // sessions/<32 hex digits>
  v1::SessionSource source;
  v1::Recipe recipe;  // with every default filled in
  std::string determinism_digest;
  std::string request_id;  // may be empty
  bool shared = false;     // created for a Target with a recipe
  DeformerCache::Use bound;
  std::atomic<bool> ended{false};
};

class SessionTable {
 public:
  using Time = std::chrono::system_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  explicit SessionTable(const SessionConfig& config) : config_(config) {}

  struct Lease {
    std::shared_ptr<Session> session;
    Duration ttl;
    Time expires;
  };

  // Adds a session, or returns the existing one with the same request_id or, if shared, with the
  // same rig and digest. kAlreadyExists: the request_id was used with another recipe;
  // kResourceExhausted: too many sessions.
  absl::StatusOr<Lease> Add(std::shared_ptr<Session> session, Duration ttl, Time now);

  // The session of an earlier request with this id, or null if there is none or it has expired.
  // kAlreadyExists: it had another recipe.
  absl::StatusOr<std::shared_ptr<Session>> FindRequest(const std::string& request_id,
                                                       const v1::SessionSource& source, Time now);
  // The shared session for this rig and determinism digest, with its lease renewed, or null.
  std::shared_ptr<Session> FindShared(const std::string& rig, const std::string& determinism_digest,
                                      Time now);

  // A session and its lease, which is not renewed. kNotFound.
  absl::StatusOr<Lease> Get(const std::string& name, Time now) const;
  // A session, with its lease renewed. kNotFound.
  absl::StatusOr<std::shared_ptr<Session>> Use(const std::string& name, Time now);
  // ttl 0 = keep the current one. kNotFound.
  absl::StatusOr<Lease> Renew(const std::string& name, Duration ttl, Time now);
  absl::Status Delete(const std::string& name);
  // Ends sessions whose lease is over and returns their number.
  std::size_t Expire(Time now);
  // Sorted by name, after `after`; `more`: whether any are left.
  std::vector<Lease> List(const std::string& after, std::size_t count, bool& more) const;
  // Ends all sessions.
  void Clear();
  std::size_t count() const;

 private:
  using Sessions = std::map<std::string, Lease>;
  absl::StatusOr<Sessions::iterator> Find(const std::string& name, Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Callers that erase declare it before their lock, so that sessions are freed after unlocking.
  using Dropped = std::vector<std::shared_ptr<Session>>;
  using Names = std::map<std::string, std::string>;
  // The session listed under `key`, or null; one whose lease is over is erased.
  Lease* Listed(const Names& names, const std::string& key, Time now, Dropped& dropped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Erase(Sessions::iterator it, Dropped& dropped) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const SessionConfig config_;
  mutable absl::Mutex mutex_;
  Sessions sessions_ ABSL_GUARDED_BY(mutex_);
  Names requests_ ABSL_GUARDED_BY(mutex_);  // request_id to name
  Names shared_ ABSL_GUARDED_BY(mutex_);    // rig + determinism digest to name
};

// A new random session name.
std::string RandomSessionName();

}  // namespace sinew::server
