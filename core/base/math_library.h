// math_library.h - which bits the C library's mathematical functions give on this machine.
#pragma once

#include <string>

namespace sinew {

// A digest of their results at fixed inputs. The C library picks variants by the processor (with
// and without fused multiply-add) and its versions differ in the last place, while everything else
// in core is exactly rounded. Equal digests, equal bits, as far as the inputs can show it.
const std::string& MathLibraryDigest();

}  // namespace sinew
