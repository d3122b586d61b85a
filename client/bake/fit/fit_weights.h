// fit_weights.h - weights or coefficients of a rig that reproduce example frames, and how well they
// do on frames that were held out.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/bake/base/monitor.h"
#include "core/base/distance_meter.h"
#include "core/examples/pose_examples.h"
#include "sinew/rig_data.h"

namespace sinew::bake {

enum class FitModel { kLbs, kAnimationSpace, kMultiWeight };

// "lbs", "animation_space", "multi_weight". kInvalidArgument: another name.
absl::StatusOr<FitModel> ParseFitModel(const std::string& name);

struct FitWeightsRequest {
  FitModel model = FitModel::kAnimationSpace;
  std::uint32_t influences = 8;  // joints of a vertex, 1 to 16
  std::uint32_t hold_out = 3;    // every so many frames one is not fitted; 0 = none
};

// Distances from the examples are in the unit of the rig; their frames are indices of examples.
struct FitReport {
  double diagonal = 0;  // of the character at rest
  std::size_t fitted_frames = 0, held_out_frames = 0;
  std::size_t least_frames = 0;           // fewer may not be enough for the model
  Distances own, fitted;                  // of the rig's weights, and the result: frames fitted
  std::optional<Distances> own_held_out;  // and frames held out
  std::optional<Distances> fitted_held_out;
};

inline constexpr double kLeastGain = 0.02;  // of the rms; less is no gain

struct FittedWeights {
  client::RigData rig;
  FitReport report;
};

inline constexpr std::uint64_t kMaxExamplePoints = std::uint64_t{1} << 28;  // vertices x frames

// [V] slots of the skin, rising and each once, with weights whose sum is 1. kInvalidArgument: a
// vertex without weights.
absl::StatusOr<Rows<JointWeight>> OwnWeights(const client::Mesh& mesh);

// kLbs replaces the weights, and removes coefficients; the others add coefficients, and keep the
// weights. The same bits for any number of threads.
//
//    rig     every mesh has a skin; its arrays agree, as EncodeRig checks
//    clip    one pose for each example
//    points  [frames][V * 3] model space
//
// kInvalidArgument: members or sizes out of range, a mesh without a skin, a vertex without weights,
// values that are not finite, points that are not those of the rig's vertices in its unit;
// kCancelled by the monitor.
absl::StatusOr<FittedWeights> FitWeights(const Monitor& monitor, const client::RigData& rig,
                                         const client::ClipData& clip,
                                         std::span<const float> points,
                                         const FitWeightsRequest& request);

// Appends a vertex: its joints with the weights of the start, main joint first, and
// [row][to.columns] values.
void AppendCoefficients(std::span<const JointWeight> row, std::span<const double> values,
                        client::Coefficients& to);

}  // namespace sinew::bake
