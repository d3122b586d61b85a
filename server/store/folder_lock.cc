#include "server/store/folder_lock.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/status.h"
#include "server/base/files.h"

namespace sinew::server {

absl::StatusOr<std::unique_ptr<FolderLock>> FolderLock::Take(const std::filesystem::path& folder) {
  SINEW_RETURN_IF_ERROR(MakeFolder(folder));
  const std::filesystem::path path = folder / "lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("data-dir: cannot open ", path.string(), ": ", strerror(errno)));
  }
  std::unique_ptr<FolderLock> lock(new FolderLock(fd));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const std::string why = errno == EWOULDBLOCK ? "another server uses it" : strerror(errno);
    return absl::FailedPreconditionError(
        absl::StrCat("data-dir: cannot lock ", folder.string(), ": ", why));
  }
  return lock;
}

FolderLock::~FolderLock() {
  ::close(fd_);
}

}  // namespace sinew::server
