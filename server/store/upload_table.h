// upload_table.h - unfinished uploads of rigs.
//
// An upload is identified by its sender, digest and size and is filled from its start, so it can be
// resumed after a lost connection and, with a data folder, after a restart of the server. No caller
// adds bytes to the upload of another sender. Several calls of one sender share it: bytes already
// held are skipped, and one call writes at a time. Calls may block; all are thread-safe.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "server/base/caller.h"
#include "server/base/clock.h"
#include "server/base/config.h"
#include "server/base/log.h"
#include "server/store/rig_store.h"
#include "server/threads/quota.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class UploadTable {
 public:
  using Time = Clock::Time;

  struct Progress {
    std::uint64_t committed = 0;
    std::shared_ptr<const StoredRig> rig;  // set once the rig is complete, valid and stored
    bool existed = false;                  // before this call
  };

  // One UploadRig call.
  struct Sender {
    Caller caller;
    std::uint64_t call;  // different for every call, not 0
  };
  static Sender NewSender(const Caller& caller);

  // Finds the unfinished uploads of an earlier run; their time starts again. client_share: see
  // Quota. kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<UploadTable>> Open(const RigConfig& config,
                                                           double client_share, RigStore& rigs,
                                                           Log log, Time now);

  // The bytes held so far. kInvalidArgument: the header is malformed; kResourceExhausted: the rig
  // is too large, or the store has no room for it.
  absl::StatusOr<Progress> Query(const Caller& caller, const v1::UploadHeader& header);

  // Adds the bytes at `offset`; `data` may be empty. When all bytes are held, the rig is checked
  // and stored; if that fails, or the bytes cannot be written, the upload is dropped. At a limit,
  // the upload untouched for longest is dropped if it has been idle for 10 s: one of the sender's
  // client, or any if that has none. Errors: as Query, and kOutOfRange: a gap, or bytes beyond the
  // size; kDataLoss: the SHA-256 differs from the header's; kAborted: so it does, but an earlier
  // call sent some of the bytes, so the upload may be repeated from its start; kInvalidArgument:
  // not a valid rig; kResourceExhausted: a limit.
  absl::StatusOr<Progress> Append(const Sender& sender, const v1::UploadHeader& header,
                                  std::uint64_t offset, std::string_view data, Time now);

  // Drops uploads untouched for longer than the limit. Does not block.
  void Expire(Time now);

  std::vector<Quota*> quotas() { return {&places_, &room_}; }

 private:
  struct Upload {
    absl::Mutex writing;
    std::string client;          // whose share of the limits it uses
    Quota::Permit place, room;   // room for all bytes of the rig
    std::string bytes;           // memory only
    std::filesystem::path path;  // if there is a data folder
    std::uint64_t held = 0;      // changed with both mutexes
    // The call that has sent all bytes so far; 0 = several calls.
    std::uint64_t only_call ABSL_GUARDED_BY(writing) = 0;
    bool over ABSL_GUARDED_BY(writing) = false;  // finished or dropped
    Time touched;                                // guarded by the table's mutex
  };
  using Uploads = std::map<std::string, std::shared_ptr<Upload>>;

  UploadTable(const RigConfig& config, double client_share, RigStore& rigs, Log log);
  void ReadFolder(Time now);
  absl::Status CheckHeader(const v1::UploadHeader& header) const;
  bool HasBegun(const Caller& caller, const v1::UploadHeader& header) const;
  absl::StatusOr<std::shared_ptr<Upload>> FindOrAdd(const Caller& caller,
                                                    const v1::UploadHeader& header, Time now);
  absl::Status Reserve(Upload& upload, std::uint64_t bytes, Time now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops the upload untouched for longest, of all or of one client. False: none is idle.
  bool EvictOldest(const std::string* client, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops the upload unless a call is writing to it. Locks against the order, but does not wait.
  bool TryDrop(Uploads::iterator it)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  absl::Status Write(Upload& upload, const Sender& sender, std::string_view data)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(upload.writing);
  absl::StatusOr<Progress> Finish(const Sender& sender, const v1::UploadHeader& header,
                                  Upload& upload) ABSL_EXCLUSIVE_LOCKS_REQUIRED(upload.writing);
  void Forget(const std::string& key);

  const RigConfig config_;
  RigStore& rigs_;
  const Log log_;
  std::filesystem::path folder_;
  Quota places_, room_;  // held by uploads
  mutable absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(&Upload::writing);
  Uploads uploads_ ABSL_GUARDED_BY(mutex_);  // by KeyOf
};

}  // namespace sinew::server
