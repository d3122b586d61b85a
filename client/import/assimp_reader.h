// assimp_reader.h - a COLLADA file as a rig with clips, through Assimp.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "sinew/import.h"

namespace sinew::client {

// Reads the file whose content is `bytes`. See ImportFile. Assimp hands out face corners, so the
// vertex order of the file is lost; a file with morph targets is refused, and the message suggests
// glTF.
absl::StatusOr<ImportedScene> ReadWithAssimp(const std::string& bytes,
                                             const ImportOptions& options);

}  // namespace sinew::client
