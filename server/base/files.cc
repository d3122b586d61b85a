#include "server/base/files.h"

#include <absl/random/random.h>
#include <absl/strings/str_cat.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/status.h"

namespace sinew::server {
namespace {

namespace fs = std::filesystem;

absl::Status Failed(const char* what, const fs::path& path, int error) {
  const std::string text = absl::StrCat(path.string(), ": cannot ", what, ": ", strerror(error));
  if (error == ENOENT) return absl::NotFoundError(text);
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(text);
  return absl::InternalError(text);
}

Descriptor OpenFile(const fs::path& path, int flags, mode_t mode = kPrivate, int at = AT_FDCWD) {
  return Descriptor(::openat(at, path.c_str(), flags | O_CLOEXEC, mode));
}

absl::Status WriteAll(const Descriptor& file, const fs::path& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.fd(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status Flush(const fs::path& path, int flags, int at) {
  const Descriptor file = OpenFile(path, flags, 0, at);
  if (!file.ok() || ::fsync(file.fd()) != 0) return Failed("flush", path, errno);
  return absl::OkStatus();
}

fs::path ParentOf(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

absl::Status CheckAccess(const fs::path& path, int mode) {
  if (::access(path.c_str(), mode) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(path.string(), ": ", strerror(errno)));
}

bool IsMissing(const fs::path& path) {
  std::error_code error;
  return fs::status(path, error).type() == fs::file_type::not_found;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

absl::StatusOr<FolderLock> LockFolder(const fs::path& folder) {
  SINEW_RETURN_IF_ERROR(MakeFolder(folder));
  FolderLock lock;
  const auto take = [](Descriptor& taken, Descriptor opened) {
    taken = std::move(opened);
    return taken.ok() && ::flock(taken.fd(), LOCK_EX | LOCK_NB) == 0;
  };
  if (take(lock.folder, OpenFile(folder, O_RDONLY | O_DIRECTORY)) &&
      take(lock.file, OpenFile(folder / "lock", O_RDWR | O_CREAT))) {
    return lock;
  }
  return absl::FailedPreconditionError(
      absl::StrCat("data-dir: cannot lock ", folder.string(), ": ",
                   errno == EWOULDBLOCK ? "another server uses it" : strerror(errno)));
}

absl::Status MakeFolder(const fs::path& path, std::string_view option, mode_t mode, int at) {
  const fs::path folder = path.has_filename() ? path : path.parent_path();  // "data/" is "data"
  const fs::path parent = ParentOf(folder);
  if (::faccessat(at, parent.c_str(), F_OK, 0) != 0) {
    SINEW_RETURN_IF_ERROR(MakeFolder(parent, option, mode, at));
  }
  const bool made = ::mkdirat(at, folder.c_str(), mode) == 0;
  const int error = errno;
  const auto text = [&](const char* why) {
    return absl::StrCat(AbslView(option), ": cannot use ", folder.string(), ": ", why);
  };
  const auto cannot = [&](const char* why) { return absl::FailedPreconditionError(text(why)); };
  if (!made && (error == ENOSPC || error == EDQUOT)) {
    return absl::ResourceExhaustedError(text(strerror(error)));
  }
  if (!made && error != EEXIST) return cannot(strerror(error));
  struct stat facts {};
  if (::fstatat(at, folder.c_str(), &facts, 0) != 0) return cannot(strerror(errno));
  if (!S_ISDIR(facts.st_mode)) return cannot("it is not a folder");
  if (::faccessat(at, folder.c_str(), R_OK | W_OK | X_OK, 0) != 0) return cannot(strerror(errno));
  return made ? FlushFolder(parent, at) : absl::OkStatus();
}

absl::Status CheckWritableFolder(const fs::path& folder) {
  std::error_code error;
  const bool missing = IsMissing(folder);
  fs::path existing = fs::absolute(folder, error);
  while (IsMissing(existing) && existing.has_relative_path()) existing = existing.parent_path();
  if (fs::exists(existing, error) && !fs::is_directory(existing, error)) {
    return absl::FailedPreconditionError(existing.string() + ": is not a folder");
  }
  if (!missing) SINEW_RETURN_IF_ERROR(CheckAccess(existing, R_OK));
  // Permissions alone do not tell: a file system may be full, or as /proc take no new files.
  std::string trial = existing / ".sinewd-XXXXXX";
  if (::mkdtemp(trial.data()) == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(existing.string(), ": ", strerror(errno)));
  }
  ::rmdir(trial.c_str());
  return absl::OkStatus();
}

absl::Status CheckWritableFile(const fs::path& path) {
  std::error_code error;
  const bool is_file = fs::exists(path, error) && !fs::is_directory(path, error);
  return is_file ? CheckAccess(path, W_OK) : CheckReplaceableFile(path);
}

absl::Status CheckReplaceableFile(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return absl::FailedPreconditionError(path.string() + ": is a folder");
  }
  return CheckAccess(fs::absolute(path, error).parent_path(), W_OK | X_OK);
}

absl::StatusOr<std::string> ReadWholeFile(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return Failed("open", path, errno);
  return ReadPiece(path, 0, static_cast<std::size_t>(facts.st_size));
}

absl::StatusOr<std::string> ReadPiece(const fs::path& path, std::uint64_t offset,
                                      std::size_t count) {
  SINEW_ASSIGN_OR_RETURN(const Descriptor file, OpenToRead(path));
  if (offset > 0 && ::lseek(file.fd(), static_cast<off_t>(offset), SEEK_SET) < 0) {
    return Failed("read", path, errno);
  }
  return ReadNext(file, path, count);
}

absl::StatusOr<Descriptor> OpenToRead(const fs::path& path, int at) {
  Descriptor file = OpenFile(path, O_RDONLY, 0, at);
  if (!file.ok()) return Failed("open", path, errno);
  return file;
}

absl::StatusOr<std::string> ReadNext(const Descriptor& file, const fs::path& path,
                                     std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t have = 0;
  while (have < count) {
    const ssize_t got = ::read(file.fd(), bytes.data() + have, count - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed("read", path, errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

absl::Status WriteAtomically(const fs::path& path, std::string_view bytes, mode_t mode, int at) {
  // Random: containers that share a folder often have the same pid.
  thread_local absl::BitGen random;
  fs::path temporary = path;
  temporary +=
      absl::StrCat(".", ::getpid(), ".", absl::Hex(absl::Uniform<std::uint64_t>(random)), ".tmp");
  absl::Status status;
  {
    const Descriptor file = OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode, at);
    if (!file.ok()) return Failed("create", temporary, errno);
    status = WriteAll(file, temporary, bytes);
  }
  if (status.ok()) status = MoveDurably(temporary, path, at);
  if (!status.ok()) Remove(temporary, at).IgnoreError();
  return status;
}

absl::Status AppendAt(const fs::path& path, std::uint64_t size, std::string_view bytes) {
  const Descriptor file = OpenFile(path, O_WRONLY | O_CREAT);
  if (!file.ok()) return Failed("open", path, errno);
  if (::ftruncate(file.fd(), static_cast<off_t>(size)) != 0 ||
      ::lseek(file.fd(), 0, SEEK_END) < 0) {
    return Failed("truncate", path, errno);
  }
  return WriteAll(file, path, bytes);
}

absl::Status MoveDurably(const fs::path& from, const fs::path& to, int at) {
  SINEW_RETURN_IF_ERROR(Flush(from, O_RDONLY, at));
  if (::renameat(at, from.c_str(), at, to.c_str()) != 0) return Failed("rename", from, errno);
  const absl::Status status = FlushFolder(ParentOf(to), at);
  if (!status.ok()) Remove(to, at).IgnoreError();
  return status;
}

void RemoveQuietly(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

void SetAside(const fs::path& path) {
  std::error_code error;
  const fs::path aside = fs::path(path) += kDamagedSuffix;
  fs::rename(path, aside, error);
  if (!error) ::utimensat(AT_FDCWD, aside.c_str(), nullptr, 0);
}

absl::Status Remove(const fs::path& path, int at) {
  if (::unlinkat(at, path.c_str(), 0) == 0 || errno == ENOENT) return absl::OkStatus();
  return Failed("remove", path, errno);
}

absl::Status FlushFolder(const fs::path& folder, int at) {
  return Flush(folder, O_RDONLY | O_DIRECTORY, at);
}

std::vector<FileFacts> ListFiles(const fs::path& folder, int at) {
  std::vector<FileFacts> files;
  Descriptor opened = OpenFile(folder, O_RDONLY | O_DIRECTORY, 0, at);
  const std::unique_ptr<DIR, int (*)(DIR*)> names(::fdopendir(opened.fd()), ::closedir);
  if (names == nullptr) return files;
  const int inside = opened.Release();  // closed with `names`
  while (const dirent* const entry = ::readdir(names.get())) {
    struct stat facts {};
    if (::fstatat(inside, entry->d_name, &facts, 0) != 0 || !S_ISREG(facts.st_mode)) continue;
    files.push_back({entry->d_name, static_cast<std::uint64_t>(facts.st_size),
                     std::chrono::system_clock::from_time_t(facts.st_mtime)});
  }
  std::sort(files.begin(), files.end(),
            [](const FileFacts& a, const FileFacts& b) { return a.name < b.name; });
  return files;
}

}  // namespace sinew::server
