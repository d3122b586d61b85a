// tracking.h - projection that continues from the previous pose.
//
// Without state every skinned point is projected along its ray. Where a joint is bent so far that
// the skinned point lies deep in the other limb, even beyond its axis, the way back is ambiguous.
// With state the points of both limbs start where they were in the previous pose, carried along by
// the limbs of their skin weights: fully where a joint is bent by 140 degrees, and less down to
// 100. All others are projected as without state, so that skin does not slide, and forgets a fold
// when it has opened.
//
// The start is a continuous function of the skinned point, the position before and both poses.
// Joints may rotate by at most 5 degrees per step (core/deform/engine/pose_steps.h); the caller
// splits larger steps. Source: after Vaillant et al. 2014, who track all skin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/project/projection.h"
#include "core/deform/method/method.h"

namespace sinew {

inline constexpr double kTrackingStep = 0.25;  // of U: maximum motion of a joint per step

// Floats of StageFrame::state for `points` welded points, 3 per point: the model-space positions
// after the last step. Scratch: ProjectionScratch.
std::size_t TrackingState(std::size_t points);

// One step from the pose of `before`, to which frame.state belongs, to that of input.posed: updates
// frame.state and, unless frame.passing, writes frame.out and, if requested, frame.vertex_status.
// frame.begins: starts at rest. The same bits for any number of threads and instruction set. Finite
// for finite input. When cancelled, all three are unspecified.
//
//    parents  [parts] parent part, -1 = none
void Track(const ProjectionInput& input, const PosedField& before,
           std::span<const std::int32_t> parents, const StageFrame& frame);

}  // namespace sinew
