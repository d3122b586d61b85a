// storage_error.h - failures of the disk as clients see them.
#pragma once

#include <absl/status/status.h>

#include <string_view>

#include "server/base/log.h"

namespace sinew::server {

// Logs an error of base/files.h, which names a path, and returns what a client may know of it:
// kResourceExhausted with a retry delay if the disk is full, else kInternal.
absl::Status StorageError(const Log& log, std::string_view subject, const absl::Status& error);

}  // namespace sinew::server
