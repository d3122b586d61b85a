#include "server/store/bound_files.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "core/base/digest.h"
#include "core/base/status.h"
#include "server/base/files.h"
#include "server/store/bound_data.h"

namespace sinew::server {
namespace {

constexpr char kSuffix[] = ".bound";

// "<tenant>.<rig's hex>-", how names of files begin; without the tenant's part if it has no name.
std::string FilePrefix(const RigKey& name) {
  return absl::StrCat(name.tenant, name.tenant.empty() ? "" : ".", name.hex, "-");
}

// The rig of a file, or nothing if the name is not one of ours.
std::optional<RigKey> RigOf(const std::string& file) {
  if (!absl::EndsWith(file, kSuffix)) return std::nullopt;
  const std::vector<std::string> parts = absl::StrSplit(file, '.');
  RigKey name{parts.size() == 3 ? parts[0] : "", parts[parts.size() - 2]};
  name.hex.resize(std::min(name.hex.find('-'), name.hex.size()));
  if (parts.size() > 3 || !IsDigest(name.hex)) return std::nullopt;
  return name;
}

}  // namespace

absl::StatusOr<BoundFiles> BoundFiles::Open(const std::filesystem::path& folder,
                                            std::uint64_t most_bytes) {
  SINEW_RETURN_IF_ERROR(MakeFolder(folder));
  BoundFiles files;
  files.folder_ = folder;
  files.most_bytes_ = most_bytes;
  return files;
}

std::filesystem::path BoundFiles::PathOf(const std::string& key) const {
  return folder_ / absl::StrCat(FilePrefix(RigOfBound(key)), Sha256Hex(key), kSuffix);
}

absl::StatusOr<std::string> BoundFiles::Read(const std::string& key) const {
  if (folder_.empty()) return absl::NotFoundError("no folder");
  const std::filesystem::path path = PathOf(key);
  SINEW_ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(path));
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // the order in which Write drops files
  return bytes;
}

absl::Status BoundFiles::Write(const std::string& key, std::string_view bytes) const {
  if (folder_.empty() || bytes.size() > most_bytes_) return absl::OkStatus();
  std::vector<FileFacts> files = ListFiles(folder_);
  std::ranges::sort(files, {}, &FileFacts::modified);
  std::uint64_t held = bytes.size();
  for (const FileFacts& file : files) held += file.bytes;
  for (const FileFacts& file : files) {
    if (held <= most_bytes_) break;
    RemoveQuietly(folder_ / file.name);
    held -= file.bytes;
  }
  return WriteAtomically(PathOf(key), bytes);
}

void BoundFiles::Remove(const std::string& key) const {
  if (!folder_.empty()) RemoveQuietly(PathOf(key));
}

void BoundFiles::Forget(const RigKey& rig) const {
  if (folder_.empty()) return;
  const std::string prefix = FilePrefix(rig);
  for (const FileFacts& file : ListFiles(folder_)) {
    if (absl::StartsWith(file.name, prefix)) RemoveQuietly(folder_ / file.name);
  }
}

void BoundFiles::RemoveOrphans(const std::function<bool(const RigKey&)>& keep) const {
  if (folder_.empty()) return;
  for (const FileFacts& file : ListFiles(folder_)) {
    const std::optional<RigKey> rig = RigOf(file.name);
    if (absl::EndsWith(file.name, ".tmp") || (rig && !keep(*rig)))
      RemoveQuietly(folder_ / file.name);
  }
}

std::vector<std::filesystem::path> BoundFiles::List() const {
  std::vector<std::filesystem::path> files;
  if (folder_.empty()) return files;
  for (const FileFacts& file : ListFiles(folder_)) {
    if (RigOf(file.name)) files.push_back(folder_ / file.name);
  }
  return files;
}

}  // namespace sinew::server
