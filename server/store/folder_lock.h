// folder_lock.h - one server to a folder.
#pragma once

#include <absl/status/statusor.h>

#include <filesystem>
#include <memory>

namespace sinew::server {

// Holds FOLDER/lock (flock) until destroyed or until the process ends, however it ends.
class FolderLock {
 public:
  // Makes the folder if need be. kFailedPrecondition: it cannot be used, or another server has it.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace sinew::server
