// folder_watch.h - notices changes in folders as they happen (inotify), to hit a program between
// two of them.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace sinew::testing {

class FolderWatch {
 public:
  explicit FolderWatch(const std::vector<std::filesystem::path>& folders);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  // Returns once so many files were created, written, closed, renamed or removed in the folders
  // since the construction, or over() is true.
  void Await(unsigned changes, const std::function<bool()>& over);

 private:
  int fd_ = -1;
  unsigned seen_ = 0;
};

}  // namespace sinew::testing
