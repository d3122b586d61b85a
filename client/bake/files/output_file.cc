#include "client/bake/files/output_file.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <regex>
#include <set>
#include <utility>

#include "client/bake/base/errors.h"

namespace sinew::bake {
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

fs::path FolderOf(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// What a link names that does not exist yet, through any number of links. ELOOP as errno: they
// lead nowhere.
absl::StatusOr<std::string> NewTarget(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  fs::path target = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(target, error))) return target.string();
    const fs::path next = fs::read_symlink(target, error);
    if (error) return CannotWrite(path, error.value());
    target = target.parent_path() / next;
  }
  return CannotWrite(path, ELOOP);
}

// The path that is to be replaced, links followed.
absl::StatusOr<std::string> Destination(const std::string& path, bool overwrite) {
  if (path.empty()) return OutputError("out: got an empty path, need the name of a file");
  if (path == "-") {
    return RequestError("out: got \"-\", need a file, not stdout; ./- is one of that name");
  }
  std::error_code error;
  const fs::file_status state = fs::status(path, error);
  if (!fs::exists(state)) {
    if (fs::path(path).filename().empty()) return CannotWrite(path, EISDIR);
    return NewTarget(path);
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

// The temporary files of a destination: ".NAME.PID.NUMBER.part" in its folder.
std::string TemporaryPrefix(const std::string& destination) {
  return absl::StrCat(".", fs::path(destination).filename().string().substr(0, 200), ".");
}

// Whether a name ends like one of them.
bool IsTemporary(const std::string& name) {
  static const std::regex form(R"(\..{1,220}\.[0-9]{1,10}\.[0-9]{1,4}\.part)",
                               std::regex::optimize);
  return name.size() < 256 && std::regex_match(name, form);
}

// Whether it is one of the destination with this prefix.
bool IsTemporaryOf(const std::string& prefix, const std::string& name) {
  return absl::StartsWith(name, prefix) && IsTemporary(name) &&
         std::ranges::count(name.substr(prefix.size()), '.') == 2;
}

// Every OutputFile holds a lock on its temporary file, which the kernel gives back when the process
// ends, however it ends. Fails with EWOULDBLOCK if another one has it, and otherwise where the file
// system has no locks.
bool Lock(int file) {
  return ::flock(file, LOCK_EX | LOCK_NB) == 0;
}

// Removes files of the folder that processes have left which were killed, if `matches` their name.
void RemoveDead(const fs::path& folder, const std::function<bool(const std::string&)>& matches) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!matches(entry->path().filename().string())) continue;
    const char* const path = entry->path().c_str();
    const int file = ::open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) continue;
    // The name may have become another file's since it was opened.
    struct stat opened {
    }, named{};
    if (Lock(file) && ::fstat(file, &opened) == 0 && ::lstat(path, &named) == 0 &&
        opened.st_ino == named.st_ino && opened.st_dev == named.st_dev) {
      ::unlink(path);
    }
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

// Gives the file the mode and group of the one that it replaces, as far as this user may.
void KeepModeAndGroup(const std::string& destination, int file) {
  struct stat old {};
  if (::stat(destination.c_str(), &old) != 0) return;
  // Changing the group clears bits of the mode.
  if (::fchown(file, static_cast<uid_t>(-1), old.st_gid) == 0) ::fchmod(file, old.st_mode & 07777);
}

// Renames unless a file of the new name exists: then false with EEXIST.
bool MoveToNewName(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // File systems without that flag, such as NFS, have hard links.
  if (::link(from.c_str(), to.c_str()) != 0) return false;
  ::unlink(from.c_str());
  return true;
}

}  // namespace

absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path, bool overwrite) {
  absl::StatusOr<std::string> destination = Destination(path, overwrite);
  if (!destination.ok()) return destination.status();
  const fs::path folder = FolderOf(*destination);
  const std::string prefix = TemporaryPrefix(*destination);
  RemoveDead(folder, [&](const std::string& name) { return IsTemporaryOf(prefix, name); });
  for (int attempt = 0;; ++attempt) {
    const std::string temporary =
        (folder / absl::StrCat(prefix, ::getpid(), ".", attempt, ".part")).string();
    const int file = CreateLocked(temporary);
    if (file >= 0) {
      Register(temporary);
      KeepModeAndGroup(*destination, file);
      return OutputFile(*std::move(destination), temporary, file, overwrite);
    }
    if (errno != EEXIST || attempt == 1000) return CannotWrite(path, errno);
  }
}

absl::Status OutputFile::Check(const std::string& path, bool overwrite) {
  return Destination(path, overwrite).status();
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
  const bool moved = overwrite_ ? std::rename(temporary_.c_str(), path_.c_str()) == 0
                                : MoveToNewName(temporary_, path_);
  if (!moved) return CannotWrite(path_, errno);
  Unregister(std::exchange(temporary_, {}));
  ::close(std::exchange(file_, -1));
  const int folder = ::open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return absl::OkStatus();
}

absl::Status CannotWrite(const std::string& path, int error) {
  const fs::path folder = FolderOf(path);
  std::error_code ignored;
  const std::string text = absl::StrCat("out: cannot write ", path, ": ");
  if (error == ENOENT && !fs::exists(folder, ignored)) {
    return OutputError(absl::StrCat(text, "the folder ", folder.string(), " does not exist"),
                       absl::StatusCode::kNotFound);
  }
  return OutputError(absl::StrCat(text, std::strerror(error)));
}

void RemoveDeadFiles(const std::string& folder) {
  RemoveDead(folder, IsTemporary);
}

void RemoveTemporaryFiles() {
  const std::lock_guard lock(AllTemporaries().mutex);
  for (const std::string& name : AllTemporaries().names) ::unlink(name.c_str());
}

}  // namespace sinew::bake
