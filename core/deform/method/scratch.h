// scratch.h - buffer sizes for stages that share one scratch area.
#pragma once

#include <cstddef>

#include "core/rig/layout.h"

namespace sinew {

// Rounds up to whole cache lines, so that the next buffer is aligned.
constexpr std::size_t WholeLines(std::size_t floats) {
  return (floats + kLanes - 1) / kLanes * kLanes;
}

}  // namespace sinew
