// weights.h - computes skin weights for a mesh that has none.
//
// Three methods: capsules (closed form, the fastest), heat conducted over the skin (Baran and
// Popovic 2007; best on closed characters), and distances through the body (after Dionne and de
// Lasa 2013; for several parts and open or broken surfaces). All work on welded points and copy to
// the vertices, so seams stay closed. Thread-safe; results do not depend on the number of threads.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/problem.h"
#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"
#include "core/rig/bones.h"
#include "core/rig/influences.h"
#include "core/rig/skeleton.h"

namespace sinew {

enum class WeightMethod : std::uint8_t { kCapsule, kHeat, kGeodesic };

struct WeightOptions {
  WeightMethod method = WeightMethod::kHeat;
  std::uint32_t max_influences = 4;  // per vertex, 1 .. 255
  float prune = 0.01f;               // smaller weights are dropped, 0 .. 0.5
  std::uint32_t smooth = 0;          // smoothing passes over the one-ring, 0 .. 100
  // Capsules: radii relative to the median distance of a bone's vertices (inner 0.1 .. 10, outer
  // above inner, up to 20), and the power p of the distance (0.25 .. 8).
  float inner = 1.05f, outer = 1.8f, falloff = 1;
  // Heat: source strength c, 0.01 .. 100; 1 = the paper's formula, 4 = Blender's. On a tube of
  // radius R weights fall off over R / sqrt(c).
  float heat = 4;
  // Heat: bones on the outer side of the skin count as far away, as in Blender.
  bool facing = true;
  std::uint32_t resolution = 192;  // geodesic: voxels along the longest side, 16 .. 512
  float smoothness = 0.5f;         // geodesic: 0 = broad, 1 = narrow fall-off
};

// kInvalidArgument names an option that is out of range.
absl::Status CheckWeightOptions(const WeightOptions& options);

struct WeightReport {
  // Vertices that no bone sees or reaches, rising. Capsule and geodesic assign them to the nearest
  // bone; heat interpolates from their neighbours.
  std::vector<std::uint32_t> unseen;
  std::vector<std::uint32_t> idle_joints;  // own bones but have no weight, rising
  std::vector<Problem> notes;              // for users
};

struct ComputedWeights {
  InfluenceSource influences;  // joints are indices into the skeleton; strongest first
  WeightReport report;
};

// Errors of CheckWeightOptions; kInvalidArgument: what is wrong with mesh or bones (heat and
// geodesic need a face with area). kResourceExhausted: exceeds task.memory_limit(), or the surface
// would take minutes. kCancelled within a fraction of a second, except during the factorisation of
// heat (2 s for 100,000 vertices). `held`: bytes of the limit already in use by the caller.
absl::StatusOr<ComputedWeights> ComputeWeights(const Mesh& mesh, std::span<const Bone> bones,
                                               const WeightOptions& options, Task& task,
                                               std::size_t held = 0);

}  // namespace sinew
