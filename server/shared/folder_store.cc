#include "server/shared/folder_store.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/time/clock.h>
#include <absl/time/time.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <utility>

#include "core/base/status.h"
#include "server/base/files.h"
#include "server/shared/random_name.h"

namespace sinew::server {
namespace {

constexpr time_t kTouchSeconds = 86'400;
constexpr std::chrono::hours kAbandoned{24};  // age of a temporary file whose writer has ended

// In the root, so that a share that is not mounted does not look like an empty store.
constexpr char kMarker[] = "sinew-store";
constexpr int kMarkerWaits = 100;  // for the server that writes it
constexpr absl::Duration kMarkerWait = absl::Milliseconds(10);

// Empty while another server writes it. kNotFound: the folder is no store.
absl::StatusOr<std::string> ReadMarker(const std::filesystem::path& folder, int at = AT_FDCWD) {
  const std::filesystem::path path = folder / kMarker;
  SINEW_ASSIGN_OR_RETURN(const Descriptor file, OpenToRead(path, at));
  SINEW_ASSIGN_OR_RETURN(const std::string text, ReadNext(file, path, 64));
  return std::string(absl::StripAsciiWhitespace(text));
}

// Makes the marker and returns its content. Servers may do it at the same time: it is never
// replaced, and the others get nothing.
absl::StatusOr<std::string> Mark(const std::filesystem::path& folder, mode_t mode) {
  const std::filesystem::path path = folder / kMarker;
  const auto error = [&path] {
    return absl::InternalError(absl::StrCat(path.string(), ": ", std::strerror(errno)));
  };
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file.ok()) return errno == EEXIST ? absl::StatusOr<std::string>("") : error();
  const std::string identity = RandomHex(), text = identity + "\n";
  if (::write(file.fd(), text.data(), text.size()) != std::ssize(text) || ::fsync(file.fd()) != 0) {
    const absl::Status failed = error();
    RemoveQuietly(path);
    return failed;
  }
  SINEW_RETURN_IF_ERROR(FlushFolder(folder));
  return identity;
}

absl::Status EmptyMarker(const std::filesystem::path& folder) {
  return absl::InternalError(absl::StrCat((folder / kMarker).string(),
                                          ": it is empty; remove it if no server writes it now"));
}

// The mode of a folder whose files have this mode.
mode_t FolderMode(mode_t mode) {
  return mode | (mode & 0444) >> 2;
}

class LockedFile final : public ObjectStore::Claim {
 public:
  LockedFile(Descriptor root, Descriptor file, std::filesystem::path path)
      : root_(std::move(root)), file_(std::move(file)), path_(std::move(path)) {}
  // Removed while it is locked: whoever locks it now finds that it has no name any more.
  ~LockedFile() override { server::Remove(path_, root_.fd()).IgnoreError(); }

 private:
  Descriptor root_, file_;
  const std::filesystem::path path_;  // in the root
};

bool HasName(const Descriptor& file, const Descriptor& root, const std::filesystem::path& path) {
  struct stat opened {
  }, named{};
  return ::fstat(file.fd(), &opened) == 0 && ::fstatat(root.fd(), path.c_str(), &named, 0) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectStore>> FolderStore::Open(const std::filesystem::path& folder,
                                                               mode_t mode) {
  SINEW_RETURN_IF_ERROR(MakeFolder(folder, "store", FolderMode(mode)));
  absl::StatusOr<std::string> identity = ReadMarker(folder);
  const bool is_new = absl::IsNotFound(identity.status());
  if (is_new) identity = Mark(folder, mode);
  for (int i = 0; i < kMarkerWaits && identity.ok() && identity->empty(); ++i) {
    absl::SleepFor(kMarkerWait);
    identity = ReadMarker(folder);
  }
  if (identity.ok() && identity->empty()) identity = EmptyMarker(folder);
  if (!identity.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("store: ", identity.status().message()));
  }
  return std::unique_ptr<ObjectStore>(new FolderStore(folder, mode, *std::move(identity), is_new));
}

absl::StatusOr<bool> FolderStore::IsStore(const std::filesystem::path& folder) {
  const absl::StatusOr<std::string> identity = ReadMarker(folder);
  if (absl::IsNotFound(identity.status())) return false;
  SINEW_RETURN_IF_ERROR(identity.status());
  if (identity->empty()) return EmptyMarker(folder);
  return true;
}

std::string FolderStore::Describe() const {
  return absl::StrCat(folder_.string(), is_new_ ? ", a new store" : "", ", identity ", identity_);
}

absl::StatusOr<Descriptor> FolderStore::OpenRoot() const {
  absl::StatusOr<Descriptor> root = OpenToRead(folder_);
  if (!root.ok()) return absl::UnavailableError(root.status().message());
  const absl::StatusOr<std::string> identity = ReadMarker("", root->fd());
  if (absl::IsNotFound(identity.status())) {
    return absl::UnavailableError(absl::StrCat(folder_.string(), ": its file ", kMarker,
                                               " is missing: not mounted, or removed"));
  }
  if (!identity.ok()) return absl::UnavailableError(identity.status().message());
  if (*identity == identity_) return root;
  return absl::UnavailableError(absl::StrCat(
      folder_.string(), ": another store than when this server started, identity ", *identity,
      " and not ", identity_, ": mounted since, or exchanged; restart the server to use it"));
}

absl::Status FolderStore::Unreachable(const absl::Status& status) const {
  if (status.ok() || absl::IsNotFound(status)) return status;
  return absl::UnavailableError(absl::StrCat(folder_.string(), ": ", status.message()));
}

absl::StatusOr<std::string> FolderStore::Get(const std::string& name, std::uint64_t most_bytes) {
  SINEW_ASSIGN_OR_RETURN(const Descriptor root, OpenRoot());
  const absl::StatusOr<Descriptor> file = OpenToRead(name, root.fd());
  if (!file.ok()) return Unreachable(file.status());
  struct stat facts {};
  if (::fstat(file->fd(), &facts) != 0) {
    return Unreachable(absl::ErrnoToStatus(errno, name));
  }
  if (static_cast<std::uint64_t>(facts.st_size) > most_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(name, ": larger than ", most_bytes, " bytes"));
  }
  absl::StatusOr<std::string> bytes =
      ReadNext(*file, name, static_cast<std::size_t>(facts.st_size));
  if (!bytes.ok()) return Unreachable(bytes.status());
  // The time of its last use, by which old files can be found and removed.
  if (::time(nullptr) - facts.st_mtime > kTouchSeconds) ::futimens(file->fd(), nullptr);
  return bytes;
}

absl::Status FolderStore::MakeParent(const Descriptor& root,
                                     const std::filesystem::path& path) const {
  const absl::Status made = MakeFolder(path.parent_path(), "store", FolderMode(mode_), root.fd());
  return absl::IsResourceExhausted(made) ? made : Unreachable(made);  // a full disk can be read
}

absl::Status FolderStore::Put(const std::string& name, std::string_view bytes) {
  SINEW_ASSIGN_OR_RETURN(const Descriptor root, OpenRoot());
  SINEW_RETURN_IF_ERROR(MakeParent(root, name));
  return WriteAtomically(name, bytes, mode_, root.fd());
}

absl::StatusOr<bool> FolderStore::Has(const std::string& name) {
  SINEW_ASSIGN_OR_RETURN(const Descriptor root, OpenRoot());
  struct stat facts {};
  if (::fstatat(root.fd(), name.c_str(), &facts, 0) == 0) return S_ISREG(facts.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return Unreachable(absl::ErrnoToStatus(errno, name));
}

absl::Status FolderStore::Remove(const std::string& name) {
  SINEW_ASSIGN_OR_RETURN(const Descriptor root, OpenRoot());
  return Unreachable(server::Remove(name, root.fd()));
}

absl::StatusOr<std::vector<ObjectStore::Object>> FolderStore::List(const std::string& prefix,
                                                                   const std::string& after,
                                                                   std::size_t count) {
  SINEW_ASSIGN_OR_RETURN(const Descriptor root, OpenRoot());
  std::vector<Object> found;
  const absl::StatusOr<Descriptor> folder = OpenToRead(prefix, root.fd());
  if (absl::IsNotFound(folder.status())) return found;
  if (!folder.ok()) return Unreachable(folder.status());
  const auto now = std::chrono::system_clock::now();
  for (const FileFacts& file : ListFiles(".", folder->fd())) {
    if (absl::EndsWith(file.name, ".tmp")) {
      if (now - file.modified > kAbandoned) {
        server::Remove(file.name, folder->fd()).IgnoreError();
      }
      continue;
    }
    std::string name = prefix + file.name;
    if (name <= after) continue;
    if (found.size() == count) break;
    found.push_back(
        {std::move(name), file.bytes,
         std::chrono::duration_cast<std::chrono::seconds>(file.modified.time_since_epoch())
             .count()});
  }
  return found;
}

absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> FolderStore::TakeClaim(
    const std::string& name) {
  const std::filesystem::path path = std::filesystem::path("claims") / name;
  SINEW_ASSIGN_OR_RETURN(Descriptor root, OpenRoot());
  SINEW_RETURN_IF_ERROR(MakeParent(root, path));
  while (true) {
    Descriptor file(::openat(root.fd(), path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, mode_));
    const bool locked = file.ok() && ::flock(file.fd(), LOCK_EX | LOCK_NB) == 0;
    if (locked && !HasName(file, root, path)) continue;  // the claim before has just ended
    if (locked) return std::make_unique<LockedFile>(std::move(root), std::move(file), path);
    if (file.ok() && errno == EWOULDBLOCK) return nullptr;
    return absl::UnavailableError(absl::StrCat(name, ": ", std::strerror(errno)));
  }
}

}  // namespace sinew::server
