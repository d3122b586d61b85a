// gltf_reader.h - a glTF file as a rig with clips.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "sinew/import.h"

namespace sinew::client {

// Reads the glTF file whose content is `bytes` (GLB or JSON); `path` is for side files. See
// ImportFile.
absl::StatusOr<ImportedScene> ReadGltf(const std::string& bytes, const std::string& path,
                                       const ImportOptions& options);

}  // namespace sinew::client
