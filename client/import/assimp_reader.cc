#include "client/import/assimp_reader.h"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/string_view.h>
#include <assimp/config.h>
#include <assimp/scene.h>

#include <assimp/Importer.hpp>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/import/assimp_animation.h"
#include "client/import/assimp_fence.h"
#include "client/import/assimp_mesh.h"
#include "client/import/placed_mesh.h"
#include "client/import/problems.h"
#include "client/import/scene_graph.h"
#include "client/import/unique_names.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr int kInheritScaleNotAtAll = 2;  // FBX InheritType eInheritRrs

const char* FormatName(AssimpFormat format) {
  return format == AssimpFormat::kFbx ? "FBX" : "COLLADA";
}

Affine ToAffine(const aiMatrix4x4& m) {
  return Affine{{m.a1, m.a2, m.a3, m.a4, m.b1, m.b2, m.b3, m.b4, m.c1, m.c2, m.c3, m.c4}};
}

// Turns an Assimp scene into nodes, skeleton, meshes and clips; one use.
class SceneReader {
 public:
  SceneReader(const aiScene& source, AssimpFormat format, bool allow_no_skin)
      : source_(source),
        format_(format),
        allow_no_skin_(allow_no_skin),
        scene_(std::make_shared<AnimatedScene>()) {}

  absl::StatusOr<ImportedScene> Read() {
    ReadUnits();
    SINEW_RETURN_IF_ERROR(ReadNodes());
    SINEW_RETURN_IF_ERROR(ReadSkeleton());
    SINEW_RETURN_IF_ERROR(ReadMeshes());
    SINEW_RETURN_IF_ERROR(
        ReadAssimpAnimations(source_, node_of_name_, *scene_, out_.clips, out_.problems));
    out_.keeps_file_order = false;
    out_.statistics.format = FormatName(format_);
    out_.animation = scene_;
    AddRigProblems(out_);
    return std::move(out_);
  }

 private:
  // FBX keeps units and axes as data. For COLLADA Assimp puts both into the root node, which has no
  // transform of its own in the file: they are read off it and it is reset, so that numbers stay
  // those of the file.
  void ReadUnits() {
    if (format_ == AssimpFormat::kCollada) {
      const aiMatrix4x4& root = source_.mRootNode->mTransformation;
      const double unit = std::sqrt(root.a1 * root.a1 + root.b1 * root.b1 + root.c1 * root.c1);
      if (unit > 0 && std::isfinite(unit)) out_.rig.meters_per_unit = unit;
      const bool y_up = root.b2 > 0.5 * unit, z_up = root.b3 > 0.5 * unit;
      out_.rig.up_axis = y_up ? UpAxis::kY : z_up ? UpAxis::kZ : UpAxis::kUnspecified;
      return;
    }
    double centimetres = 1;
    std::int32_t up = 1;
    if (source_.mMetaData != nullptr) {
      source_.mMetaData->Get("UnitScaleFactor", centimetres);
      source_.mMetaData->Get("UpAxis", up);
    }
    out_.rig.meters_per_unit =
        std::isfinite(centimetres) && centimetres > 0 ? centimetres * 0.01 : 0.01;
    out_.rig.up_axis = up == 1 ? UpAxis::kY : up == 2 ? UpAxis::kZ : UpAxis::kUnspecified;
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
      made.matrix = parent < 0 ? Affine() : ToAffine(node->mTransformation);
      for (const double x : made.matrix->m) {
        if (!std::isfinite(x))
          return absl::InvalidArgumentError(
              absl::StrCat(made.path, ": the transform is not finite"));
      }
      repeated += node_of_name_.emplace(made.name, index).second ? 0 : 1;
      nodes_.push_back(node);
      scene_->nodes.push_back(std::move(made));
      for (unsigned c = node->mNumChildren; c-- > 0;)
        open.emplace_back(node->mChildren[c], static_cast<std::int32_t>(index));
    }
    if (repeated > 0) {
      out_.problems.push_back(
          {Severity::kWarning,
           absl::StrCat(repeated, " nodes repeat a name; bones and channels go to the first"),
           "nodes"});
    }
    return OrderNodes(*scene_);
  }

  // Joints are the nodes that bones name, in the order of the node tree.
  absl::Status ReadSkeleton() {
    std::vector<bool> is_joint(nodes_.size(), false);
    std::vector<std::pair<std::string, std::uint32_t>> bones;
    for (unsigned m = 0; m < source_.mNumMeshes; ++m) {
      for (unsigned b = 0; b < source_.mMeshes[m]->mNumBones; ++b) {
        const std::string name = source_.mMeshes[m]->mBones[b]->mName.C_Str();
        const auto node = node_of_name_.find(name);
        if (node == node_of_name_.end()) {
          return absl::InvalidArgumentError(absl::StrCat(
              "mesh '", source_.mMeshes[m]->mName.C_Str(), "': the bone '", name, "' is no node"));
        }
        is_joint[node->second] = true;
        bones.emplace_back(name, node->second);
      }
    }
    if (bones.empty() && !allow_no_skin_)
      return absl::InvalidArgumentError(
          "the file has no skin, need a skinned mesh; `sinew weights` computes weights");
    std::vector<std::uint32_t> wanted;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (is_joint[n]) wanted.push_back(n);
    }
    const std::vector<std::int32_t> joint_of_node = BuildSkeleton(wanted, *scene_, out_.rig);
    for (const auto& [name, node] : bones)
      joint_of_bone_[name] = static_cast<std::uint32_t>(joint_of_node[node]);
    ReportScaleInheritance(wanted);
    return absl::OkStatus();
  }

  void ReportScaleInheritance(const std::vector<std::uint32_t>& joints) {
    std::size_t count = 0;
    for (const std::uint32_t n : joints) {
      std::int32_t inherit = 0;
      if (nodes_[n]->mMetaData != nullptr && nodes_[n]->mMetaData->Get("InheritType", inherit)) {
        count += inherit == kInheritScaleNotAtAll ? 1 : 0;
      }
    }
    if (count == 0) return;
    out_.problems.push_back(
        {Severity::kWarning,
         absl::StrCat(count,
                      " joints compensate the scale of their parents, which is not applied; "
                      "wrong where parents are scaled"),
         "joints"});
  }

  absl::Status ReadMeshes() {
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      std::vector<std::unique_ptr<AssimpMeshBuilder>> builders;
      for (unsigned i = 0; i < nodes_[n]->mNumMeshes; ++i) {
        const unsigned index = nodes_[n]->mMeshes[i];
        if (index >= source_.mNumMeshes)
          return absl::InvalidArgumentError(absl::StrCat(scene_->nodes[n].path, ": mesh ", index));
        const aiMesh& part = *source_.mMeshes[index];
        if (part.mNumBones == 0 && !joint_of_bone_.empty()) {
          out_.problems.push_back(Lost(absl::StrCat("mesh '", part.mName.C_Str(), "' without skin"),
                                       scene_->nodes[n].path));
          continue;
        }
        if (builders.empty() || !builders.back()->Fits(part)) {
          builders.push_back(std::make_unique<AssimpMeshBuilder>(
              scene_->nodes[n].path, joint_of_bone_, !joint_of_bone_.empty()));
        }
        SINEW_RETURN_IF_ERROR(builders.back()->Add(part));
      }
      for (const auto& builder : builders) SINEW_RETURN_IF_ERROR(AddMesh(n, *builder));
    }
    if (!out_.rig.meshes.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(joint_of_bone_.empty()
                                          ? "nodes: no mesh, need at least one"
                                          : "nodes: no mesh has a skin, need at least one");
  }

  absl::Status AddMesh(std::uint32_t node, AssimpMeshBuilder& builder) {
    Mesh mesh;
    MeshStatistics statistics;
    std::vector<std::string> target_names;
    std::vector<float> target_weights;
    SINEW_RETURN_IF_ERROR(
        builder.Finish(out_.problems, mesh, statistics, target_names, target_weights));
    if (mesh.skin.empty()) PlaceMesh(WorldTransform(*scene_, node), mesh);
    const std::string& name = scene_->nodes[node].name;
    mesh.name =
        mesh_names_.Take(name.substr(0, name.find("_$AssimpFbx$")), absl::StrCat("mesh_", node));
    mesh.source_path = scene_->nodes[node].path;
    ReportInBetweens(target_names, mesh.source_path);
    const ControlRange range{node, out_.rig.controls.size(), mesh.shapes.size()};
    for (std::size_t t = 0; t < mesh.shapes.size(); ++t) {
      Control control;
      control.name = control_names_.Take(target_names[t], absl::StrCat(mesh.name, ".target_", t));
      control.default_value = target_weights[t];
      mesh.shapes[t].control = control.name;
      out_.rig.controls.push_back(std::move(control));
    }
    if (range.count > 0) scene_->controls.push_back(range);
    out_.rig.meshes.push_back(std::move(mesh));
    out_.statistics.meshes.push_back(std::move(statistics));
    return absl::OkStatus();
  }

  // Assimp hands out each sculpt of a channel under the channel's name, without its percentage.
  void ReportInBetweens(const std::vector<std::string>& names, const std::string& path) {
    std::map<std::string, std::size_t> sculpts;
    for (const std::string& name : names) {
      if (name.empty() || ++sculpts[name] != 2) continue;
      out_.problems.push_back(
          Lost(absl::StrCat("in-betweens of the blend shape '", name,
                            "': its sculpts become controls of their own, and its keys drive the "
                            "first of them alone"),
               path));
    }
  }

  const aiScene& source_;
  const AssimpFormat format_;
  const bool allow_no_skin_;
  std::shared_ptr<AnimatedScene> scene_;
  ImportedScene out_;
  std::vector<const aiNode*> nodes_;  // parallel to scene_->nodes
  std::unordered_map<std::string, std::uint32_t> node_of_name_, joint_of_bone_;
  UniqueNames mesh_names_, control_names_;
};

const aiScene* Parse(Assimp::Importer& importer, const std::string& bytes, AssimpFormat format) {
  // Materials would split a mesh and reorder its faces; empty clusters are joints like others.
  importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_MATERIALS, false);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_TEXTURES, false);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_LIGHTS, false);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_CAMERAS, false);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_REMOVE_EMPTY_BONES, false);
  // A file without meshes is no character: Assimp would draw its skeleton as one.
  importer.SetPropertyBool(AI_CONFIG_IMPORT_NO_SKELETON_MESHES, true);
  return importer.ReadFileFromMemory(bytes.data(), bytes.size(), 0,
                                     format == AssimpFormat::kFbx ? "fbx" : "dae");
}

absl::StatusOr<ImportedScene> ParseAndRead(const std::string& bytes, AssimpFormat format,
                                           const ImportOptions& options) {
  // Assimp 5.2 does not find the mesh that a COLLADA morph names, and drops a skin on top of one.
  const bool morphs = format == AssimpFormat::kCollada && absl::StrContains(bytes, "<morph");
  const auto refused = [&](absl::string_view reason) {
    return absl::InvalidArgumentError(absl::StrCat(
        FormatName(format), ": ", reason,
        morphs ? " (COLLADA files with morph targets are not supported: save it as glTF)" : ""));
  };
  try {
    Assimp::Importer importer;
    const aiScene* scene = Parse(importer, bytes, format);
    if (scene == nullptr || scene->mRootNode == nullptr) {
      const absl::string_view reason = importer.GetErrorString();
      return refused(reason.empty() ? "cannot be parsed" : reason);
    }
    absl::StatusOr<ImportedScene> read = SceneReader(*scene, format, options.allow_no_skin).Read();
    if (!read.ok()) return morphs ? refused(read.status().message()) : read.status();
    if (morphs) {
      read->problems.push_back(
          Lost("morph targets, and meshes with a skin on top of them: COLLADA files with morph "
               "targets are not read completely, save it as glTF",
               "library_controllers"));
    }
    return read;
  } catch (const std::exception& e) {
    return refused(e.what());
  }
}

}  // namespace

absl::StatusOr<ImportedScene> ReadWithAssimp(const std::string& bytes, AssimpFormat format,
                                             const ImportOptions& options) {
  const auto trial = [&] { return ParseAndRead(bytes, format, options).status(); };
  SINEW_RETURN_IF_ERROR(TryInChild(trial, bytes.size(), FormatName(format)));
  return ParseAndRead(bytes, format, options);
}

}  // namespace sinew::client
