#include "client/import/assimp_mesh.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr unsigned kMaxFaceCorners = 16384;  // welding a face takes the square of its corners

std::array<float, 12> OffsetMatrix(const aiBone& bone) {
  const aiMatrix4x4& m = bone.mOffsetMatrix;
  return {m.a1, m.a2, m.a3, m.a4, m.b1, m.b2, m.b3, m.b4, m.c1, m.c2, m.c3, m.c4};
}

template <class T>
void AppendBytes(const T& value, std::string& key) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Adding +0 makes -0 and 0 the same bytes.
void AppendVector(const aiVector3D& v, std::string& key) {
  for (const float x : {v.x, v.y, v.z}) AppendBytes(x + 0.0f, key);
}

bool IsFinite(const aiVector3D& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

}  // namespace

AssimpMeshBuilder::AssimpMeshBuilder(
    std::string path, const std::unordered_map<std::string, std::uint32_t>& joint_of_bone,
    bool skinned)
    : path_(std::move(path)),
      skinned_(skinned),
      joint_of_bone_(joint_of_bone),
      collector_(path_, mesh_.skin) {}

bool AssimpMeshBuilder::Fits(const aiMesh& part) const {
  for (unsigned b = 0; b < part.mNumBones; ++b) {
    const auto slot = slots_.find(joint_of_bone_.at(part.mBones[b]->mName.C_Str()));
    if (slot == slots_.end()) continue;
    const std::array<float, 12> offset = OffsetMatrix(*part.mBones[b]);
    if (!std::equal(
            offset.begin(), offset.end(),
            mesh_.skin.inverse_bind.begin() + static_cast<std::ptrdiff_t>(slot->second) * 12)) {
      return false;
    }
  }
  return true;
}

absl::Status AssimpMeshBuilder::AddBones(const aiMesh& part,
                                         std::vector<std::vector<Influence>>& influences) {
  for (unsigned b = 0; b < part.mNumBones; ++b) {
    const aiBone& bone = *part.mBones[b];
    const std::array<float, 12> offset = OffsetMatrix(bone);
    if (!std::all_of(offset.begin(), offset.end(), [](float x) { return std::isfinite(x); })) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": the inverse bind of '", bone.mName.C_Str(), "' is not finite"));
    }
    const std::uint32_t joint = joint_of_bone_.at(bone.mName.C_Str());
    const auto [slot, is_new] =
        slots_.emplace(joint, static_cast<std::uint32_t>(mesh_.skin.joints.size()));
    if (is_new) {
      mesh_.skin.joints.push_back(joint);
      mesh_.skin.inverse_bind.insert(mesh_.skin.inverse_bind.end(), offset.begin(), offset.end());
    }
    for (unsigned w = 0; w < bone.mNumWeights; ++w) {
      const aiVertexWeight& weight = bone.mWeights[w];
      if (weight.mVertexId >= part.mNumVertices) {
        return absl::InvalidArgumentError(absl::StrCat(path_, ": '", bone.mName.C_Str(),
                                                       "' weighs vertex ", weight.mVertexId,
                                                       ", the mesh has ", part.mNumVertices));
      }
      influences[weight.mVertexId].push_back({slot->second, weight.mWeight});
    }
  }
  return absl::OkStatus();
}

absl::Status AssimpMeshBuilder::CheckPart(const aiMesh& part) const {
  if (part.mVertices == nullptr)
    return absl::InvalidArgumentError(absl::StrCat(path_, ": a mesh without positions"));
  for (unsigned v = 0; v < part.mNumVertices; ++v) {
    if (!IsFinite(part.mVertices[v])) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": the position of corner ", v, " is not finite"));
    }
  }
  for (unsigned t = 0; t < part.mNumAnimMeshes; ++t) {
    const aiAnimMesh& target = *part.mAnimMeshes[t];
    if (target.mVertices != nullptr && target.mNumVertices != part.mNumVertices) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": morph target ", t, " has ", target.mNumVertices,
                       " vertices, the mesh has ", part.mNumVertices));
    }
    for (unsigned v = 0; target.mVertices != nullptr && v < target.mNumVertices; ++v) {
      if (!IsFinite(target.mVertices[v])) {
        return absl::InvalidArgumentError(
            absl::StrCat(path_, ": morph target ", t, " is not finite at corner ", v));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status AssimpMeshBuilder::Add(const aiMesh& part) {
  SINEW_RETURN_IF_ERROR(CheckPart(part));
  std::vector<std::vector<Influence>> influences(part.mNumVertices);
  SINEW_RETURN_IF_ERROR(AddBones(part, influences));
  uneven_targets_ |= parts_ > 0 && part.mNumAnimMeshes != targets_.size();
  for (unsigned t = static_cast<unsigned>(targets_.size()); t < part.mNumAnimMeshes; ++t) {
    DenseTarget target;
    target.offsets.resize(mesh_.positions.size());
    targets_.push_back(std::move(target));
    target_names_.push_back(part.mAnimMeshes[t]->mName.C_Str());
    target_weights_.push_back(0);
  }
  has_normals_ |= part.mNormals != nullptr;
  for (unsigned f = 0; f < part.mNumFaces; ++f) {
    if (part.mFaces[f].mNumIndices < 3) {
      ++small_faces_;
      continue;
    }
    SINEW_RETURN_IF_ERROR(AddFace(part, part.mFaces[f], influences));
  }
  ++parts_;
  corners_ += part.mNumVertices;
  return absl::OkStatus();
}

absl::Status AssimpMeshBuilder::AddFace(const aiMesh& part, const aiFace& face,
                                        const std::vector<std::vector<Influence>>& influences) {
  if (face.mNumIndices > kMaxFaceCorners) {
    return absl::InvalidArgumentError(absl::StrCat(path_, ": a face of ", face.mNumIndices,
                                                   " corners, need at most ", kMaxFaceCorners));
  }
  const std::size_t first = mesh_.face_vertices.size();
  for (unsigned i = 0; i < face.mNumIndices; ++i) {
    const std::uint32_t corner = face.mIndices[i];
    if (corner >= part.mNumVertices) {
      return absl::InvalidArgumentError(absl::StrCat(path_, ": a face names vertex ", corner,
                                                     ", the mesh has ", part.mNumVertices));
    }
    for (std::uint32_t nth = 0;; ++nth) {
      SINEW_ASSIGN_OR_RETURN(const std::uint32_t vertex,
                             Weld(part, corner, nth, influences[corner]));
      const auto begin = mesh_.face_vertices.begin() + static_cast<std::ptrdiff_t>(first);
      if (std::find(begin, mesh_.face_vertices.end(), vertex) != mesh_.face_vertices.end())
        continue;
      mesh_.face_vertices.push_back(vertex);
      break;
    }
  }
  mesh_.face_sizes.push_back(face.mNumIndices);
  return absl::OkStatus();
}

absl::StatusOr<std::uint32_t> AssimpMeshBuilder::Weld(const aiMesh& part, std::uint32_t corner,
                                                      std::uint32_t nth,
                                                      const std::vector<Influence>& influences) {
  std::string key;
  AppendBytes(nth, key);
  AppendVector(part.mVertices[corner], key);
  for (unsigned t = 0; t < part.mNumAnimMeshes; ++t) {
    if (part.mAnimMeshes[t]->mVertices != nullptr)
      AppendVector(part.mAnimMeshes[t]->mVertices[corner], key);
  }
  for (const Influence& influence : influences) {
    AppendBytes(influence.joint, key);
    AppendBytes(influence.weight, key);
  }
  const auto vertex = static_cast<std::uint32_t>(mesh_.vertices());
  const auto [found, is_new] = vertices_.emplace(std::move(key), vertex);
  if (!is_new) return found->second;
  const aiVector3D& p = part.mVertices[corner];
  for (const float x : {p.x, p.y, p.z}) mesh_.positions.push_back(x);
  AddTargets(part, corner);
  if (skinned_) {
    SINEW_RETURN_IF_ERROR(collector_.Add(influences, vertex, WeightPolicy::kNormalise));
  }
  return vertex;
}

void AssimpMeshBuilder::AddTargets(const aiMesh& part, std::uint32_t corner) {
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    const bool moves = t < part.mNumAnimMeshes && part.mAnimMeshes[t]->mVertices != nullptr;
    const aiVector3D offset =
        moves ? part.mAnimMeshes[t]->mVertices[corner] - part.mVertices[corner] : aiVector3D();
    for (const float x : {offset.x, offset.y, offset.z}) targets_[t].offsets.push_back(x);
  }
}

absl::Status AssimpMeshBuilder::Finish(std::vector<Problem>& problems, Mesh& mesh,
                                       MeshStatistics& statistics,
                                       std::vector<std::string>& target_names,
                                       std::vector<float>& target_weights) {
  if (mesh_.face_sizes.empty())
    return absl::InvalidArgumentError(absl::StrCat(path_, ": the mesh has no faces"));
  if (skinned_) SINEW_RETURN_IF_ERROR(collector_.Finish(problems));
  if (small_faces_ > 0) {
    problems.push_back(Lost(absl::StrCat(small_faces_, " points and lines"), path_));
  }
  if (uneven_targets_) {
    problems.push_back({Severity::kWarning, "parts differ in their morph targets", path_});
  }
  if (has_normals_) {
    problems.push_back({Severity::kInfo,
                        "normals per corner are not kept: the server computes one per vertex",
                        path_});
  }
  const auto triangle = [](std::uint32_t size) { return size == 3; };
  if (std::all_of(mesh_.face_sizes.begin(), mesh_.face_sizes.end(), triangle))
    mesh_.face_sizes.clear();
  for (const DenseTarget& target : targets_) {
    Shape shape;
    shape.targets.push_back(MakeShapeTarget(target));
    mesh_.shapes.push_back(std::move(shape));
  }
  statistics.primitives = parts_;
  statistics.source_vertices = corners_;
  target_names = std::move(target_names_);
  target_weights = std::move(target_weights_);
  mesh = std::move(mesh_);
  return absl::OkStatus();
}

}  // namespace sinew::client
