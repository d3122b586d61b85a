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
#include "client/import/scene_graph.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr double kAffineTolerance = 1e-3;

// A column-major 4x4 matrix, whose last row must be 0 0 0 1.
absl::StatusOr<AffineD> ToAffine(const double* columns, const std::string& where) {
  AffineD out;
  for (std::size_t i = 0; i < 12; ++i) out.m[i] = columns[i % 4 * 4 + i / 4];
  for (std::size_t column = 0; column < 4; ++column) {
    if (std::abs(columns[column * 4 + 3] - (column == 3 ? 1 : 0)) <= kAffineTolerance) continue;
    return InvalidArgument(where, ": the last row of the matrix must be 0 0 0 1");
  }
  return out;
}

// Copies `from`, which must be empty (the default stays) or of the right length, to `to`.
template <std::size_t N>
absl::Status CopyPart(const std::vector<double>& from, const char* name, const std::string& where,
                      std::array<double, N>& to) {
  if (!from.empty() && from.size() != N) {
    return InvalidArgument(where, ": ", name, " has ", from.size(), " numbers, need ", N);
  }
  std::ranges::copy(from, to.begin());
  return absl::OkStatus();
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

absl::Status ReadNodes(const tinygltf::Model& model, SceneBuilder& builder) {
  std::vector<SceneNode>& nodes = builder.scene->nodes;
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    SINEW_ASSIGN_OR_RETURN(SceneNode node,
                           ReadNode(model.nodes[n], GltfPath("nodes", n, model.nodes[n].name)));
    nodes.push_back(std::move(node));
  }
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    for (const int child : model.nodes[n].children) {
      SINEW_RETURN_IF_ERROR(Find(nodes, child, nodes[n].path, "child").status());
      SceneNode& below = nodes[static_cast<std::size_t>(child)];
      if (below.parent >= 0) {
        return InvalidArgument(below.path, ": child of both ",
                               nodes[static_cast<std::size_t>(below.parent)].path, " and ",
                               nodes[n].path, ", need one parent");
      }
      below.parent = static_cast<std::int32_t>(n);
    }
  }
  return builder.OrderNodes();
}

// The joint nodes of all skins, each once, by first appearance.
absl::StatusOr<std::vector<std::uint32_t>> CollectJointNodes(const tinygltf::Model& model) {
  std::vector<std::uint32_t> wanted;
  std::vector<std::size_t> last_skin(model.nodes.size(), 0);  // 1 + index
  for (std::size_t s = 0; s < model.skins.size(); ++s) {
    const std::string path = GltfPath("skins", s, model.skins[s].name);
    if (model.skins[s].joints.empty()) return InvalidArgument(path, ": 0 joints, need at least 1");
    for (const int joint : model.skins[s].joints) {
      SINEW_RETURN_IF_ERROR(Find(model.nodes, joint, path, "joint node").status());
      std::size_t& last = last_skin[static_cast<std::size_t>(joint)];
      if (last == s + 1) return InvalidArgument(path, ": names the node ", joint, " twice");
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
  const std::string where = path + " inverseBindMatrices";
  const bool given = skin.inverseBindMatrices >= 0;
  Elements e;
  if (given) {
    SINEW_ASSIGN_OR_RETURN(e, ReadElements(model, skin.inverseBindMatrices, where));
    if (e.width != 16 || e.count < out.joints.size()) {
      return InvalidArgument(where, ": ", e.count, " elements of ", e.width, " components, need ",
                             out.joints.size(), " of 16");
    }
  }
  for (std::size_t j = 0; j < out.joints.size(); ++j) {
    AffineD inverse;
    if (given) {
      SINEW_ASSIGN_OR_RETURN(inverse,
                             ToAffine(&e.values[j * 16], absl::StrCat(where, "[", j, "]")));
    }
    for (const double x : inverse.m) out.inverse_bind.push_back(static_cast<float>(x));
  }
  return out;
}

absl::Status ReadMeshes(const tinygltf::Model& model,
                        const std::vector<std::int32_t>& joint_of_node, bool allow_no_skin,
                        SceneBuilder& builder) {
  std::vector<Skin> skins;
  for (std::size_t s = 0; s < model.skins.size(); ++s) {
    SINEW_ASSIGN_OR_RETURN(
        Skin skin,
        ReadSkin(model, model.skins[s], GltfPath("skins", s, model.skins[s].name), joint_of_node));
    skins.push_back(std::move(skin));
  }
  const bool need_skin = !allow_no_skin || std::ranges::any_of(model.nodes, [](const auto& node) {
    return node.mesh >= 0 && node.skin >= 0;
  });
  const Skin no_skin;
  for (std::uint32_t n = 0; n < model.nodes.size(); ++n) {
    const tinygltf::Node& node = model.nodes[n];
    const std::string& path = builder.scene->nodes[n].path;
    if (node.mesh < 0) continue;
    if (need_skin && node.skin < 0) {
      builder.out.problems.push_back(Lost("a mesh without skin", path));
      continue;
    }
    const Skin* skin = &no_skin;
    if (need_skin) {
      SINEW_ASSIGN_OR_RETURN(skin, Find(skins, node.skin, path, "skin"));
    }
    SINEW_ASSIGN_OR_RETURN(SourceMesh mesh,
                           ReadGltfMesh(model, node, *skin, path, builder.out.problems));
    const std::string& mesh_name = model.meshes[static_cast<std::size_t>(node.mesh)].name;
    builder.AddMesh(n, node.name.empty() ? mesh_name : node.name, std::move(mesh));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ImportedScene> ReadGltf(const std::string& bytes, const std::string& path,
                                       const ImportOptions& options) {
  SceneBuilder builder;
  SINEW_ASSIGN_OR_RETURN(
      const tinygltf::Model model,
      LoadGltfDocument(bytes, path, options.max_file_bytes, builder.out.problems));
  SINEW_RETURN_IF_ERROR(ReadNodes(model, builder));
  SINEW_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> joints, CollectJointNodes(model));
  SINEW_RETURN_IF_ERROR(
      ReadMeshes(model, builder.AddJoints(joints), options.allow_no_skin, builder));
  SINEW_RETURN_IF_ERROR(ReadGltfAnimations(model, builder));
  builder.out.rig.meters_per_unit = 1;  // the glTF specification: metres, +Y up
  builder.out.rig.up_axis = UpAxis::kY;
  builder.out.format = absl::StartsWith(bytes, "glTF") ? "glTF binary" : "glTF";
  return std::move(builder.out);
}

}  // namespace sinew::client
