// motion.h - what a clip does to the nodes and controls of a scene at any time.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "sinew/rig_data.h"

namespace sinew::client {

struct AnimatedScene;

// A scene at one time.
struct ScenePose {
  std::vector<AffineD> local;   // [nodes] node to parent
  std::vector<AffineD> global;  // [nodes] node to scene
  std::vector<float> controls;  // [K]
};

// `pose.global` from `pose.local`.
void ComposeGlobals(const AnimatedScene& scene, ScenePose& pose);

// The nodes as the file places them, controls at their defaults.
ScenePose PoseAtRest(const AnimatedScene& scene, const RigData& rig);

// A clip of a scene. Thread-safe.
class Motion {
 public:
  virtual ~Motion() = default;

  // Moves `pose`, which has the scene at rest (globals included), to a time on the clip's own axis.
  // Globals and controls are the result: a clip whose nodes pass on their transforms in an unusual
  // way may set globals that are not the product of the locals. kInvalidArgument,
  // kResourceExhausted: the clip cannot be evaluated.
  virtual absl::Status Evaluate(const AnimatedScene& scene, double seconds,
                                ScenePose& pose) const = 0;
};

enum class TrackProperty : std::uint8_t { kTranslation, kRotation, kScale, kWeights };
enum class Interpolation : std::uint8_t { kStep, kLinear, kCubic };

// Keys of one property of one node. A cubic key holds in-tangent, value and out-tangent.
struct Track {
  std::uint32_t node = 0;
  TrackProperty property = TrackProperty::kTranslation;
  Interpolation interpolation = Interpolation::kLinear;
  std::size_t width = 3;         // numbers per value: 3, 4, or `controls` of the node
  std::vector<double> times{};   // [n] seconds, not falling, n >= 1
  std::vector<double> values{};  // [n * width], cubic [n * 3 * width]
};

// By node; at most one per node and property.
using SourceClip = std::vector<Track>;

// A clip made of tracks. Before a track's first key its first value holds, after its last key its
// last; rotations take the shorter way. Cubic keys as in glTF 2.0, appendix C.
class TrackMotion final : public Motion {
 public:
  explicit TrackMotion(SourceClip tracks) : tracks_(std::move(tracks)) {}

  const SourceClip& tracks() const { return tracks_; }
  absl::Status Evaluate(const AnimatedScene& scene, double seconds, ScenePose& pose) const override;

 private:
  SourceClip tracks_;
};

}  // namespace sinew::client
