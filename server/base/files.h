// files.h - file operations: whole reads, atomic writes, appends, removal. Files are private to
// their owner, unless a mode is given. Errors name the path, so they are for the log, not for
// clients.
//
// `at` is the descriptor of the folder in which a relative path starts: it stays the same folder
// even if another one takes its name.
#pragma once

#include <absl/status/statusor.h>
#include <fcntl.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinew::server {

// A file descriptor, closed with the object.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  bool ok() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }  // the caller closes it

 private:
  int fd_ = -1;
};

// Two locks (flock), held until the object is destroyed or the process ends. That of the folder
// stays whatever happens to the files in it; that of FOLDER/lock also reaches other machines where
// the file system is a network's.
struct FolderLock {
  Descriptor folder, file;
};

// Creates the folder if needed and locks it. kFailedPrecondition: it cannot be used, or another
// server uses it.
absl::StatusOr<FolderLock> LockFolder(const std::filesystem::path& folder);

// Creates the folder, private to its owner unless a mode is given, and its parents.
// kFailedPrecondition, which names `option`: cannot be created or written to.
constexpr mode_t kPrivateFolder = 0700;
absl::Status MakeFolder(const std::filesystem::path& path, std::string_view option = "data-dir",
                        mode_t mode = kPrivateFolder, int at = AT_FDCWD);

// Whether files could be made in the folder or, if it does not exist, whether MakeFolder could make
// it. Makes one to try, and removes it. kFailedPrecondition: they could not.
absl::Status CheckWritableFolder(const std::filesystem::path& folder);
// Whether the file could be written to, and whether it could be replaced, in a folder that exists.
// kFailedPrecondition: it could not.
absl::Status CheckWritableFile(const std::filesystem::path& path);
absl::Status CheckReplaceableFile(const std::filesystem::path& path);

// kNotFound: no such file; kInternal: cannot be read.
absl::StatusOr<std::string> ReadWholeFile(const std::filesystem::path& path);
// Bytes [offset, offset + count), fewer at the end. With offset 0 the file may be a pipe.
absl::StatusOr<std::string> ReadPiece(const std::filesystem::path& path, std::uint64_t offset,
                                      std::size_t count);
// For several pieces of one file, even if it is replaced meanwhile: the next `count` bytes of a
// file from OpenToRead.
absl::StatusOr<Descriptor> OpenToRead(const std::filesystem::path& path, int at = AT_FDCWD);
absl::StatusOr<std::string> ReadNext(const Descriptor& file, const std::filesystem::path& path,
                                     std::size_t count);

// Writes a temporary file in the same folder, flushes it to disk and renames it: the file is whole
// or absent. kResourceExhausted: the disk is full; kInternal: another failure. An error leaves no
// temporary file.
constexpr mode_t kPrivate = 0600;
absl::Status WriteAtomically(const std::filesystem::path& path, std::string_view bytes,
                             mode_t mode = kPrivate, int at = AT_FDCWD);

// Truncates the file to `size` bytes, or extends it, then appends `bytes`.
absl::Status AppendAt(const std::filesystem::path& path, std::uint64_t size,
                      std::string_view bytes);

// Flushes a finished file to disk and renames it; the new name is durable on return. After an error
// no file has the new name, unless an older one had it.
absl::Status MoveDurably(const std::filesystem::path& from, const std::filesystem::path& to,
                         int at = AT_FDCWD);

void RemoveQuietly(const std::filesystem::path& path);

// Renames a damaged file to NAME.damaged, so that it can be looked at; its time is that of now.
inline constexpr char kDamagedSuffix[] = ".damaged";
void SetAside(const std::filesystem::path& path);

// Removes the file, if it exists. kInternal: it cannot be removed.
absl::Status Remove(const std::filesystem::path& path, int at = AT_FDCWD);

// Makes what was created, renamed or removed in the folder durable.
absl::Status FlushFolder(const std::filesystem::path& folder, int at = AT_FDCWD);

struct FileFacts {
  std::string name;
  std::uint64_t bytes;
  std::chrono::system_clock::time_point modified;
};
// Regular files of a folder, by name.
std::vector<FileFacts> ListFiles(const std::filesystem::path& folder, int at = AT_FDCWD);

}  // namespace sinew::server
