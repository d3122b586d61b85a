// bound_files.h - bound data under data_dir: `bound/[<tenant>.]<rig's hex>-<digest>.bound`. Without
// a folder there are no files, and nothing is written. Thread-safe.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/rig_key.h"

namespace sinew::server {

class BoundFiles {
 public:
  // No folder.
  BoundFiles() = default;
  // most_bytes: of all files. kFailedPrecondition: the folder cannot be used.
  static absl::StatusOr<BoundFiles> Open(const std::filesystem::path& folder,
                                         std::uint64_t most_bytes);

  // Empty: memory only.
  const std::filesystem::path& folder() const { return folder_; }
  // Where the data of a BoundKey is.
  std::filesystem::path PathOf(const std::string& key) const;
  // kNotFound.
  absl::StatusOr<std::string> Read(const std::string& key) const;
  // Those read longest ago make room; what never fits is not written.
  absl::Status Write(const std::string& key, std::string_view bytes) const;
  void Remove(const std::string& key) const;
  // Removes all of a rig.
  void Forget(const RigKey& rig) const;
  // Removes the files of rigs for which keep(rig) is false, and of interrupted writes.
  void RemoveOrphans(const std::function<bool(const RigKey&)>& keep) const;
  std::vector<std::filesystem::path> List() const;

 private:
  std::filesystem::path folder_;
  std::uint64_t most_bytes_ = 0;
};

}  // namespace sinew::server
