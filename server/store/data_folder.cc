#include "server/store/data_folder.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <string>

#include "core/base/status.h"
#include "server/store/rig_files.h"

namespace sinew::server {
namespace {

namespace fs = std::filesystem;

// The version in the file, 1 without a file.
absl::StatusOr<int> ReadFormat(const fs::path& file) {
  constexpr std::size_t kLongest = 64;
  const absl::StatusOr<std::string> text = ReadPiece(file, 0, kLongest);
  if (absl::IsNotFound(text.status())) return 1;
  if (!text.ok()) return absl::FailedPreconditionError(text.status().message());
  int format = 0;
  if (absl::SimpleAtoi(*text, &format) && format >= 1 && format <= kDataFormat) return format;
  return absl::FailedPreconditionError(absl::StrCat(
      "data-dir: ", file.string(), ": got \"", absl::CHexEscape(absl::StripAsciiWhitespace(*text)),
      "\", this server needs a format from 1 to ", kDataFormat));
}

absl::Status MigrateFrom1(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"rigs", "uploads", "bound"}) {
    if (fs::exists(folder / name, error)) {
      fs::permissions(folder / name, fs::perms::owner_all, error);
    }
  }
  for (const FileFacts& file : ListFiles(folder / "uploads"))
    RemoveQuietly(folder / "uploads" / file.name);
  for (const FileFacts& file : ListFiles(folder / "rigs")) {
    if (!absl::EndsWith(file.name, ".summary")) continue;
    const fs::path path = folder / "rigs" / file.name;
    v1::RigSummary summary;
    if (const auto text = ReadWholeFile(path); !text.ok() || !summary.ParseFromString(*text)) {
      continue;
    }
    SINEW_RETURN_IF_ERROR(WriteAtomically(path, RigFiles::EncodeSummary(summary)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckDataFolder(const fs::path& folder) {
  const absl::Status usable = CheckWritableFolder(folder);
  if (!usable.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("data-dir: ", usable.message()));
  }
  return ReadFormat(folder / "format").status();
}

absl::StatusOr<FolderLock> OpenDataFolder(const fs::path& folder, const Log& log) {
  SINEW_ASSIGN_OR_RETURN(FolderLock lock, LockFolder(folder));
  const fs::path file = folder / "format";
  SINEW_ASSIGN_OR_RETURN(const int format, ReadFormat(file));
  if (format == kDataFormat) return lock;
  std::error_code error;
  const bool is_new = !fs::exists(folder / "rigs", error);
  absl::Status status = MigrateFrom1(folder);
  if (status.ok()) status = WriteAtomically(file, absl::StrCat(kDataFormat, "\n"));
  if (!status.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("data-dir: ", status.message()));
  }
  if (!is_new) log->info("data-dir {}: format {} to {}", folder.string(), format, kDataFormat);
  return lock;
}

}  // namespace sinew::server
