// weights.h - computed skin weights: what to ask for, and what came of it.
//
// Client::ComputeWeights stores a copy of a rig with new weights under a name of its own; the rig
// itself stays. Meshes are weighed as they stand where they were bound (without a skin: in the rest
// pose), parts of one bind together, so that seams between them stay closed.
//
// Included by sinew/client.h; the numbers of enumerations are those of the wire (package sinew.v1).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sinew/messages.h"

namespace sinew::client {

enum class WeightMethod : std::uint8_t {
  kCapsule = 1,   // distance from the bones, in capsules round them
  kHeat = 2,      // heat of the bones over the surface
  kGeodesic = 3,  // the way through the inside, on voxels
};

// What is not set takes the server's default, in brackets. kInvalidArgument, with the field in
// Details: a value out of range, an option of another method than the one asked for, a joint that
// the rig does not have, a mesh without faces (heat, geodesic). kResourceExhausted: larger than the
// server takes, or it weighs as many rigs as it may at a time.
struct WeightsRequest {
  std::string rig;  // rigs/sha256-..., with or without skins
  WeightMethod method = WeightMethod::kHeat;
  std::optional<std::uint32_t> max_influences = {};  // of a vertex, 1 to 255 (4)
  std::optional<float> prune = {};                   // smaller weights are dropped, 0 to 0.5 (0.01)
  std::optional<std::uint32_t> smooth = {};  // passes of averaging over neighbours, 0 to 100 (0)
  // kCapsule alone. Radii of full weight, 0.1 to 10 (1.05), and where it ends, above that, up to 20
  // (1.8), in median distances of a bone's vertices; how sharply the nearer bone wins, 0.25 to 8
  // (1).
  std::optional<float> inner = {}, outer = {}, falloff = {};
  // kHeat alone. Strength of the bones, 0.01 to 100, more = firmer (4); whether bones on the outer
  // side of the skin count as far away (true).
  std::optional<float> heat = {};
  std::optional<bool> facing = {};
  std::optional<std::uint32_t> resolution = {};  // kGeodesic alone: voxels along the longest side,
                                                 // 16 to 512 and the server's limit (192)
  std::optional<float> smoothness = {};          // kGeodesic alone: 0 = broad, 1 = firm (0.5)
  std::vector<std::string> joints = {};  // that may carry skin; empty = all but helpers. The bones
                                         // of others go to the nearest of these above them
};

struct WeightsReport {
  std::uint64_t unseen_count = 0;  // vertices no bone sees or reaches: they took the nearest, or
                                   // with heat what their neighbours have
  std::vector<std::uint64_t> unseen_vertices;  // the first 1000 of them, rising, rig numbering
  std::vector<std::uint32_t> idle_joints;      // that carry nothing though they may, rising
  std::vector<Problem> warnings;               // at most 100
};

struct WeightedRig {
  RigSummary rig;  // the new one
  WeightsReport report;
};

// Called with the part that is computed, 0 to 1, from the thread that waits for the call; from 0
// again when a broken call is repeated.
using WeightsProgress = std::function<void(double)>;

}  // namespace sinew::client
