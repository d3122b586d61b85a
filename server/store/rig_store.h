// rig_store.h - rigs by tenant and the SHA-256 of their bytes: stored verbatim, in memory or in a
// data folder, and parsed on demand.
//
// With a shared store this is a cache of it: a rig that another server has stored is fetched, and
// those used longest ago make room.
//
// What is read is verified every time: a changed file is moved aside and reported, never used.
// Calls may block on the disk and on parsing, so make them on the workers; all are thread-safe.
#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/statusor.h>
#include <absl/synchronization/mutex.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rig/rig.h"
#include "server/base/caller.h"
#include "server/base/config.h"
#include "server/base/log.h"
#include "server/base/metrics.h"
#include "server/convert/rig.h"
#include "server/shared/shared_store.h"
#include "server/store/lru.h"
#include "server/store/rig_files.h"
#include "server/store/rig_key.h"
#include "server/store/single_flight.h"
#include "server/threads/quota.h"
#include "sinew/v1/rig_service.pb.h"

namespace sinew::server {

// A parsed rig and its GetRig reply.
using StoredRig = ConvertedRig;

class RigStore {
 public:
  // Reads the index of data_dir. client_share: see Quota. shared: null, or outlives the store; what
  // the folder holds is written to it. kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<std::unique_ptr<RigStore>> Open(const RigConfig& config,
                                                        double client_share, SharedStore* shared,
                                                        Metrics& metrics, Log log);

  // Whether the bytes of this digest are stored here.
  bool Has(const RigKey& key) const;
  // Whether they are not, but may be in the shared store: then the calls below fetch them first,
  // and may fail with kUnavailable.
  bool MayFetch(const RigKey& key) const { return shared_ != nullptr && !Has(key); }
  // OK if the rig is stored here now. Errors as Get.
  absl::Status Fetch(const RigKey& key);
  // By RigKey::Text, for calls that wait without a thread.
  SingleFlight& fetches() { return fetches_; }
  // The parsed rig. kNotFound; kDataLoss: its bytes are damaged or missing, and the rig was
  // removed; kInternal: temporary read error.
  absl::StatusOr<std::shared_ptr<const StoredRig>> Get(const RigKey& key);
  // The parsed rig if it is in memory, else null. Never blocks for long.
  std::shared_ptr<const StoredRig> Peek(const RigKey& key);
  // Gets a rig that is stored here: nothing is fetched. Errors as Get.
  absl::StatusOr<std::shared_ptr<const StoredRig>> GetStored(const RigKey& key);
  // All bytes of the rig, verified. Errors as Get.
  absl::StatusOr<std::string> Bytes(const RigKey& key);

  // The rig as it was sent, with the permit for the memory to parse and convert it, which other
  // rigs may wait for. Errors as Get.
  struct Message {
    Quota::Permit held;
    v1::Rig rig;
  };
  absl::StatusOr<Message> GetMessage(const RigKey& key);

  // Whether a rig of this size could be stored now. kResourceExhausted: a limit or the client's
  // share of it.
  absl::Status CheckRoom(const Caller& caller, std::uint64_t bytes);
  // Stores bytes whose SHA-256 is `hex` for the caller's tenant. `path`: a file that already holds
  // them and may be moved, or empty. kInvalidArgument, kResourceExhausted: as ConvertRig, or
  // as CheckRoom, or the disk is full; kInternal: the disk.
  absl::StatusOr<std::shared_ptr<const StoredRig>> Put(const Caller& caller, const std::string& hex,
                                                       const std::string& bytes,
                                                       const std::filesystem::path& path);

  // Up to `count` bytes from `offset`, as uploaded and verified, and the rig's size. kOutOfRange:
  // offset is beyond the end; others as Get.
  struct Piece {
    std::string bytes;
    std::uint64_t size;
  };
  absl::StatusOr<Piece> Read(const RigKey& key, std::uint64_t offset, std::size_t count);

  // Verifies the rig's file. Errors as Get.
  absl::Status Verify(const RigKey& key);
  // Makes a rig's summary again if its file was damaged or lost. Errors as Get.
  absl::Status RestoreSummary(const RigKey& key);

  // Durable on return. Sessions that use the rig continue. kNotFound; kInternal, kUnavailable: the
  // rig could not be removed and is still there.
  absl::Status Delete(const RigKey& key);
  // Another server has deleted it: what was fetched is dropped.
  void DropFetched(const RigKey& key);

  // What a list has of a rig: its summary without joints and controls, and with its meshes only if
  // they are small, since all rigs keep it in memory.
  using Listed = std::shared_ptr<const v1::RigSummary>;
  // The tenant's rigs, sorted by name, after the rig of `after`, hex digits or empty; `more`:
  // whether any are left. With a shared store, those of all servers; without it while it is down.
  std::vector<Listed> List(const std::string& tenant, const std::string& after, std::size_t count,
                           bool& more);

  std::vector<RigKey> Keys() const;  // of all tenants
  // Null: memory only.
  const RigFiles* files() const { return files_ ? &*files_ : nullptr; }

  struct Usage {
    std::uint64_t rigs = 0, bytes = 0;
  };
  Usage UsageOf(const std::string& tenant) const;
  std::size_t count() const;  // of all tenants, like stored_bytes
  std::uint64_t stored_bytes() const;
  std::vector<Quota*> quotas() { return {&places_, &bytes_, &parsing_}; }

 private:
  struct Entry {
    RigKey key;
    std::uint64_t size = 0;
    Quota::Permit place, room;  // null: it is in the shared store, and may be dropped
    std::shared_ptr<const std::string> bytes;  // memory only
    bool in_shared = false;                    // guarded by the store's mutex

    absl::Mutex loading;  // held to read or change the files
    // The others are guarded by the store's mutex and may be null.
    std::shared_ptr<const PieceSums> sums;  // once the file has been verified
    std::shared_ptr<const StoredRig> parsed;
    Listed listed;
    bool lacks_summary = false;  // on disk
  };
  using EntryPointer = std::shared_ptr<Entry>;

  RigStore(const RigConfig& config, double client_share, SharedStore* shared, Metrics& metrics,
           Log log);
  void Add(RigFiles::Stored stored) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  EntryPointer Find(const RigKey& key) const;
  // May wait for other threads that parse.
  absl::StatusOr<std::shared_ptr<StoredRig>> Parse(const std::string& hex,
                                                   const std::string& bytes);
  absl::StatusOr<Message> ParseInTurn(const std::string& bytes);
  absl::Status Reserve(const Caller& caller, Entry& entry);
  absl::StatusOr<std::shared_ptr<const StoredRig>> GetParsed(const EntryPointer& entry);
  std::vector<Listed> ListStored(const std::string& tenant, const std::string& after,
                                 std::size_t count, bool& more) const;
  std::vector<Listed> ListShared(const std::string& tenant, const std::string& after,
                                 std::size_t count, bool& more);
  // The rig, fetched if need be.
  absl::StatusOr<EntryPointer> FindOrFetch(const RigKey& key);
  absl::Status FetchOnce(const RigKey& key);
  void WriteShared(const RigKey& key, const std::string& bytes);
  // found: in the folder, at the start. Other servers may have deleted it meanwhile.
  void WriteSharedLater(const RigKey& key, bool found);
  void SetInShared(const RigKey& key);
  void DropHere(Entry& entry);
  // Drops what is in the shared store, used longest ago first, until the rest is within the limits.
  void DropOldest();
  bool HoldsTooMuch() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Drops a rig that is in the shared store, unless it is being read or written. False: it was not.
  bool TryDrop(Entry& entry);
  // False: another call has stored the rig meanwhile.
  absl::StatusOr<bool> Keep(const EntryPointer& entry, const Caller& caller,
                            const std::string& bytes, const std::filesystem::path& path,
                            const std::shared_ptr<const StoredRig>& parsed);
  void Parsed(Entry& entry, std::shared_ptr<const StoredRig> parsed);
  void Drop(Entry& entry);
  // The error of reading the entry's file; drops the rig if it is damaged or missing.
  absl::Status ReadFailed(Entry& entry, const absl::Status& error)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(entry.loading);
  absl::StatusOr<std::string> VerifiedBytes(Entry& entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(entry.loading);
  absl::StatusOr<std::shared_ptr<const PieceSums>> VerifiedSums(Entry& entry);
  void SetSums(Entry& entry, PieceSums sums);

  const RigConfig config_;
  SharedStore* const shared_;
  Metrics& metrics_;
  const Log log_;
  std::optional<RigFiles> files_;  // none: memory only
  Quota places_, bytes_;           // held by entries
  Quota parsing_;                  // memory of Parse
  mutable absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(&Entry::loading);
  std::map<std::string, EntryPointer> entries_ ABSL_GUARDED_BY(mutex_);  // by RigKey::Text
  LruOrder parsed_ ABSL_GUARDED_BY(mutex_);
  LruOrder used_ ABSL_GUARDED_BY(mutex_);  // of rigs in the shared store
  SingleFlight fetches_;
};

}  // namespace sinew::server
