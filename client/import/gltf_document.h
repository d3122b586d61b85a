// gltf_document.h - loads a glTF file into tinygltf's model, guarded.
//
// tinygltf 2.7 recurses without limit into nested JSON, reads whatever file a URI names, and knows
// nothing of required extensions: all of that is settled here, before it sees the text.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/import/import.h"
#include "client/import/tinygltf.h"
#include "core/base/status.h"

namespace sinew::client {

// Parses `bytes` (GLB or JSON, by its magic). Buffers are loaded, images are not.
//   path      of the file; its side files must be regular, at most `max_bytes` long, and, links
//             followed, in its folder or below
//   problems  gets the parser's warnings
// kInvalidArgument: not glTF 2, damaged (with line and column of its JSON), nested too deeply, a
// key twice in one object, a required extension that is not supported, a buffer whose URI leaves
// the folder or has a scheme other than data.
absl::StatusOr<tinygltf::Model> LoadGltfDocument(const std::string& bytes, const std::string& path,
                                                 std::uint64_t max_bytes,
                                                 std::vector<Problem>& problems);

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

// "nodes[3] 'Body'": the place of an element.
std::string GltfPath(const char* list, std::size_t index, const std::string& name);

}  // namespace sinew::client
