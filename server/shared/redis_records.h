// redis_records.h - SessionRecords in Redis.
//
// Keys, all with an expiry:
//   sinew:session:TENANT/NAME     hash: source, request, ttl, last, or deleted
//   sinew:request:TENANT/ID       name of the session
//   sinew:claim:NAME              who holds it
// They last a little longer than the leases, which the servers time themselves, so that a lease
// that is renewed in time never meets a record that has gone.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "server/shared/redis_client.h"
#include "server/shared/session_records.h"

namespace sinew::server {

class RedisRecords final : public SessionRecords {
 public:
  explicit RedisRecords(std::unique_ptr<RedisClient> redis);

  absl::Status Keep(const std::string& tenant, const std::string& name,
                    const SessionRecord& record) override;
  absl::StatusOr<SessionRecord> Find(const std::string& tenant, const std::string& name) override;
  absl::StatusOr<std::string> FindRequest(const std::string& tenant,
                                          const std::string& request_id) override;
  absl::Status Delete(const std::string& tenant, const std::string& name) override;
  absl::StatusOr<std::vector<bool>> Renew(const std::vector<Held>& sessions) override;
  absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> TakeClaim(const std::string& name) override;
  void RenewClaims() override;
  bool up() const override { return redis_->up(); }

 private:
  class HeldClaim;
  absl::StatusOr<std::vector<bool>> RenewBlock(std::span<const Held> sessions);
  void EndClaim(const std::string& name);

  const std::unique_ptr<RedisClient> redis_;
  const std::string owner_;  // of claims: this server
  absl::Mutex mutex_;
  std::map<std::string, int> claims_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
