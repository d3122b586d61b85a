// assimp_mesh.h - a rig mesh from the Assimp meshes of one node, welded to control points.
//
// Assimp hands out one vertex per face corner. Corners of equal position and influences were one
// control point, or points that never part; within a face they stay apart. Morph targets do not
// come: files with some are refused.
#pragma once

#include <absl/status/statusor.h>
#include <assimp/mesh.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/import/scene_graph.h"
#include "sinew/import.h"

namespace sinew::client {

// `parts` (materials) of the mesh, one or more; `path` names the node in messages; `joint_of_bone`
// finds a rig joint by the name of a bone, all bones included. Without bones the mesh gets no skin.
// kInvalidArgument: bad indices or weights, no faces.
absl::StatusOr<SourceMesh> ReadAssimpMesh(
    const std::vector<const aiMesh*>& parts, const std::string& path,
    const std::unordered_map<std::string, std::uint32_t>& joint_of_bone,
    std::vector<Problem>& problems);

}  // namespace sinew::client
