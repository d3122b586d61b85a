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
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/import/assimp_animation.h"
#include "client/import/assimp_fence.h"
#include "client/import/assimp_mesh.h"
#include "client/import/collada_animation.h"
#include "client/import/collada_document.h"
#include "client/import/collada_nodes.h"
#include "client/import/collada_skin.h"
#include "client/import/fbx_points.h"
#include "client/import/scene_graph.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr int kInheritScaleNotAtAll = 2;  // FBX InheritType eInheritRrs

const char* FormatName(AssimpFormat format) {
  return format == AssimpFormat::kFbx ? "FBX" : "COLLADA";
}

AffineD ToAffine(const aiMatrix4x4& m) {
  return {{m.a1, m.a2, m.a3, m.a4, m.b1, m.b2, m.b3, m.b4, m.c1, m.c2, m.c3, m.c4}};
}

// Turns an Assimp scene into nodes, skeleton, meshes and clips; one use.
class SceneReader {
 public:
  // points: of FBX files, see ReadFbxPoints. collada: of COLLADA files, else null.
  SceneReader(const aiScene& source, AssimpFormat format, bool allow_no_skin,
              std::unordered_map<std::string, FbxPoints> points, const ColladaDocument* collada)
      : source_(source),
        format_(format),
        allow_no_skin_(allow_no_skin),
        points_(std::move(points)),
        collada_(collada) {}

  absl::StatusOr<ImportedScene> Read() {
    ReadUnits();
    SINEW_RETURN_IF_ERROR(ReadNodes());
    std::vector<ColladaNode> collada_nodes;
    if (collada_ != nullptr) {
      SINEW_ASSIGN_OR_RETURN(collada_nodes,
                             ReadColladaNodes(*collada_, nodes_.size(), out_.problems));
      SINEW_RETURN_IF_ERROR(PlaceColladaNodes(collada_nodes, *builder_.scene));
    }
    SINEW_RETURN_IF_ERROR(ReadSkeleton());
    SINEW_RETURN_IF_ERROR(ReadMeshes());
    SINEW_RETURN_IF_ERROR(collada_ != nullptr
                              ? AddColladaClips(*collada_, collada_nodes, builder_)
                              : ReadAssimpAnimations(source_, node_of_name_, builder_));
    out_.format = FormatName(format_);
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
      made.matrix = parent < 0 ? AffineD() : ToAffine(node->mTransformation);
      repeated += node_of_name_.emplace(made.name, index).second ? 0 : 1;
      nodes_.push_back(node);
      builder_.scene->nodes.push_back(std::move(made));
      for (unsigned c = node->mNumChildren; c-- > 0;)
        open.emplace_back(node->mChildren[c], static_cast<std::int32_t>(index));
    }
    if (repeated > 0) {
      out_.problems.push_back(
          {Severity::kWarning,
           absl::StrCat(repeated, " nodes repeat a name; bones and channels go to the first"),
           "nodes"});
    }
    return builder_.OrderNodes();
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
    const std::vector<std::int32_t> joint_of_node = builder_.AddJoints(wanted);
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
      const SceneNode& node = builder_.scene->nodes[n];
      std::vector<const aiMesh*> parts;
      for (unsigned i = 0; i < nodes_[n]->mNumMeshes; ++i) {
        const unsigned index = nodes_[n]->mMeshes[i];
        if (index >= source_.mNumMeshes) return InvalidArgument(node.path, ": mesh ", index);
        const aiMesh& part = *source_.mMeshes[index];
        if (part.mNumBones == 0 && !(allow_no_skin_ && joint_of_bone_.empty())) {
          out_.problems.push_back(
              Lost(absl::StrCat("mesh '", part.mName.C_Str(), "' without skin"), node.path));
        } else {
          parts.push_back(&part);
        }
      }
      if (parts.empty()) continue;
      const std::string name = node.name.substr(0, node.name.find("_$AssimpFbx$_"));
      const auto points = points_.find(name);
      SINEW_ASSIGN_OR_RETURN(
          SourceMesh mesh,
          ReadAssimpMesh(parts, node.path, joint_of_bone_,
                         points == points_.end() ? nullptr : &points->second, out_.problems));
      ReportInBetweens(mesh.targets, node.path);
      out_.keeps_file_order &= mesh.in_file_order;
      builder_.AddMesh(n, name, std::move(mesh));
    }
    return absl::OkStatus();
  }

  // Assimp hands out each sculpt of a channel under the channel's name, without its percentage.
  void ReportInBetweens(const std::vector<SourceTarget>& targets, const std::string& path) {
    std::map<std::string, std::size_t> sculpts;
    for (const SourceTarget& target : targets) {
      if (target.name.empty() || ++sculpts[target.name] != 2) continue;
      out_.problems.push_back(
          Lost(absl::StrCat("in-betweens of the blend shape '", target.name,
                            "': its sculpts become controls of their own, and its keys drive the "
                            "first of them alone"),
               path));
    }
  }

  const aiScene& source_;
  const AssimpFormat format_;
  const bool allow_no_skin_;
  const std::unordered_map<std::string, FbxPoints> points_;
  const ColladaDocument* const collada_;
  SceneBuilder builder_;
  ImportedScene& out_ = builder_.out;
  std::vector<const aiNode*> nodes_;  // parallel to those of the builder
  std::unordered_map<std::string, std::uint32_t> node_of_name_, joint_of_bone_;
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
    std::optional<ColladaDocument> collada;
    if (format == AssimpFormat::kCollada) {
      absl::StatusOr<ColladaDocument> parsed = ColladaDocument::Parse(bytes);
      if (!parsed.ok()) return refused(parsed.status().message());
      collada = *std::move(parsed);
      if (const absl::Status named = NameColladaJointsById(*collada); !named.ok()) {
        return refused(named.message());
      }
    }
    Assimp::Importer importer;
    const aiScene* scene =
        Parse(importer, collada ? collada->TextWithoutAnimations() : bytes, format);
    if (scene == nullptr || scene->mRootNode == nullptr) {
      const absl::string_view reason = importer.GetErrorString();
      return refused(reason.empty() ? "cannot be parsed" : reason);
    }
    std::unordered_map<std::string, FbxPoints> points;
    if (format == AssimpFormat::kFbx) points = ReadFbxPoints(bytes);
    absl::StatusOr<ImportedScene> read =
        SceneReader(*scene, format, options.allow_no_skin, std::move(points),
                    collada ? &*collada : nullptr)
            .Read();
    if (!morphs) return read;
    if (!read.ok()) return refused(read.status().message());
    if (read->rig.meshes.empty()) return refused("no mesh has a skin");
    read->problems.push_back(
        Lost("morph targets, and meshes with a skin on top of them: COLLADA files with morph "
             "targets are not read completely, save it as glTF",
             "library_controllers"));
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
