// gltf_draco.h - primitives that are compressed with KHR_draco_mesh_compression.
#pragma once

#include <absl/status/status.h>

#include <cstdint>

#include "client/import/tinygltf.h"

namespace sinew::client {

// Decodes every compressed primitive of the model: its attributes and indices become accessors of
// their own, with the vertices in the decoder's order, and its mode TRIANGLES. Where the file does
// not require the extension and has the primitive uncompressed too, that is what counts, as it is
// exact. kInvalidArgument names the primitive: data that does not decode, attributes that are
// missing or narrower than their accessors, more vertices, faces or attributes than the data can
// hold, or more than `max_bytes` in all. A bufferView that primitives share is decoded once.
// Source: the glTF extension KHR_draco_mesh_compression; Draco bitstream 2.2.
absl::Status DecodeDraco(std::uint64_t max_bytes, tinygltf::Model& model);

}  // namespace sinew::client
