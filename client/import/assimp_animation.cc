#include "client/import/assimp_animation.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "client/import/unique_names.h"
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
             const AnimatedScene& scene)
      : animation_(animation), path_(std::move(path)), node_of_name_(node_of_name), scene_(scene) {
    if (animation.mTicksPerSecond > 0 && std::isfinite(animation.mTicksPerSecond)) {
      ticks_per_second_ = animation.mTicksPerSecond;
    }
  }

  absl::StatusOr<SourceClip> Read() {
    for (unsigned c = 0; c < animation_.mNumChannels; ++c) {
      SINEW_RETURN_IF_ERROR(ReadChannel(*animation_.mChannels[c]));
    }
    for (unsigned c = 0; c < animation_.mNumMorphMeshChannels; ++c) {
      SINEW_RETURN_IF_ERROR(ReadMorphChannel(*animation_.mMorphMeshChannels[c]));
    }
    std::stable_sort(clip_.tracks.begin(), clip_.tracks.end(),
                     [](const Track& l, const Track& r) { return l.node < r.node; });
    return std::move(clip_);
  }

  std::size_t lost() const { return lost_; }

  // End of the take in seconds, 0 if the file does not say.
  double end() const {
    return std::isfinite(animation_.mDuration)
               ? std::max(animation_.mDuration, 0.0) / ticks_per_second_
               : 0;
  }

 private:
  template <class Key>
  absl::Status AddTrack(std::uint32_t node, TrackProperty property, std::size_t width,
                        const Key* keys, unsigned count) {
    if (count == 0) return absl::OkStatus();
    Track track;
    track.node = node;
    track.property = property;
    track.width = width;
    for (unsigned k = 0; k < count; ++k) {
      track.times.push_back(keys[k].mTime / ticks_per_second_);
      AppendKey(keys[k].mValue, track.values);
    }
    SINEW_RETURN_IF_ERROR(CheckTrack(track, absl::StrCat(path_, " ", scene_.nodes[node].path)));
    clip_.tracks.push_back(std::move(track));
    return absl::OkStatus();
  }

  absl::Status ReadChannel(const aiNodeAnim& channel) {
    const auto node = node_of_name_.find(channel.mNodeName.C_Str());
    if (node == node_of_name_.end()) {
      ++lost_;
      return absl::OkStatus();
    }
    SINEW_RETURN_IF_ERROR(AddTrack(node->second, TrackProperty::kTranslation, 3,
                                   channel.mPositionKeys, channel.mNumPositionKeys));
    SINEW_RETURN_IF_ERROR(AddTrack(node->second, TrackProperty::kRotation, 4, channel.mRotationKeys,
                                   channel.mNumRotationKeys));
    return AddTrack(node->second, TrackProperty::kScale, 3, channel.mScalingKeys,
                    channel.mNumScalingKeys);
  }

  // Assimp names a morph channel after the node, with a star and more behind it.
  absl::Status ReadMorphChannel(const aiMeshMorphAnim& channel) {
    const std::string name = channel.mName.C_Str();
    const auto node = node_of_name_.find(name.substr(0, name.find('*')));
    const auto range =
        std::find_if(scene_.controls.begin(), scene_.controls.end(), [&](const ControlRange& r) {
          return node != node_of_name_.end() && r.node == node->second;
        });
    if (range == scene_.controls.end() || channel.mNumKeys == 0) {
      ++lost_;
      return absl::OkStatus();
    }
    Track track;
    track.node = node->second;
    track.property = TrackProperty::kWeights;
    track.width = range->count;
    std::vector<double> weights(range->count,
                                0.0);  // a target that a key leaves out keeps its weight
    for (unsigned k = 0; k < channel.mNumKeys; ++k) {
      const aiMeshMorphKey& key = channel.mKeys[k];
      for (unsigned i = 0; i < key.mNumValuesAndWeights; ++i) {
        if (key.mValues[i] < weights.size()) weights[key.mValues[i]] = key.mWeights[i];
      }
      track.times.push_back(key.mTime / ticks_per_second_);
      track.values.insert(track.values.end(), weights.begin(), weights.end());
    }
    SINEW_RETURN_IF_ERROR(CheckTrack(track, absl::StrCat(path_, " morph channel '", name, "'")));
    clip_.tracks.push_back(std::move(track));
    return absl::OkStatus();
  }

  const aiAnimation& animation_;
  const std::string path_;
  const std::unordered_map<std::string, std::uint32_t>& node_of_name_;
  const AnimatedScene& scene_;
  double ticks_per_second_ = kDefaultTicksPerSecond;
  SourceClip clip_;
  std::size_t lost_ = 0;
};

}  // namespace

absl::Status ReadAssimpAnimations(
    const aiScene& source, const std::unordered_map<std::string, std::uint32_t>& node_of_name,
    AnimatedScene& scene, std::vector<ClipInfo>& clips, std::vector<Problem>& problems) {
  UniqueNames names;
  for (unsigned a = 0; a < source.mNumAnimations; ++a) {
    const aiAnimation& animation = *source.mAnimations[a];
    const std::string path = absl::StrCat("animations[", a, "] '", animation.mName.C_Str(), "'");
    ClipReader reader(animation, path, node_of_name, scene);
    SINEW_ASSIGN_OR_RETURN(SourceClip clip, reader.Read());
    if (reader.lost() > 0) {
      problems.push_back(Lost(absl::StrCat(reader.lost(), " channels of unknown nodes"), path));
    }
    ClipInfo info;
    info.name = names.Take(animation.mName.C_Str(), absl::StrCat("clip_", a));
    SummariseClip(clip, info);
    info.end = std::max(info.end, reader.end());
    clips.push_back(std::move(info));
    scene.clips.push_back(std::move(clip));
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
