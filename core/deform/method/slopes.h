// slopes.h - what the methods that carry normals share: slopes of their weights, and the arguments
// of their kernels.
#pragma once

#include <span>

#include "core/base/aligned.h"
#include "core/deform/method/method.h"
#include "core/rig/weight_table.h"
#include "core/simd/slope_args.h"

namespace sinew {

// Slopes of the weights [pairs][16] of `joints`, which sum to a constant at each vertex; empty if
// the bind needs none. least: see SurfaceSlopes.
inline AlignedVector<float> BindSlopes(const BindInput& input, const BlockJoints& joints,
                                       std::span<const float> weights, const Task& task,
                                       double least = 0) {
  if (!input.slopes) return {};
  return input.surface.slopes(task).OfWeights(input.layout, joints, weights, least, task);
}

// Upper limit of the bytes of a weight table and its slopes.
inline std::size_t WeightBytes(const BindInput& input) {
  return WeightTable::CostBytes(input.rig, input.layout) * (input.slopes ? 3 : 1);
}

inline SlopeArgs SlopesOf(const StageFrame& frame, std::span<const float> weights) {
  if (frame.out_slopes.empty()) return {};
  return {weights.data(), frame.in_slopes.front().x, frame.out_slopes.front().x};
}

}  // namespace sinew
