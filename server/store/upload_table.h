// upload_table.h - unfinished uploads of rigs.
//
// An upload is identified by digest and size and is filled from its start, so it can be resumed
// after a lost connection and, with a data folder, after a restart of the server. Several senders
// of one rig share it: bytes already held are skipped, and one sender writes at a time. Calls may
// block; all are thread-safe.
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

#include "server/base/config.h"
#include "server/store/rig_store.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

class UploadTable {
 public:
  using Time = std::chrono::system_clock::time_point;

  struct Progress {
    std::uint64_t committed = 0;
    std::shared_ptr<const StoredRig> rig;  // set once the rig is complete, valid and stored
  };

  // Finds the unfinished uploads of an earlier run. kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<UploadTable>> Open(const RigConfig& config, RigStore& rigs);

  // The bytes held so far. kInvalidArgument: the header is malformed; kResourceExhausted: the rig
  // is too large.
  absl::StatusOr<Progress> Query(const v1::UploadHeader& header);

  // Adds the bytes at `offset`; `data` may be empty. When all bytes are held, the rig is checked
  // and stored; if that fails, the upload is dropped. At a limit, the upload untouched for longest
  // is dropped if it has been idle for 10 s. kOutOfRange: a gap, or bytes beyond the size;
  // kDataLoss: the SHA-256 differs from the header's; kInvalidArgument: not a valid rig;
  // kResourceExhausted: a limit.
  absl::StatusOr<Progress> Append(const v1::UploadHeader& header, std::uint64_t offset,
                                  std::string_view data, Time now);

  // Drops uploads untouched for longer than the limit.
  void Expire(Time now);

 private:
  struct Upload {
    absl::Mutex writing;
    std::string bytes;           // memory only
    std::filesystem::path path;  // if there is a data folder
    std::uint64_t held = 0;
    bool over ABSL_GUARDED_BY(writing) = false;  // finished or dropped
    Time touched;                                // guarded by the table's mutex
  };

  UploadTable(const RigConfig& config, RigStore& rigs) : config_(config), rigs_(rigs) {}
  void ReadFolder();
  absl::Status CheckHeader(const v1::UploadHeader& header) const;
  absl::StatusOr<std::shared_ptr<Upload>> FindOrAdd(const v1::UploadHeader& header,
                                                    std::uint64_t more, Time now);
  using Uploads = std::map<std::string, std::shared_ptr<Upload>>;
  // False: no upload other than `but` is idle.
  bool EvictOldest(const std::string& but, Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Drop(Uploads::iterator it) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Write(Upload& upload, std::string_view data);
  absl::StatusOr<Progress> Finish(const v1::UploadHeader& header, Upload& upload);
  void Forget(const std::string& key);

  const RigConfig config_;
  RigStore& rigs_;
  std::filesystem::path folder_;
  absl::Mutex mutex_;
  Uploads uploads_ ABSL_GUARDED_BY(mutex_);          // by "<hex>-<size>"
  std::uint64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // held and reserved
};

}  // namespace sinew::server
