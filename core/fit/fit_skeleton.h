// fit_skeleton.h - a skeleton for a mesh that has none.
//
// After Baran and Popovic 2007, "Automatic rigging and animation of 3D characters": spheres are
// packed along the medial surface of the body, the template's joints are assigned to them by a
// search that is optimal for its penalties, and moved so that bones lie deep inside. Beyond the
// paper, limbs that would have no bone are searched again, and feet tell front from back. Weights
// follow by ComputeWeights. Thread-safe; the result does not depend on the number of threads.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/problem.h"
#include "core/base/types.h"
#include "core/fit/skeleton_template.h"
#include "core/mesh/mesh.h"
#include "core/parallel/task.h"

namespace sinew {

// A joint whose place is known, in the mesh's space.
struct JointHint {
  std::string joint;
  Vec3d place;
};

// Which way is up in the mesh's space.
enum class FitUp : std::uint8_t { kUnknown, kY, kZ };

struct FitOptions {
  std::uint32_t resolution = 192;  // cells along the longest side, 64 to 384
  double scale = 1;                // of the template, 0.5 to 2
  std::vector<JointHint> hints{};
  FitUp up = FitUp::kY;
  // Try all four directions in which the character may face, and all axes if `up` is unknown; else
  // only the usual one, +Z with +Y up, or -Y with +Z up, or both if `up` is unknown.
  bool turns = true;
};

// How the template stands in the mesh.
struct FitFacing {
  Vec3d up, forward;  // axes of the mesh's space
  // Penalty of the assignment of joints. Right ones of real characters have .004 to .08, wrong ones
  // .1 and more; single limbs may be wrong below that. Depends on the scale of the template:
  // compare fits at one scale only.
  double residual = 1;
};

struct SkeletonFit {
  std::vector<Vec3d> places;  // [template joints] in the mesh's space
  FitFacing facing;
  // The next best of those that were tried, if its residual is at most twice as large and the feet
  // do not tell which it is; without `turns` the best of all others, if its residual is at most
  // half as large.
  std::optional<FitFacing> other;
  std::size_t spheres = 0;
  std::vector<Problem> warnings;  // what makes the fit doubtful
};

inline constexpr double kDoubtfulResidual = 0.1;

// kInvalidArgument: a template that CheckTemplate refuses, an option or a hint out of range.
absl::Status CheckFitOptions(const fit::SkeletonTemplate& skeleton, const FitOptions& options);

// Errors of CheckFitOptions; kInvalidArgument also: a mesh without an inside.
// kFailedPrecondition: the template does not fit; the message names the first joint without a
// place. kResourceExhausted, kCancelled.
absl::StatusOr<SkeletonFit> FitSkeleton(const Mesh& mesh, const fit::SkeletonTemplate& skeleton,
                                        const FitOptions& options, Task& task);

}  // namespace sinew
