#include "server/store/rig_store.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "server/base/files.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "rigs/sha256-";
constexpr char kFilePrefix[] = "sha256-";
constexpr char kFileSuffix[] = ".sinewrig";
constexpr char kSummarySuffix[] = ".summary";
constexpr absl::Duration kFullRetry = absl::Seconds(10);  // time for a client to delete rigs

bool IsHex(const std::string& text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
         });
}

absl::Status Unknown(const std::string& hex) {
  return absl::NotFoundError(absl::StrCat(RigName(hex), ": no such rig on this server"));
}

std::shared_ptr<const v1::RigSummary> Shortened(v1::RigSummary summary) {
  summary.clear_joints();
  summary.clear_controls();
  return std::make_shared<const v1::RigSummary>(std::move(summary));
}

}  // namespace

absl::StatusOr<std::string> ParseRigName(const std::string& field, const std::string& name) {
  if (!absl::StartsWith(name, kPrefix) || !IsHex(name.substr(sizeof(kPrefix) - 1))) {
    return InvalidField(
        field, absl::StrCat("got \"", name.substr(0, 100), "\", need rigs/sha256-<64 hex digits>"));
  }
  return name.substr(sizeof(kPrefix) - 1);
}

std::string RigName(const std::string& hex) {
  return kPrefix + hex;
}

absl::StatusOr<std::unique_ptr<RigStore>> RigStore::Open(const RigConfig& config, Log log) {
  std::unique_ptr<RigStore> store(new RigStore(config, std::move(log)));
  if (!config.data_dir.empty()) {
    store->folder_ = fs::path(config.data_dir) / "rigs";
    SINEW_RETURN_IF_ERROR(MakeFolder(store->folder_));
    store->ReadIndex();
  }
  return store;
}

void RigStore::ReadIndex() {
  const absl::MutexLock lock(&mutex_);
  for (const FileFacts& file : ListFiles(folder_)) {
    if (absl::EndsWith(file.name, ".tmp")) RemoveQuietly(folder_ / file.name);
    if (!absl::StartsWith(file.name, kFilePrefix) || !absl::EndsWith(file.name, kFileSuffix)) {
      continue;
    }
    const std::size_t start = sizeof(kFilePrefix) - 1;
    const std::string hex =
        file.name.substr(start, file.name.size() - start - (sizeof(kFileSuffix) - 1));
    if (!IsHex(hex)) continue;
    auto entry = std::make_shared<Entry>();
    entry->size = file.bytes;
    v1::RigSummary summary;
    const auto text = ReadWholeFile(folder_ / (file.name + kSummarySuffix));
    if (text.ok() && summary.ParseFromString(*text) && summary.name() == RigName(hex)) {
      entry->listed = Shortened(std::move(summary));
    }
    stored_bytes_ += entry->size;
    entries_.emplace(hex, std::move(entry));
  }
  log_->info("data-dir {}: {} rigs, {} bytes", folder_.string(), entries_.size(), stored_bytes_);
}

fs::path RigStore::PathOf(const std::string& hex) const {
  return folder_ / absl::StrCat(kFilePrefix, hex, kFileSuffix);
}

fs::path RigStore::SummaryPathOf(const std::string& hex) const {
  return PathOf(hex) += kSummarySuffix;
}

absl::StatusOr<std::shared_ptr<StoredRig>> RigStore::Parse(const std::string& hex,
                                                           const std::string& bytes) const {
  SINEW_ASSIGN_OR_RETURN(StoredRig rig, ConvertRig(bytes, config_));
  rig.summary.set_name(RigName(hex));
  rig.summary.set_size_bytes(bytes.size());
  rig.summary.mutable_create_time()->set_seconds(absl::ToUnixSeconds(absl::Now()));
  return std::make_shared<StoredRig>(std::move(rig));
}

std::shared_ptr<RigStore::Entry> RigStore::Find(const std::string& hex) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(hex);
  return found == entries_.end() ? nullptr : found->second;
}

bool RigStore::Has(const std::string& hex) const {
  return Find(hex) != nullptr;
}

absl::StatusOr<std::string> RigStore::VerifiedBytes(const std::string& hex, const Entry& entry) {
  if (entry.bytes != nullptr) return *entry.bytes;
  absl::StatusOr<std::string> bytes = ReadWholeFile(PathOf(hex));
  if (bytes.ok() && Sha256Hex(*bytes) == hex) return bytes;
  // A read error may be temporary: keep the rig.
  if (!bytes.ok() && !absl::IsNotFound(bytes.status())) return bytes;
  if (bytes.ok()) {
    std::error_code ignored;
    fs::rename(PathOf(hex), PathOf(hex) += ".damaged", ignored);
    log_->error("{}: the bytes no longer have this digest; moved aside", RigName(hex));
  }
  const absl::MutexLock lock(&mutex_);
  if (const auto found = entries_.find(hex);
      found != entries_.end() && found->second.get() == &entry) {
    stored_bytes_ -= found->second->size;
    entries_.erase(found);
  }
  return absl::DataLossError(
      absl::StrCat(RigName(hex), ": the stored bytes are damaged; upload the rig again"));
}

void RigStore::Parsed(const std::string& hex, Entry& entry,
                      std::shared_ptr<const StoredRig> parsed) {
  const absl::MutexLock lock(&mutex_);
  if (entry.listed == nullptr) entry.listed = Shortened(parsed->summary);
  parsed_.Touch(hex, parsed->rig->bytes());
  entry.parsed = std::move(parsed);
  // A rig in use has owners besides its entry, so dropping it here would free no memory.
  const auto pinned = [&](const std::string& key) {
    mutex_.AssertHeld();
    const auto found = entries_.find(key);
    return found != entries_.end() && found->second->parsed != nullptr &&
           found->second->parsed->rig.use_count() > 1;
  };
  for (const std::string& key : parsed_.Over(config_.parsed_bytes, false, pinned)) {
    parsed_.Remove(key);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      found->second->parsed = nullptr;
    }
  }
}

absl::StatusOr<std::shared_ptr<const StoredRig>> RigStore::Get(const std::string& hex) {
  const std::shared_ptr<Entry> entry = Find(hex);
  if (entry == nullptr) return Unknown(hex);
  const absl::MutexLock loading(&entry->loading);
  if (Find(hex) != entry) return Unknown(hex);  // deleted, or storing it failed
  {
    const absl::MutexLock lock(&mutex_);
    if (entry->parsed != nullptr) {
      parsed_.Touch(hex, entry->parsed->rig->bytes());
      return entry->parsed;
    }
  }
  SINEW_ASSIGN_OR_RETURN(const std::string bytes, VerifiedBytes(hex, *entry));
  SINEW_ASSIGN_OR_RETURN(const std::shared_ptr<StoredRig> parsed, Parse(hex, bytes));
  {
    const absl::MutexLock lock(&mutex_);
    if (entry->listed != nullptr) {
      *parsed->summary.mutable_create_time() = entry->listed->create_time();
    }
  }
  Parsed(hex, *entry, parsed);
  return parsed;
}

absl::StatusOr<std::string> RigStore::Bytes(const std::string& hex) {
  const std::shared_ptr<Entry> entry = Find(hex);
  if (entry == nullptr) return Unknown(hex);
  const absl::MutexLock loading(&entry->loading);
  if (Find(hex) != entry) return Unknown(hex);
  return VerifiedBytes(hex, *entry);
}

absl::StatusOr<std::shared_ptr<const StoredRig>> RigStore::Put(const std::string& hex,
                                                               const std::string& bytes,
                                                               const fs::path& path) {
  if (Has(hex)) {
    auto stored = Get(hex);
    if (!absl::IsNotFound(stored.status())) return stored;  // otherwise it has just been deleted
  }
  SINEW_ASSIGN_OR_RETURN(const std::shared_ptr<StoredRig> parsed, Parse(hex, bytes));
  SINEW_RETURN_IF_ERROR(Keep(hex, bytes, path, parsed));
  log_->info("{}: stored, {} bytes, {} vertices, {} joints", RigName(hex),
             parsed->summary.size_bytes(), parsed->rig->vertices(), parsed->rig->joints());
  return parsed;
}

absl::Status RigStore::Keep(const std::string& hex, const std::string& bytes, const fs::path& path,
                            std::shared_ptr<const StoredRig> parsed) {
  auto entry = std::make_shared<Entry>();
  entry->size = bytes.size();
  if (folder_.empty()) entry->bytes = std::make_shared<const std::string>(bytes);
  const absl::MutexLock loading(&entry->loading);  // readers of the entry wait for its file
  {
    const absl::MutexLock lock(&mutex_);
    if (entries_.find(hex) != entries_.end()) return absl::OkStatus();
    if (entries_.size() >= config_.count) {
      return WithRetry(LimitExceeded("rig", entries_.size() + 1, config_.count, "rigs", "max-rigs"),
                       kFullRetry);
    }
    if (stored_bytes_ + entry->size > config_.stored_bytes) {
      return WithRetry(LimitExceeded("rig", stored_bytes_ + entry->size, config_.stored_bytes,
                                     "bytes", "max-stored-bytes"),
                       kFullRetry);
    }
    // Reserve the bytes before writing, so that concurrent calls cannot exceed the limits.
    stored_bytes_ += entry->size;
    entries_.emplace(hex, entry);
  }
  absl::Status status;
  if (!folder_.empty()) {
    status = path.empty() ? WriteAtomically(PathOf(hex), bytes) : MoveDurably(path, PathOf(hex));
    if (status.ok()) {
      status = WriteAtomically(SummaryPathOf(hex), parsed->summary.SerializeAsString());
    }
  }
  if (!status.ok()) {
    const absl::MutexLock lock(&mutex_);
    stored_bytes_ -= entry->size;
    entries_.erase(hex);
    return status;
  }
  Parsed(hex, *entry, std::move(parsed));
  return absl::OkStatus();
}

absl::StatusOr<RigStore::Piece> RigStore::Read(const std::string& hex, std::uint64_t offset,
                                               std::size_t count) const {
  const std::shared_ptr<Entry> entry = Find(hex);
  if (entry == nullptr) return Unknown(hex);
  if (offset > entry->size) {
    return absl::OutOfRangeError(
        absl::StrCat("offset: got ", offset, ", the rig has ", entry->size, " bytes"));
  }
  if (entry->bytes != nullptr) return Piece{entry->bytes->substr(offset, count), entry->size};
  SINEW_ASSIGN_OR_RETURN(std::string bytes, ReadPiece(PathOf(hex), offset, count));
  return Piece{std::move(bytes), entry->size};
}

absl::Status RigStore::Delete(const std::string& hex) {
  const std::shared_ptr<Entry> entry = Find(hex);
  if (entry == nullptr) return Unknown(hex);
  const fs::path aside = PathOf(hex) += ".deleted.tmp";  // removed at the next start at the latest
  {
    const absl::MutexLock loading(&entry->loading);  // its file may still be being written
    const absl::MutexLock lock(&mutex_);
    const auto found = entries_.find(hex);
    if (found == entries_.end() || found->second != entry) return Unknown(hex);
    stored_bytes_ -= entry->size;
    parsed_.Remove(hex);
    entries_.erase(found);
    // Without the lock, a Put of the same rig could create new files with these names.
    if (!folder_.empty()) {
      RemoveQuietly(SummaryPathOf(hex));
      std::error_code ignored;
      fs::rename(PathOf(hex), aside, ignored);
    }
  }
  if (!folder_.empty()) RemoveQuietly(aside);
  log_->info("{}: deleted", RigName(hex));
  return absl::OkStatus();
}

std::vector<v1::RigSummary> RigStore::List(const std::string& after, std::size_t count,
                                           bool& more) {
  std::vector<v1::RigSummary> rigs;
  const absl::MutexLock lock(&mutex_);
  auto it = entries_.upper_bound(after);
  for (; it != entries_.end() && rigs.size() < count; ++it) {
    if (it->second->listed != nullptr) {
      rigs.push_back(*it->second->listed);
    } else {
      v1::RigSummary& summary = rigs.emplace_back();
      summary.set_name(RigName(it->first));
      summary.set_size_bytes(it->second->size);
    }
  }
  more = it != entries_.end();
  return rigs;
}

std::size_t RigStore::count() const {
  const absl::MutexLock lock(&mutex_);
  return entries_.size();
}

std::uint64_t RigStore::stored_bytes() const {
  const absl::MutexLock lock(&mutex_);
  return stored_bytes_;
}

}  // namespace sinew::server
