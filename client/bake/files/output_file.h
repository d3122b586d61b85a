// output_file.h - files that appear whole or not at all.
//
// Bytes go to a hidden temporary name in the same folder; Commit gives it the real name. Until then
// nothing under the real name changes, whatever happens.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace sinew::bake {

// OutputError: `path` cannot be created or written because of `error`, an errno.
// kNotFound: its folder does not exist.
absl::Status CannotWrite(const std::string& path, int error);

// Move only. Errors are those of CannotWrite and name the file.
class OutputFile {
 public:
  // Creates the temporary file, and removes those that killed processes have left for the same path
  // (recognised by their lock, so shared folders need locks between machines, as NFS has). A
  // symbolic link at `path` is followed. Fails if `path` is a folder or device, if its folder is
  // missing or not writable, or if it exists and `overwrite` is false.
  static absl::StatusOr<OutputFile> Create(const std::string& path, bool overwrite = true);

  // What Create would report of the path itself, without creating anything.
  static absl::Status Check(const std::string& path, bool overwrite);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;
  ~OutputFile();  // removes the temporary file unless committed

  absl::Status Write(std::string_view bytes);

  // Flushes to the disk; Write must not follow.
  absl::Status Close();

  // Renames over `path` and flushes the folder; closes first if that was not done.
  absl::Status Commit();

  const std::string& path() const { return path_; }

 private:
  OutputFile(std::string path, std::string temporary, int file, bool overwrite);

  std::string path_, temporary_;
  int file_ = -1;
  bool overwrite_ = true, closed_ = false;
};

// Removes all temporary files in a folder that killed processes have left.
void RemoveDeadFiles(const std::string& folder);

// Removes the temporary files of all living OutputFiles: for a process that ends at once.
void RemoveTemporaryFiles();

}  // namespace sinew::bake
