// tracking.h - robust tracking: the skin follows the surface of the field from one pose to the
// next.
//
// A step from the pose before: every point moves with the parts it lies in, its own and those next
// to it (weights F^4), then rounds of as-rigid-as-possible relaxation along the surface, in which
// the field's direction keeps skin that is pressed flat from folding over, a pull towards where the
// stages before put the point, as far as they are near the surface, and two Newton steps onto its
// own level of the field. No initial skinning decides on which side of a contact a point lies, so
// bends far beyond 120 degrees stay free of overlap; in return a frame depends on those before it.
// Skin between limbs, which goes part of its way only (see SkinSurface::role), is projected in
// every step, and the rest follows it: tracked it would slide on, round the end of the next limb,
// and held back it would stay behind in what pushes it out. What goes nearly all of its way is
// tracked: creases of deep bends lie there, with a few hundredths of a twist bone. What a stranger
// that passes through carries far off its limb goes back to where the stages before have it. Steps
// must be small (a joint turns by 5 degrees or less, see core/deform/engine/pose_steps.h); who
// calls cuts them. Source: after Vaillant et al. 2014; the relaxation of Sorkine and Alexa 2007.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"
#include "core/deform/method/method.h"

namespace sinew {

// Rounds of one step, and how much of U a point moves in a round at most.
inline constexpr int kTrackingRounds = 8;
inline constexpr float kTrackingReach = 0.1f;
// How far a joint may go in one step, of U.
inline constexpr double kTrackingStep = 0.25;

struct TrackingOptions {
  float unit = 1;  // U, the size of the limbs, scene units, above 0
  // Part of the way to frame.in that a point goes in every round, 0 to 1; the less the farther that
  // lies off the surface, nothing from .06 U on.
  float attraction = 0.02f;
  bool contact = true;              // parts meet at a surface; else the larger field wins
  std::span<const float> inward{};  // [P][3] see BindInward
  // Who is carried by whom, see Predict; empty: by every part.
  std::span<const std::int32_t> part_of_binding{};  // [E], -1 = none
  std::span<const std::int32_t> parents{};          // [parts], -1 = none
};

// [P][3] Unit gradients of the field at the skin as it was bound, in the space that the mesh is
// kept in; 0 where it has none.
std::vector<float> BindInward(const BindInput& input, const SkinSurface& skin,
                              const PosedField& bind_pose, const Task& task);

// Floats for `points` welded points: of StageFrame::state, 3 each, where the last step left them in
// model space; and of scratch.
std::size_t TrackingState(std::size_t points);
std::size_t TrackingScratch(std::size_t points);

// One step from the pose of `before`, where frame.state stands, to that of `now`: moves the state
// on and writes frame.out and, where wanted, frame.states. frame.begins: from rest. Points without
// a field, and those that no part that may carry them reaches, go where frame.in has them. If any
// skin goes partly, frame.out and frame.states come as Project leaves them. Same bits for any
// number of threads and instruction set. Finite for finite input. Cancelled: all three are
// unspecified.
void Track(const SkinSurface& skin, const PosedField& before, const PosedField& now,
           const TrackingOptions& options, const StageFrame& frame);

}  // namespace sinew
