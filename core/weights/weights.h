// weights.h - skin weights for a mesh that has none.
//
// Three ways from bones to weights: capsules (closed form, the fastest), heat that spreads over the
// skin (Baran and Popovic 2007; the best on closed characters), and distances through the body
// (after Dionne and de Lasa 2013; several parts, open or broken surfaces). All work on welded
// points and copy to the vertices, so that seams stay closed; points in one place weigh the same.
// Functions are thread-safe; results do not depend on the number of threads.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/problem.h"
#include "core/base/types.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"
#include "core/rig/influences.h"
#include "core/rig/skeleton.h"

namespace sinew {

enum class WeightMethod : std::uint8_t { kCapsule, kHeat, kGeodesic };

// A segment that carries skin for a joint; a joint may own several and then counts by the nearest.
// Model space of the rest pose. A point (root = tip) is fine.
struct Bone {
  std::uint32_t joint = 0;
  Vec3d root, tip;
};

// The bones of a skeleton at rest, by rising joint:
// - a joint owns a bone to each child that lies elsewhere ("elsewhere": farther than 1e-6 of the
//   skeleton's extent);
// - a joint below which everything lies in its own place ends a limb: its bone continues the one
//   that leads to it by half its length, or is a point if none does. Joints below it own nothing;
// - a joint in its parent's place that ends no limb of its own, because the parent has bones
//   elsewhere (a twist joint, an attachment), owns nothing;
// - of joints in one place along a chain, the last owns the bone that leads on.
// Controls far off the skin (poles, targets, a root on the ground) are bones like others: leave
// them out before ComputeWeights.
std::vector<Bone> BonesOf(const Skeleton& skeleton);

struct WeightOptions {
  WeightMethod method = WeightMethod::kHeat;
  std::uint32_t max_influences = 4;  // of a vertex, 1 .. 255
  float prune = 0.01f;               // smaller weights are dropped, 0 .. 0.5
  std::uint32_t smooth = 0;          // passes of averaging over neighbours, 0 .. 100
  // Capsules: radii in parts of the median distance of a bone's vertices (inner 0.1 .. 10, outer
  // above it, up to 20), and how sharply the nearer bone wins (0.25 .. 8).
  float inner = 1.05f, outer = 1.8f, falloff = 1;
  // Heat: source strength c, 0.01 .. 100; 1 = the paper's formula, 4 = Blender's look. On a tube of
  // radius R weights fall off over R / sqrt(c).
  float heat = 4;
  // Heat: bones on the outer side of the skin count as far away, as in Blender.
  bool facing = true;
  std::uint32_t resolution = 192;  // geodesic: voxels along the longest side, 16 .. 512
  float smoothness = 0.5f;         // geodesic: 0 = broad, 1 = firm
};

struct WeightReport {
  // Vertices no bone sees or reaches, rising. Capsules and distances give them to the nearest bone;
  // with heat they take what flows in from their neighbours.
  std::vector<std::uint32_t> unseen;
  std::vector<std::uint32_t> idle_joints;  // own bones but carry nothing, rising
  std::vector<Problem> notes;              // for people
};

struct ComputedWeights {
  InfluenceSource influences;  // joints are indices into the skeleton; strongest first
  WeightReport report;
};

// kInvalidArgument names the option or what of mesh and bones is wrong (heat and geodesic need a
// face with area); kResourceExhausted: more than task.memory_limit(), or a surface so tangled that
// it would take minutes; kCancelled. Stops within a fraction of a second when cancelled, but for
// the factorisation of heat (2 s for 100,000 vertices). `held`: bytes of the limit that the caller
// holds.
absl::StatusOr<ComputedWeights> ComputeWeights(const Mesh& mesh, std::span<const Bone> bones,
                                               const WeightOptions& options, Task& task,
                                               std::size_t held = 0);

}  // namespace sinew
