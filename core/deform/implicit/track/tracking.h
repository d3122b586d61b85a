// tracking.h - robust tracking: the skin follows the field's surface from one pose to the next.
//
// One step from the previous pose:
//
// 1. Every point moves with the parts it is in, its own and adjacent ones (weights F^4).
// 2. Rounds of as-rigid-as-possible relaxation along the surface. The field's direction keeps
//    flattened skin from inverting. A point is pulled towards its skinned position if that is near
//    the surface, and moved onto its level by two Newton steps.
// 3. Skin between limbs (projection weight below kFollows, see SkinSurface::role) is projected in
//    every step; the rest follows it. Tracked, it would slide around the end of the next limb; if
//    it were held back it would remain inside the occluder.
// 4. Points carried away from their limb by another, penetrating part are reset to the previous
//    stage's position.
//
// The side of a contact does not depend on the initial skinning, so bends far beyond 120 degrees
// stay free of overlap; in return a frame depends on earlier ones. Joints may rotate by at most 5
// degrees per step (core/deform/engine/pose_steps.h); the caller splits larger steps. Source: after
// Vaillant et al. 2014; relaxation of Sorkine and Alexa 2007.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"
#include "core/deform/method/method.h"

namespace sinew {

inline constexpr int kTrackingRounds = 8;      // per step
inline constexpr float kTrackingReach = 0.1f;  // of U: maximum move of a point per round
inline constexpr double kTrackingStep = 0.25;  // of U: maximum motion of a joint per step

struct TrackingOptions {
  float unit = 1;  // U, the limb size in scene units, > 0
  // Fraction of the way to frame.in per round, 0 to 1. Falls to 0 at 0.06 U from the surface.
  float attraction = 0.02f;
  bool contact = true;              // parts meet in a surface; else the larger field wins
  std::span<const float> inward{};  // [P][3] see BindInward
  // Which parts carry which points, see Predict; empty: all parts.
  std::span<const std::int32_t> part_of_binding{};  // [E], -1 = none
  std::span<const std::int32_t> parents{};          // [parts], -1 = none
};

// [P][3] unit gradients of the field at the bind-pose skin, in bind space; 0 where there is none.
std::vector<float> BindInward(const BindInput& input, const SkinSurface& skin,
                              const PosedField& bind_pose, const Task& task);

// Floats for `points` welded points: StageFrame::state, 3 per point, the model-space positions
// after the last step; and scratch.
std::size_t TrackingState(std::size_t points);
std::size_t TrackingScratch(std::size_t points);

// One step from the pose of `before`, to which frame.state belongs, to that of `now`: updates
// frame.state and writes frame.out and, if requested, frame.states. frame.begins: starts at rest.
// Points without a field, and those outside the reach of their parts, move to frame.in. With
// partial projection weights, frame.out and frame.states for those points are as from Project. The
// same bits for any number of threads and instruction set. Finite for finite input. When cancelled,
// all three are unspecified.
void Track(const SkinSurface& skin, const PosedField& before, const PosedField& now,
           const TrackingOptions& options, const StageFrame& frame);

}  // namespace sinew
