// weights.h - computed skin weights: what to ask for, and what came of it.
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

// What is not set takes the server's default. Ranges: sinew/v1/rig_service.proto.
struct WeightsRequest {
  std::string rig;  // rigs/sha256-..., with or without skins
  WeightMethod method = WeightMethod::kHeat;
  std::optional<std::uint32_t> max_influences = {};           // of a vertex
  std::optional<float> prune = {};                            // smaller weights are dropped
  std::optional<std::uint32_t> smooth = {};                   // passes of averaging over neighbours
  std::optional<float> inner = {}, outer = {}, falloff = {};  // kCapsule alone
  std::optional<float> heat = {};                             // kHeat alone
  std::optional<bool> facing = {};                            // kHeat alone
  std::optional<std::uint32_t> resolution = {};               // kGeodesic alone
  std::optional<float> smoothness = {};                       // kGeodesic alone
  std::vector<std::string> joints = {};  // that may carry skin; empty = all but helpers
};

struct WeightsReport {
  std::uint64_t unseen_count = 0;              // vertices that no bone sees: they took the nearest
  std::vector<std::uint64_t> unseen_vertices;  // the first 1000 of them, rig numbering
  std::vector<std::uint32_t> idle_joints;      // that carry nothing though they may
  std::vector<std::string> notes;              // for people
};

struct WeightedRig {
  RigSummary rig;  // the new one
  WeightsReport report;
};

// Called with the part that is computed, 0 to 1.
using WeightsProgress = std::function<void(double)>;

}  // namespace sinew::client
