#include "client/import/gltf_reader.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "client/import/gltf_accessor.h"
#include "client/import/gltf_animation.h"
#include "client/import/gltf_document.h"
#include "client/import/gltf_mesh.h"
#include "client/import/placed_mesh.h"
#include "client/import/problems.h"
#include "client/import/scene_graph.h"
#include "client/import/unique_names.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr double kAffineTolerance = 1e-3;

// A column-major 4x4 matrix, whose last row must be 0 0 0 1.
absl::StatusOr<Affine> ToAffine(const double* columns, const std::string& where) {
  Affine out;
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      const double x = columns[column * 4 + row];
      if (row < 3) {
        out.m[row * 4 + column] = x;
      } else if (!(std::abs(x - (column == 3 ? 1 : 0)) <= kAffineTolerance)) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, ": the last row of the matrix must be 0 0 0 1"));
      }
    }
  }
  return out;
}

absl::Status CheckFinite(const double* values, std::size_t count, const std::string& where) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(static_cast<float>(values[i]))) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": the transform is not finite"));
    }
  }
  return absl::OkStatus();
}

// Copies `from`, which must be empty (the default stays) or of the right length, to `to`.
template <std::size_t N>
absl::Status CopyPart(const std::vector<double>& from, const char* name, const std::string& where,
                      std::array<double, N>& to) {
  if (from.empty()) return absl::OkStatus();
  if (from.size() != N) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": ", name, " has ", from.size(), " numbers, need ", N));
  }
  std::copy(from.begin(), from.end(), to.begin());
  return CheckFinite(to.data(), N, where);
}

absl::StatusOr<SceneNode> ReadNode(const tinygltf::Node& node, const std::string& path) {
  SceneNode out;
  out.name = node.name;
  out.path = path;
  if (!node.matrix.empty()) {
    std::array<double, 16> matrix{};
    SINEW_RETURN_IF_ERROR(CopyPart(node.matrix, "matrix", path, matrix));
    SINEW_ASSIGN_OR_RETURN(out.matrix, ToAffine(matrix.data(), path));
    return out;
  }
  SINEW_RETURN_IF_ERROR(CopyPart(node.translation, "translation", path, out.trs.translation));
  SINEW_RETURN_IF_ERROR(CopyPart(node.rotation, "rotation", path, out.trs.rotation));
  SINEW_RETURN_IF_ERROR(CopyPart(node.scale, "scale", path, out.trs.scale));
  return out;
}

absl::Status ReadNodes(const tinygltf::Model& model, AnimatedScene& scene) {
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    SINEW_ASSIGN_OR_RETURN(SceneNode node,
                           ReadNode(model.nodes[n], GltfPath("nodes", n, model.nodes[n].name)));
    scene.nodes.push_back(std::move(node));
  }
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    for (const int child : model.nodes[n].children) {
      if (child < 0 || static_cast<std::size_t>(child) >= scene.nodes.size()) {
        return absl::InvalidArgumentError(absl::StrCat(scene.nodes[n].path, ": child ", child,
                                                       ", the file has ", scene.nodes.size(),
                                                       " nodes"));
      }
      SceneNode& below = scene.nodes[static_cast<std::size_t>(child)];
      if (below.parent >= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat(below.path, ": child of both ",
                         scene.nodes[static_cast<std::size_t>(below.parent)].path, " and ",
                         scene.nodes[n].path, ", need one parent"));
      }
      below.parent = static_cast<std::int32_t>(n);
    }
  }
  return OrderNodes(scene);
}

// The joint nodes of all skins, each once, by first appearance.
absl::StatusOr<std::vector<std::uint32_t>> CollectJointNodes(const tinygltf::Model& model) {
  std::vector<std::uint32_t> wanted;
  std::vector<std::size_t> last_skin(model.nodes.size(), 0);  // 1 + index
  for (std::size_t s = 0; s < model.skins.size(); ++s) {
    const std::string path = GltfPath("skins", s, model.skins[s].name);
    if (model.skins[s].joints.empty())
      return absl::InvalidArgumentError(absl::StrCat(path, ": 0 joints, need at least 1"));
    for (const int joint : model.skins[s].joints) {
      if (joint < 0 || static_cast<std::size_t>(joint) >= model.nodes.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat(path, ": joint node ", joint, ", the file has ", model.nodes.size()));
      }
      std::size_t& last = last_skin[static_cast<std::size_t>(joint)];
      if (last == s + 1)
        return absl::InvalidArgumentError(absl::StrCat(path, ": names the node ", joint, " twice"));
      if (last == 0) wanted.push_back(static_cast<std::uint32_t>(joint));
      last = s + 1;
    }
  }
  return wanted;
}

// Joints and inverse binds of a skin; without inverseBindMatrices they are the identity.
absl::StatusOr<Skin> ReadSkin(const tinygltf::Model& model, const tinygltf::Skin& skin,
                              const std::string& path,
                              const std::vector<std::int32_t>& joint_of_node) {
  Skin out;
  for (const int node : skin.joints) {
    out.joints.push_back(static_cast<std::uint32_t>(joint_of_node[static_cast<std::size_t>(node)]));
  }
  if (skin.inverseBindMatrices < 0) {
    for (std::size_t j = 0; j < out.joints.size(); ++j) {
      const Affine identity;
      out.inverse_bind.insert(out.inverse_bind.end(), identity.m.begin(), identity.m.end());
    }
    return out;
  }
  const std::string where = path + " inverseBindMatrices";
  SINEW_ASSIGN_OR_RETURN(const Elements e, ReadElements(model, skin.inverseBindMatrices, where));
  if (e.width != 16 || e.count < out.joints.size()) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": ", e.count, " elements of ", e.width,
                                                   " components, need ", out.joints.size(),
                                                   " of 16"));
  }
  for (std::size_t j = 0; j < out.joints.size(); ++j) {
    SINEW_ASSIGN_OR_RETURN(const Affine inverse,
                           ToAffine(&e.values[j * 16], absl::StrCat(where, "[", j, "]")));
    for (const double x : inverse.m) out.inverse_bind.push_back(static_cast<float>(x));
  }
  return out;
}

// Reads the mesh of one node into the rig, with its controls.
absl::Status AddMesh(const tinygltf::Model& model, std::size_t node_index, const Skin& skin,
                     UniqueNames& mesh_names, UniqueNames& control_names, AnimatedScene& scene,
                     ImportedScene& out) {
  const tinygltf::Node& node = model.nodes[node_index];
  const std::string& path = scene.nodes[node_index].path;
  SINEW_ASSIGN_OR_RETURN(GltfMesh read, ReadGltfMesh(model, node, skin, path, out.problems));
  const std::string& mesh_name = model.meshes[static_cast<std::size_t>(node.mesh)].name;
  read.mesh.name =
      mesh_names.Take(node.name.empty() ? mesh_name : node.name, absl::StrCat("mesh_", node_index));
  read.mesh.source_path = path;
  const ControlRange range{static_cast<std::uint32_t>(node_index), out.rig.controls.size(),
                           read.mesh.shapes.size()};
  for (std::size_t t = 0; t < read.mesh.shapes.size(); ++t) {
    Control control;
    control.name =
        control_names.Take(read.target_names[t], absl::StrCat(read.mesh.name, ".target_", t));
    control.default_value = read.target_weights[t];
    read.mesh.shapes[t].control = control.name;
    out.rig.controls.push_back(std::move(control));
  }
  if (range.count > 0) scene.controls.push_back(range);
  out.rig.meshes.push_back(std::move(read.mesh));
  out.statistics.meshes.push_back(std::move(read.statistics));
  return absl::OkStatus();
}

absl::Status ReadMeshes(const tinygltf::Model& model,
                        const std::vector<std::int32_t>& joint_of_node, bool allow_no_skin,
                        AnimatedScene& scene, ImportedScene& out) {
  std::vector<Skin> skins;
  for (std::size_t s = 0; s < model.skins.size(); ++s) {
    SINEW_ASSIGN_OR_RETURN(
        Skin skin,
        ReadSkin(model, model.skins[s], GltfPath("skins", s, model.skins[s].name), joint_of_node));
    skins.push_back(std::move(skin));
  }
  const bool any_skin =
      std::any_of(model.nodes.begin(), model.nodes.end(),
                  [](const tinygltf::Node& node) { return node.mesh >= 0 && node.skin >= 0; });
  UniqueNames mesh_names, control_names;
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const tinygltf::Node& node = model.nodes[n];
    if (node.mesh < 0) continue;
    if (allow_no_skin && !any_skin) {
      SINEW_RETURN_IF_ERROR(AddMesh(model, n, {}, mesh_names, control_names, scene, out));
      PlaceMesh(WorldTransform(scene, n), out.rig.meshes.back());
      continue;
    }
    if (node.skin < 0) {
      out.problems.push_back(Lost("a mesh without skin", scene.nodes[n].path));
      continue;
    }
    if (static_cast<std::size_t>(node.skin) >= skins.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat(scene.nodes[n].path, ": skin ", node.skin, ", the file has ", skins.size()));
    }
    SINEW_RETURN_IF_ERROR(AddMesh(model, n, skins[static_cast<std::size_t>(node.skin)], mesh_names,
                                  control_names, scene, out));
  }
  if (!out.rig.meshes.empty() || (allow_no_skin && !out.rig.joints.empty())) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(allow_no_skin ? "nodes: neither meshes nor joints, need some"
                                                  : "nodes: no mesh has a skin, need at least one");
}

}  // namespace

absl::StatusOr<ImportedScene> ReadGltf(const std::string& bytes, const std::string& path,
                                       const ImportOptions& options) {
  ImportedScene out;
  SINEW_ASSIGN_OR_RETURN(const tinygltf::Model model,
                         LoadGltfDocument(bytes, path, options.max_file_bytes, out.problems));
  if (model.skins.empty() && !options.allow_no_skin)
    return absl::InvalidArgumentError(
        "skins: the file has none, need a skinned mesh; `sinew weights` computes weights");
  auto scene = std::make_shared<AnimatedScene>();
  SINEW_RETURN_IF_ERROR(ReadNodes(model, *scene));
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> wanted, CollectJointNodes(model));
  const std::vector<std::int32_t> joint_of_node = BuildSkeleton(wanted, *scene, out.rig);
  SINEW_RETURN_IF_ERROR(ReadMeshes(model, joint_of_node, options.allow_no_skin, *scene, out));
  SINEW_RETURN_IF_ERROR(ReadGltfAnimations(model, *scene, out.clips, out.problems));
  out.rig.meters_per_unit = 1;  // the glTF specification: metres, +Y up
  out.rig.up_axis = UpAxis::kY;
  out.keeps_file_order = true;
  out.statistics.format = absl::StartsWith(bytes, "glTF") ? "glTF binary" : "glTF";
  out.animation = std::move(scene);
  AddRigProblems(out);
  return out;
}

}  // namespace sinew::client
