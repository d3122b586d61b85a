#include "client/cli/files/output_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

#include "client/cli/base/exit_code.h"

namespace sinew::cli {
namespace {

namespace fs = std::filesystem;

struct Temporaries {
  std::mutex mutex;
  std::set<std::string> names;
};
Temporaries& AllTemporaries() {
  static Temporaries* all = new Temporaries;  // never destroyed: a signal may come during exit
  return *all;
}

void Register(const std::string& name) {
  const std::lock_guard lock(AllTemporaries().mutex);
  AllTemporaries().names.insert(name);
}

void Unregister(const std::string& name) {
  const std::lock_guard lock(AllTemporaries().mutex);
  AllTemporaries().names.erase(name);
}

absl::Status CannotWrite(const std::string& path, int error) {
  return OutputError(absl::StrCat("out: cannot write ", path, ": ", std::strerror(error)));
}

fs::path FolderOf(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// The path that is to be replaced, links followed.
absl::StatusOr<std::string> Destination(const std::string& path, bool overwrite) {
  if (path.empty()) return OutputError("out: got an empty path, need the name of a file");
  std::error_code error;
  const fs::file_status state = fs::status(path, error);
  if (!fs::exists(state)) {
    if (fs::path(path).filename().empty()) return CannotWrite(path, EISDIR);
    return path;
  }
  if (fs::is_directory(state)) return CannotWrite(path, EISDIR);
  if (!fs::is_regular_file(state)) {
    return OutputError(absl::StrCat("out: cannot write ", path, ": not a regular file"));
  }
  if (!overwrite) return CannotWrite(path, EEXIST);
  // It would be replaced, for which only its folder has to be writable.
  constexpr fs::perms kWritable =
      fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  if ((state.permissions() & kWritable) == fs::perms::none || ::access(path.c_str(), W_OK) != 0) {
    return OutputError(absl::StrCat("out: cannot write ", path, ": it is read-only"));
  }
  const fs::path real = fs::canonical(path, error);
  if (error) return CannotWrite(path, error.value());
  return real.string();
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path, bool overwrite) {
  absl::StatusOr<std::string> destination = Destination(path, overwrite);
  if (!destination.ok()) return destination.status();
  const fs::path folder = FolderOf(*destination);
  const std::string stem = fs::path(*destination).filename().string().substr(0, 200);
  for (int attempt = 0;; ++attempt) {
    const std::string temporary =
        (folder / absl::StrCat(".", stem, ".", ::getpid(), ".", attempt, ".part")).string();
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      Register(temporary);
      return OutputFile(*std::move(destination), temporary, file, overwrite);
    }
    if (errno != EEXIST || attempt == 1000) return CannotWrite(path, errno);
  }
}

OutputFile::OutputFile(std::string path, std::string temporary, int file, bool overwrite)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      file_(file),
      overwrite_(overwrite) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::exchange(other.file_, -1)),
      overwrite_(other.overwrite_) {}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  Unregister(temporary_);
}

absl::Status OutputFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return CannotWrite(path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Close() {
  if (file_ < 0) return absl::OkStatus();
  const int synced =
      ::fsync(file_) == 0 || errno == EINVAL ? 0 : errno;  // EINVAL: not a file that can be
  const int closed = ::close(std::exchange(file_, -1)) == 0 ? 0 : errno;
  return synced != 0 || closed != 0 ? CannotWrite(path_, synced != 0 ? synced : closed)
                                    : absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (absl::Status closed = Close(); !closed.ok()) return closed;
  // Without `overwrite` a link fails where another file appeared meanwhile; a rename would replace
  // it.
  const bool moved = overwrite_ ? std::rename(temporary_.c_str(), path_.c_str()) == 0
                                : ::link(temporary_.c_str(), path_.c_str()) == 0;
  if (!moved) return CannotWrite(path_, errno);
  if (!overwrite_) ::unlink(temporary_.c_str());
  Unregister(std::exchange(temporary_, {}));
  const int folder = ::open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return absl::OkStatus();
}

void RemoveTemporaryFiles() {
  const std::lock_guard lock(AllTemporaries().mutex);
  for (const std::string& name : AllTemporaries().names) ::unlink(name.c_str());
}

}  // namespace sinew::cli
