#include "client/import/gltf_mesh.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "client/import/gltf_accessor.h"
#include "client/import/gltf_document.h"
#include "client/import/influences.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

using Attributes = std::map<std::string, int>;

bool HasWeights(const Attributes& attributes) {
  return attributes.count("JOINTS_0") > 0 || attributes.count("WEIGHTS_0") > 0;
}

// Leaves out joints that no vertex uses and whose inverse bind matrix has a fault.
absl::Status DropFaultyJoints(const GltfSkin& source, const std::string& path, Skin& skin,
                              std::vector<Problem>& problems) {
  std::vector<std::size_t> users(skin.joints.size());
  for (const std::uint32_t slot : skin.influence_joints) ++users[slot];
  std::vector<std::uint32_t> slots(skin.joints.size());  // of those that stay
  Skin kept;
  const char* dropped = nullptr;
  for (std::size_t slot = 0; slot < skin.joints.size(); ++slot) {
    const char* fault = slot < source.faults.size() ? source.faults[slot] : nullptr;
    if (fault != nullptr && users[slot] > 0) {
      return InvalidArgument(path, ": the inverse bind matrix of joint ", slot, " of its skin ",
                             fault, ", and ",
                             CountedText(users[slot], "vertex uses it", "vertices use it"));
    }
    if (fault != nullptr) {
      dropped = fault;
      continue;
    }
    slots[slot] = static_cast<std::uint32_t>(kept.joints.size());
    kept.joints.push_back(skin.joints[slot]);
    const auto row = std::span(skin.inverse_bind).subspan(slot * 12, 12);
    kept.inverse_bind.insert(kept.inverse_bind.end(), row.begin(), row.end());
  }
  if (dropped == nullptr) return absl::OkStatus();
  if (kept.joints.empty()) {
    return InvalidArgument(path, ": no inverse bind matrix of its skin is sound, one ", dropped);
  }
  problems.push_back(
      {Severity::kInfo,
       absl::StrCat(CountedText(skin.joints.size() - kept.joints.size(),
                                "joint that no vertex uses is", "joints that no vertex uses are"),
                    " left out of the skin, as an inverse bind "
                    "matrix ",
                    dropped),
       path});
  for (std::uint32_t& slot : skin.influence_joints) slot = slots[slot];
  skin.joints = std::move(kept.joints);
  skin.inverse_bind = std::move(kept.inverse_bind);
  return absl::OkStatus();
}

class MeshReader {
 public:
  MeshReader(const tinygltf::Model& model, const GltfSkin* skin, const GltfCarrier* carrier,
             const std::string& path, SceneBuilder& builder)
      : model_(model),
        skin_(skin),
        carrier_(carrier),
        path_(path),
        budget_(builder.budget),
        problems_(builder.out.problems),
        influences_(path, out_.mesh.skin) {
    if (skin == nullptr) return;
    out_.mesh.skin.joints = skin->joints;
    for (const AffineD& inverse : skin->inverse_bind) {
      const Affine rounded = ToFloat(inverse);
      out_.mesh.skin.inverse_bind.insert(out_.mesh.skin.inverse_bind.end(), rounded.m.begin(),
                                         rounded.m.end());
    }
  }

  absl::StatusOr<SourceMesh> Read(const tinygltf::Mesh& mesh, const tinygltf::Node& node) {
    for (const tinygltf::Primitive& primitive : mesh.primitives) {
      targets_.resize(std::max(targets_.size(), primitive.targets.size()));
    }
    for (std::size_t p = 0; p < mesh.primitives.size(); ++p) {
      SINEW_RETURN_IF_ERROR(
          ReadPrimitive(mesh.primitives[p], absl::StrCat(path_, " primitives[", p, "]")));
    }
    if (out_.mesh.positions.empty()) return InvalidArgument(path_, ": the mesh has no vertices");
    influences_.Report(problems_);
    if (skin_ != nullptr) {
      SINEW_RETURN_IF_ERROR(DropFaultyJoints(*skin_, path_, out_.mesh.skin, problems_));
    }
    // Normals or tangents of some primitives alone would be wrong on the others.
    if (out_.mesh.normals.size() != out_.mesh.vertices() * 3) out_.mesh.normals.clear();
    if (out_.mesh.tangents.size() != out_.mesh.vertices() * 4 || !TangentsAreSound()) {
      out_.mesh.tangents.clear();
    }
    SetCornerUvs();
    FinishTargets(mesh, node);
    FinishBlenderVertices();
    if (degenerate_ > 0) {
      problems_.push_back(
          {Severity::kInfo,
           absl::StrCat(CountedText(degenerate_, "triangle names", "triangles name"),
                        " a vertex twice, left out"),
           path_});
    }
    if (tangent_offsets_) {
      problems_.push_back(Lost("tangent offsets of the morph targets", path_));
    }
    return std::move(out_);
  }

 private:
  absl::Status ReadPrimitive(const tinygltf::Primitive& primitive, const std::string& where) {
    const auto position = primitive.attributes.find("POSITION");
    if (position == primitive.attributes.end()) return InvalidArgument(where, ": no POSITION");
    const std::string what = where + " POSITION";
    SINEW_ASSIGN_OR_RETURN(const Elements positions, ReadElements(model_, position->second, what));
    SINEW_RETURN_IF_ERROR(CheckPositions(positions, position->second, what));
    base_ = out_.mesh.vertices();
    count_ = positions.count;
    SINEW_RETURN_IF_ERROR(
        budget_.Take({.vertices = count_, .target_vertices = count_ * targets_.size()}, where));
    Append(positions, out_.mesh.positions);
    SINEW_RETURN_IF_ERROR(ReadWeights(primitive.attributes, where));
    SINEW_RETURN_IF_ERROR(
        ReadOptional(primitive.attributes, "NORMAL", 3, where, out_.mesh.normals));
    SINEW_RETURN_IF_ERROR(
        ReadOptional(primitive.attributes, "TANGENT", 4, where, out_.mesh.tangents));
    // Texture coordinates only serve other programs: wrong ones do not refuse the mesh.
    const absl::Status uvs =
        ReadOptional(primitive.attributes, "TEXCOORD_0", 2, where, vertex_uvs_);
    if (!uvs.ok()) problems_.push_back(Lost(std::string(uvs.message()), path_));
    SINEW_RETURN_IF_ERROR(ReadTargets(primitive, where));
    return ReadFaces(primitive, where);
  }

  absl::Status CheckPositions(const Elements& e, int accessor, const std::string& what) {
    if (e.width != 3) return InvalidArgument(what, ": need three components, got ", e.width);
    const tinygltf::Accessor& source = model_.accessors[static_cast<std::size_t>(accessor)];
    if (source.bufferView >= 0 || source.sparse.isSparse) return absl::OkStatus();
    return InvalidArgument(what,
                           ": the accessor has no bufferView, so the vertices have no positions");
  }

  static void Append(const Elements& e, std::vector<float>& out) {
    for (const double x : e.values) out.push_back(static_cast<float>(x));
  }

  // Reads an attribute that must hold one element of the given width per vertex.
  absl::StatusOr<Elements> ReadAttribute(int accessor, std::size_t width, const std::string& what,
                                         bool need_finite = true) const {
    SINEW_ASSIGN_OR_RETURN(Elements e, ReadElements(model_, accessor, what, need_finite));
    if (e.width != width || e.count != count_) {
      return InvalidArgument(what, ": ", CountedText(e.count, "element"), " of ",
                             CountedText(e.width, "component"), ", need ", count_, " of ", width);
    }
    return e;
  }

  // Appends, unless a primitive before had none.
  absl::Status ReadOptional(const Attributes& attributes, const char* name, std::size_t width,
                            const std::string& where, std::vector<float>& out) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return absl::OkStatus();
    SINEW_ASSIGN_OR_RETURN(const Elements e,
                           ReadAttribute(found->second, width, absl::StrCat(where, " ", name)));
    if (out.size() == base_ * width) Append(e, out);
    return absl::OkStatus();
  }

  // In glTF v points down.
  void SetCornerUvs() {
    if (vertex_uvs_.size() != out_.mesh.vertices() * 2) return;
    for (const std::uint32_t v : out_.mesh.face_vertices) {
      out_.corner_uvs.insert(out_.corner_uvs.end(),
                             {vertex_uvs_[v * 2], 1 - vertex_uvs_[v * 2 + 1]});
    }
  }

  // Tangents that servers refuse must not keep the mesh from them.
  bool TangentsAreSound() {
    std::vector<float>& tangents = out_.mesh.tangents;
    for (std::size_t i = 0; i < tangents.size(); i += 4) {
      const std::span<const float> t = std::span(tangents).subspan(i, 4);
      const bool finite = std::all_of(t.begin(), t.end(), [](float x) { return std::isfinite(x); });
      const bool absent = t[0] == 0 && t[1] == 0 && t[2] == 0;
      if (finite && (absent || std::abs(std::abs(t[3]) - 1) < 0.01f)) continue;
      problems_.push_back(
          Lost(absl::StrCat("tangents: vertex ", i / 4, " has (", t[0], ", ", t[1], ", ", t[2],
                            ", ", t[3], "), need finite numbers and a handedness of 1 or -1"),
               path_));
      return false;
    }
    return true;
  }

  // Reads the weights of the file, or binds the primitive to the joint or node that carries it.
  absl::Status ReadWeights(const Attributes& attributes, const std::string& where) {
    if (skin_ != nullptr && HasWeights(attributes)) return ReadInfluences(attributes, where);
    if (carrier_ == nullptr) return absl::OkStatus();
    BindToCarrier(carrier_->carrier, carrier_->joint, base_, out_.mesh);
    if (skin_ != nullptr) {
      problems_.push_back(
          {Severity::kWarning,
           absl::StrCat("no JOINTS_0 in a mesh with a skin: follows ", carrier_->path), where});
    }
    return absl::OkStatus();
  }

  // All JOINTS_n, WEIGHTS_n pairs.
  absl::Status ReadInfluences(const Attributes& attributes, const std::string& where) {
    std::vector<Elements> joints, weights;
    for (int set = 0;; ++set) {
      const auto j = attributes.find(absl::StrCat("JOINTS_", set)),
                 w = attributes.find(absl::StrCat("WEIGHTS_", set));
      if (j == attributes.end() && w == attributes.end()) break;
      if (j == attributes.end() || w == attributes.end()) {
        return InvalidArgument(where, ": JOINTS_", set, " and WEIGHTS_", set,
                               " must come together");
      }
      SINEW_RETURN_IF_ERROR(budget_.Take({.influences = count_ * 4}, where));
      SINEW_ASSIGN_OR_RETURN(Elements joint,
                             ReadAttribute(j->second, 4, absl::StrCat(where, " ", j->first)));
      SINEW_ASSIGN_OR_RETURN(Elements weight,
                             ReadAttribute(w->second, 4, absl::StrCat(where, " ", w->first),
                                           /*need_finite=*/false));  // InfluenceCollector does
      if (joint.is_float || joint.normalised) {
        return InvalidArgument(where, " ", j->first, ": need an unsigned integer type");
      }
      if (!weight.is_float && !weight.normalised) {
        return InvalidArgument(where, " ", w->first, ": integer weights must be `normalized`");
      }
      joints.push_back(std::move(joint));
      weights.push_back(std::move(weight));
    }
    std::vector<Influence> influences(joints.size() * 4);
    for (std::size_t v = 0; v < count_; ++v) {
      for (std::size_t i = 0; i < influences.size(); ++i) {
        const std::size_t at = v * 4 + i % 4;
        const double joint = joints[i / 4].values[at], weight = weights[i / 4].values[at];
        if (weight != 0 && !std::isnan(weight) &&
            joint >= static_cast<double>(skin_->joints.size())) {
          return InvalidArgument(where, ": vertex ", base_ + v, " names joint ", joint,
                                 ", the skin has ", skin_->joints.size());
        }
        influences[i] = {joint < 0 ? ~std::uint32_t{0} : static_cast<std::uint32_t>(joint), weight};
      }
      SINEW_RETURN_IF_ERROR(influences_.Add(influences, base_ + v));
    }
    return absl::OkStatus();
  }

  absl::Status ReadTargets(const tinygltf::Primitive& primitive, const std::string& where) {
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      SourceTarget& target = targets_[t];
      if (t < primitive.targets.size()) {
        for (const auto& [name, accessor] : primitive.targets[t]) {
          const bool position = name == "POSITION";
          if (!position && name != "NORMAL") {
            tangent_offsets_ |= name == "TANGENT";
            continue;
          }
          SINEW_ASSIGN_OR_RETURN(
              const Elements e,
              ReadAttribute(accessor, 3, absl::StrCat(where, " targets[", t, "] ", name)));
          std::vector<float>& out = position ? target.offsets : target.normal_offsets;
          out.resize(base_ * 3);
          Append(e, out);
        }
      }
      target.offsets.resize((base_ + count_) * 3);
      if (!target.normal_offsets.empty()) target.normal_offsets.resize((base_ + count_) * 3);
    }
    return absl::OkStatus();
  }

  absl::Status ReadFaces(const tinygltf::Primitive& primitive, const std::string& where) {
    std::vector<std::uint32_t> indices;
    if (primitive.indices >= 0) {
      SINEW_ASSIGN_OR_RETURN(indices,
                             ReadIndices(model_, primitive.indices, count_, where + " indices"));
    } else {
      indices.resize(count_);
      std::iota(indices.begin(), indices.end(), 0u);
    }
    const std::size_t n = indices.size();
    SINEW_RETURN_IF_ERROR(
        budget_.Take({.corners = primitive.mode == TINYGLTF_MODE_TRIANGLES ? n : 3 * n}, where));
    MarkUsed(primitive.mode, indices);
    switch (primitive.mode) {
      case TINYGLTF_MODE_TRIANGLES:
        if (n % 3 != 0)
          return InvalidArgument(where, ": ", CountedText(n, "index", "indices"),
                                 ", triangles need a multiple of 3");
        for (std::size_t i = 0; i + 2 < n; i += 3)
          AddTriangle(indices[i], indices[i + 1], indices[i + 2]);
        return absl::OkStatus();
      case TINYGLTF_MODE_TRIANGLE_STRIP:
        for (std::size_t i = 0; i + 2 < n; ++i) {
          AddTriangle(indices[i], indices[i + 1 + i % 2], indices[i + 2 - i % 2]);
        }
        return absl::OkStatus();
      case TINYGLTF_MODE_TRIANGLE_FAN:
        for (std::size_t i = 1; i + 1 < n; ++i) AddTriangle(indices[i], indices[i + 1], indices[0]);
        return absl::OkStatus();
      default:
        if (primitive.mode < TINYGLTF_MODE_POINTS || primitive.mode > TINYGLTF_MODE_LINE_STRIP) {
          return InvalidArgument(where, ": mode ", primitive.mode, ", need 0 to 6");
        }
        problems_.push_back(
            {Severity::kWarning, "points or lines: vertices kept, without faces", where});
        return absl::OkStatus();
    }
  }

  // Degenerate triangles count: Blender's importer drops them later than vertices.
  void MarkUsed(int mode, const std::vector<std::uint32_t>& indices) {
    const bool points = mode == TINYGLTF_MODE_POINTS;
    const bool lines = mode == TINYGLTF_MODE_LINE || mode == TINYGLTF_MODE_LINE_LOOP ||
                       mode == TINYGLTF_MODE_LINE_STRIP;
    used_.resize(base_ + count_);
    if (indices.size() < (points ? 1u : lines ? 2u : 3u)) return;
    for (const std::uint32_t v : indices) used_[base_ + v] = true;
  }

  void FinishBlenderVertices() {
    if (std::ranges::find(used_, false) == used_.end()) return;
    for (std::uint32_t v = 0; v < used_.size(); ++v) {
      if (used_[v]) out_.blender_vertices.push_back(v);
    }
  }

  void AddTriangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (a == b || b == c || c == a) {
      ++degenerate_;
      return;
    }
    const auto base = static_cast<std::uint32_t>(base_);
    for (const std::uint32_t v : {a, b, c}) out_.mesh.face_vertices.push_back(base + v);
  }

  // Null if the mesh names none. Value::Get asserts that extras is an object.
  static const tinygltf::Value& TargetNames(const tinygltf::Mesh& mesh) {
    static const tinygltf::Value none;
    if (mesh.extras.Has("targetNames")) return mesh.extras.Get("targetNames");
    if (mesh.primitives.empty() || !mesh.primitives[0].extras.Has("targetNames")) return none;
    return mesh.primitives[0].extras.Get("targetNames");
  }

  void FinishTargets(const tinygltf::Mesh& mesh, const tinygltf::Node& node) {
    const std::vector<double>& weights = node.weights.empty() ? mesh.weights : node.weights;
    const tinygltf::Value& names = TargetNames(mesh);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      const auto index = static_cast<int>(t);
      const bool named = names.IsArray() && t < names.ArrayLen() && names.Get(index).IsString();
      if (named) targets_[t].name = names.Get(index).Get<std::string>();
      if (t < weights.size()) targets_[t].default_value = static_cast<float>(weights[t]);
    }
    if (std::ranges::any_of(mesh.primitives, [&](const tinygltf::Primitive& primitive) {
          return primitive.targets.size() != targets_.size();
        })) {
      problems_.push_back({Severity::kWarning, "primitives differ in their morph targets", path_});
    }
  }

  const tinygltf::Model& model_;
  const GltfSkin* const skin_;
  const GltfCarrier* const carrier_;
  const std::string& path_;
  MeshBudget& budget_;
  std::vector<Problem>& problems_;
  SourceMesh out_;
  InfluenceCollector influences_;  // after out_, into which it writes
  std::vector<SourceTarget>& targets_ = out_.targets;
  std::size_t base_ = 0, count_ = 0;  // vertices before, and of, the current primitive
  std::size_t degenerate_ = 0;
  std::vector<float> vertex_uvs_;  // [V * 2], as in the file
  std::vector<bool> used_;         // [V] by a triangle, line or point
  bool tangent_offsets_ = false;
};

}  // namespace

absl::StatusOr<SourceMesh> ReadGltfMesh(const tinygltf::Model& model, const tinygltf::Node& node,
                                        const GltfSkin* skin, const GltfCarrier* carrier,
                                        const std::string& path, SceneBuilder& builder) {
  SINEW_ASSIGN_OR_RETURN(const auto* mesh, Find(model.meshes, node.mesh, path, "mesh"));
  return MeshReader(model, skin, carrier, path, builder).Read(*mesh, node);
}

bool HasPrimitiveWithoutWeights(const tinygltf::Model& model, int mesh) {
  return mesh >= 0 && static_cast<std::size_t>(mesh) < model.meshes.size() &&
         !std::ranges::all_of(
             model.meshes[static_cast<std::size_t>(mesh)].primitives,
             [](const tinygltf::Primitive& primitive) { return HasWeights(primitive.attributes); });
}

}  // namespace sinew::client
