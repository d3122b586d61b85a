#include "server/store/rig_store.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>

#include <algorithm>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "server/base/status.h"
#include "server/store/shared_rigs.h"
#include "server/store/storage_error.h"

namespace sinew::server {
namespace {

constexpr std::chrono::seconds kRigRetry{10};  // time for a client to delete rigs

constexpr std::size_t kListedMeshBytes = 4096;

RigStore::Listed ListedPart(v1::RigSummary summary) {
  summary.clear_joints();
  summary.clear_controls();
  if (summary.ByteSizeLong() > kListedMeshBytes) summary.clear_meshes();
  return std::make_shared<const v1::RigSummary>(std::move(summary));
}

absl::Status Damaged(const RigKey& key) {
  return absl::DataLossError(
      absl::StrCat(RigName(key.hex), ": the stored bytes are damaged; upload the rig again"));
}

}  // namespace

RigStore::RigStore(const RigConfig& config, double client_share, SharedStore* shared,
                   Metrics& metrics, Log log)
    : config_(config),
      shared_(shared),
      metrics_(metrics),
      log_(std::move(log)),
      places_(config.count, client_share, "max-rigs", "rigs", "rig", kRigRetry),
      bytes_(config.stored_bytes, client_share, "max-stored-bytes", "bytes", "rig", kRigRetry),
      parsing_(config.parsing_bytes, 1, "max-parsing-bytes", "bytes") {
  if (!config.data_dir.empty()) files_.emplace(config.data_dir);
}

absl::StatusOr<std::unique_ptr<RigStore>> RigStore::Open(const RigConfig& config,
                                                         double client_share, SharedStore* shared,
                                                         Metrics& metrics, Log log) {
  std::unique_ptr<RigStore> store(
      new RigStore(config, client_share, shared, metrics, std::move(log)));
  if (!store->files_) return store;
  SINEW_ASSIGN_OR_RETURN(std::vector<RigFiles::Stored> rigs, store->files_->Open());
  {
    const absl::MutexLock lock(&store->mutex_);
    for (RigFiles::Stored& rig : rigs) store->Add(std::move(rig));
  }
  if (shared != nullptr) {
    for (const RigKey& key : store->Keys()) store->WriteSharedLater(key, true);
  }
  store->log_->info("data-dir {}: {}, {} bytes", config.data_dir,
                    CountedText(store->count(), "rig"), store->stored_bytes());
  return store;
}

void RigStore::Add(RigFiles::Stored stored) {
  auto entry = std::make_shared<Entry>();
  entry->key = std::move(stored.key);
  entry->size = stored.bytes;
  // Rigs that were stored under other limits stay. Whose share those without a tenant use is not
  // known any more.
  entry->place = places_.TakeBeyondLimit(entry->key.tenant, 1);
  entry->room = bytes_.TakeBeyondLimit(entry->key.tenant, entry->size);
  if (stored.summary) {
    entry->listed = ListedPart(*std::move(stored.summary));
  } else {
    entry->lacks_summary = true;
    log_->warn("{}: its summary is damaged or lost; listed without it until the rig is read",
               RigName(entry->key.hex));
  }
  entries_.emplace(entry->key.Text(), std::move(entry));
}

absl::StatusOr<std::shared_ptr<StoredRig>> RigStore::Parse(const std::string& hex,
                                                           const std::string& bytes) {
  SINEW_ASSIGN_OR_RETURN(const Message message, ParseInTurn(bytes));
  SINEW_ASSIGN_OR_RETURN(StoredRig rig, ConvertRig(message.rig, config_));
  rig.summary.set_name(RigName(hex));
  rig.summary.set_size_bytes(bytes.size());
  rig.summary.mutable_create_time()->set_seconds(absl::ToUnixSeconds(absl::Now()));
  return std::make_shared<StoredRig>(std::move(rig));
}

absl::StatusOr<RigStore::Message> RigStore::ParseInTurn(const std::string& bytes) {
  SINEW_ASSIGN_OR_RETURN(const std::uint64_t counted, ParsingBytes(bytes, config_));
  std::uint64_t held = counted + bytes.size();  // for maps that few vertices lack
  while (true) {
    Message message{.held = parsing_.Wait(held), .rig = {}};
    SINEW_ASSIGN_OR_RETURN(message.rig, ParseRig(bytes, config_));
    const std::uint64_t needed = counted + AddedMapBytes(message.rig);
    if (needed <= held) return message;
    held = needed;  // nothing is kept while it waits
  }
}

RigStore::EntryPointer RigStore::Find(const RigKey& key) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(key.Text());
  return found == entries_.end() ? nullptr : found->second;
}

bool RigStore::Has(const RigKey& key) const {
  return Find(key) != nullptr;
}

void RigStore::Drop(Entry& entry) {
  const absl::MutexLock lock(&mutex_);
  const std::string text = entry.key.Text();
  const auto found = entries_.find(text);
  if (found == entries_.end() || found->second.get() != &entry) return;
  entry.place.reset();
  entry.room.reset();
  parsed_.Remove(text);
  used_.Remove(text);
  entries_.erase(found);
}

absl::Status RigStore::ReadFailed(Entry& entry, const absl::Status& error) {
  // A read error may be temporary: keep the rig.
  if (!absl::IsDataLoss(error) && !absl::IsNotFound(error)) {
    return StorageError(log_, RigName(entry.key.hex), error);
  }
  log_->error("{}: {}; moved aside", RigName(entry.key.hex), std::string(error.message()));
  if (absl::IsDataLoss(error)) files_->SetAside(entry.key);
  metrics_.damaged_rigs.Increment();
  Drop(entry);
  return Damaged(entry.key);
}

void RigStore::SetSums(Entry& entry, PieceSums sums) {
  auto shared = std::make_shared<const PieceSums>(std::move(sums));
  const absl::MutexLock lock(&mutex_);
  entry.sums = std::move(shared);
}

absl::StatusOr<std::string> RigStore::VerifiedBytes(Entry& entry) {
  if (entry.bytes != nullptr) return *entry.bytes;
  absl::StatusOr<std::string> bytes = files_->Read(entry.key);
  if (!bytes.ok()) return ReadFailed(entry, bytes.status());
  SetSums(entry, SumsOf(*bytes));
  return bytes;
}

absl::StatusOr<std::shared_ptr<const PieceSums>> RigStore::VerifiedSums(Entry& entry) {
  const absl::MutexLock loading(&entry.loading);
  if (Find(entry.key).get() != &entry) return UnknownRig(entry.key.hex);
  absl::StatusOr<PieceSums> sums = files_->Verify(entry.key);
  if (!sums.ok()) return ReadFailed(entry, sums.status());
  SetSums(entry, *std::move(sums));
  const absl::MutexLock lock(&mutex_);
  return entry.sums;
}

void RigStore::Parsed(Entry& entry, std::shared_ptr<const StoredRig> parsed) {
  const absl::MutexLock lock(&mutex_);
  if (entry.listed == nullptr) entry.listed = ListedPart(parsed->summary);
  parsed_.Touch(entry.key.Text(), parsed->rig->bytes());
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
    metrics_.evicted_parsed.Increment();
    if (const auto found = entries_.find(key); found != entries_.end()) {
      found->second->parsed = nullptr;
    }
  }
}

absl::StatusOr<std::shared_ptr<const StoredRig>> RigStore::Get(const RigKey& key) {
  SINEW_ASSIGN_OR_RETURN(const EntryPointer entry, FindOrFetch(key));
  return GetParsed(entry);
}

absl::StatusOr<std::shared_ptr<const StoredRig>> RigStore::GetStored(const RigKey& key) {
  const EntryPointer entry = Find(key);
  if (entry == nullptr) return UnknownRig(key.hex);
  return GetParsed(entry);
}

absl::StatusOr<std::shared_ptr<const StoredRig>> RigStore::GetParsed(const EntryPointer& entry) {
  const RigKey& key = entry->key;
  const absl::MutexLock loading(&entry->loading);
  if (Find(key) != entry) return UnknownRig(key.hex);  // deleted, or storing it failed
  {
    const absl::MutexLock lock(&mutex_);
    if (entry->in_shared) used_.Touch(key.Text(), entry->size);
    if (entry->parsed != nullptr) {
      parsed_.Touch(key.Text(), entry->parsed->rig->bytes());
      return entry->parsed;
    }
  }
  SINEW_ASSIGN_OR_RETURN(const std::string bytes, VerifiedBytes(*entry));
  SINEW_ASSIGN_OR_RETURN(const std::shared_ptr<StoredRig> parsed, Parse(key.hex, bytes));
  {
    const absl::MutexLock lock(&mutex_);
    if (entry->listed != nullptr) {
      *parsed->summary.mutable_create_time() = entry->listed->create_time();
    }
  }
  Parsed(*entry, parsed);
  return parsed;
}

std::shared_ptr<const StoredRig> RigStore::Peek(const RigKey& key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(key.Text());
  if (found == entries_.end() || found->second->parsed == nullptr) return nullptr;
  parsed_.Touch(key.Text());
  return found->second->parsed;
}

absl::StatusOr<std::string> RigStore::Bytes(const RigKey& key) {
  SINEW_ASSIGN_OR_RETURN(const EntryPointer entry, FindOrFetch(key));
  const absl::MutexLock loading(&entry->loading);
  if (Find(key) != entry) return UnknownRig(key.hex);
  return VerifiedBytes(*entry);
}

absl::StatusOr<RigStore::Message> RigStore::GetMessage(const RigKey& key) {
  SINEW_ASSIGN_OR_RETURN(const std::string bytes, Bytes(key));
  return ParseInTurn(bytes);
}

absl::Status RigStore::Reserve(const Caller& caller, Entry& entry) {
  SINEW_ASSIGN_OR_RETURN(entry.place, places_.Take(caller.client()));
  SINEW_ASSIGN_OR_RETURN(entry.room, bytes_.Take(caller.client(), entry.size));
  return absl::OkStatus();
}

absl::Status RigStore::CheckRoom(const Caller& caller, std::uint64_t bytes) {
  Entry entry;
  entry.size = bytes;
  return Reserve(caller, entry);
}

absl::StatusOr<std::shared_ptr<const StoredRig>> RigStore::Put(const Caller& caller,
                                                               const std::string& hex,
                                                               const std::string& bytes,
                                                               const std::filesystem::path& path) {
  const RigKey key{caller.tenant, hex};
  std::shared_ptr<StoredRig> parsed;
  while (true) {
    auto stored = GetStored(key);
    if (!absl::IsNotFound(stored.status()) && !absl::IsDataLoss(stored.status())) return stored;
    if (parsed == nullptr) {
      SINEW_ASSIGN_OR_RETURN(parsed, Parse(hex, bytes));
    }
    auto entry = std::make_shared<Entry>();
    entry->key = key;
    entry->size = bytes.size();
    SINEW_ASSIGN_OR_RETURN(const bool kept, Keep(entry, caller, bytes, path, parsed));
    if (kept) break;
  }
  if (shared_ != nullptr) WriteShared(key, bytes);
  log_->info("{}: stored, {} bytes, {} vertices, {}", RigName(hex), parsed->summary.size_bytes(),
             parsed->rig->vertices(), CountedText(parsed->rig->joints(), "joint"));
  return parsed;
}

absl::StatusOr<bool> RigStore::Keep(const EntryPointer& entry, const Caller& caller,
                                    const std::string& bytes, const std::filesystem::path& path,
                                    const std::shared_ptr<const StoredRig>& parsed) {
  if (!files_) entry->bytes = std::make_shared<const std::string>(bytes);
  const absl::MutexLock loading(&entry->loading);  // readers of the entry wait for its file
  {
    const absl::MutexLock lock(&mutex_);
    if (entries_.contains(entry->key.Text())) return false;
  }
  // Before writing, so that concurrent calls cannot exceed the limits. What is in the shared store
  // gives way, and counts for no client.
  if (!entry->in_shared) SINEW_RETURN_IF_ERROR(Reserve(caller, *entry));
  {
    const absl::MutexLock lock(&mutex_);
    if (!entries_.emplace(entry->key.Text(), entry).second) {
      entry->place.reset();
      entry->room.reset();
      return false;
    }
    if (entry->in_shared) used_.Touch(entry->key.Text(), entry->size);
  }
  DropOldest();
  if (files_) {
    const absl::Status status = files_->Write(entry->key, bytes, path, parsed->summary);
    if (!status.ok()) {
      Drop(*entry);
      return StorageError(log_, RigName(entry->key.hex), status);
    }
    SetSums(*entry, SumsOf(bytes));
  }
  Parsed(*entry, parsed);
  return true;
}

absl::StatusOr<RigStore::Piece> RigStore::Read(const RigKey& key, std::uint64_t offset,
                                               std::size_t count) {
  SINEW_ASSIGN_OR_RETURN(const EntryPointer entry, FindOrFetch(key));
  if (offset > entry->size) {
    return absl::OutOfRangeError(
        absl::StrCat("offset: got ", offset, ", the rig has ", entry->size, " bytes"));
  }
  if (entry->bytes != nullptr) return Piece{entry->bytes->substr(offset, count), entry->size};
  const std::size_t index = offset / kPieceBytes;
  std::shared_ptr<const PieceSums> sums;
  {
    const absl::MutexLock lock(&mutex_);
    sums = entry->sums;
  }
  for (int attempt = 0; attempt < 2; ++attempt) {
    // Without sums, or if the piece has changed, the whole file is verified.
    if (sums == nullptr) {
      SINEW_ASSIGN_OR_RETURN(sums, VerifiedSums(*entry));
    }
    if (offset == entry->size) return Piece{{}, entry->size};
    const auto piece = files_->ReadPieceAt(key, index * kPieceBytes);
    if (piece.ok() && index < sums->size() && PieceSum(*piece) == (*sums)[index]) {
      return Piece{piece->substr(offset % kPieceBytes, count), entry->size};
    }
    sums.reset();
  }
  return Damaged(key);  // it changes while it is read
}

absl::Status RigStore::Delete(const RigKey& key) {
  bool was_shared = false;
  if (shared_ != nullptr) {
    SINEW_ASSIGN_OR_RETURN(was_shared, DeleteShared(*shared_, key, Has(key)));
  }
  const EntryPointer entry = Find(key);  // also one that was fetched meanwhile
  if (entry == nullptr) return was_shared ? absl::OkStatus() : UnknownRig(key.hex);
  const absl::MutexLock loading(&entry->loading);  // its file may still be being written
  if (Find(key) != entry) return UnknownRig(key.hex);
  if (files_) {
    // Listed until its file is gone: a Put of the same rig waits, then writes a new one.
    const absl::Status status = files_->Remove(key);
    if (!status.ok()) return StorageError(log_, RigName(key.hex), status);
  }
  Drop(*entry);
  log_->info("{}: deleted", RigName(key.hex));
  return absl::OkStatus();
}

std::vector<RigStore::Listed> RigStore::List(const std::string& tenant, const std::string& after,
                                             std::size_t count, bool& more) {
  return shared_ == nullptr ? ListStored(tenant, after, count, more)
                            : ListShared(tenant, after, count, more);
}

std::vector<RigStore::Listed> RigStore::ListStored(const std::string& tenant,
                                                   const std::string& after, std::size_t count,
                                                   bool& more) const {
  std::vector<Listed> rigs;
  const absl::MutexLock lock(&mutex_);
  const std::string prefix = RigKey{tenant, {}}.Text();
  auto it = entries_.upper_bound(prefix + after);
  const auto in_tenant = [&] {
    mutex_.AssertHeld();
    return it != entries_.end() && absl::StartsWith(it->first, prefix);
  };
  for (; in_tenant() && rigs.size() < count; ++it) {
    if (it->second->listed != nullptr) {
      rigs.push_back(it->second->listed);
    } else {
      v1::RigSummary summary;
      summary.set_name(RigName(it->second->key.hex));
      summary.set_size_bytes(it->second->size);
      rigs.push_back(std::make_shared<const v1::RigSummary>(std::move(summary)));
    }
  }
  more = in_tenant();
  return rigs;
}

absl::Status RigStore::Verify(const RigKey& key) {
  const EntryPointer entry = Find(key);
  if (entry == nullptr) return UnknownRig(key.hex);
  return entry->bytes != nullptr ? absl::OkStatus() : VerifiedSums(*entry).status();
}

absl::Status RigStore::RestoreSummary(const RigKey& key) {
  const EntryPointer entry = Find(key);
  if (entry == nullptr) return UnknownRig(key.hex);
  {
    const absl::MutexLock lock(&mutex_);
    if (!entry->lacks_summary) return absl::OkStatus();
  }
  SINEW_ASSIGN_OR_RETURN(const auto rig, Get(key));
  const absl::MutexLock loading(&entry->loading);
  if (Find(key) != entry) return UnknownRig(key.hex);  // no summary without a rig
  const absl::Status status = files_->WriteSummary(key, rig->summary);
  if (!status.ok()) return StorageError(log_, RigName(key.hex), status);
  const absl::MutexLock lock(&mutex_);
  entry->lacks_summary = false;
  return status;
}

std::vector<RigKey> RigStore::Keys() const {
  std::vector<RigKey> keys;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [text, entry] : entries_) keys.push_back(entry->key);
  return keys;
}

RigStore::Usage RigStore::UsageOf(const std::string& tenant) const {
  Usage usage;
  const std::string prefix = RigKey{tenant, {}}.Text();
  const absl::MutexLock lock(&mutex_);
  for (auto it = entries_.lower_bound(prefix);
       it != entries_.end() && absl::StartsWith(it->first, prefix); ++it) {
    ++usage.rigs;
    usage.bytes += it->second->size;
  }
  return usage;
}

std::uint64_t RigStore::stored_bytes() const {
  const absl::MutexLock lock(&mutex_);
  return bytes_.count() + used_.bytes();
}

std::size_t RigStore::count() const {
  const absl::MutexLock lock(&mutex_);
  return entries_.size();
}

}  // namespace sinew::server
