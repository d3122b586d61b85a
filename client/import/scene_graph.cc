#include "client/import/scene_graph.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>

#include "client/import/unique_names.h"

namespace sinew::client {

Affine LocalTransform(const SceneNode& node) {
  return node.matrix ? *node.matrix : Compose(node.trs);
}

absl::Status OrderNodes(AnimatedScene& scene) {
  const std::size_t count = scene.nodes.size();
  std::vector<std::vector<std::uint32_t>> children(count);
  scene.order.clear();
  scene.order.reserve(count);
  for (std::uint32_t n = 0; n < count; ++n) {
    if (scene.nodes[n].parent < 0) {
      scene.order.push_back(n);
    } else {
      children[static_cast<std::size_t>(scene.nodes[n].parent)].push_back(n);
    }
  }
  for (std::size_t i = 0; i < scene.order.size(); ++i) {
    for (const std::uint32_t child : children[scene.order[i]]) scene.order.push_back(child);
  }
  if (scene.order.size() == count) return absl::OkStatus();
  std::vector<bool> reached(count, false);
  for (const std::uint32_t n : scene.order) reached[n] = true;
  const auto first =
      static_cast<std::size_t>(std::find(reached.begin(), reached.end(), false) - reached.begin());
  return absl::InvalidArgumentError(
      absl::StrCat(scene.nodes[first].path, ": hangs in a cycle of nodes, need a tree"));
}

std::vector<std::int32_t> BuildSkeleton(const std::vector<std::uint32_t>& wanted,
                                        AnimatedScene& scene, RigData& rig) {
  const std::size_t count = scene.nodes.size();
  std::vector<bool> is_joint(count, false);
  for (const std::uint32_t n : wanted) is_joint[n] = true;
  // Nearest joint above and the matrix down from it, parents first.
  std::vector<std::int32_t> joint_above(count, -1);
  std::vector<Affine> below(count);
  for (const std::uint32_t n : scene.order) {
    const Affine local = LocalTransform(scene.nodes[n]);
    const std::int32_t parent = scene.nodes[n].parent;
    if (parent < 0) {
      below[n] = local;
    } else if (const auto p = static_cast<std::size_t>(parent); is_joint[p]) {
      joint_above[n] = parent;
      below[n] = local;
    } else {
      joint_above[n] = joint_above[p];
      below[n] = below[p] * local;
    }
  }
  std::vector<std::int32_t> joint_of(count, -1);
  UniqueNames names;
  std::vector<std::uint32_t> chain;
  for (const std::uint32_t n : wanted) {
    chain.clear();
    for (auto up = static_cast<std::int32_t>(n);
         up >= 0 && joint_of[static_cast<std::size_t>(up)] < 0;
         up = joint_above[static_cast<std::size_t>(up)]) {
      chain.push_back(static_cast<std::uint32_t>(up));
    }
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
      const std::size_t index = scene.joint_nodes.size();
      const SceneNode& node = scene.nodes[*it];
      Joint joint;
      joint.name = names.Take(node.name, absl::StrCat("joint_", index));
      if (const std::int32_t above = joint_above[*it]; above >= 0) {
        joint.parent = joint_of[static_cast<std::size_t>(above)];
      }
      joint.source_path = node.path;
      joint_of[*it] = static_cast<std::int32_t>(index);
      scene.joint_nodes.push_back(*it);
      rig.joints.push_back(std::move(joint));
      for (const double x : below[*it].m) rig.rest_local.push_back(static_cast<float>(x));
    }
  }
  return joint_of;
}

absl::Status CheckTrack(const Track& track, const std::string& where) {
  const std::size_t n = track.times.size();
  if (n == 0)
    return absl::InvalidArgumentError(absl::StrCat(where, ": no keys, need at least one"));
  const std::size_t per_key = track.width * (track.interpolation == Interpolation::kCubic ? 3 : 1);
  if (track.values.size() != n * per_key) {
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": ", track.values.size(), " numbers for ", n, " keys, need ", n * per_key));
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (!std::isfinite(track.times[k]) || (k > 0 && track.times[k] < track.times[k - 1])) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": the time of key ", k, " is ",
                                                     track.times[k],
                                                     ", need finite times that do not fall"));
    }
  }
  for (std::size_t i = 0; i < track.values.size(); ++i) {
    if (!std::isfinite(track.values[i])) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": key ", i / per_key, " is not finite"));
    }
  }
  if (track.property != TrackProperty::kRotation) return absl::OkStatus();
  const std::size_t first = track.interpolation == Interpolation::kCubic ? track.width : 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double* q = &track.values[k * per_key + first];
    if (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < 1e-12) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": the rotation of key ", k, " is zero"));
    }
  }
  return absl::OkStatus();
}

void SummariseClip(const SourceClip& clip, ClipInfo& info) {
  info.channels = clip.tracks.size();
  for (const Track& track : clip.tracks) {
    const bool first = &track == &clip.tracks.front();
    info.start = first ? track.times.front() : std::min(info.start, track.times.front());
    info.end = std::max(info.end, track.times.back());
    info.keys = std::max(info.keys, track.times.size());
  }
}

}  // namespace sinew::client
