// scene_graph.h - nodes and key frames of a file of any format, and the skeleton made from them.
//
// A rig has joints only, a file has nodes: those between and above the joints are folded into the
// local matrices. The nodes are kept beside the rig so that their animation still counts when a
// clip is sampled.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/import/import.h"
#include "client/rig/transform.h"
#include "sinew/rig_data.h"

namespace sinew::client {

struct SceneNode {
  std::string name;  // as in the file: may be empty or repeat
  std::string path;  // path in the file, for messages
  std::int32_t parent = -1;
  Trs trs;
  std::optional<Affine> matrix;  // instead of `trs`, unless a track animates the node
};

enum class TrackProperty : std::uint8_t { kTranslation, kRotation, kScale, kWeights };
enum class Interpolation : std::uint8_t { kStep, kLinear, kCubic };

// Keys of one property of one node. A cubic key holds in-tangent, value and out-tangent.
struct Track {
  std::uint32_t node = 0;
  TrackProperty property = TrackProperty::kTranslation;
  Interpolation interpolation = Interpolation::kLinear;
  std::size_t width = 3;       // numbers per value: 3, 4, or the count of the node's ControlRange
  std::vector<double> times;   // [n] seconds, not falling, n >= 1
  std::vector<double> values;  // [n * width], cubic [n * 3 * width]
};

struct SourceClip {
  std::vector<Track> tracks;  // at most one per node and property
};

// The controls that the `weights` of a node drive.
struct ControlRange {
  std::uint32_t node = 0;
  std::size_t first = 0, count = 0;  // into RigData::controls
};

struct AnimatedScene {
  std::vector<SceneNode> nodes;
  std::vector<std::uint32_t> order;        // all nodes, parents first
  std::vector<std::uint32_t> joint_nodes;  // [J]
  std::vector<ControlRange> controls;
  std::vector<SourceClip> clips;  // parallel to ImportedScene::clips
};

// The node's transform relative to its parent, without animation.
Affine LocalTransform(const SceneNode& node);

// Fills `scene.order`. kInvalidArgument: the parents form a cycle.
absl::Status OrderNodes(AnimatedScene& scene);

// Makes joints of the given nodes (each once), in that order as far as parents-first allows: fills
// scene.joint_nodes, rig.joints and rig.rest_local. Needs scene.order. Returns [nodes] the joint of
// each node, -1 for the others.
std::vector<std::int32_t> BuildSkeleton(const std::vector<std::uint32_t>& wanted,
                                        AnimatedScene& scene, RigData& rig);

// Checks a track: times finite and not falling, sizes, no zero quaternion. kInvalidArgument names
// `where`.
absl::Status CheckTrack(const Track& track, const std::string& where);

// Start, end, channel and key counts of a clip; the name is left alone.
void SummariseClip(const SourceClip& clip, ClipInfo& info);

}  // namespace sinew::client
