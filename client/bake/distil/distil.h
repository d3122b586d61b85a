// distil.h - puts what a deformer does into weights that engines play by themselves, with shapes,
// or with the coefficients of animation space for a shader.
//
// Poses are sampled, evaluated by the server, and fitted; a third of them is held out, and tells
// how far the result is from the deformer, beside the rig's own weights under linear blend.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/bake/base/monitor.h"
#include "client/bake/character/character_file.h"
#include "client/bake/distil/pose_set.h"
#include "client/bake/distil/shape_drivers.h"
#include "core/base/distance_meter.h"
#include "sinew/client.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

struct DistilRequest {
  std::size_t influences = 4;  // of a vertex, 1 to 8
  bool shapes = false;         // also corrective shapes
  bool space = false;          // also coefficients of animation space
  std::size_t max_shapes = 0;  // keeps those with most energy; 0 = all
  PoseRequest poses;
  double fps = 24;  // of the clips of the result
};

// One way to play the character: distances from the deformer.
struct DistilErrors {
  Distances all, random, clips;  // over the held-out poses; of random ones, of clips
  std::vector<double> joints;    // [J] rms of the vertices that each carries most
  std::vector<double> poses;     // [held out] rms
  std::size_t worst_pose = 0;    // of the set: the one with the largest rms
};

// Angles in radians between normals as players of shapes compute them and those of the deformer,
// over the held-out poses.
struct NormalErrors {
  double mean = 0, mean_without = 0;  // with the normals of the shapes and without
};

struct DistilReport {
  double diagonal = 0;  // of the box of the rest mesh
  std::uint64_t seed = 0;
  std::size_t poses = 0, random = 0;
  std::vector<std::size_t> held_out;  // of the poses, rising
  std::vector<std::string> pose_names;
  std::vector<TurnRange> ranges;  // [J]
  bool from_clips = false;
  std::size_t kept_rows = 0, points = 0;  // points that keep their weights, of all
  double training_rms = 0;                // of the fitted weights
  DistilErrors own;                       // the rig's weights with `lbs`
  // Those, cut to the influences, if any vertex has more.
  std::optional<DistilErrors> own_cut;
  DistilErrors linear;                 // the fitted weights with `lbs`
  std::optional<DistilErrors> shapes;  // with shapes
  std::optional<DistilErrors> space;   // with coefficients, by animation space
  std::size_t shape_count = 0, dropped_shapes = 0;
  std::optional<NormalErrors> normals;  // with shapes
  std::vector<ShapeJump> jumps;         // of more than 0.1 % of the diagonal

  const DistilErrors& result() const { return shapes ? *shapes : space ? *space : linear; }
  // What the result is judged by: weights that fit the engine as well.
  const DistilErrors& baseline() const { return own_cut ? *own_cut : own; }
  double gain() const;    // 1 - rms / rms of the baseline
  bool is_exact() const;  // both are within rounding of the deformer
  bool no_gain() const;   // under 2 %
  bool is_worse() const;
};

struct Distilled {
  // With new weights and coefficients; its shapes and controls are the corrections.
  client::RigData rig;
  std::vector<client::ClipData> clips;  // with controls
  nlohmann::ordered_json shapes;        // `turns` and `drivers`: what drives the shapes; or null
  DistilReport report;
  // The held-out pose with the largest rms, for a picture.
  std::vector<float> worst_joints;                           // [J * 12]
  std::vector<float> worst_target, worst_own, worst_result;  // [V * 3]
};

// Binds the character with the deformer, and keeps it.
using BindOnce = absl::FunctionRef<absl::StatusOr<const client::Character*>()>;

// `bind` is called when everything else about the character and the request is found right.
//   kInvalidArgument: a character that has no joints, or vertices without weights; errors of
//   MakePoses, `bind` and StreamClip; kCancelled.
absl::StatusOr<Distilled> Distil(const Monitor& monitor, const CharacterFile& character,
                                 std::vector<client::ClipData> clips, BindOnce bind,
                                 const DistilRequest& request);

}  // namespace sinew::bake
