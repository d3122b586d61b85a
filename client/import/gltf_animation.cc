#include "client/import/gltf_animation.h"

#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <utility>

#include "client/import/gltf_accessor.h"
#include "client/import/gltf_document.h"
#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

absl::StatusOr<Interpolation> ParseInterpolation(const std::string& name,
                                                 const std::string& where) {
  if (name == "STEP") return Interpolation::kStep;
  if (name == "LINEAR" || name.empty()) return Interpolation::kLinear;
  if (name == "CUBICSPLINE") return Interpolation::kCubic;
  return InvalidArgument(where, ": interpolation '", name, "', need STEP, LINEAR or CUBICSPLINE");
}

absl::StatusOr<TrackProperty> ParseProperty(const std::string& path, const std::string& where) {
  if (path == "translation") return TrackProperty::kTranslation;
  if (path == "rotation") return TrackProperty::kRotation;
  if (path == "scale") return TrackProperty::kScale;
  if (path == "weights") return TrackProperty::kWeights;
  return InvalidArgument(where, ": target path '", path,
                         "', need translation, rotation, scale or weights");
}

absl::StatusOr<Track> ReadTrack(const tinygltf::Model& model, const tinygltf::Animation& animation,
                                const tinygltf::AnimationChannel& channel,
                                const std::string& where) {
  SINEW_ASSIGN_OR_RETURN(const auto* sampler,
                         Find(animation.samplers, channel.sampler, where, "sampler"));
  SINEW_RETURN_IF_ERROR(Find(model.nodes, channel.target_node, where, "node").status());
  Track track;
  track.node = static_cast<std::uint32_t>(channel.target_node);
  SINEW_ASSIGN_OR_RETURN(track.property, ParseProperty(channel.target_path, where));
  SINEW_ASSIGN_OR_RETURN(track.interpolation, ParseInterpolation(sampler->interpolation, where));
  SINEW_ASSIGN_OR_RETURN(Elements times, ReadElements(model, sampler->input, where + " input"));
  SINEW_ASSIGN_OR_RETURN(Elements values, ReadElements(model, sampler->output, where + " output"));
  const std::size_t keys = times.count * (track.interpolation == Interpolation::kCubic ? 3 : 1);
  const bool weights = track.property == TrackProperty::kWeights;
  if (weights) {
    track.width = keys > 0 ? values.values.size() / keys : 0;
  } else {
    track.width = track.property == TrackProperty::kRotation ? 4 : 3;
  }
  if (times.width != 1 || (!weights && values.width != track.width)) {
    return InvalidArgument(where, ": keys of ", times.width, " and ", values.width,
                           " components, need 1 and ", track.width);
  }
  track.times = std::move(times.values);
  track.values = std::move(values.values);
  SINEW_RETURN_IF_ERROR(CheckTrack(track, where));
  return track;
}

// A weights track must drive every target of its node's mesh.
absl::Status CheckWeightCount(const Track& track, const SceneNode& node, const std::string& where) {
  if (track.property != TrackProperty::kWeights || node.controls == 0 ||
      node.controls == track.width) {
    return absl::OkStatus();
  }
  return InvalidArgument(where, ": ", CountedText(track.width, "weight"), " a key for ", node.path,
                         ", which has ", CountedText(node.controls, "morph target"));
}

}  // namespace

absl::Status ReadGltfAnimations(const tinygltf::Model& model, SceneBuilder& builder) {
  for (std::size_t a = 0; a < model.animations.size(); ++a) {
    const tinygltf::Animation& animation = model.animations[a];
    const std::string path = GltfPath("animations", a, animation.name);
    SourceClip clip;
    for (std::size_t c = 0; c < animation.channels.size(); ++c) {
      SINEW_ASSIGN_OR_RETURN(Track track, ReadTrack(model, animation, animation.channels[c],
                                                    absl::StrCat(path, " channels[", c, "]")));
      SINEW_RETURN_IF_ERROR(CheckWeightCount(track, builder.scene->nodes[track.node], path));
      clip.push_back(std::move(track));
    }
    for (const Track& track : clip) {
      const SceneNode& node = builder.scene->nodes[track.node];
      if (!node.matrix || track.property == TrackProperty::kWeights) continue;
      builder.out.problems.push_back({Severity::kWarning,
                                      "an animated node is given as a matrix, split into its parts",
                                      node.path});
    }
    builder.AddClip(animation.name, path, std::move(clip));
  }
  return absl::OkStatus();
}

}  // namespace sinew::client
