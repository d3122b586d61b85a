// assimp_player.h - plays an animated file by Assimp alone: what any loader of the format shows.
#pragma once

#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <algorithm>
#include <assimp/Importer.hpp>
#include <map>
#include <string>
#include <vector>

namespace sinew::testing {

class AssimpPlayer {
 public:
  explicit AssimpPlayer(const std::string& path) : scene_(importer_.ReadFile(path, 0)) {}

  bool ok() const { return scene_ != nullptr && scene_->mNumAnimations > 0; }
  std::string error() const { return importer_.GetErrorString(); }

  // [x, y, z of every vertex] at the key `key` of the first animation, which has the same times in
  // all channels, or one key.
  std::vector<float> Play(unsigned key) const { return Play(key, false); }
  // Normals of the vertices at a key, by the linear part of the blend.
  std::vector<float> PlayNormals(unsigned key) const { return Play(key, true); }

 private:
  std::vector<float> Play(unsigned key, bool normals) const {
    std::map<std::string, aiMatrix4x4> places;
    Place(scene_->mRootNode, aiMatrix4x4(), key, places);
    std::vector<float> out;
    for (unsigned m = 0; m < scene_->mNumMeshes; ++m) {
      const aiMesh& mesh = *scene_->mMeshes[m];
      const aiVector3D* const begin = normals ? mesh.mNormals : mesh.mVertices;
      std::vector<aiVector3D> at(begin, begin + mesh.mNumVertices);
      AddShapes(mesh, key, normals, at);
      std::vector<aiVector3D> sum(mesh.mNumVertices);
      for (unsigned b = 0; b < mesh.mNumBones; ++b) {
        const aiBone& bone = *mesh.mBones[b];
        const aiMatrix4x4 matrix = places.at(bone.mName.C_Str()) * bone.mOffsetMatrix;
        for (unsigned w = 0; w < bone.mNumWeights; ++w) {
          const aiVertexWeight& weight = bone.mWeights[w];
          const aiVector3D& from = at[weight.mVertexId];
          sum[weight.mVertexId] +=
              weight.mWeight * (normals ? aiMatrix3x3(matrix) * from : matrix * from);
        }
      }
      for (const aiVector3D& p : sum) out.insert(out.end(), {p.x, p.y, p.z});
    }
    return out;
  }

  void Place(const aiNode* node, const aiMatrix4x4& above, unsigned key,
             std::map<std::string, aiMatrix4x4>& places) const {
    aiMatrix4x4 local = node->mTransformation;
    const aiAnimation& animation = *scene_->mAnimations[0];
    for (unsigned c = 0; c < animation.mNumChannels; ++c) {
      const aiNodeAnim& channel = *animation.mChannels[c];
      if (channel.mNodeName != node->mName) continue;
      const auto at = [&](unsigned count) { return std::min(key, count - 1); };
      local = aiMatrix4x4(channel.mScalingKeys[at(channel.mNumScalingKeys)].mValue,
                          channel.mRotationKeys[at(channel.mNumRotationKeys)].mValue,
                          channel.mPositionKeys[at(channel.mNumPositionKeys)].mValue);
    }
    const aiMatrix4x4 place = above * local;
    places[node->mName.C_Str()] = place;
    for (unsigned k = 0; k < node->mNumChildren; ++k) {
      Place(node->mChildren[k], place, key, places);
    }
  }

  void AddShapes(const aiMesh& mesh, unsigned key, bool normals,
                 std::vector<aiVector3D>& at) const {
    const aiAnimation& animation = *scene_->mAnimations[0];
    if (animation.mNumMorphMeshChannels == 0) return;
    const aiMeshMorphKey& weights = animation.mMorphMeshChannels[0]->mKeys[key];
    for (unsigned k = 0; k < weights.mNumValuesAndWeights; ++k) {
      const aiAnimMesh& shape = *mesh.mAnimMeshes[weights.mValues[k]];
      for (unsigned v = 0; v < mesh.mNumVertices; ++v) {
        const aiVector3D change =
            normals ? shape.mNormals[v] - mesh.mNormals[v] : shape.mVertices[v] - mesh.mVertices[v];
        at[v] += static_cast<float>(weights.mWeights[k]) * change;
      }
    }
  }

  Assimp::Importer importer_;
  const aiScene* scene_;
};

}  // namespace sinew::testing
