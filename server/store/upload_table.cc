#include "server/store/upload_table.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "server/base/files.h"
#include "server/base/status.h"
#include "server/store/storage_error.h"

namespace sinew::server {
namespace {

constexpr char kPartSuffix[] = ".part";
// An upload touched within this time is not dropped in favour of another one.
constexpr std::chrono::seconds kIdle{10};
constexpr std::chrono::seconds kUploadRetry{10};

// "<hex>-<size>-<digest of the sender>": also the name of its file.
std::string KeyOf(const Caller& caller, const v1::UploadHeader& header) {
  const std::string sender = caller.principal.empty()
                                 ? absl::StrCat(caller.tenant, "\npeer ", caller.peer)
                                 : absl::StrCat(caller.tenant, "\nprincipal ", caller.principal);
  return absl::StrCat(header.sha256(), "-", header.size_bytes(), "-", Sha256Hex(sender));
}

absl::Status Ended() {
  return absl::UnavailableError("data: another sender ended this upload; try again");
}

// The size in a key, or nothing if the text is not one.
std::optional<std::uint64_t> SizeIn(const std::string& key) {
  const std::vector<std::string> parts = absl::StrSplit(key, '-');
  std::uint64_t size = 0;
  if (parts.size() != 3 || !IsDigest(parts[0]) || !IsDigest(parts[2]) ||
      !absl::SimpleAtoi(parts[1], &size)) {
    return std::nullopt;
  }
  return size;
}

}  // namespace

UploadTable::Sender UploadTable::NewSender(const Caller& caller) {
  static std::atomic<std::uint64_t> calls{0};
  return {.caller = caller, .call = ++calls};
}

UploadTable::UploadTable(const RigConfig& config, double client_share, RigStore& rigs, Log log)
    : config_(config),
      rigs_(rigs),
      log_(std::move(log)),
      places_(config.uploads, client_share, "max-uploads", "uploads", "header", kUploadRetry),
      room_(config.upload_bytes, client_share, "max-upload-bytes", "bytes", "header.size_bytes",
            kUploadRetry) {}

absl::StatusOr<std::unique_ptr<UploadTable>> UploadTable::Open(const RigConfig& config,
                                                               double client_share, RigStore& rigs,
                                                               Log log, Time now) {
  std::unique_ptr<UploadTable> table(new UploadTable(config, client_share, rigs, std::move(log)));
  if (!config.data_dir.empty()) {
    table->folder_ = std::filesystem::path(config.data_dir) / "uploads";
    SINEW_RETURN_IF_ERROR(MakeFolder(table->folder_));
    table->ReadFolder(now);
  }
  return table;
}

void UploadTable::ReadFolder(Time now) {
  const absl::MutexLock lock(&mutex_);
  for (const FileFacts& file : ListFiles(folder_)) {
    std::string key = file.name;
    if (!absl::EndsWith(key, kPartSuffix)) continue;
    key.resize(key.size() - (sizeof(kPartSuffix) - 1));
    const std::optional<std::uint64_t> size = SizeIn(key);
    if (!size) continue;
    auto upload = std::make_shared<Upload>();
    upload->path = folder_ / file.name;
    upload->held = file.bytes;
    upload->touched = now;
    upload->place = places_.TakeBeyondLimit({}, 1);
    upload->room = room_.TakeBeyondLimit({}, *size);
    uploads_.emplace(std::move(key), std::move(upload));
  }
}

absl::Status UploadTable::CheckHeader(const v1::UploadHeader& header) const {
  if (!IsDigest(header.sha256())) {
    return InvalidField("header.sha256", absl::StrCat("got ", header.sha256().size(),
                                                      " characters, need 64 lower-case hex "
                                                      "digits"));
  }
  if (header.size_bytes() == 0) return InvalidField("header.size_bytes", "got 0, need 1 or more");
  return CheckLimit("header.size_bytes", header.size_bytes(), config_.bytes, "bytes",
                    "max-rig-bytes");
}

bool UploadTable::HasBegun(const Caller& caller, const v1::UploadHeader& header) const {
  const absl::MutexLock lock(&mutex_);
  return uploads_.contains(KeyOf(caller, header));
}

absl::StatusOr<UploadTable::Progress> UploadTable::Query(const Caller& caller,
                                                         const v1::UploadHeader& header) {
  SINEW_RETURN_IF_ERROR(CheckHeader(header));
  const RigKey key{caller.tenant, header.sha256()};
  // The store that servers share is asked once, when an upload begins.
  auto rig = HasBegun(caller, header) ? rigs_.GetStored(key) : rigs_.Get(key);
  if (rig.ok()) return Progress{header.size_bytes(), *std::move(rig), true};
  // A damaged rig has just been removed: this upload replaces it.
  if (!absl::IsNotFound(rig.status()) && !absl::IsDataLoss(rig.status()) &&
      !absl::IsUnavailable(rig.status())) {
    return rig.status();
  }
  SINEW_RETURN_IF_ERROR(rigs_.CheckRoom(caller, header.size_bytes()));
  const absl::MutexLock lock(&mutex_);
  const auto found = uploads_.find(KeyOf(caller, header));
  return Progress{found == uploads_.end() ? 0 : found->second->held, nullptr};
}

absl::StatusOr<std::shared_ptr<UploadTable::Upload>> UploadTable::FindOrAdd(
    const Caller& caller, const v1::UploadHeader& header, Time now) {
  const std::string key = KeyOf(caller, header);
  const absl::MutexLock lock(&mutex_);
  auto found = uploads_.find(key);
  if (found == uploads_.end()) {
    // The caller saw no rig; the last piece of another sender may have come since.
    if (rigs_.Has({caller.tenant, header.sha256()})) return Ended();
    auto upload = std::make_shared<Upload>();
    upload->client = caller.client();
    if (!folder_.empty()) upload->path = folder_ / (key + kPartSuffix);
    SINEW_RETURN_IF_ERROR(Reserve(*upload, header.size_bytes(), now));
    found = uploads_.emplace(key, std::move(upload)).first;
  }
  found->second->touched = now;
  return found->second;
}

absl::Status UploadTable::Reserve(Upload& upload, std::uint64_t bytes, Time now) {
  // Idle uploads make room: those of this client, or if it has none and the table is full, those of
  // all. None is dropped for a client that has reached its share, or for what never fits.
  const bool has_own = std::ranges::any_of(
      uploads_, [&](const auto& entry) { return entry.second->client == upload.client; });
  const std::array refusals = {places_.Try(upload.client), room_.Try(upload.client, bytes)};
  const auto is = [&](Quota::Refusal refusal) {
    return std::ranges::find(refusals, refusal) != refusals.end();
  };
  const bool may_help = !is(Quota::Refusal::kNever) &&
                        (has_own || (is(Quota::Refusal::kFull) && !is(Quota::Refusal::kShare)));
  while (true) {
    absl::StatusOr<Quota::Permit> place = places_.Take(upload.client);
    absl::StatusOr<Quota::Permit> room = room_.Take(upload.client, bytes);
    if (place.ok() && room.ok()) {
      upload.place = *std::move(place);
      upload.room = *std::move(room);
      return absl::OkStatus();
    }
    if (may_help && EvictOldest(has_own ? &upload.client : nullptr, now)) continue;
    return place.ok() ? room.status() : place.status();
  }
}

bool UploadTable::EvictOldest(const std::string* client, Time now) {
  std::vector<Uploads::iterator> idle;
  for (auto it = uploads_.begin(); it != uploads_.end(); ++it) {
    if (now - it->second->touched < kIdle) continue;
    if (client == nullptr || it->second->client == *client) idle.push_back(it);
  }
  std::ranges::sort(idle, {}, [](const auto& it) { return it->second->touched; });
  return std::ranges::any_of(idle, [&](const auto& it) {
    mutex_.AssertHeld();
    return TryDrop(it);
  });
}

bool UploadTable::TryDrop(Uploads::iterator it) {
  const std::shared_ptr<Upload> upload = it->second;
  // Other functions lock `writing` before the table's mutex, so waiting for it here could deadlock.
  if (!upload->writing.TryLock()) return false;
  upload->over = true;
  upload->place.reset();
  upload->room.reset();
  if (!upload->path.empty()) RemoveQuietly(upload->path);
  uploads_.erase(it);
  upload->writing.Unlock();
  return true;
}

absl::Status UploadTable::Write(Upload& upload, const Sender& sender, std::string_view data) {
  if (upload.path.empty()) {
    upload.bytes.append(data);
  } else if (const absl::Status status = AppendAt(upload.path, upload.held, data); !status.ok()) {
    return StorageError(log_, "data", status);
  }
  upload.only_call = upload.held == 0 || upload.only_call == sender.call ? sender.call : 0;
  const absl::MutexLock lock(&mutex_);
  upload.held += data.size();
  return absl::OkStatus();
}

absl::StatusOr<UploadTable::Progress> UploadTable::Append(const Sender& sender,
                                                          const v1::UploadHeader& header,
                                                          std::uint64_t offset,
                                                          std::string_view data, Time now) {
  SINEW_ASSIGN_OR_RETURN(Progress progress, Query(sender.caller, header));
  // An upload whose last byte arrived just before the server was killed only needs to be finished.
  const bool complete = progress.committed >= header.size_bytes();
  if (progress.rig != nullptr || (data.empty() && !complete)) return progress;
  if (offset > header.size_bytes() || data.size() > header.size_bytes() - offset) {
    return absl::OutOfRangeError(absl::StrCat("data: got bytes ", offset, " to ",
                                              offset + data.size(), ", the rig has ",
                                              header.size_bytes()));
  }
  SINEW_ASSIGN_OR_RETURN(const std::shared_ptr<Upload> upload,
                         FindOrAdd(sender.caller, header, now));
  const absl::MutexLock writing(&upload->writing);
  if (upload->over) {
    return Ended();
  }
  if (offset > upload->held) {
    return absl::OutOfRangeError(
        absl::StrCat("offset: got ", offset, ", the server holds ", upload->held, " bytes"));
  }
  absl::StatusOr<Progress> progressed = progress;
  if (offset + data.size() > upload->held) {
    const absl::Status written = Write(*upload, sender, data.substr(upload->held - offset));
    if (!written.ok()) progressed = written;
  }
  if (progressed.ok()) {
    if (upload->held < header.size_bytes()) return Progress{upload->held, nullptr};
    progressed = Finish(sender, header, *upload);
  }
  // Also when it could not be written: on a full disk, its bytes and its place are those that other
  // uploads need.
  upload->over = true;
  Forget(KeyOf(sender.caller, header));
  return progressed;
}

absl::StatusOr<UploadTable::Progress> UploadTable::Finish(const Sender& sender,
                                                          const v1::UploadHeader& header,
                                                          Upload& upload) {
  std::string bytes = std::move(upload.bytes);
  if (!upload.path.empty()) {
    auto read = ReadWholeFile(upload.path);
    if (!read.ok()) return StorageError(log_, "data", read.status());
    bytes = *std::move(read);
  }
  if (const std::string got = Sha256Hex(bytes); got != header.sha256()) {
    const std::string what =
        absl::StrCat("header.sha256: got bytes with ", got, ", need ", header.sha256());
    if (upload.only_call == sender.call) return absl::DataLossError(what);
    return absl::AbortedError(
        absl::StrCat(what, "; an earlier call sent some of them: upload the rig from its start"));
  }
  SINEW_ASSIGN_OR_RETURN(auto rig, rigs_.Put(sender.caller, header.sha256(), bytes, upload.path));
  return Progress{header.size_bytes(), std::move(rig)};
}

void UploadTable::Forget(const std::string& key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = uploads_.find(key);
  if (found == uploads_.end()) return;
  if (!found->second->path.empty()) RemoveQuietly(found->second->path);
  uploads_.erase(found);
}

void UploadTable::Expire(Time now) {
  const auto limit = std::chrono::duration<double>(config_.upload_seconds);
  const absl::MutexLock lock(&mutex_);
  for (auto it = uploads_.begin(); it != uploads_.end();) {
    const auto next = std::next(it);
    if (now - it->second->touched > limit) TryDrop(it);
    it = next;
  }
}

}  // namespace sinew::server
