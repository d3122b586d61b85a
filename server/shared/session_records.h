// session_records.h - what several servers know of each other's sessions, so that any of them
// serves any session: it finds the rig and recipe of a name it does not know, and binds them.
//
// State of calls is never shared: a stream that continues on another server is opened again.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/base/config.h"
#include "server/base/log.h"
#include "server/shared/object_store.h"
#include "sinew/v1/session_service.pb.h"

namespace sinew::server {

struct SessionRecord {
  v1::SessionSource source;
  std::string request_id;    // may be empty
  std::int64_t ttl_ms = 0;   // of its lease
  std::int64_t last_ms = 0;  // the time, since 1970, at which it ends however much it is used
};

// Calls block for a second or two at most; all are thread-safe. Names of tenants as Caller::tenant.
class SessionRecords {
 public:
  // The records that are configured: in Redis, or null. kInvalidArgument: an address or a file.
  static absl::StatusOr<std::unique_ptr<SessionRecords>> Open(const SharedConfig& config, Log log);
  virtual ~SessionRecords() = default;

  // Errors of all: kUnavailable: they cannot be reached.
  virtual absl::Status Keep(const std::string& tenant, const std::string& name,
                            const SessionRecord& record) = 0;
  // kNotFound: no such session, or it was deleted or has reached its age.
  virtual absl::StatusOr<SessionRecord> Find(const std::string& tenant,
                                             const std::string& name) = 0;
  // The name of the session that was made for a request, or empty.
  virtual absl::StatusOr<std::string> FindRequest(const std::string& tenant,
                                                  const std::string& request_id) = 0;
  virtual absl::Status Delete(const std::string& tenant, const std::string& name) = 0;

  // A session that this server holds.
  struct Held {
    std::string tenant, name;
    bool used = false;  // since the last call, so that its lease is renewed
    SessionRecord record;
  };
  // Renews leases, and keeps again what was lost. Returns for each session whether it goes on:
  // false, another server has deleted it.
  virtual absl::StatusOr<std::vector<bool>> Renew(const std::vector<Held>& sessions) = 0;

  // Takes a claim, see ObjectStore::TakeClaim.
  virtual absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> TakeClaim(
      const std::string& name) = 0;
  // Prolongs the claims that are held. Call it every few seconds.
  virtual void RenewClaims() {}

  virtual bool up() const = 0;
};

}  // namespace sinew::server
