// linear_blend_fit.h - skin weights that make linear blend reproduce example poses.
//
// For each vertex, the weights w >= 0 with sum 1 over its candidate joints that minimise
//
//    sum_f |sum_j w_j M_fj v - y_f|^2 + F (lambda diagonal)^2 |w - start|^2
//
// at most `max_influences` of them above zero; F is the number of poses. Each vertex is a problem
// of its own; sums over poses of pairs of joints are computed once for all. In double; the same
// bits for any number of threads.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>

#include "core/base/rows.h"
#include "core/examples/pose_examples.h"
#include "core/parallel/task.h"

namespace sinew {

struct LinearBlendOptions {
  std::size_t max_influences = 4;  // 1 to kMaxCandidates
  // Pull towards the start weights, relative to the diagonal of the rest points' box; at least 0.
  // Above 0 it decides between weights that fit equally well.
  double lambda = 1e-4;
};

// The weights above zero of each vertex, strongest first; of equal ones the lower joint.
//
// `candidates` has a row for each vertex: 1 to kMaxCandidates joints, rising, with their start
// weights. A row is divided by its sum; a row of zeros starts from equal weights.
//
// kInvalidArgument: sizes, joints, candidates, options or numbers out of range; kResourceExhausted:
// more than the task's memory; kCancelled; errors of `examples.targets`. Sets the task's total.
absl::StatusOr<Rows<JointWeight>> FitLinearBlend(const PoseExamples& examples,
                                                 const Rows<JointWeight>& candidates,
                                                 const LinearBlendOptions& options, Task& task);

}  // namespace sinew
