#include "server/store/upload_table.h"

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "server/base/files.h"
#include "server/base/status.h"

namespace sinew::server {
namespace {

constexpr char kSuffix[] = ".part";
// An upload touched within this time is not dropped in favour of another one.
constexpr std::chrono::seconds kIdle{10};

std::string KeyOf(const v1::UploadHeader& header) {
  return absl::StrCat(header.sha256(), "-", header.size_bytes());
}

}  // namespace

absl::StatusOr<std::unique_ptr<UploadTable>> UploadTable::Open(const RigConfig& config,
                                                               RigStore& rigs) {
  std::unique_ptr<UploadTable> table(new UploadTable(config, rigs));
  if (!config.data_dir.empty()) {
    table->folder_ = std::filesystem::path(config.data_dir) / "uploads";
    SINEW_RETURN_IF_ERROR(MakeFolder(table->folder_));
    table->ReadFolder();
  }
  return table;
}

void UploadTable::ReadFolder() {
  const absl::MutexLock lock(&mutex_);
  for (const FileFacts& file : ListFiles(folder_)) {
    if (!absl::EndsWith(file.name, kSuffix)) continue;
    auto upload = std::make_shared<Upload>();
    upload->path = folder_ / file.name;
    upload->held = file.bytes;
    upload->touched = file.modified;
    bytes_ += upload->held;
    uploads_.emplace(file.name.substr(0, file.name.size() - (sizeof(kSuffix) - 1)),
                     std::move(upload));
  }
}

absl::Status UploadTable::CheckHeader(const v1::UploadHeader& header) const {
  const auto hex = ParseRigName("header.sha256", RigName(header.sha256()));
  if (!hex.ok()) {
    return InvalidField("header.sha256", absl::StrCat("got ", header.sha256().size(),
                                                      " characters, need 64 lower-case hex "
                                                      "digits"));
  }
  if (header.size_bytes() == 0) return InvalidField("header.size_bytes", "got 0, need 1 or more");
  return CheckLimit("header.size_bytes", header.size_bytes(), config_.bytes, "bytes",
                    "max-rig-bytes");
}

absl::StatusOr<UploadTable::Progress> UploadTable::Query(const v1::UploadHeader& header) {
  SINEW_RETURN_IF_ERROR(CheckHeader(header));
  if (rigs_.Has(header.sha256())) {
    SINEW_ASSIGN_OR_RETURN(auto rig, rigs_.Get(header.sha256()));
    return Progress{header.size_bytes(), std::move(rig)};
  }
  const absl::MutexLock lock(&mutex_);
  const auto found = uploads_.find(KeyOf(header));
  return Progress{found == uploads_.end() ? 0 : found->second->held, nullptr};
}

absl::StatusOr<std::shared_ptr<UploadTable::Upload>> UploadTable::FindOrAdd(
    const v1::UploadHeader& header, std::uint64_t more, Time now) {
  const absl::MutexLock lock(&mutex_);
  const std::string key = KeyOf(header);
  auto found = uploads_.find(key);
  const auto too_large = [&] {
    mutex_.AssertHeld();
    return more > 0 && bytes_ + more > config_.upload_bytes;
  };
  const auto too_many = [&] {
    mutex_.AssertHeld();
    return found == uploads_.end() && uploads_.size() >= config_.uploads;
  };
  while ((too_large() || too_many()) && EvictOldest(key, now)) {
  }
  if (too_large()) {
    return WithRetry(
        LimitExceeded("data", bytes_ + more, config_.upload_bytes, "bytes", "max-upload-bytes"),
        absl::Seconds(10));
  }
  if (found == uploads_.end()) {
    if (too_many()) {
      return WithRetry(
          LimitExceeded("header", uploads_.size() + 1, config_.uploads, "uploads", "max-uploads"),
          absl::Seconds(10));
    }
    auto upload = std::make_shared<Upload>();
    if (!folder_.empty()) upload->path = folder_ / (key + kSuffix);
    found = uploads_.emplace(key, std::move(upload)).first;
  }
  found->second->touched = now;
  bytes_ += more;
  return found->second;
}

bool UploadTable::EvictOldest(const std::string& but, Time now) {
  auto oldest = uploads_.end();
  for (auto it = uploads_.begin(); it != uploads_.end(); ++it) {
    if (it->first == but || now - it->second->touched < kIdle) continue;
    if (oldest == uploads_.end() || it->second->touched < oldest->second->touched) oldest = it;
  }
  if (oldest == uploads_.end()) return false;
  const std::shared_ptr<Upload> upload = oldest->second;
  // Other functions lock `writing` before the table's mutex, so waiting for it here could deadlock.
  if (!upload->writing.TryLock()) return false;
  upload->over = true;
  Drop(oldest);
  upload->writing.Unlock();
  return true;
}

absl::Status UploadTable::Write(Upload& upload, std::string_view data) {
  if (!upload.path.empty()) return AppendAt(upload.path, upload.held, data);
  upload.bytes.append(data);
  return absl::OkStatus();
}

absl::StatusOr<UploadTable::Progress> UploadTable::Append(const v1::UploadHeader& header,
                                                          std::uint64_t offset,
                                                          std::string_view data, Time now) {
  SINEW_ASSIGN_OR_RETURN(Progress progress, Query(header));
  // An upload whose last byte arrived just before the server was killed only needs to be finished.
  const bool complete = progress.committed >= header.size_bytes();
  if (progress.rig != nullptr || (data.empty() && !complete)) return progress;
  if (offset > header.size_bytes() || data.size() > header.size_bytes() - offset) {
    return absl::OutOfRangeError(absl::StrCat("data: got bytes ", offset, " to ",
                                              offset + data.size(), ", the rig has ",
                                              header.size_bytes()));
  }
  SINEW_ASSIGN_OR_RETURN(const std::shared_ptr<Upload> upload, FindOrAdd(header, data.size(), now));
  const absl::MutexLock writing(&upload->writing);
  std::uint64_t added = 0;
  absl::Status status;
  if (upload->over) {
    status = absl::UnavailableError("data: another sender ended this upload; try again");
  } else if (offset > upload->held) {
    status = absl::OutOfRangeError(
        absl::StrCat("offset: got ", offset, ", the server holds ", upload->held, " bytes"));
  } else if (offset + data.size() > upload->held) {
    const std::string_view fresh = data.substr(upload->held - offset);
    status = Write(*upload, fresh);
    if (status.ok()) added = fresh.size();
  }
  {
    const absl::MutexLock lock(&mutex_);
    upload->held += added;
    bytes_ -= data.size() - added;
  }
  if (!status.ok()) return status;
  if (upload->held < header.size_bytes()) return Progress{upload->held, nullptr};
  absl::StatusOr<Progress> finished = Finish(header, *upload);
  upload->over = true;
  Forget(KeyOf(header));
  return finished;
}

absl::StatusOr<UploadTable::Progress> UploadTable::Finish(const v1::UploadHeader& header,
                                                          Upload& upload) {
  std::string bytes = std::move(upload.bytes);
  if (!upload.path.empty()) {
    SINEW_ASSIGN_OR_RETURN(bytes, ReadWholeFile(upload.path));
  }
  if (const std::string got = Sha256Hex(bytes); got != header.sha256()) {
    return absl::DataLossError(
        absl::StrCat("header.sha256: got bytes with ", got, ", need ", header.sha256()));
  }
  SINEW_ASSIGN_OR_RETURN(auto rig, rigs_.Put(header.sha256(), bytes, upload.path));
  return Progress{header.size_bytes(), std::move(rig)};
}

void UploadTable::Forget(const std::string& key) {
  const absl::MutexLock lock(&mutex_);
  const auto found = uploads_.find(key);
  if (found != uploads_.end()) Drop(found);
}

void UploadTable::Drop(Uploads::iterator it) {
  bytes_ -= it->second->held;
  if (!it->second->path.empty()) RemoveQuietly(it->second->path);
  uploads_.erase(it);
}

void UploadTable::Expire(Time now) {
  const auto limit = std::chrono::duration<double>(config_.upload_seconds);
  std::vector<std::pair<std::string, std::shared_ptr<Upload>>> old;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& entry : uploads_) {
      if (now - entry.second->touched > limit) old.push_back(entry);
    }
  }
  for (const auto& [key, upload] : old) {
    const absl::MutexLock writing(&upload->writing);
    if (std::exchange(upload->over, true)) continue;
    Forget(key);
  }
}

}  // namespace sinew::server
