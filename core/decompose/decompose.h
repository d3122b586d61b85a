// decompose.h - a skeleton, skin weights and poses from the animation of a mesh.
//
// Smooth skinning decomposition with rigid bones (Le and Deng 2012): parts that move rigidly give
// the first bones; then weights and motions of bones are improved in turns. A skeleton is put
// through the bones afterwards, as outlined by Le and Deng 2014. In double; the same bits for any
// number of threads.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/distance_meter.h"
#include "core/base/problem.h"
#include "core/base/rows.h"
#include "core/base/types.h"
#include "core/examples/pose_examples.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"

namespace sinew {

inline constexpr std::size_t kMaxDecomposedJoints = 256;
inline constexpr std::size_t kMaxAnimationPlaces = std::size_t{1} << 30;  // vertices x frames

struct MeshAnimation {
  const Mesh* rest = nullptr;
  std::size_t frames = 0;
  std::span<const Vec3f> places;  // [frames][vertices]
};

struct DecomposeOptions {
  std::uint32_t joints = 20;     // at most, 1 to kMaxDecomposedJoints
  std::uint32_t influences = 4;  // of a vertex at most, 1 to 8
  // At most, 1 to 1000; ends when three in turn gain little. Bounds the removals tried, too.
  std::uint32_t iterations = 60;
  bool connected = false;  // joints stay together: bones turn about them and nothing else
};

struct Decomposition {
  // There may be fewer joints than asked for: no more than clusters of points could be told apart,
  // and, if iterations ended as they gained little, none without which the error is at most 1 %
  // larger, tried by rising weights until six in turn are needed. A warning says how many of each.
  // Parents first; the first joint is the root.
  std::vector<std::uint32_t> parents;  // [joints] an earlier joint; of the first kNoJoint
  // [joints] at rest, unrotated, within the mesh's box, and inside of the mesh where it has an
  // inside near the skin that a joint and its parent share. Differences of places are exact in
  // float, so that joints add up to exactly these places.
  std::vector<Vec3f> places;
  std::vector<AffineD> poses;  // [frames][joints] joint to model
  Rows<JointWeight> weights;   // [vertices] above 0
  // Root of the mean squared error of vertices, in the mesh's unit: at the start, with rigid parts,
  // and after each iteration. Never rises; joints are removed, and `connected`, after the last.
  std::vector<double> errors;
  // If connected, errors once joints are together, and after each iteration from then on. They
  // never rise.
  std::vector<double> connected_errors;
  double gap = 0;  // see JointTree; 0 if connected
  std::vector<Problem> warnings;
};

inline constexpr std::uint32_t kNoJoint = 0xffffffff;

// kInvalidArgument: an option out of range; a number of places that is not frames x vertices or
// more than kMaxAnimationPlaces; a place that is not finite; a mesh that is a single point, or
// whose edges are several times longer or shorter than those of the animation, as with another
// order of vertices or another unit. kResourceExhausted, kCancelled.
absl::StatusOr<Decomposition> Decompose(const MeshAnimation& animation,
                                        const DecomposeOptions& options, const Task::Options& task);

// How far the vertices of a decomposition are from the animation, with everything rounded to float
// as it is written to files.
struct DecompositionError {
  Distances all;                                 // over vertices and frames, in the mesh's unit
  std::vector<double> frame_rms, frame_largest;  // [frames]
};
// Arbitrary numbers once the task is cancelled.
DecompositionError MeasureDecomposition(const MeshAnimation& animation, const Decomposition& result,
                                        const Task& task);

}  // namespace sinew
