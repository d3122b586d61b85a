// rig_store.h - rigs by the SHA-256 of their bytes: stored verbatim, in memory or in a data folder,
// and parsed on demand.
//
// On disk a rig is `rigs/sha256-<hex>.sinewrig` with its summary in a second file. Bytes are
// hashed again when read: a changed file is moved aside and reported, never used. Calls may block
// on the disk and on parsing, so make them on the workers; all are thread-safe.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/rig/rig.h"
#include "server/base/config.h"
#include "server/base/log.h"
#include "server/convert/rig.h"
#include "server/store/lru.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

// A parsed rig and its GetRig reply.
using StoredRig = ConvertedRig;

// "rigs/sha256-<hex>" to the hex digits. kInvalidArgument names `field`.
absl::StatusOr<std::string> ParseRigName(const std::string& field, const std::string& name);
std::string RigName(const std::string& hex);

class RigStore {
 public:
  // Reads the index of data_dir. kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<RigStore>> Open(const RigConfig& config, Log log);

  // Whether the bytes of this digest are stored.
  bool Has(const std::string& hex) const;
  // The parsed rig. kNotFound; kDataLoss: its bytes are damaged or missing, and the rig was
  // removed; kInternal: temporary read error.
  absl::StatusOr<std::shared_ptr<const StoredRig>> Get(const std::string& hex);
  // All bytes of the rig, hashed again. Errors as Get.
  absl::StatusOr<std::string> Bytes(const std::string& hex);

  // Stores bytes whose SHA-256 is `hex`. `path`: a file that already holds them and may be moved,
  // or empty. kInvalidArgument, kResourceExhausted: as ConvertRig, or the store is full.
  absl::StatusOr<std::shared_ptr<const StoredRig>> Put(const std::string& hex,
                                                       const std::string& bytes,
                                                       const std::filesystem::path& path);

  // Up to `count` bytes from `offset`, as uploaded, and the rig's size. kOutOfRange: offset is
  // beyond the end.
  struct Piece {
    std::string bytes;
    std::uint64_t size;
  };
  absl::StatusOr<Piece> Read(const std::string& hex, std::uint64_t offset, std::size_t count) const;

  // kNotFound. Sessions that use the rig continue.
  absl::Status Delete(const std::string& hex);

  // Summaries without joints and controls, sorted by name, after `after`; `more`: whether any are
  // left.
  std::vector<v1::RigSummary> List(const std::string& after, std::size_t count, bool& more);

  std::size_t count() const;
  std::uint64_t stored_bytes() const;
  const std::filesystem::path& folder() const { return folder_; }  // empty = memory only

 private:
  struct Entry {
    absl::Mutex loading;                       // one parse at a time
    std::shared_ptr<const std::string> bytes;  // memory only
    std::uint64_t size = 0;
    // May be null; guarded by the store's mutex.
    std::shared_ptr<const StoredRig> parsed;
    std::shared_ptr<const v1::RigSummary> listed;  // without joints and controls
  };

  RigStore(const RigConfig& config, Log log) : config_(config), log_(std::move(log)) {}
  void ReadIndex();
  std::filesystem::path PathOf(const std::string& hex) const;
  std::filesystem::path SummaryPathOf(const std::string& hex) const;
  std::shared_ptr<Entry> Find(const std::string& hex) const;
  absl::StatusOr<std::shared_ptr<StoredRig>> Parse(const std::string& hex,
                                                   const std::string& bytes) const;
  absl::StatusOr<std::string> VerifiedBytes(const std::string& hex, const Entry& entry);
  absl::Status Keep(const std::string& hex, const std::string& bytes,
                    const std::filesystem::path& path, std::shared_ptr<const StoredRig> parsed);
  void Parsed(const std::string& hex, Entry& entry, std::shared_ptr<const StoredRig> parsed);

  const RigConfig config_;
  const Log log_;
  std::filesystem::path folder_;
  mutable absl::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t stored_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  LruOrder parsed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sinew::server
