// signed_names.h - SessionRecords without a database: the name of a session says what it is, and
// carries a signature (HMAC-SHA256 of the tenant and the content) by a key that the servers share.
//
// What follows from having no database: a lease only decides how long a server keeps a session in
// memory, a name works until the session's greatest age; a deleted session is gone on the server
// that deleted it and comes back on another; a request id is known to one server.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/shared/session_records.h"

namespace sinew::server {

class SignedNames final : public SessionRecords {
 public:
  // kInvalidArgument: no file, no key in it, or one of less than 32 characters. The first key
  // signs, all are accepted. Renew reads the file again.
  static absl::StatusOr<std::unique_ptr<SessionRecords>> Open(const std::string& key_file, Log log);

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
  using Keys = std::vector<std::string>;
  // The ends of deleted names of one tenant, and their order.
  struct Deleted {
    std::set<std::string> names;
    std::deque<std::string> order;
  };
  SignedNames(std::string key_file, Keys keys, Log log)
      : key_file_(std::move(key_file)), log_(std::move(log)), keys_(std::move(keys)) {}
  void ReadAgain();
  // At most once a minute: the names may be anything that clients send.
  void LogOtherKey();

  const std::string key_file_;
  const Log log_;
  absl::Mutex mutex_;
  Keys keys_ ABSL_GUARDED_BY(mutex_);
  Keys last_read_ ABSL_GUARDED_BY(mutex_);        // of the file; empty if it was unusable
  std::string unusable_ ABSL_GUARDED_BY(mutex_);  // why the file is, as logged
  std::chrono::steady_clock::time_point next_log_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t other_keys_ ABSL_GUARDED_BY(mutex_) = 0;            // names, since the last line
  std::map<std::string, Deleted> deleted_ ABSL_GUARDED_BY(mutex_);  // by tenant
  std::size_t deleted_count_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sinew::server
