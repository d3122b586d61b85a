#include "client/import/fbx_mesh.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "client/import/influences.h"
#include "client/import/placed_mesh.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew::client {
namespace {

Vec3d ToVec3(const ufbx_vec3& v) {
  return {v.x, v.y, v.z};
}

void AppendPoint(const Vec3d& v, std::vector<float>& out) {
  const Vec3f rounded = ToFloat(v);
  out.insert(out.end(), {rounded.x, rounded.y, rounded.z});
}

class FbxMeshReader {
 public:
  FbxMeshReader(const ufbx_mesh& mesh, const ufbx_node& node, const std::string& path,
                SceneBuilder& builder)
      : from_(mesh), path_(path), budget_(builder.budget), problems_(builder.out.problems) {
    // A geometric transform moves the mesh alone. Bind matrices of a skin contain it.
    if (FbxSkin(mesh) == nullptr) to_node_ = FbxMatrix(node.geometry_to_node);
  }

  absl::StatusOr<FbxMesh> Read(const std::vector<std::int32_t>& joint_of_node) {
    SINEW_RETURN_IF_ERROR(budget_.Take(Size(), path_));
    for (const ufbx_vec3& v : from_.vertices)
      AppendPoint(Apply(to_node_, ToVec3(v)), mesh_.positions);
    ReadFaces();
    if (FbxSkin(from_) != nullptr) SINEW_RETURN_IF_ERROR(ReadSkin(joint_of_node));
    ReadShapes();
    if (from_.vertex_normal.exists) {
      problems_.push_back({Severity::kInfo,
                           "normals per corner are not kept: the server computes one per vertex",
                           path_});
    }
    if (from_.cache_deformers.count > 0) {
      problems_.push_back(Lost("a geometry cache, which moves vertices of the mesh", path_));
    }
    return std::move(out_);
  }

 private:
  MeshSize Size() const {
    MeshSize size = {.vertices = from_.num_vertices, .corners = from_.num_indices};
    if (FbxSkin(from_) != nullptr) size.influences = FbxSkin(from_)->weights.count;
    for (const ufbx_blend_deformer* deformer : from_.blend_deformers) {
      for (const ufbx_blend_channel* channel : deformer->channels) {
        size.target_vertices += channel->keyframes.count * from_.num_vertices;
      }
    }
    return size;
  }

  // A face may name a vertex once. Holes stay faces, which is reported.
  void ReadFaces() {
    std::vector<std::size_t> last_face(from_.num_vertices, 0);  // 1 + index
    std::size_t small = 0, repeats = 0;
    std::vector<std::uint32_t> corners;
    const bool uvs = from_.vertex_uv.exists;
    for (std::size_t f = 0; f < from_.faces.count; ++f) {
      const ufbx_face face = from_.faces.data[f];
      corners.clear();
      for (std::uint32_t c = face.index_begin; c < face.index_begin + face.num_indices; ++c) {
        const std::uint32_t vertex = from_.vertex_indices.data[c];
        if (vertex >= from_.num_vertices || last_face[vertex] == f + 1) continue;
        last_face[vertex] = f + 1;
        corners.push_back(c);
      }
      if (face.num_indices < 3) {
        ++small;
        continue;
      }
      repeats += corners.size() < face.num_indices ? 1 : 0;
      if (corners.size() < 3) continue;
      mesh_.face_sizes.push_back(static_cast<std::uint32_t>(corners.size()));
      for (const std::uint32_t c : corners) {
        mesh_.face_vertices.push_back(from_.vertex_indices.data[c]);
        if (!uvs) continue;
        const ufbx_vec2 uv = ufbx_get_vertex_vec2(&from_.vertex_uv, c);
        out_.source.corner_uvs.push_back(static_cast<float>(uv.x));
        out_.source.corner_uvs.push_back(static_cast<float>(uv.y));
      }
    }
    if (Determinant(Linear(to_node_)) < 0) TurnFacesOver(mesh_, out_.source.corner_uvs);
    if (std::ranges::count(mesh_.face_sizes, 3u) == std::ssize(mesh_.face_sizes)) {
      mesh_.face_sizes.clear();
    }
    if (small > 0)
      problems_.push_back(Lost(CountedText(small, "point or line", "points and lines"), path_));
    if (const auto holes = std::ranges::count(from_.face_hole, true); holes > 0) {
      problems_.push_back(
          Lost(CountedText(static_cast<std::uint64_t>(holes), "hole, which is read as a face",
                           "holes, which are read as faces"),
               path_));
    }
    if (repeats > 0) {
      problems_.push_back({Severity::kInfo,
                           absl::StrCat(CountedText(repeats, "face names", "faces name"),
                                        " a vertex twice, repeats are left out"),
                           path_});
    }
  }

  absl::Status ReadSkin(const std::vector<std::int32_t>& joint_of_node) {
    const ufbx_skin_deformer& from = *FbxSkin(from_);
    Skin& skin = mesh_.skin;
    for (const ufbx_skin_cluster* cluster : from.clusters) {
      skin.joints.push_back(
          static_cast<std::uint32_t>(joint_of_node[cluster->bone_node->typed_id]));
      for (const double x : FbxMatrix(cluster->geometry_to_bone).m) {
        skin.inverse_bind.push_back(static_cast<float>(x));
      }
    }
    InfluenceCollector collector(path_, skin);
    std::vector<Influence> influences;
    for (std::size_t v = 0; v < from_.num_vertices; ++v) {
      influences.clear();
      if (v < from.vertices.count) {
        const ufbx_skin_vertex& vertex = from.vertices.data[v];
        for (std::uint32_t i = 0; i < vertex.num_weights; ++i) {
          const ufbx_skin_weight& weight = from.weights.data[vertex.weight_begin + i];
          influences.push_back({weight.cluster_index, weight.weight});
        }
      }
      SINEW_RETURN_IF_ERROR(collector.Add(influences, v));
    }
    collector.Report(problems_);
    ReportMethod(from);
    if (from_.skin_deformers.count > 1) {
      problems_.push_back(Lost(absl::StrCat(from_.skin_deformers.count,
                                            " skins on one mesh, of which the first "
                                            "counts: the others"),
                               path_));
    }
    return absl::OkStatus();
  }

  void ReportMethod(const ufbx_skin_deformer& skin) {
    const char* method = skin.skinning_method == UFBX_SKINNING_METHOD_DUAL_QUATERNION
                             ? "dual quaternions"
                         : skin.skinning_method == UFBX_SKINNING_METHOD_BLENDED_DQ_LINEAR
                             ? "a blend of linear and dual quaternion skinning"
                             : nullptr;
    if (method == nullptr) return;
    problems_.push_back({Severity::kInfo,
                         absl::StrCat("its authoring program skins it with ", method,
                                      ": the recipe `dqs` comes closest"),
                         path_});
  }

  void ReadShapes() {
    for (const ufbx_blend_deformer* deformer : from_.blend_deformers) {
      for (const ufbx_blend_channel* channel : deformer->channels) ReadChannel(*channel);
    }
  }

  // In-betweens of a channel are targets of one control.
  void ReadChannel(const ufbx_blend_channel& channel) {
    std::vector<const ufbx_blend_keyframe*> keys;
    for (const ufbx_blend_keyframe& key : channel.keyframes) {
      if (key.shape != nullptr && key.target_weight != 0) keys.push_back(&key);
    }
    const auto weight = [](const ufbx_blend_keyframe* key) {
      return static_cast<float>(key->target_weight);
    };
    std::ranges::stable_sort(keys, {}, weight);
    const auto same = [&](const auto* a, const auto* b) { return weight(a) == weight(b); };
    keys.erase(std::unique(keys.begin(), keys.end(), same), keys.end());
    const std::string name = ToString(channel.name);
    if (keys.size() < channel.keyframes.count) {
      problems_.push_back(Lost(
          absl::StrCat(CountedText(channel.keyframes.count - keys.size(), "target"),
                       " of the blend shape '", name, "', at 0 % or at the percentage of another"),
          path_));
    }
    if (keys.empty()) return;
    out_.channels.push_back(channel.typed_id);
    for (const ufbx_blend_keyframe* key : keys) {
      SourceTarget& target = out_.source.targets.emplace_back();
      target.name = name;
      target.default_value = static_cast<float>(channel.weight);
      target.weight = weight(key);
      target.is_next = key != keys.front();
      std::vector<ufbx_vec3> offsets(from_.num_vertices);
      ufbx_add_blend_shape_vertex_offsets(key->shape, offsets.data(), offsets.size(), 1);
      const Mat3d turn = Linear(to_node_);
      for (const ufbx_vec3& offset : offsets) {
        AppendPoint(Multiply(turn, ToVec3(offset)), target.offsets);
      }
    }
  }

  const ufbx_mesh& from_;
  const std::string& path_;
  MeshBudget& budget_;
  std::vector<Problem>& problems_;
  AffineD to_node_;
  FbxMesh out_;
  Mesh& mesh_ = out_.source.mesh;
};

}  // namespace

const ufbx_skin_deformer* FbxSkin(const ufbx_mesh& mesh) {
  for (const ufbx_skin_deformer* skin : mesh.skin_deformers) {
    if (skin->clusters.count > 0) return skin;
  }
  return nullptr;
}

absl::StatusOr<FbxMesh> ReadFbxMesh(const ufbx_mesh& mesh, const ufbx_node& node,
                                    const std::vector<std::int32_t>& joint_of_node,
                                    const std::string& path, SceneBuilder& builder) {
  return FbxMeshReader(mesh, node, path, builder).Read(joint_of_node);
}

}  // namespace sinew::client
