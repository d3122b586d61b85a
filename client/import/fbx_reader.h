// fbx_reader.h - an FBX file as a rig with clips, through ufbx.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "sinew/import.h"

namespace sinew::client {

// Reads the file whose content is `bytes`. See ImportFile. A build without ufbx refuses every file
// with kInvalidArgument, and says how to get it.
absl::StatusOr<ImportedScene> ReadFbx(const std::string& bytes, const ImportOptions& options);

}  // namespace sinew::client
