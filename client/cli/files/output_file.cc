#include "client/cli/files/output_file.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/file.h>
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

// Where temporary files of `destination` are, and how their names begin and end.
struct TemporaryNames {
  explicit TemporaryNames(const std::string& destination)
      : folder(FolderOf(destination)),
        begin(absl::StrCat(".", fs::path(destination).filename().string().substr(0, 200), ".")) {}

  fs::path folder;
  std::string begin;
  static constexpr char kEnd[] = ".part";
};

// Every OutputFile holds a lock on its temporary file, which the kernel gives back when the process
// ends, however it ends. Fails with EWOULDBLOCK if another one has it, and otherwise where the file
// system has no locks.
bool Lock(int file) {
  return ::flock(file, LOCK_EX | LOCK_NB) == 0;
}

// Removes temporary files of the destination that processes have left which were killed.
void RemoveDead(const TemporaryNames& names) {
  std::error_code error;
  for (fs::directory_iterator entry(names.folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!absl::StartsWith(name, names.begin) || !absl::EndsWith(name, names.kEnd)) continue;
    const int file = ::open(entry->path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    if (Lock(file)) ::unlink(entry->path().c_str());
    ::close(file);
  }
}

// A new file that is locked, or -1 with errno.
int CreateLocked(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return -1;
  // Another process may have taken it for a dead one between the two calls.
  struct stat state {};
  const bool contested = !Lock(file) && errno == EWOULDBLOCK;
  if (contested || ::fstat(file, &state) != 0 || state.st_nlink == 0) {
    ::close(file);
    errno = EEXIST;
    return -1;
  }
  return file;
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path, bool overwrite) {
  absl::StatusOr<std::string> destination = Destination(path, overwrite);
  if (!destination.ok()) return destination.status();
  const TemporaryNames names(*destination);
  RemoveDead(names);
  for (int attempt = 0;; ++attempt) {
    const std::string temporary =
        (names.folder / absl::StrCat(names.begin, ::getpid(), ".", attempt, names.kEnd)).string();
    const int file = CreateLocked(temporary);
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
      overwrite_(other.overwrite_),
      closed_(other.closed_) {}

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
  if (std::exchange(closed_, true)) return absl::OkStatus();
  // The file stays open for its lock. What a close would report, fsync reports too.
  if (::fsync(file_) == 0 || errno == EINVAL) return absl::OkStatus();  // EINVAL: cannot be flushed
  return CannotWrite(path_, errno);
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
  ::close(std::exchange(file_, -1));
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
