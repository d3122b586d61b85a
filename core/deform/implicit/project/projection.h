// projection.h - moves every point of posed skin along one ray onto its own level of the posed
// field, or up to the contact with another limb.
//
// The ray starts at the skinned point and runs along the skinned inward direction d. On it the
// point moves to the zero of
//
//    T(t) = smooth minimum of  a    = level - f_owner                  depth below its own level
//                         and  b_x  = f_x - f_owner + slack + s t      gap to each other limb x
//
// The slack makes T exactly 0 at rest; s is kOutwardSlope for t < 0, else 0. a alone restores the
// volume: the point returns to its level, but moves no farther than the pose has brought it nearer
// to its bone, or away from it. Where limbs meet, the gaps stop the point at the surface between
// them; a limb counts as far as it is trusted (PosedField::Trust). The owner and the ray are fixed
// by the bind and the pose, and all limits are continuous. No point moves farther inward than the
// axis of its owner was at rest, behind which T falls again. So the result is continuous in the
// pose as long as T rises along the ray up to there. Between bones that lie apart, such as in the
// web of a thumb, moves without contact fade out.
//
// A frame: every point moves; the moves are smoothed (move_smoothing.h), which takes some points
// off the surface between two limbs; points near another limb move twice more, by contact alone:
// first back out to the surface or in to it, then only in. What that adds is smoothed likewise;
// moves that are still steep are eased. All passes together move a point no farther than the first
// one may, apart from what smoothing adds.
//
// T follows the fields and their composition of Vaillant et al. 2013; the fixed owner and the fixed
// ray take the place of its march along the gradient, which stops where the gradient turns, and
// jumps when another step meets that condition first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/deform/implicit/field.h"
#include "core/deform/implicit/project/level_skin.h"
#include "core/deform/implicit/project/move_smoothing.h"
#include "core/deform/implicit/skin.h"
#include "core/deform/method/method.h"

namespace sinew {

// Statistics of a frame, for tests and benchmarks.
struct ProjectionCounts {
  std::size_t moved = 0, touching = 0, evaluations = 0;  // points; field evaluations in points
};

std::size_t ProjectionScratch(std::size_t points);  // floats

// What a projection reads. All must outlive it.
struct ProjectionInput {
  const LevelSkin& level;
  const MoveRings& rings;
  const SkinSurface& skin;
  std::span<const Affine> bind_frames;  // [parts] PosedField::PartFrames in the bind pose
  const PosedField& posed;              // in the pose of the frame
  bool contact = true;                  // false: points only return to their own level
};

// Reads frame.in, writes frame.out and, if requested, frame.vertex_status. The same bits for any
// number of threads. Thread-safe. Finite for finite input. When the task is cancelled it returns
// early with partial results. counts: filled, or null.
void Project(const ProjectionInput& input, const StageFrame& frame,
             ProjectionCounts* counts = nullptr);

}  // namespace sinew
