#include "client/bake/files/input_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "client/bake/base/errors.h"
#include "core/base/digest.h"
#include "core/base/status.h"

namespace sinew::bake {
namespace {

absl::Status CannotRead(const std::string& path, int error) {
  const std::string message = absl::StrCat("cannot read ", path, ": ", std::strerror(error));
  return error == ENOENT || error == ENOTDIR ? absl::NotFoundError(message)
                                             : absl::InvalidArgumentError(message);
}

// What `file` is, or why it cannot be used.
absl::StatusOr<std::size_t> CheckedSize(int file, const std::string& path,
                                        std::uint64_t max_bytes) {
  struct stat state {};
  if (::fstat(file, &state) != 0) return CannotRead(path, errno);
  if (!S_ISREG(state.st_mode)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is not a regular file"));
  }
  const auto size = static_cast<std::uint64_t>(state.st_size);
  if (size > max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has ", size, " bytes, need at most ", max_bytes));
  }
  return static_cast<std::size_t>(size);
}

}  // namespace

absl::StatusOr<InputFile> InputFile::Open(const std::string& path, std::uint64_t max_bytes,
                                          const std::string& option) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return Prefixed(option, CannotRead(path, errno));
  const absl::StatusOr<std::size_t> size = CheckedSize(file, path, max_bytes);
  void* data = nullptr;
  int error = 0;
  if (size.ok() && *size > 0) {
    data = ::mmap(nullptr, *size, PROT_READ, MAP_PRIVATE, file, 0);
    error = data == MAP_FAILED ? errno : 0;
  }
  ::close(file);
  if (!size.ok()) return Prefixed(option, size.status());
  if (error != 0) return Prefixed(option, CannotRead(path, error));
  return InputFile(static_cast<const std::byte*>(data), *size);
}

InputFile::InputFile(InputFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

absl::StatusOr<std::string> FileDigest(const std::string& path, const std::string& option) {
  SINEW_ASSIGN_OR_RETURN(const InputFile file,
                         InputFile::Open(path, std::numeric_limits<std::uint64_t>::max(), option));
  return absl::StrCat("sha256-", Sha256Hex(file.text()));
}

}  // namespace sinew::bake
