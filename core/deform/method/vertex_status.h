// vertex_status.h - what became of a vertex in a frame; the bytes of sinew.v1's VERTEX_STATUS.
//
// Names of the states: Vaillant et al. 2013.
#pragma once

#include <cstdint>

namespace sinew {

enum class VertexStatus : std::uint8_t {
  kNotDisplaced = 0,        // already on its surface
  kFitted = 1,              // moved onto its surface
  kGradientDivergence = 2,  // stopped at a crease: another part is met
  kPotentialPit = 3,        // stopped where the field would lead away
  kIterationLimit = 4,      // ran out of steps
  kZeroGradient = 5,        // no direction to move in
  kExcluded = 6,            // excluded at bind
};

}  // namespace sinew
