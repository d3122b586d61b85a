#include "client/import/assimp_mesh.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/import/influences.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr unsigned kMaxFaceCorners = 16384;  // welding a face takes the square of its corners

template <class T>
void AppendBytes(const T& value, std::string& key) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Adding +0 makes -0 and 0 the same bytes.
void AppendNumbers(std::initializer_list<float> numbers, std::string& key) {
  for (const float x : numbers) AppendBytes(x + 0.0f, key);
}

class MeshReader {
 public:
  MeshReader(const std::string& path,
             const std::unordered_map<std::string, std::uint32_t>& joint_of_bone)
      : path_(path), joint_of_bone_(joint_of_bone), collector_(path, out_.mesh.skin) {}

  absl::StatusOr<SourceMesh> Read(const std::vector<const aiMesh*>& parts,
                                  std::vector<Problem>& problems) {
    bool normals = false;
    for (const aiMesh* part : parts) {
      SINEW_RETURN_IF_ERROR(Add(*part));
      normals |= part->mNormals != nullptr;
    }
    Mesh& mesh = out_.mesh;
    if (mesh.face_sizes.empty()) return InvalidArgument(path_, ": the mesh has no faces");
    if (skinned()) collector_.Report(problems);
    if (small_faces_ > 0) {
      problems.push_back(
          Lost(CountedText(small_faces_, "point or line", "points and lines"), path_));
    }
    if (normals) {
      problems.push_back({Severity::kInfo,
                          "normals per corner are not kept: the server computes one per vertex",
                          path_});
    }
    if (std::ranges::count(mesh.face_sizes, 3u) == std::ssize(mesh.face_sizes)) {
      mesh.face_sizes.clear();
    }
    if (out_.corner_uvs.size() != mesh.face_vertices.size() * 2) out_.corner_uvs.clear();
    return std::move(out_);
  }

 private:
  using Influences = std::vector<std::vector<Influence>>;  // by corner

  bool skinned() const { return !joint_of_bone_.empty(); }

  absl::Status Add(const aiMesh& part) {
    if (part.mVertices == nullptr) return InvalidArgument(path_, ": a mesh without positions");
    Influences influences(part.mNumVertices);
    SINEW_RETURN_IF_ERROR(AddBones(part, influences));
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      if (part.mFaces[f].mNumIndices < 3) {
        ++small_faces_;
      } else {
        SINEW_RETURN_IF_ERROR(AddFace(part, part.mFaces[f], influences));
      }
    }
    return absl::OkStatus();
  }

  // A joint that parts bind in different places comes once for each.
  absl::Status AddBones(const aiMesh& part, Influences& influences) {
    Skin& skin = out_.mesh.skin;
    for (unsigned b = 0; b < part.mNumBones; ++b) {
      const aiBone& bone = *part.mBones[b];
      const aiMatrix4x4& m = bone.mOffsetMatrix;
      const auto offset = {m.a1, m.a2, m.a3, m.a4, m.b1, m.b2, m.b3, m.b4, m.c1, m.c2, m.c3, m.c4};
      const std::uint32_t joint = joint_of_bone_.at(bone.mName.C_Str());
      std::string key;
      AppendBytes(joint, key);
      AppendNumbers(offset, key);
      const auto [slot, is_new] =
          slots_.emplace(std::move(key), static_cast<std::uint32_t>(skin.joints.size()));
      if (is_new) {
        skin.joints.push_back(joint);
        skin.inverse_bind.insert(skin.inverse_bind.end(), offset);
      }
      for (unsigned w = 0; w < bone.mNumWeights; ++w) {
        const aiVertexWeight& weight = bone.mWeights[w];
        if (weight.mVertexId >= part.mNumVertices) {
          return InvalidArgument(path_, ": '", bone.mName.C_Str(), "' weighs vertex ",
                                 weight.mVertexId, ", the mesh has ", part.mNumVertices);
        }
        influences[weight.mVertexId].push_back({slot->second, weight.mWeight});
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddFace(const aiMesh& part, const aiFace& face, const Influences& influences) {
    if (face.mNumIndices > kMaxFaceCorners) {
      return InvalidArgument(path_, ": a face of ", face.mNumIndices, " corners, need at most ",
                             kMaxFaceCorners);
    }
    std::vector<std::uint32_t>& vertices = out_.mesh.face_vertices;
    const auto first = static_cast<std::ptrdiff_t>(vertices.size());
    for (unsigned i = 0; i < face.mNumIndices; ++i) {
      const std::uint32_t corner = face.mIndices[i];
      if (corner >= part.mNumVertices) {
        return InvalidArgument(path_, ": a face names vertex ", corner, ", the mesh has ",
                               part.mNumVertices);
      }
      const auto taken = [&](std::uint32_t vertex) {
        return std::find(vertices.begin() + first, vertices.end(), vertex) != vertices.end();
      };
      std::uint32_t vertex = 0, nth = 0;
      do {
        SINEW_ASSIGN_OR_RETURN(vertex, Weld(part, corner, nth++, influences[corner]));
      } while (taken(vertex));
      vertices.push_back(vertex);
      if (part.HasTextureCoords(0)) {
        const aiVector3D& uv = part.mTextureCoords[0][corner];
        out_.corner_uvs.insert(out_.corner_uvs.end(), {uv.x, uv.y});
      }
    }
    out_.mesh.face_sizes.push_back(face.mNumIndices);
    return absl::OkStatus();
  }

  // The bytes that make corners one vertex.
  std::string Key(const aiMesh& part, std::uint32_t corner, std::uint32_t nth,
                  const std::vector<Influence>& influences) const {
    std::string key;
    AppendBytes(nth, key);
    const aiVector3D& p = part.mVertices[corner];
    AppendNumbers({p.x, p.y, p.z}, key);
    for (const Influence& influence : influences) {
      AppendBytes(influence.joint, key);
      AppendBytes(influence.weight, key);
    }
    return key;
  }

  // The vertex of a corner, made if it is new; `nth` > 0 keeps equal corners of one face apart.
  absl::StatusOr<std::uint32_t> Weld(const aiMesh& part, std::uint32_t corner, std::uint32_t nth,
                                     const std::vector<Influence>& influences) {
    const auto next = static_cast<std::uint32_t>(out_.mesh.vertices());
    const auto [found, is_new] = vertices_.emplace(Key(part, corner, nth, influences), next);
    if (!is_new) return found->second;
    const aiVector3D& p = part.mVertices[corner];
    out_.mesh.positions.insert(out_.mesh.positions.end(), {p.x, p.y, p.z});
    if (skinned()) {
      SINEW_RETURN_IF_ERROR(collector_.Add(influences, next));
    }
    return next;
  }

  const std::string& path_;
  const std::unordered_map<std::string, std::uint32_t>& joint_of_bone_;
  SourceMesh out_;
  InfluenceCollector collector_;  // writes into out_.mesh.skin
  // By the bytes that make a bound joint its index in Skin::joints, or a corner its vertex.
  std::unordered_map<std::string, std::uint32_t> slots_, vertices_;
  std::size_t small_faces_ = 0;
};

}  // namespace

absl::StatusOr<SourceMesh> ReadAssimpMesh(
    const std::vector<const aiMesh*>& parts, const std::string& path,
    const std::unordered_map<std::string, std::uint32_t>& joint_of_bone,
    std::vector<Problem>& problems) {
  return MeshReader(path, joint_of_bone).Read(parts, problems);
}

}  // namespace sinew::client
