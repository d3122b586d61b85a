// gltf_mesh.h - one rig mesh from the mesh of one glTF node: its primitives one after the other.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/import/rigid_mesh.h"
#include "client/import/scene_graph.h"
#include "client/import/tinygltf.h"
#include "core/base/types.h"
#include "sinew/import.h"

namespace sinew::client {

// A skin of the file, before it is known which of its joints vertices use.
struct GltfSkin {
  std::vector<std::uint32_t> joints;  // into RigData::joints
  std::vector<AffineD> inverse_bind;  // [joints]
  std::vector<const char*> faults;    // [joints] why a matrix is not sound; null if it is
};

// What moves the vertices without weights: the carrier of the node, and its joint.
struct GltfCarrier {
  Carrier carrier;
  std::uint32_t joint = 0;  // into RigData::joints
  std::string path;         // of the carrier's node
};

// Reads mesh `node.mesh`. skin: null if the node has none; carrier: null in files without skins.
// Without both the mesh gets no skin. `path` names the node in messages and problems. Vertices are
// those of every primitive's POSITION accessor in order, also if primitives share it. Strips and
// fans become triangles; degenerate triangles are left out; points and lines keep their vertices.
// Counts for the budget of `builder` and adds to its problems; the mesh is the caller's to add.
// kInvalidArgument: beyond the budget, or anything wrong with accessors, counts, indices, weights,
// or with the inverse bind matrix of a joint that a vertex uses.
absl::StatusOr<SourceMesh> ReadGltfMesh(const tinygltf::Model& model, const tinygltf::Node& node,
                                        const GltfSkin* skin, const GltfCarrier* carrier,
                                        const std::string& path, SceneBuilder& builder);

// Whether some primitives of the mesh have no weights. False if there is no such mesh.
bool HasPrimitiveWithoutWeights(const tinygltf::Model& model, int mesh);

}  // namespace sinew::client
