#include "client/import/gltf_reader.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "client/import/gltf_accessor.h"
#include "client/import/gltf_animation.h"
#include "client/import/gltf_document.h"
#include "client/import/gltf_mesh.h"
#include "client/import/rigid_mesh.h"
#include "client/import/scene_graph.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew::client {
namespace {

constexpr double kAffineTolerance = 1e-3;

// Reads a column-major 4x4 matrix.
AffineD ToAffine(const double* columns) {
  AffineD out;
  for (std::size_t i = 0; i < 12; ++i) out.m[i] = columns[i % 4 * 4 + i / 4];
  return out;
}

bool IsAffine(const double* columns) {
  for (std::size_t column = 0; column < 4; ++column) {
    const double off = columns[column * 4 + 3] - (column == 3 ? 1 : 0);
    if (!(std::abs(off) <= kAffineTolerance)) return false;
  }
  return true;
}

// Null if vertices can be bound with the matrix.
const char* FaultOfInverseBind(const double* columns) {
  if (!std::all_of(columns, columns + 16, [](double x) { return std::isfinite(x); })) {
    return "is not finite";
  }
  if (!IsAffine(columns)) return "has a last row that is not 0 0 0 1";
  return Determinant(Linear(ToAffine(columns))) == 0 ? "is singular" : nullptr;
}

// Copies `from`, which must be empty (the default stays) or of the right length, to `to`.
template <std::size_t N>
absl::Status CopyPart(const std::vector<double>& from, const char* name, const std::string& where,
                      std::array<double, N>& to) {
  if (!from.empty() && from.size() != N) {
    return InvalidArgument(where, ": ", name, " has ", CountedText(from.size(), "number"),
                           ", need ", N);
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
    if (!IsAffine(matrix.data())) {
      return InvalidArgument(path, ": the last row of the matrix must be 0 0 0 1");
    }
    out.matrix = ToAffine(matrix.data());
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

// The nodes of a scene that have not been `seen` yet, rising; marks them. Visiting all scenes costs
// O(nodes).
absl::StatusOr<std::vector<std::size_t>> VisitScene(const tinygltf::Model& model, int index,
                                                    std::vector<bool>& seen) {
  SINEW_ASSIGN_OR_RETURN(const auto* scene, Find(model.scenes, index, "scene", "scene"));
  std::vector<std::size_t> visited;
  std::vector<int> todo = scene->nodes;
  while (!todo.empty()) {
    const int node = todo.back();
    todo.pop_back();
    SINEW_RETURN_IF_ERROR(Find(model.nodes, node, "scenes", "node").status());
    const auto n = static_cast<std::size_t>(node);
    if (seen[n]) continue;
    seen[n] = true;
    visited.push_back(n);
    todo.insert(todo.end(), model.nodes[n].children.begin(), model.nodes[n].children.end());
  }
  std::ranges::sort(visited);
  return visited;
}

void ReportLeftOut(const tinygltf::Model& model, const std::vector<std::size_t>& nodes,
                   const char* where, const std::string& path, std::vector<Problem>& problems) {
  std::size_t meshes = 0;
  std::string first;
  for (const std::size_t n : nodes) {
    if (model.nodes[n].mesh >= 0 && meshes++ == 0) {
      first = GltfPath("nodes", n, model.nodes[n].name);
    }
  }
  if (meshes == 0) return;
  problems.push_back(Lost(
      absl::StrCat(CountedText(meshes, "mesh", "meshes"), " ", where, ", the first is ", first),
      path));
}

// Which nodes are in the default scene: all if there are no scenes. Reports the meshes of others.
absl::StatusOr<std::vector<bool>> NodesOfDefaultScene(const tinygltf::Model& model,
                                                      std::vector<Problem>& problems) {
  std::vector<bool> seen(model.nodes.size(), model.scenes.empty());
  if (model.scenes.empty()) return seen;
  const int scene = std::max(model.defaultScene, 0);
  SINEW_RETURN_IF_ERROR(VisitScene(model, scene, seen).status());
  const std::vector<bool> inside = seen;
  for (std::size_t s = 0; s < model.scenes.size(); ++s) {
    if (static_cast<int>(s) == scene) continue;
    SINEW_ASSIGN_OR_RETURN(const std::vector<std::size_t> nodes,
                           VisitScene(model, static_cast<int>(s), seen));
    ReportLeftOut(model, nodes, "outside of the default scene",
                  GltfPath("scenes", s, model.scenes[s].name), problems);
  }
  std::vector<std::size_t> others;
  for (std::size_t n = 0; n < seen.size(); ++n) {
    if (!seen[n]) others.push_back(n);
  }
  ReportLeftOut(model, others, "in no scene", "nodes", problems);
  return inside;
}

// Whether each skin is read: those of meshes that are left out are not.
std::vector<bool> SkinsInUse(const tinygltf::Model& model, const std::vector<bool>& inside) {
  std::vector<bool> in_use(model.skins.size(), true);
  for (const bool wanted : {false, true}) {
    for (std::size_t n = 0; n < model.nodes.size(); ++n) {
      const tinygltf::Node& node = model.nodes[n];
      if (node.mesh < 0 || node.skin < 0 || inside[n] != wanted) continue;
      const auto skin = static_cast<std::size_t>(node.skin);
      if (skin < in_use.size()) in_use[skin] = wanted;
    }
  }
  return in_use;
}

// The joint nodes of these skins, each once, by first appearance.
absl::StatusOr<std::vector<std::uint32_t>> CollectJointNodes(const tinygltf::Model& model,
                                                             const std::vector<bool>& in_use) {
  std::vector<std::uint32_t> wanted;
  std::vector<std::size_t> last_skin(model.nodes.size(), 0);  // 1 + index
  for (std::size_t s = 0; s < model.skins.size(); ++s) {
    if (!in_use[s]) continue;
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
absl::StatusOr<GltfSkin> ReadSkin(const tinygltf::Model& model, const tinygltf::Skin& skin,
                                  const std::string& path,
                                  const std::vector<std::int32_t>& joint_of_node) {
  GltfSkin out;
  for (const int node : skin.joints) {
    out.joints.push_back(static_cast<std::uint32_t>(joint_of_node[static_cast<std::size_t>(node)]));
  }
  out.inverse_bind.resize(out.joints.size());
  out.faults.resize(out.joints.size());
  if (skin.inverseBindMatrices < 0) return out;
  const std::string where = path + " inverseBindMatrices";
  SINEW_ASSIGN_OR_RETURN(const Elements e, ReadElements(model, skin.inverseBindMatrices, where,
                                                        /*need_finite=*/false));
  if (e.width != 16 || e.count < out.joints.size()) {
    return InvalidArgument(where, ": ", CountedText(e.count, "element"), " of ",
                           CountedText(e.width, "component"), ", need ", out.joints.size(),
                           " of 16");
  }
  for (std::size_t j = 0; j < out.joints.size(); ++j) {
    out.inverse_bind[j] = ToAffine(&e.values[j * 16]);
    out.faults[j] = FaultOfInverseBind(&e.values[j * 16]);
  }
  return out;
}

// What carries the vertices without weights, by node. Adds nodes that must become joints.
std::map<std::uint32_t, Carrier> CarriersOfMeshes(const tinygltf::Model& model,
                                                  const AnimatedScene& scene,
                                                  const std::vector<bool>& inside,
                                                  std::vector<std::uint32_t>& joints) {
  std::vector<bool> is_joint(model.nodes.size()), is_animated(model.nodes.size());
  for (const std::uint32_t joint : joints) is_joint[joint] = true;
  for (const tinygltf::Animation& animation : model.animations) {
    for (const tinygltf::AnimationChannel& channel : animation.channels) {
      const auto node = static_cast<std::size_t>(channel.target_node);
      if (channel.target_path != "weights" && node < is_animated.size()) is_animated[node] = true;
    }
  }
  const std::vector<Carrier> all = FindCarriers(scene, is_joint, is_animated);
  std::map<std::uint32_t, Carrier> carriers;
  for (std::uint32_t n = 0; n < model.nodes.size(); ++n) {
    const tinygltf::Node& node = model.nodes[n];
    if (!inside[n] || node.mesh < 0) continue;
    if (node.skin >= 0 && !HasPrimitiveWithoutWeights(model, node.mesh)) continue;
    const std::uint32_t carrier = all[n].node;
    if (!is_joint[carrier]) joints.push_back(carrier);
    is_joint[carrier] = true;
    carriers.emplace(n, all[n]);
  }
  return carriers;
}

// The nodes whose meshes KHR_node_visibility hides: its value false hides a node and all below it.
std::vector<std::uint32_t> HiddenMeshes(const tinygltf::Model& model, const AnimatedScene& scene,
                                        const std::vector<bool>& inside) {
  std::vector<bool> hidden(model.nodes.size());
  std::vector<std::uint32_t> found;
  for (const std::uint32_t n : scene.order) {
    const std::int32_t parent = scene.nodes[n].parent;
    const auto extension = model.nodes[n].extensions.find("KHR_node_visibility");
    if (extension != model.nodes[n].extensions.end() && extension->second.Has("visible")) {
      const tinygltf::Value& visible = extension->second.Get("visible");
      hidden[n] = visible.IsBool() && !visible.Get<bool>();
    }
    if (parent >= 0 && hidden[static_cast<std::size_t>(parent)]) hidden[n] = true;
    if (hidden[n] && inside[n] && model.nodes[n].mesh >= 0) found.push_back(n);
  }
  std::ranges::sort(found);
  return found;
}

// Reads the meshes of the nodes that are `inside`.
absl::Status ReadMeshes(const tinygltf::Model& model, const std::vector<bool>& inside,
                        const std::vector<bool>& skins_in_use,
                        const std::map<std::uint32_t, Carrier>& carriers,
                        const std::vector<std::int32_t>& joint_of_node, SceneBuilder& builder) {
  std::vector<GltfSkin> skins(model.skins.size());
  for (std::size_t s = 0; s < model.skins.size(); ++s) {
    if (!skins_in_use[s]) continue;
    SINEW_ASSIGN_OR_RETURN(
        skins[s],
        ReadSkin(model, model.skins[s], GltfPath("skins", s, model.skins[s].name), joint_of_node));
  }
  std::vector<Problem>& problems = builder.out.problems;
  for (std::uint32_t n = 0; n < model.nodes.size(); ++n) {
    const tinygltf::Node& node = model.nodes[n];
    const std::string& path = builder.scene->nodes[n].path;
    if (node.mesh < 0 || !inside[n]) continue;
    const GltfSkin* skin = nullptr;
    if (node.skin >= 0) {
      SINEW_ASSIGN_OR_RETURN(skin, Find(skins, node.skin, path, "skin"));
    }
    GltfCarrier carrier;
    const auto found = carriers.find(n);
    if (found != carriers.end()) {
      const std::uint32_t carrying = found->second.node;
      carrier = {.carrier = found->second,
                 .joint = static_cast<std::uint32_t>(joint_of_node[carrying]),
                 .path = builder.scene->nodes[carrying].path};
      if (skin == nullptr) {
        problems.push_back(
            {Severity::kInfo, absl::StrCat("a mesh without skin, follows ", carrier.path), path});
      }
    }
    SINEW_ASSIGN_OR_RETURN(
        SourceMesh mesh, ReadGltfMesh(model, node, skin,
                                      found == carriers.end() ? nullptr : &carrier, path, builder));
    const std::string& mesh_name = model.meshes[static_cast<std::size_t>(node.mesh)].name;
    builder.AddMesh(n, node.name.empty() ? mesh_name : node.name, std::move(mesh));
  }
  builder.ReportHidden(HiddenMeshes(model, *builder.scene, inside));
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
  std::size_t first = builder.out.problems.size();
  SINEW_ASSIGN_OR_RETURN(const std::vector<bool> inside,
                         NodesOfDefaultScene(model, builder.out.problems));
  builder.MarkMeshProblems(first);
  const std::vector<bool> skins_in_use = SkinsInUse(model, inside);
  SINEW_ASSIGN_OR_RETURN(std::vector<std::uint32_t> joints, CollectJointNodes(model, skins_in_use));
  bool has_mesh = false, has_skin = false;
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    if (!inside[n] || model.nodes[n].mesh < 0) continue;
    has_mesh = true;
    has_skin = has_skin || model.nodes[n].skin >= 0;
  }
  std::map<std::uint32_t, Carrier> carriers;
  if (has_skin) carriers = CarriersOfMeshes(model, *builder.scene, inside, joints);
  const std::vector<std::int32_t> joint_of_node = builder.AddJoints(joints);
  first = builder.out.problems.size();
  if (has_skin || options.allow_no_skin) {
    SINEW_RETURN_IF_ERROR(
        ReadMeshes(model, inside, skins_in_use, carriers, joint_of_node, builder));
  } else if (has_mesh) {
    builder.out.problems.push_back(Lost("meshes, of which none has a skin", "nodes"));
  }
  builder.MarkMeshProblems(first);
  SINEW_RETURN_IF_ERROR(ReadGltfAnimations(model, builder));
  builder.out.rig.meters_per_unit = 1;  // the glTF specification: metres, +Y up
  builder.out.rig.up_axis = UpAxis::kY;
  builder.out.format = absl::StartsWith(bytes, "glTF") ? "glTF binary" : "glTF";
  return std::move(builder.out);
}

}  // namespace sinew::client
