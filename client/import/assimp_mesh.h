// assimp_mesh.h - a rig mesh from the Assimp meshes of one node, welded to control points.
//
// Assimp hands out one vertex per face corner for FBX and COLLADA. Corners of equal position,
// influences and morph offsets were one control point (or points that never part); within a face
// they stay apart.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <assimp/mesh.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/import/import.h"
#include "client/import/influences.h"
#include "client/import/morph_targets.h"
#include "sinew/rig_data.h"

namespace sinew::client {

class AssimpMeshBuilder {
 public:
  // `path` names the node in messages; `joint_of_bone` finds a rig joint by the name of a bone, all
  // bones included.
  // skinned: false = parts have no bones, and the mesh gets no skin.
  AssimpMeshBuilder(std::string path,
                    const std::unordered_map<std::string, std::uint32_t>& joint_of_bone,
                    bool skinned);

  AssimpMeshBuilder(const AssimpMeshBuilder&) = delete;
  AssimpMeshBuilder& operator=(const AssimpMeshBuilder&) = delete;

  // Adds one part (material) of the mesh. kInvalidArgument: bad indices, weights, numbers.
  absl::Status Add(const aiMesh& part);

  // True if the part's bones have the inverse binds of those already added, so that one skin can
  // serve both.
  bool Fits(const aiMesh& part) const;

  // The mesh without names, shapes in target order; `target_names` and `target_weights` parallel to
  // them. kInvalidArgument: vertices without weights, no faces.
  absl::Status Finish(std::vector<Problem>& problems, Mesh& mesh, MeshStatistics& statistics,
                      std::vector<std::string>& target_names, std::vector<float>& target_weights);

 private:
  absl::Status AddBones(const aiMesh& part, std::vector<std::vector<Influence>>& influences);
  absl::Status CheckPart(const aiMesh& part) const;
  absl::Status AddFace(const aiMesh& part, const aiFace& face,
                       const std::vector<std::vector<Influence>>& influences);
  // The welded vertex of a corner, made if it is new; `nth` > 0 keeps equal corners of one face
  // apart.
  absl::StatusOr<std::uint32_t> Weld(const aiMesh& part, std::uint32_t corner, std::uint32_t nth,
                                     const std::vector<Influence>& influences);
  void AddTargets(const aiMesh& part, std::uint32_t corner);

  std::string path_;
  const bool skinned_;
  const std::unordered_map<std::string, std::uint32_t>& joint_of_bone_;
  Mesh mesh_;
  InfluenceCollector collector_;  // writes into mesh_.skin
  std::unordered_map<std::uint32_t, std::uint32_t>
      slots_;  // rig joint -> index in mesh_.skin.joints
  std::unordered_map<std::string, std::uint32_t>
      vertices_;  // bytes that make a control point -> vertex
  std::vector<DenseTarget> targets_;
  std::vector<std::string> target_names_;
  std::vector<float> target_weights_;
  std::size_t parts_ = 0, corners_ = 0, small_faces_ = 0;
  bool has_normals_ = false, uneven_targets_ = false;
};

}  // namespace sinew::client
