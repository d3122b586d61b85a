// coefficient_fit.h - the coefficients of animation space and multi-weight enveloping that
// reproduce example poses; their meaning is that of Coefficients in rig.proto.
//
// The start is a linear blend. Of each vertex its joint with the largest weight (of equal ones the
// first) is the main joint d: what the others take, it loses, so the rest pose is exact. With u
// relative to the pivot of d, the unknowns are p_j = (w_j u + o_j, w_j) of the other joints, and
//
//    sum of squared errors + F lambda^2 sum_j |p_j - start_j|^2
//
// is minimised, F the number of poses, lengths divided by the diagonal of the rest points' box. A
// joint that turns about a fixed pivot leaves the problem singular, so lambda must be above 0. For
// multi-weight enveloping each coordinate in the frame of d is a problem of its own.
//
// In double; the same bits for any number of threads.
//
// Sources: Merry, Marais, Gain 2006; Wang, Phillips 2002.
#pragma once

#include <absl/status/statusor.h>

#include <span>
#include <vector>

#include "core/base/rows.h"
#include "core/examples/pose_examples.h"
#include "core/parallel/task.h"

namespace sinew {

inline constexpr double kCoefficientPull = 1e-3;  // a lambda for characters

// The place of the main joint in a row of weights.
std::size_t MainJoint(std::span<const JointWeight> row);

// [weights.values][4]: offset x y z, weight.
//
//    weights  [n] rows of 1 to kMaxCandidates joints, rising, with the weights of a linear blend,
//             which may be 0 for joints that should gain some; a row is divided by its sum
//    pivots   [joints] where each joint is in the rest pose
//
// kInvalidArgument: sizes or numbers out of range; kResourceExhausted; kCancelled; errors of
// `examples.targets`. Sets the task's total.
absl::StatusOr<std::vector<double>> FitAnimationSpace(const PoseExamples& examples,
                                                      const Rows<JointWeight>& weights,
                                                      std::span<const Vec3d> pivots, double lambda,
                                                      Task& task);

// [weights.values][12]: the same for each coordinate in the frame of the main joint. Poses in which
// that joint is singular do not count.
absl::StatusOr<std::vector<double>> FitMultiWeight(const PoseExamples& examples,
                                                   const Rows<JointWeight>& weights,
                                                   std::span<const Vec3d> pivots, double lambda,
                                                   Task& task);

// Where a pose takes a vertex.
//
//    columns  1: values are weights; 4 or 12: as fitted
//    row      its joints; `values` [row][columns]
//    pose     [joints]
Vec3d PlaceOf(std::size_t columns, std::span<const JointWeight> row, std::span<const double> values,
              std::span<const AffineD> pose, const Vec3d& rest);

}  // namespace sinew
