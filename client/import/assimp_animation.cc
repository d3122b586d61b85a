#include "client/import/assimp_animation.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/status.h"

namespace sinew::client {
namespace {

constexpr double kDefaultTicksPerSecond = 25;  // what Assimp documents for files that do not say

void AppendKey(const aiVector3D& v, std::vector<double>& out) {
  out.insert(out.end(), {v.x, v.y, v.z});
}
void AppendKey(const aiQuaternion& q, std::vector<double>& out) {
  out.insert(out.end(), {q.x, q.y, q.z, q.w});
}

class ClipReader {
 public:
  ClipReader(const aiAnimation& animation, std::string path,
             const std::unordered_map<std::string, std::uint32_t>& node_of_name,
             SceneBuilder& builder)
      : animation_(animation),
        path_(std::move(path)),
        node_of_name_(node_of_name),
        builder_(builder) {
    if (animation.mTicksPerSecond > 0 && std::isfinite(animation.mTicksPerSecond)) {
      ticks_per_second_ = animation.mTicksPerSecond;
    }
  }

  absl::Status Read() {
    for (unsigned c = 0; c < animation_.mNumChannels; ++c) {
      SINEW_RETURN_IF_ERROR(ReadChannel(*animation_.mChannels[c]));
    }
    for (unsigned c = 0; c < animation_.mNumMorphMeshChannels; ++c) {
      SINEW_RETURN_IF_ERROR(ReadMorphChannel(*animation_.mMorphMeshChannels[c]));
    }
    if (lost_ > 0) {
      builder_.out.problems.push_back(
          Lost(absl::StrCat(lost_, " channels of unknown nodes"), path_));
    }
    const double end = animation_.mDuration / ticks_per_second_;
    builder_.AddClip(animation_.mName.C_Str(), path_, std::move(clip_),
                     std::isfinite(end) ? std::max(end, 0.0) : 0);
    return absl::OkStatus();
  }

 private:
  std::optional<std::uint32_t> NodeOf(const std::string& name) const {
    const auto node = node_of_name_.find(name);
    return node == node_of_name_.end() ? std::nullopt : std::optional(node->second);
  }

  absl::Status AddTrack(Track track) {
    SINEW_RETURN_IF_ERROR(
        CheckTrack(track, absl::StrCat(path_, " ", builder_.scene->nodes[track.node].path)));
    clip_.push_back(std::move(track));
    return absl::OkStatus();
  }

  template <class Key>
  absl::Status AddKeys(std::uint32_t node, TrackProperty property, std::size_t width,
                       const Key* keys, unsigned count) {
    if (count == 0) return absl::OkStatus();
    Track track{.node = node, .property = property, .width = width};
    for (unsigned k = 0; k < count; ++k) {
      track.times.push_back(keys[k].mTime / ticks_per_second_);
      AppendKey(keys[k].mValue, track.values);
    }
    return AddTrack(std::move(track));
  }

  absl::Status ReadChannel(const aiNodeAnim& channel) {
    const std::optional<std::uint32_t> node = NodeOf(channel.mNodeName.C_Str());
    if (!node) {
      ++lost_;
      return absl::OkStatus();
    }
    SINEW_RETURN_IF_ERROR(AddKeys(*node, TrackProperty::kTranslation, 3, channel.mPositionKeys,
                                  channel.mNumPositionKeys));
    SINEW_RETURN_IF_ERROR(AddKeys(*node, TrackProperty::kRotation, 4, channel.mRotationKeys,
                                  channel.mNumRotationKeys));
    return AddKeys(*node, TrackProperty::kScale, 3, channel.mScalingKeys, channel.mNumScalingKeys);
  }

  // Assimp names a morph channel after the node, with a star and more behind it.
  absl::Status ReadMorphChannel(const aiMeshMorphAnim& channel) {
    const std::string name = channel.mName.C_Str();
    const std::optional<std::uint32_t> node = NodeOf(name.substr(0, name.find('*')));
    const std::size_t controls = node ? builder_.scene->nodes[*node].controls : 0;
    if (controls == 0 || channel.mNumKeys == 0) {
      ++lost_;
      return absl::OkStatus();
    }
    Track track{.node = *node, .property = TrackProperty::kWeights, .width = controls};
    std::vector<double> weights(controls);  // a target that a key leaves out keeps its weight
    for (unsigned k = 0; k < channel.mNumKeys; ++k) {
      const aiMeshMorphKey& key = channel.mKeys[k];
      for (unsigned i = 0; i < key.mNumValuesAndWeights; ++i) {
        if (key.mValues[i] < weights.size()) weights[key.mValues[i]] = key.mWeights[i];
      }
      track.times.push_back(key.mTime / ticks_per_second_);
      track.values.insert(track.values.end(), weights.begin(), weights.end());
    }
    return AddTrack(std::move(track));
  }

  const aiAnimation& animation_;
  const std::string path_;
  const std::unordered_map<std::string, std::uint32_t>& node_of_name_;
  SceneBuilder& builder_;
  double ticks_per_second_ = kDefaultTicksPerSecond;
  SourceClip clip_;
  std::size_t lost_ = 0;
};

}  // namespace

absl::Status ReadAssimpAnimations(
    const aiScene& source, const std::unordered_map<std::string, std::uint32_t>& node_of_name,
    SceneBuilder& builder) {
  for (unsigned a = 0; a < source.mNumAnimations; ++a) {
    const aiAnimation& animation = *source.mAnimations[a];
    std::string path = absl::StrCat("animations[", a, "] '", animation.mName.C_Str(), "'");
    SINEW_RETURN_IF_ERROR(ClipReader(animation, std::move(path), node_of_name, builder).Read());
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
