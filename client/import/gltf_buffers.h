// gltf_buffers.h - the bytes of a glTF file's buffers and images: of its BIN chunk, of data URIs
// and of side files.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/import/tinygltf.h"

namespace sinew::client {

// Reads the list `buffers` of a document.
//   bin        the BIN chunk of a GLB
//   folder     of the file; side files must be regular, at most `max_bytes` long, and, links
//              followed, in it or below
// URIs are percent-decoded, and back slashes in them count as slashes. Buffers that only hold what
// EXT_meshopt_compression decodes to stay empty. Bytes beyond `byteLength` are left out.
// kInvalidArgument names the buffer: fewer bytes than `byteLength`, a URI that leaves the folder or
// has a scheme other than data, a data URI that is not base64.
absl::StatusOr<std::vector<tinygltf::Buffer>> LoadGltfBuffers(const nlohmann::json& document,
                                                              std::optional<std::string_view> bin,
                                                              const std::string& folder,
                                                              std::uint64_t max_bytes);

// All bytes of what a URI names, as above.
absl::StatusOr<std::vector<unsigned char>> LoadGltfUri(const std::string& uri,
                                                       const std::string& folder,
                                                       std::uint64_t max_bytes);

}  // namespace sinew::client
