// gltf_meshopt.h - buffer views that are compressed with EXT_meshopt_compression.
#pragma once

#include <absl/status/status.h>

#include <cstdint>

#include "client/import/tinygltf.h"

namespace sinew::client {

// Decodes every compressed buffer view of the model into a buffer of its own. The uncompressed
// fallback that a file may have holds the same values, and may be missing, so it is never read.
// kInvalidArgument names the buffer view: sizes or modes that the extension does not allow, data
// that does not decode, or more than `max_bytes` in all.
// Source: the glTF extension EXT_meshopt_compression.
absl::Status DecodeMeshopt(std::uint64_t max_bytes, tinygltf::Model& model);

}  // namespace sinew::client
