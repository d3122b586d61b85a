// scratch.h - sizes of the buffers that stages share one scratch area for.
#pragma once

#include <cstddef>

#include "core/rig/layout.h"

namespace sinew {

// Floats rounded up, so that the buffer behind them begins at a cache line.
constexpr std::size_t WholeLines(std::size_t floats) {
  return (floats + kLanes - 1) / kLanes * kLanes;
}

}  // namespace sinew
