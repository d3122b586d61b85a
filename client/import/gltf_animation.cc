#include "client/import/gltf_animation.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "client/import/gltf_accessor.h"
#include "client/import/gltf_document.h"
#include "client/import/unique_names.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

absl::StatusOr<Interpolation> ParseInterpolation(const std::string& name,
                                                 const std::string& where) {
  if (name == "STEP") return Interpolation::kStep;
  if (name == "LINEAR" || name.empty()) return Interpolation::kLinear;
  if (name == "CUBICSPLINE") return Interpolation::kCubic;
  return absl::InvalidArgumentError(
      absl::StrCat(where, ": interpolation '", name, "', need STEP, LINEAR or CUBICSPLINE"));
}

absl::StatusOr<TrackProperty> ParseProperty(const std::string& path, const std::string& where) {
  if (path == "translation") return TrackProperty::kTranslation;
  if (path == "rotation") return TrackProperty::kRotation;
  if (path == "scale") return TrackProperty::kScale;
  if (path == "weights") return TrackProperty::kWeights;
  return absl::InvalidArgumentError(absl::StrCat(
      where, ": target path '", path, "', need translation, rotation, scale or weights"));
}

absl::StatusOr<Track> ReadTrack(const tinygltf::Model& model, const tinygltf::Animation& animation,
                                const tinygltf::AnimationChannel& channel,
                                const std::string& where) {
  if (channel.sampler < 0 ||
      static_cast<std::size_t>(channel.sampler) >= animation.samplers.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": sampler ", channel.sampler, ", the animation has ", animation.samplers.size()));
  }
  if (static_cast<std::size_t>(channel.target_node) >= model.nodes.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": node ", channel.target_node, ", the file has ", model.nodes.size()));
  }
  const tinygltf::AnimationSampler& sampler =
      animation.samplers[static_cast<std::size_t>(channel.sampler)];
  Track track;
  track.node = static_cast<std::uint32_t>(channel.target_node);
  SINEW_ASSIGN_OR_RETURN(track.property, ParseProperty(channel.target_path, where));
  SINEW_ASSIGN_OR_RETURN(track.interpolation, ParseInterpolation(sampler.interpolation, where));
  SINEW_ASSIGN_OR_RETURN(Elements times, ReadElements(model, sampler.input, where + " input"));
  SINEW_ASSIGN_OR_RETURN(Elements values, ReadElements(model, sampler.output, where + " output"));
  const std::size_t keys = times.count * (track.interpolation == Interpolation::kCubic ? 3 : 1);
  if (track.property == TrackProperty::kWeights) {
    track.width = keys > 0 ? values.values.size() / keys : 0;
  } else {
    track.width = track.property == TrackProperty::kRotation ? 4 : 3;
  }
  if (times.width != 1 ||
      (track.property != TrackProperty::kWeights && values.width != track.width)) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": keys of ", times.width, " and ",
                                                   values.width, " components, need 1 and ",
                                                   track.width));
  }
  track.times = std::move(times.values);
  track.values = std::move(values.values);
  SINEW_RETURN_IF_ERROR(CheckTrack(track, where));
  return track;
}

// A weights track must drive every target of its node's mesh.
absl::Status CheckWeightCount(const Track& track, const AnimatedScene& scene,
                              const std::string& where) {
  if (track.property != TrackProperty::kWeights) return absl::OkStatus();
  for (const ControlRange& range : scene.controls) {
    if (range.node == track.node && range.count != track.width) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, ": ", track.width, " weights a key for ", scene.nodes[track.node].path,
          ", which has ", range.count, " morph targets"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadGltfAnimations(const tinygltf::Model& model, AnimatedScene& scene,
                                std::vector<ClipInfo>& clips, std::vector<Problem>& problems) {
  UniqueNames names;
  for (std::size_t a = 0; a < model.animations.size(); ++a) {
    const tinygltf::Animation& animation = model.animations[a];
    const std::string path = GltfPath("animations", a, animation.name);
    SourceClip clip;
    std::size_t without_node = 0;
    for (std::size_t c = 0; c < animation.channels.size(); ++c) {
      if (animation.channels[c].target_node < 0) {
        ++without_node;
        continue;
      }
      SINEW_ASSIGN_OR_RETURN(Track track, ReadTrack(model, animation, animation.channels[c],
                                                    absl::StrCat(path, " channels[", c, "]")));
      clip.tracks.push_back(std::move(track));
    }
    const auto target = [](const Track& t) { return std::tuple(t.node, t.property); };
    std::stable_sort(clip.tracks.begin(), clip.tracks.end(),
                     [&](const Track& l, const Track& r) { return target(l) < target(r); });
    const auto repeats =
        std::unique(clip.tracks.begin(), clip.tracks.end(),
                    [&](const Track& l, const Track& r) { return target(l) == target(r); });
    if (repeats != clip.tracks.end()) {
      problems.push_back(Lost(absl::StrCat(clip.tracks.end() - repeats,
                                           " channels that animate a property a second time"),
                              path));
      clip.tracks.erase(repeats, clip.tracks.end());
    }
    if (without_node > 0) {
      problems.push_back(Lost(absl::StrCat(without_node, " channels that animate no node"), path));
    }
    for (const Track& track : clip.tracks) {
      SINEW_RETURN_IF_ERROR(CheckWeightCount(track, scene, path));
      if (!scene.nodes[track.node].matrix || track.property == TrackProperty::kWeights) continue;
      problems.push_back({Severity::kWarning,
                          "an animated node is given as a matrix, split into its parts",
                          scene.nodes[track.node].path});
    }
    ClipInfo info;
    info.name = names.Take(animation.name, absl::StrCat("clip_", a));
    SummariseClip(clip, info);
    clips.push_back(std::move(info));
    scene.clips.push_back(std::move(clip));
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
