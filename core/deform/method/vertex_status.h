// vertex_status.h - projection status of each vertex; the byte values of sinew.v1's VERTEX_STATUS.
//
// The march (march.h) has the seven of Vaillant et al. 2013, which call the last three NB_ITER_MAX,
// NORM_GRAD_NULL and OUT_VERT; the default projection (projection.h) has kExcluded and its own. A
// status says how the search of a vertex ended. The smoothing that follows can still move it.
#pragma once

#include <cstdint>

namespace sinew {

enum class VertexStatus : std::uint8_t {
  kNotDisplaced = 0,        // already on its surface
  kFitted = 1,              // moved onto its surface
  kGradientDivergence = 2,  // stopped at a crease with another part
  kPotentialPit = 3,        // stopped where the field leads away
  kIterationLimit = 4,      // off its surface after the last step
  kZeroGradient = 5,        // no direction to move in
  kExcluded = 6,            // excluded at bind
  kUnmoved = 7,             // already on its level, or as thick as at rest
  kAtRestLevel = 8,         // moved to its level
  kContact = 9,             // stopped where it meets another limb
  kMoveLimit = 10,          // off its level at the limit of its move
};

}  // namespace sinew
