// The part of RigStore that fetches from, and writes to, the store that several servers share.
#include <absl/strings/strip.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "server/base/status.h"
#include "server/store/rig_store.h"
#include "server/store/shared_rigs.h"

namespace sinew::server {

absl::StatusOr<RigStore::EntryPointer> RigStore::FindOrFetch(const RigKey& key) {
  EntryPointer entry = Find(key);
  if (entry == nullptr && shared_ != nullptr) {
    SINEW_RETURN_IF_ERROR(Fetch(key));
    entry = Find(key);
  }
  if (entry == nullptr) return UnknownRig(key.hex);
  return entry;
}

absl::Status RigStore::Fetch(const RigKey& key) {
  return fetches_.Run(key.Text(), [&]() -> absl::Status {
    if (Has(key)) return absl::OkStatus();
    if (shared_ == nullptr) return UnknownRig(key.hex);
    return FetchOnce(key);
  });
}

absl::Status RigStore::FetchOnce(const RigKey& key) {
  SINEW_ASSIGN_OR_RETURN(const std::string bytes,
                         ReadSharedRig(*shared_, key, config_.bytes, log_));
  SINEW_ASSIGN_OR_RETURN(const std::shared_ptr<StoredRig> parsed, Parse(key.hex, bytes));
  auto entry = std::make_shared<Entry>();
  entry->key = key;
  entry->size = bytes.size();
  entry->in_shared = true;
  SINEW_RETURN_IF_ERROR(Keep(entry, {}, bytes, {}, parsed).status());
  // Deleted while it was read: then its mark was seen before there was anything to drop.
  if (const auto deleted = shared_->Has(DeletedName(key)); deleted.ok() && *deleted) {
    DropHere(*entry);
    return UnknownRig(key.hex);
  }
  metrics_.rigs_fetched.Increment();
  log_->info("{}: fetched, {} bytes", RigName(key.hex), bytes.size());
  return absl::OkStatus();
}

void RigStore::WriteShared(const RigKey& key, const std::string& bytes) {
  // Before it appears, so that no server takes it for deleted.
  absl::Status status = shared_->Remove(DeletedName(key));
  if (status.ok()) status = shared_->Put(SharedRigName(key), bytes);
  if (status.ok()) {
    SetInShared(key);
  } else {
    WriteSharedLater(key, false);
  }
}

void RigStore::WriteSharedLater(const RigKey& key, bool found) {
  const auto read = [this, key, found]() -> absl::StatusOr<std::string> {
    const EntryPointer entry = Find(key);
    if (entry == nullptr) return absl::NotFoundError("deleted");
    SINEW_ASSIGN_OR_RETURN(const bool deleted, shared_->Has(DeletedName(key)));
    if (deleted && found) {
      DropHere(*entry);
      return absl::NotFoundError("deleted");
    }
    if (deleted) SINEW_RETURN_IF_ERROR(shared_->Remove(DeletedName(key)));
    const absl::MutexLock loading(&entry->loading);
    return VerifiedBytes(*entry);
  };
  shared_->PutLater(SharedRigName(key), read, [this, key](const absl::Status& status) {
    if (!status.ok()) return;
    if (Has(key)) {
      SetInShared(key);
    } else {  // deleted while it was being written
      static_cast<void>(shared_->Remove(SharedRigName(key)));
    }
  });
}

void RigStore::SetInShared(const RigKey& key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = entries_.find(key.Text());
  if (found == entries_.end()) return;
  Entry& entry = *found->second;
  entry.in_shared = true;
  // It gives way to others now, so it counts for no client any more.
  entry.place.reset();
  entry.room.reset();
  used_.Touch(key.Text(), entry.size);
}

bool RigStore::HoldsTooMuch() const {
  return places_.count() + used_.size() > places_.limit() ||
         bytes_.count() + used_.bytes() > bytes_.limit();
}

void RigStore::DropOldest() {
  std::vector<EntryPointer> candidates;
  {
    const absl::MutexLock lock(&mutex_);
    if (!HoldsTooMuch()) return;
    for (const std::string& text : used_.Over(0, true, [](const std::string&) { return false; })) {
      if (const auto found = entries_.find(text); found != entries_.end()) {
        candidates.push_back(found->second);
      }
    }
  }
  for (const EntryPointer& entry : candidates) {
    if (TryDrop(*entry)) metrics_.evicted_rigs.Increment();
    const absl::MutexLock lock(&mutex_);
    if (!HoldsTooMuch()) return;
  }
}

bool RigStore::TryDrop(Entry& entry) {
  // One that is being read or written is in use.
  if (!entry.loading.TryLock()) return false;
  const bool is_listed = Find(entry.key).get() == &entry;  // else another one has its file now
  const bool removed = is_listed && (!files_ || files_->Remove(entry.key).ok());
  if (removed) Drop(entry);
  entry.loading.Unlock();
  return removed;
}

void RigStore::DropFetched(const RigKey& key) {
  const EntryPointer entry = Find(key);
  if (entry == nullptr) return;
  {
    // One that is not in the store yet was uploaded after it had been deleted.
    const absl::MutexLock lock(&mutex_);
    if (!entry->in_shared) return;
  }
  DropHere(*entry);
}

void RigStore::DropHere(Entry& entry) {
  const absl::MutexLock loading(&entry.loading);
  if (Find(entry.key).get() != &entry) return;  // another one has its file now
  if (files_) static_cast<void>(files_->Remove(entry.key));
  Drop(entry);
  log_->info("{}: dropped, another server has deleted it", RigName(entry.key.hex));
}

std::vector<RigStore::Listed> RigStore::ListShared(const std::string& tenant,
                                                   const std::string& after, std::size_t count,
                                                   bool& more) {
  std::vector<Listed> rigs = ListStored(tenant, after, count, more);
  const std::string folder = SharedRigFolder(tenant);
  auto objects = shared_->List(folder, after.empty() ? "" : folder + after, count + 1);
  if (!objects.ok()) return rigs;
  more = more || objects->size() > count;
  for (const ObjectStore::Object& object : *objects) {
    const std::string hex(absl::StripPrefix(object.name, folder));
    const std::string name = RigName(hex);
    const auto same = [&](const Listed& rig) { return rig->name() == name; };
    if (!IsDigest(hex) || std::ranges::any_of(rigs, same)) continue;
    v1::RigSummary summary;
    summary.set_name(name);
    summary.set_size_bytes(object.bytes);
    rigs.push_back(std::make_shared<const v1::RigSummary>(std::move(summary)));
  }
  std::ranges::sort(rigs, {}, [](const Listed& rig) { return rig->name(); });
  if (rigs.size() > count) {
    rigs.resize(count);
    more = true;
  }
  return rigs;
}

}  // namespace sinew::server
