// math_library.h - identifies the results of the C library's mathematical functions.
#pragma once

#include <string>

namespace sinew {

// A digest of their results at fixed inputs. The C library selects variants by processor (with and
// without fused multiply-add), and its versions differ in the last place; everything else in core
// is exactly rounded. Machines with equal digests are expected to produce equal bits.
const std::string& MathLibraryDigest();

}  // namespace sinew
