// gltf_mesh.h - one rig mesh from the mesh of one glTF node: its primitives one after the other.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "client/import/import.h"
#include "client/import/scene_graph.h"
#include "client/import/tinygltf.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// Reads mesh `node.mesh`; `skin` holds joints and inverse binds (none: a mesh without a skin),
// `path` names the node in messages and problems. Vertices are those of every primitive's POSITION
// accessor in order, also if primitives share it. Strips and fans become triangles; degenerate
// triangles are left out; points and lines keep their vertices. kInvalidArgument: anything wrong
// with accessors, counts, indices, weights.
absl::StatusOr<SourceMesh> ReadGltfMesh(const tinygltf::Model& model, const tinygltf::Node& node,
                                        const Skin& skin, const std::string& path,
                                        std::vector<Problem>& problems);

}  // namespace sinew::client
