// folder_lock.h - ensures that only one server uses a folder.
#pragma once

#include <absl/status/statusor.h>

#include <filesystem>
#include <memory>

namespace sinew::server {

// Holds FOLDER/lock (flock) until destroyed. The kernel releases it if the process is killed.
class FolderLock {
 public:
  // Creates the folder if needed. kFailedPrecondition: it cannot be used, or another server uses
  // it.
  static absl::StatusOr<std::unique_ptr<FolderLock>> Take(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace sinew::server
