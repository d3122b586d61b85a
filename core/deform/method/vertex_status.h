// vertex_status.h - projection status of each vertex; the byte values of sinew.v1's VERTEX_STATUS.
//
// Names follow Vaillant et al. 2013.
#pragma once

#include <cstdint>

namespace sinew {

enum class VertexStatus : std::uint8_t {
  kNotDisplaced = 0,        // already on its surface, or as thick as at rest
  kFitted = 1,              // moved onto its surface
  kGradientDivergence = 2,  // stopped at a crease with another part
  kPotentialPit = 3,        // stopped where the field leads away
  kIterationLimit = 4,      // off its surface at the limit of its move or of the steps
  kZeroGradient = 5,        // no direction to move in
  kExcluded = 6,            // excluded at bind
};

}  // namespace sinew
