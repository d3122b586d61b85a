#include "server/shared/object_store.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include "core/base/status.h"
#include "server/base/files.h"
#include "server/shared/folder_store.h"
#include "server/shared/s3_store.h"

namespace sinew::server {

namespace {

// The folder of a file:// URL; empty: it is another kind of URL. kInvalidArgument.
absl::StatusOr<std::string> FolderOf(const std::string& store) {
  absl::string_view rest = store;
  if (!absl::ConsumePrefix(&rest, "file://")) return std::string();
  if (absl::StartsWith(rest, "/")) return std::string(rest);
  return absl::InvalidArgumentError(
      absl::StrCat("store: got \"", store, "\", need an absolute path, file:///folder"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<ObjectStore>> ObjectStore::Open(const SharedConfig& config) {
  SINEW_ASSIGN_OR_RETURN(const std::string folder, FolderOf(config.store));
  if (!folder.empty()) {
    return FolderStore::Open(folder, config.store_follows_umask ? FolderStore::kAllowed : kPrivate);
  }
  if (absl::StartsWith(config.store, "s3://")) return S3Store::Open(config);
  return absl::InvalidArgumentError(
      absl::StrCat("store: got \"", config.store, "\", need file:///folder or s3://bucket/prefix"));
}

absl::StatusOr<std::string> ObjectStore::Check(const SharedConfig& config) {
  SINEW_ASSIGN_OR_RETURN(const std::string folder, FolderOf(config.store));
  if (folder.empty()) {
    SINEW_RETURN_IF_ERROR(Open(config).status());  // does not connect
    return std::string();
  }
  if (const absl::Status status = CheckWritableFolder(folder); !status.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("store: ", status.message()));
  }
  const absl::StatusOr<bool> is_store = FolderStore::IsStore(folder);
  if (!is_store.ok()) {
    return absl::FailedPreconditionError(absl::StrCat("store: ", is_store.status().message()));
  }
  if (*is_store) return std::string();
  return absl::StrCat("store: ", folder,
                      " is no store yet: the server will make one; if it should be, is its share "
                      "mounted?");
}

absl::StatusOr<std::unique_ptr<ObjectStore::Claim>> ObjectStore::TakeClaim(const std::string&) {
  return absl::UnimplementedError("claims: this store knows none");
}

}  // namespace sinew::server
