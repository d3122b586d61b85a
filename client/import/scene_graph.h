// scene_graph.h - nodes and key frames of a file of any format, and the rig made from them.
//
// A rig has joints only, a file has nodes: those between and above the joints are folded into the
// local matrices. The nodes are kept beside the rig so that their animation still counts when a
// clip is sampled.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/import/motion.h"
#include "client/import/unique_names.h"
#include "core/base/trs.h"
#include "core/base/types.h"
#include "sinew/import.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// Node trees are at most this deep, the topmost node counted. Characters have less than a hundred.
inline constexpr std::uint32_t kMaxNodeDepth = 4096;

struct SceneNode {
  std::string name;  // as in the file: may be empty or repeat
  std::string path;  // path in the file, for messages
  std::int32_t parent = -1;
  Trs trs;
  std::optional<AffineD> matrix;  // instead of `trs`, unless a track animates the node
  std::size_t first_control = 0, controls = 0;  // those of RigData that its weights drive

  // Relative to the parent, without animation.
  AffineD Local() const { return matrix ? *matrix : ToAffine(trs); }
};

struct AnimatedScene {
  std::vector<SceneNode> nodes;
  std::vector<std::uint32_t> order;                  // all nodes, parents first
  std::vector<std::uint32_t> joint_nodes;            // [J]
  std::vector<std::shared_ptr<const Motion>> clips;  // parallel to ImportedScene::clips
};

// A morph target while it is read: dense, in vertex order.
struct SourceTarget {
  std::string name;  // as in the file: may be empty or repeat
  float default_value = 0;
  float weight = 1;              // of the control, where the target is fully on
  bool is_next = false;          // belongs to the control of the target before it, by rising weight
  std::vector<float> offsets{};  // [V * 3]
  std::vector<float> normal_offsets{};  // [V * 3] or empty
};

// The mesh of a node as a reader finds it.
struct SourceMesh {
  Mesh mesh;                                      // without name and shapes
  std::vector<SourceTarget> targets;              // the first is not `is_next`
  std::vector<float> corner_uvs;                  // [corners * 2], or empty
  std::vector<std::uint32_t> blender_vertices{};  // as in MeshExtras
};

// How much a mesh, or a part of one, holds.
struct MeshSize {
  std::size_t vertices = 0, corners = 0, influences = 0;
  std::size_t target_vertices = 0;  // of all morph targets
};

MeshSize SizeOf(const SourceMesh& mesh);

// Bounds what the meshes of a file hold together. Nodes can show one mesh, primitives and morph
// targets share accessors, so that a small file can ask for any amount of memory.
class MeshBudget {
 public:
  // Counts what is about to be read; `where` names it. kInvalidArgument: more than kMax in all.
  absl::Status Take(const MeshSize& more, const std::string& where);

  // Four times the vertices that a server takes by default, with as much of the rest as they have:
  // 1 to 2 GB each.
  static constexpr MeshSize kMax = {.vertices = std::size_t{1} << 24,
                                    .corners = std::size_t{1} << 27,
                                    .influences = std::size_t{1} << 26,
                                    .target_vertices = std::size_t{1} << 26};

 private:
  MeshSize taken_;
};

// What the readers have in common: `out` is filled from nodes, in the order of these functions.
struct SceneBuilder {
  SceneBuilder() { out.animation = scene; }

  std::shared_ptr<AnimatedScene> scene = std::make_shared<AnimatedScene>();  // nodes by the reader
  ImportedScene out;
  MeshBudget budget;

  // Fills `scene->order`. kInvalidArgument: the parents form a cycle, or go beyond kMaxNodeDepth.
  absl::Status OrderNodes();

  // Makes joints of the given nodes (each once), in that order as far as parents-first allows.
  // Returns [nodes] the joint of each node, -1 for the others.
  std::vector<std::int32_t> AddJoints(const std::vector<std::uint32_t>& nodes);

  // Adds the mesh of a node, with unique names for it and its controls. A target keeps the vertices
  // that move, or all if most do. Without a skin the mesh is moved to where the node places it.
  void AddMesh(std::uint32_t node, const std::string& name, SourceMesh source);

  // Marks the problems from index `first` on as those of meshes, see Problem::of_meshes.
  void MarkMeshProblems(std::size_t first);

  // Warns of hidden meshes, which are read like the others: a proxy would be in every result.
  //   nodes  that show them
  void ReportHidden(const std::vector<std::uint32_t>& nodes);

  // Adds a clip. `path`: its place in the file. end: of the take in seconds, if the file says.
  // If two tracks drive one property, the first counts and the other is reported as lost.
  void AddClip(const std::string& name, const std::string& path, SourceClip clip, double end = 0);

  // Adds a clip that is not made of tracks; its name is made unique.
  void AddClip(ClipInfo info, std::shared_ptr<const Motion> motion);

 private:
  std::vector<AffineD> rest_global_;  // [nodes] to the scene, once the first mesh is added
  UniqueNames mesh_names_, control_names_, clip_names_;
};

// Checks a track: times finite and not falling, sizes, no zero quaternion. kInvalidArgument names
// `where`.
absl::Status CheckTrack(const Track& track, const std::string& where);

}  // namespace sinew::client
