#include "client/import/assimp_reader.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <assimp/config.h>
#include <assimp/scene.h>

#include <assimp/Importer.hpp>
#include <cmath>
#include <exception>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/import/assimp_fence.h"
#include "client/import/assimp_mesh.h"
#include "client/import/collada_animation.h"
#include "client/import/collada_document.h"
#include "client/import/collada_mesh.h"
#include "client/import/collada_nodes.h"
#include "client/import/collada_skin.h"
#include "client/import/rigid_mesh.h"
#include "client/import/scene_graph.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// Turns an Assimp scene into nodes, skeleton, meshes and clips; one use.
class SceneReader {
 public:
  SceneReader(const aiScene& source, const ColladaDocument& document, const ImportOptions& options,
              std::vector<Problem> problems)
      : source_(source), document_(document), options_(options) {
    out_.problems = std::move(problems);
  }

  absl::StatusOr<ImportedScene> Read() {
    ReadUnits();
    SINEW_RETURN_IF_ERROR(ReadNodes());
    SINEW_ASSIGN_OR_RETURN(const std::vector<ColladaNode> collada_nodes,
                           ReadColladaNodes(document_, nodes_.size(), out_.problems));
    SINEW_RETURN_IF_ERROR(PlaceColladaNodes(collada_nodes, *builder_.scene));
    SINEW_RETURN_IF_ERROR(ReadSkeleton());
    const std::size_t first = out_.problems.size();
    SINEW_RETURN_IF_ERROR(ReadMeshes());
    builder_.MarkMeshProblems(first);
    SINEW_RETURN_IF_ERROR(AddColladaClips(document_, collada_nodes, options_.clips_only, builder_));
    out_.format = "COLLADA";
    out_.keeps_file_order = false;
    return std::move(out_);
  }

 private:
  // Assimp puts unit and up axis into the root node, which has no transform of its own in the file:
  // they are read off it and it is reset, so that numbers stay those of the file.
  void ReadUnits() {
    const aiMatrix4x4& root = source_.mRootNode->mTransformation;
    const double unit = std::sqrt(root.a1 * root.a1 + root.b1 * root.b1 + root.c1 * root.c1);
    if (unit > 0 && std::isfinite(unit)) out_.rig.meters_per_unit = unit;
    const bool y_up = root.b2 > 0.5 * unit, z_up = root.b3 > 0.5 * unit;
    out_.rig.up_axis = y_up ? UpAxis::kY : z_up ? UpAxis::kZ : UpAxis::kUnspecified;
  }

  absl::Status ReadNodes() {
    std::vector<std::pair<const aiNode*, std::int32_t>> open = {{source_.mRootNode, -1}};
    std::size_t repeated = 0;
    while (!open.empty()) {
      const auto [node, parent] = open.back();
      open.pop_back();
      const auto index = static_cast<std::uint32_t>(nodes_.size());
      SceneNode made;
      made.name = node->mName.C_Str();
      made.path = absl::StrCat("node '", made.name, "'");
      made.parent = parent;
      repeated += node_of_name_.emplace(made.name, index).second ? 0 : 1;
      nodes_.push_back(node);
      builder_.scene->nodes.push_back(std::move(made));
      for (unsigned c = node->mNumChildren; c-- > 0;)
        open.emplace_back(node->mChildren[c], static_cast<std::int32_t>(index));
    }
    if (repeated > 0) {
      out_.problems.push_back({Severity::kWarning,
                               absl::StrCat(CountedText(repeated, "node repeats", "nodes repeat"),
                                            " a name; bones and channels go to the first"),
                               "nodes"});
    }
    return builder_.OrderNodes();
  }

  // Joints are the nodes that bones name, in the order of the node tree, and behind them the nodes
  // of meshes that none of them carries.
  absl::Status ReadSkeleton() {
    std::vector<bool> is_joint(nodes_.size(), false);
    std::vector<std::pair<std::string, std::uint32_t>> bones;
    for (unsigned m = 0; m < source_.mNumMeshes; ++m) {
      for (unsigned b = 0; b < source_.mMeshes[m]->mNumBones; ++b) {
        const std::string name = source_.mMeshes[m]->mBones[b]->mName.C_Str();
        const auto node = node_of_name_.find(name);
        if (node == node_of_name_.end()) {
          return InvalidArgument("mesh '", source_.mMeshes[m]->mName.C_Str(), "': the bone '", name,
                                 "' is no node");
        }
        is_joint[node->second] = true;
        bones.emplace_back(name, node->second);
      }
    }
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (is_joint[n]) wanted.push_back(n);
    }
    for (std::uint32_t n = 0; n < nodes_.size() && !bones.empty(); ++n) {
      if (!is_joint[n] && !PartsOf(n, false).empty()) wanted.push_back(n);
    }
    joint_of_node_ = builder_.AddJoints(wanted);
    for (const auto& [name, node] : bones)
      joint_of_bone_[name] = static_cast<std::uint32_t>(joint_of_node_[node]);
    return absl::OkStatus();
  }

  // The meshes of a node with bones, or those without.
  std::vector<const aiMesh*> PartsOf(std::uint32_t node, bool with_bones) const {
    std::vector<const aiMesh*> parts;
    for (unsigned i = 0; i < nodes_[node]->mNumMeshes; ++i) {
      const unsigned index = nodes_[node]->mMeshes[i];
      if (index >= source_.mNumMeshes) continue;
      const aiMesh* part = source_.mMeshes[index];
      if ((part->mNumBones > 0) == with_bones) parts.push_back(part);
    }
    return parts;
  }

  absl::Status ReadMeshes() {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      const SceneNode& node = builder_.scene->nodes[n];
      if (const auto parts = PartsOf(n, true); !parts.empty()) {
        SINEW_ASSIGN_OR_RETURN(SourceMesh mesh,
                               ReadAssimpMesh(parts, node.path, joint_of_bone_, out_.problems));
        SINEW_RETURN_IF_ERROR(builder_.budget.Take(SizeOf(mesh), node.path));
        builder_.AddMesh(n, node.name, std::move(mesh));
      }
      const bool has_skins = !joint_of_bone_.empty();
      const auto parts = PartsOf(n, false);
      if (parts.empty() || (!has_skins && !options_.allow_no_skin)) continue;
      SINEW_ASSIGN_OR_RETURN(SourceMesh mesh, ReadAssimpMesh(parts, node.path, {}, out_.problems));
      SINEW_RETURN_IF_ERROR(builder_.budget.Take(SizeOf(mesh), node.path));
      if (has_skins) {
        const auto joint = static_cast<std::uint32_t>(joint_of_node_[n]);
        BindToCarrier({.node = n, .to_carrier = {}}, joint, 0, mesh.mesh);
        out_.problems.push_back({Severity::kInfo,
                                 absl::StrCat("a mesh without skin, which follows the joint '",
                                              out_.rig.joints[joint].name, "'"),
                                 node.path});
      }
      builder_.AddMesh(n, node.name, std::move(mesh));
    }
    return absl::OkStatus();
  }

  const aiScene& source_;
  const ColladaDocument& document_;
  const ImportOptions& options_;
  SceneBuilder builder_;
  ImportedScene& out_ = builder_.out;
  std::vector<const aiNode*> nodes_;  // parallel to those of the builder
  std::unordered_map<std::string, std::uint32_t> node_of_name_, joint_of_bone_;
  std::vector<std::int32_t> joint_of_node_;  // parallel to nodes_
};

// Assimp 5.2 does not find the mesh that a COLLADA morph names, and drops a skin on top of one.
absl::Status RefuseMorphs(const ColladaDocument& document) {
  for (pugi::xml_node element = document.root(); element; element = NextColladaElement(element)) {
    if (std::string_view(element.name()) != "morph") continue;
    return InvalidArgument(
        "controller '", ShownText(element.parent().attribute("id").value()),
        "': COLLADA files with morph targets are not supported, save it as glTF");
  }
  return absl::OkStatus();
}

// Refuses what Assimp reads wrongly, and rewrites what it would misunderstand.
absl::Status PrepareForAssimp(ColladaDocument& document, std::vector<Problem>& problems) {
  SINEW_RETURN_IF_ERROR(RefuseMorphs(document));
  SINEW_RETURN_IF_ERROR(PrepareColladaMeshes(document));
  return PrepareColladaSkins(document, problems);
}

absl::StatusOr<ImportedScene> ParseAndRead(const std::string& bytes, const ImportOptions& options) {
  const auto refused = [](absl::string_view reason) {
    return absl::InvalidArgumentError(absl::StrCat("COLLADA: ", reason));
  };
  try {
    absl::StatusOr<ColladaDocument> document = ColladaDocument::Parse(bytes);
    if (!document.ok()) return refused(document.status().message());
    std::vector<Problem> problems;
    // Assimp gives up on animations that it does not know.
    std::vector<const char*> left_out = {"library_animations", "library_animation_clips"};
    if (options.clips_only) {
      left_out.insert(left_out.end(), {"library_geometries", "library_controllers"});
    } else if (const absl::Status ready = PrepareForAssimp(*document, problems); !ready.ok()) {
      return refused(ready.message());
    }
    const std::string text = document->TextWithout(left_out);
    Assimp::Importer importer;
    // Empty clusters are joints like others.
    importer.SetPropertyBool(AI_CONFIG_IMPORT_REMOVE_EMPTY_BONES, false);
    // A file without meshes is no character: Assimp would draw its skeleton as one.
    importer.SetPropertyBool(AI_CONFIG_IMPORT_NO_SKELETON_MESHES, true);
    const aiScene* scene = importer.ReadFileFromMemory(text.data(), text.size(), 0, "dae");
    if (scene == nullptr || scene->mRootNode == nullptr) {
      const absl::string_view reason = importer.GetErrorString();
      return refused(reason.empty() ? "cannot be parsed" : reason);
    }
    return SceneReader(*scene, *document, options, std::move(problems)).Read();
  } catch (const std::exception& e) {
    return refused(e.what());
  }
}

}  // namespace

absl::StatusOr<ImportedScene> ReadWithAssimp(const std::string& bytes,
                                             const ImportOptions& options) {
  const auto trial = [&] { return ParseAndRead(bytes, options).status(); };
  SINEW_RETURN_IF_ERROR(TryInChild(trial, bytes.size(), "COLLADA"));
  return ParseAndRead(bytes, options);
}

}  // namespace sinew::client
