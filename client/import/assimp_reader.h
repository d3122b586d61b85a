// assimp_reader.h - an FBX or COLLADA file as a rig with clips, through Assimp.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>

#include "client/import/import.h"

namespace sinew::client {

enum class AssimpFormat : std::uint8_t { kFbx, kCollada };

// Reads the file whose content is `bytes`. See ImportFile; what the formats lose on the way:
//   FBX      curves between keys (rotations become linear between the keys Assimp makes); scale
//            inheritance other than the common kind is reported, not applied; blend shapes without
//            in-betweens come with names, offsets and keys, but start at 0 whatever percentage the
//            file sets; in-betweens are reported, not read
//   COLLADA  vertex order; a file with morph targets is refused; the message suggests glTF. Node
//            transforms and clips are not Assimp's, see AddColladaClips
absl::StatusOr<ImportedScene> ReadWithAssimp(const std::string& bytes, AssimpFormat format,
                                             const ImportOptions& options);

}  // namespace sinew::client
