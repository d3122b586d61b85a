// fbx_mesh.h - a rig mesh from an FBX mesh, on its control points.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/import/fbx_document.h"
#include "client/import/scene_graph.h"
#include "sinew/import.h"

namespace sinew::client {

// The skin that moves a mesh, or null. FBX meshes have one; of several the first counts.
const ufbx_skin_deformer* FbxSkin(const ufbx_mesh& mesh);

struct FbxMesh {
  SourceMesh source;
  std::vector<std::uint32_t> channels;  // of the controls that its shapes make
};

// Reads a mesh as `node` shows it. Vertices are all control points of the file, in its order, also
// those that no face uses. Positions of a mesh without a skin are in the space of the node.
//   joint_of_node  [nodes] into RigData::joints
//   path           the node, in messages
// Influences are normalised. Blend shapes whose percentage is 0, and vertices that a face names
// twice, are left out and reported. Counts for the budget of `builder` and adds to its problems;
// the mesh is the caller's to add. kInvalidArgument: beyond the budget, or bad weights.
absl::StatusOr<FbxMesh> ReadFbxMesh(const ufbx_mesh& mesh, const ufbx_node& node,
                                    const std::vector<std::int32_t>& joint_of_node,
                                    const std::string& path, SceneBuilder& builder);

}  // namespace sinew::client
