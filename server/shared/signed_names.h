// signed_names.h - SessionRecords without a database: the name of a session says what it is, and
// carries a signature (HMAC-SHA256 of the tenant and the content) by a key that the servers share.
//
// What follows from having no database: a lease only decides how long a server keeps a session in
// memory, a name works until the session's greatest age; a deleted session is gone on the server
// that deleted it and comes back on another; a request id is known to one server.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/shared/session_records.h"

namespace sinew::server {

class SignedNames final : public SessionRecords {
 public:
  // kInvalidArgument: no file, no key in it, or one of less than 32 characters. The first key
  // signs, all are accepted.
  static absl::StatusOr<std::unique_ptr<SessionRecords>> Open(const std::string& key_file);
  explicit SignedNames(std::vector<std::string> keys) : keys_(std::move(keys)) {}

  std::string NewName(const std::string& tenant, const SessionRecord& record) override;
  absl::Status Keep(const std::string& tenant, const std::string& name,
                    const SessionRecord& record) override;
  absl::StatusOr<SessionRecord> Find(const std::string& tenant, const std::string& name) override;
  absl::StatusOr<std::string> FindRequest(const std::string& tenant,
                                          const std::string& request_id) override;
  absl::Status Delete(const std::string& tenant, const std::string& name) override;
  absl::StatusOr<std::vector<bool>> Renew(const std::vector<Held>& sessions) override;
  absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> TakeClaim(const std::string& name) override;
  bool up() const override { return true; }

 private:
  const std::vector<std::string> keys_;
  absl::Mutex mutex_;
  std::set<std::string> deleted_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> deleted_order_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
