// weights.h - request and result of Client::ComputeWeights.
//
// ComputeWeights stores a copy of a rig with new weights under a new name; the rig itself does not
// change. Weights are computed in bind space (without a skin: in the rest pose). Meshes with the
// same bind are processed together, so that seams between them stay closed.
//
// Included by sinew/client.h. Enumerations have the numbers of the wire (package sinew.v1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sinew/messages.h"

namespace sinew::client {

// How ComputeWeights finds weights.
enum class WeightMethod : std::uint8_t {
  kCapsule = 1,   // distance to the bones, within capsules around them
  kHeat = 2,      // heat diffusion from the bones over the surface
  kGeodesic = 3,  // shortest path through the interior, on voxels
};

// Unset options have the server's default, in parentheses. kInvalidArgument, with the field in
// Details: a value out of range, an option of another method, a joint that the rig does not have, a
// mesh without faces (heat, geodesic). kResourceExhausted: the rig is too large, or too many
// computations are running.
struct WeightsRequest {
  std::string rig;  // rigs/sha256-..., with or without skins
  WeightMethod method = WeightMethod::kHeat;
  std::optional<std::uint32_t> max_influences = {};  // per vertex, 1 to 255 (4)
  std::optional<float> prune = {};                   // smaller weights are dropped, 0 to 0.5 (0.01)
  std::optional<std::uint32_t> smooth = {};  // smoothing iterations over the one-ring, 0 to 100 (0)
  // kCapsule only. Radius of full weight, 0.1 to 10 (1.05), and radius of zero weight, above
  // `inner` and up to 20 (1.8), in median distances of a bone's vertices; falloff exponent: larger
  // values favour the nearest bone, 0.25 to 8 (1).
  std::optional<float> inner = {}, outer = {}, falloff = {};
  // kHeat only. Strength of the heat sources, 0.01 to 100: larger values give harder transitions
  // (4); whether bones on the outer side of the surface are treated as distant (true).
  std::optional<float> heat = {};
  std::optional<bool> facing = {};
  std::optional<std::uint32_t> resolution = {};  // kGeodesic only: voxels along the longest side,
                                                 // 16 to 512, at most the server's limit (192)
  std::optional<float> smoothness = {};  // kGeodesic only: 0 = soft, 1 = hard transitions (0.5)
  std::vector<std::string> joints = {};  // that may get weights; empty = all except helpers. The
                                         // bones of other joints belong to the nearest ancestor
};

// What a rigger should look at in new weights.
struct WeightsReport {
  std::uint64_t unseen_count = 0;  // vertices that no bone sees or reaches: they got the nearest
                                   // bone, or with heat the weights of their neighbours
  std::vector<std::uint64_t> unseen_vertices;  // the first 1000 of them, rising, rig numbering
  std::vector<std::uint32_t> idle_joints;      // joints that got no weight, rising
  std::vector<Problem> warnings;               // at most 100
};

// The result of ComputeWeights.
struct WeightedRig {
  RigSummary rig;  // the new one
  WeightsReport report;
};

// Called with the computed fraction, 0 to 1, from the thread that waits for the call. Starts again
// from 0 when a broken call is repeated.
using WeightsProgress = std::function<void(double)>;

}  // namespace sinew::client
