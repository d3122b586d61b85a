// gltf_document.h - loads a glTF file into tinygltf's model, guarded.
//
// tinygltf 2.7 recurses without limit into nested JSON, reads whatever file a URI names, and knows
// nothing of required extensions: all of that is settled here, before it sees the text, and it gets
// neither buffers nor images.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/import/tinygltf.h"
#include "core/base/status.h"
#include "sinew/import.h"

namespace sinew::client {

// Parses `bytes` (GLB or JSON, by its magic). Buffers are loaded and what is compressed in them is
// decoded; images are left out.
//   path       of the file; for its side files see LoadGltfBuffers
//   max_bytes  of a side file, and of all that is decoded
//   problems   gets the parser's warnings, and channels that animate no node
//   images     null, or gets bufferView and uri of each image, -1 and "" for none
// kInvalidArgument: not glTF 2, damaged (with line and column of its JSON), nested too deeply, a
// key twice in one object, a required extension that is not supported, or what LoadGltfBuffers,
// DecodeMeshopt and DecodeDraco refuse.
absl::StatusOr<tinygltf::Model> LoadGltfDocument(const std::string& bytes, const std::string& path,
                                                 std::uint64_t max_bytes,
                                                 std::vector<Problem>& problems,
                                                 std::vector<tinygltf::Image>* images = nullptr);

// The element of a list of the model that an index names. `what`: what it is, as in "node".
// kInvalidArgument: no such element.
template <class T>
absl::StatusOr<const T*> Find(const std::vector<T>& list, int index, const std::string& where,
                              const char* what) {
  if (index >= 0 && static_cast<std::size_t>(index) < list.size()) {
    return &list[static_cast<std::size_t>(index)];
  }
  return InvalidArgument(where, ": ", what, " ", index, ", the file has ", list.size());
}

// A member of the JSON of an extension. kInvalidArgument: not a whole number from 0 on, or missing
// where there is no `absent`.
absl::StatusOr<std::size_t> ReadNumber(const tinygltf::Value& object, const char* key,
                                       std::optional<std::size_t> absent, const std::string& where);

// "nodes[3] 'Body'": the place of an element.
std::string GltfPath(const char* list, std::size_t index, const std::string& name);

}  // namespace sinew::client
