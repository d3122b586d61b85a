// folder_store.h - an ObjectStore in a folder, local or of a network file system.
//
// An object is a file that is written under a temporary name, flushed and renamed, so it needs no
// locks. Claims are locks (flock) on files in `claims`: over NFS they need version 4 or lockd. The
// file `sinew-store` holds a random number, by which a share that is not mounted, or another one,
// is noticed. Each call opens the folder once and looks there only, so that nothing is written to
// what takes the folder's name meanwhile.
#pragma once

#include <absl/status/statusor.h>
#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "server/base/files.h"
#include "server/shared/object_store.h"

namespace sinew::server {

class FolderStore final : public ObjectStore {
 public:
  static constexpr mode_t kAllowed = 0666;  // to everyone whom the umask allows it

  // Whether the folder is a store already. kInternal: that cannot be read.
  static absl::StatusOr<bool> IsStore(const std::filesystem::path& folder);
  // Creates the folder if needed. `mode` is that of files, less the umask; who may read those of a
  // folder may also search it. kFailedPrecondition: it cannot be used.
  static absl::StatusOr<std::unique_ptr<ObjectStore>> Open(const std::filesystem::path& folder,
                                                           mode_t mode = kPrivate);

  absl::StatusOr<std::string> Get(const std::string& name, std::uint64_t most_bytes) override;
  absl::Status Put(const std::string& name, std::string_view bytes) override;
  absl::StatusOr<bool> Has(const std::string& name) override;
  absl::Status Remove(const std::string& name) override;
  absl::StatusOr<std::vector<Object>> List(const std::string& prefix, const std::string& after,
                                           std::size_t count) override;
  absl::StatusOr<std::unique_ptr<Claim>> TakeClaim(const std::string& name) override;
  std::string Describe() const override;

 private:
  FolderStore(std::filesystem::path folder, mode_t mode, std::string identity, bool is_new)
      : folder_(std::move(folder)), mode_(mode), identity_(std::move(identity)), is_new_(is_new) {}
  // The folder, if it is the store that this server started with. kUnavailable.
  absl::StatusOr<Descriptor> OpenRoot() const;
  // Makes the folder of an object, given by its path from the root. kUnavailable.
  absl::Status MakeParent(const Descriptor& root, const std::filesystem::path& path) const;
  // kUnavailable for all but kNotFound: what a share that is gone reports is not a reason to drop
  // anything.
  absl::Status Unreachable(const absl::Status& status) const;
  const std::filesystem::path folder_;
  const mode_t mode_;
  const std::string identity_;  // the content of its marker
  const bool is_new_;
};

}  // namespace sinew::server
