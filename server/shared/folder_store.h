// folder_store.h - an ObjectStore in a folder, local or of a network file system.
//
// An object is a file that is written under a temporary name, flushed and renamed, so it needs no
// locks. Claims are locks (flock) on files in `claims`: over NFS they need version 4 or lockd.
#pragma once

#include <absl/status/statusor.h>

#include <filesystem>
#include <memory>
#include <string>

#include "server/shared/object_store.h"

namespace sinew::server {

class FolderStore final : public ObjectStore {
 public:
  // Creates the folder if needed, private to its owner. kFailedPrecondition: it cannot be used.
  static absl::StatusOr<std::unique_ptr<ObjectStore>> Open(const std::filesystem::path& folder);

  absl::StatusOr<std::string> Get(const std::string& name, std::uint64_t most_bytes) override;
  absl::Status Put(const std::string& name, std::string_view bytes) override;
  absl::StatusOr<bool> Has(const std::string& name) override;
  absl::Status Remove(const std::string& name) override;
  absl::StatusOr<std::vector<Object>> List(const std::string& prefix, const std::string& after,
                                           std::size_t count) override;
  absl::StatusOr<std::unique_ptr<Claim>> TakeClaim(const std::string& name) override;

 private:
  absl::Status CheckMounted() const;
  explicit FolderStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const std::filesystem::path folder_;
};

}  // namespace sinew::server
