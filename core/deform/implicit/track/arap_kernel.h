// arap_kernel.h - nearest rotations of 16 neighbourhoods at a time.
#pragma once

#include <cstdint>

namespace sinew {

// r = rotations nearest to h; h and r [9][16] row-major, 64-byte aligned. Returns one bit for each
// lane where float32 does not do: r is then finite and no more.
std::uint32_t NearestRotationsKernel(const float* h, float* r);

}  // namespace sinew
