// arap_kernel.h - nearest rotations of 16 neighbourhoods at a time.
#pragma once

#include <cstdint>

namespace sinew {

// r = nearest rotations of h; h and r [9][16] row-major, 64-byte aligned. Returns a bit for each
// lane where float is too inaccurate; there r is finite only.
std::uint32_t NearestRotationsKernel(const float* h, float* r);

}  // namespace sinew
