// data_folder.h - the folder of --data-dir as a whole: its lock and the version of its format.
//
// `format` holds the version as text. Version 1, without that file, had summaries without checksums
// and uploads without senders; opening it rewrites the former and drops the latter. A later version
// of the server must migrate from every earlier format.
#pragma once

#include <absl/status/statusor.h>

#include <filesystem>

#include "server/base/files.h"
#include "server/base/log.h"

namespace sinew::server {

inline constexpr int kDataFormat = 2;

// Whether the folder could be opened or, if it does not exist, created, as far as that can be known
// while a server may use it. Changes nothing. kFailedPrecondition: as OpenDataFolder.
absl::Status CheckDataFolder(const std::filesystem::path& folder);

// Creates or migrates the folder and holds it, as LockFolder, until the result is destroyed.
// kFailedPrecondition: it cannot be used, another server uses it, or a newer one has written it.
absl::StatusOr<FolderLock> OpenDataFolder(const std::filesystem::path& folder, const Log& log);

}  // namespace sinew::server
