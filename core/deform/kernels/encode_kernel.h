// encode_kernel.h - positions and directions as integers, 16 vertices at a time.
//
// Decoding is defined so that every language with IEEE 754 float32 gets the same bits, with or
// without fused multiply-add.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// q = round((p - origin) * inverse_step) in [0, 65535]; decoded: origin + step * q, where the
// product is exact because step has at most 8 significant bits.
//
//    points  [packs * 16][3], 64-byte aligned
//    origin, inverse_step  [3]
//    out     [packs * 16][3]
void EncodeQ16Kernel(const float* points, const float* origin, const float* inverse_step,
                     std::size_t packs, std::uint16_t* out);

// Octahedral: (x, y) / (|x| + |y| + |z|), the lower half folded over the diagonals; each number
// times 2^(bits - 1) - 1, rounded. Source: Cigolle et al. 2014, "A survey of efficient
// representations for independent unit vectors".
//
//    directions  [packs * 16][3] unit
//    bits        8 or 16
//    out         [packs * 16][2] signed numbers of that size, little-endian
void EncodeOctKernel(const float* directions, std::size_t packs, int bits, std::uint8_t* out);

}  // namespace sinew
