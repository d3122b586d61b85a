#include "core/deform/kernels/encode_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/kernels/encode_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/narrow-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void EncodeQ16(const float* points, const float* origin, const float* inverse_step,
               std::size_t packs, std::uint16_t* out) {
  // Coordinates stay interleaved: 48 floats repeat the pattern x y z.
  HWY_ALIGN float origins[48], inverses[48];
  for (std::size_t i = 0; i < 48; ++i) {
    origins[i] = origin[i % 3];
    inverses[i] = inverse_step[i % 3];
  }
  const Pack most = Pack::Set(65535.0f), bias = Pack::Set(kRoundBias);
  for (std::size_t k = 0; k < packs * 3; ++k) {
    const std::size_t at = k % 3 * 16;
    const Pack scaled =
        (Pack::Load(points + k * 16) - Pack::Load(origins + at)) * Pack::Load(inverses + at);
    StoreWords(Max(Min(scaled, most), Pack::Zero()) + bias, out + k * 16);
  }
}

template <int bits>
HWY_INLINE void EncodeOct(const float* directions, std::size_t packs, std::uint8_t* out) {
  const Pack zero = Pack::Zero(), one = Pack::Set(1.0f), bias = Pack::Set(kRoundBias);
  const Pack scale = Pack::Set(static_cast<float>((1 << (bits - 1)) - 1));
  for (std::size_t k = 0; k < packs; ++k) {
    const PackPoint n = LoadInterleaved(directions + k * 48);
    const Pack inverse = one / (Abs(n.x) + Abs(n.y) + Abs(n.z));
    const Pack x = n.x * inverse, y = n.y * inverse;
    const Pack fold_x = one - Abs(y), fold_y = one - Abs(x);
    const PackMask lower = Lt(n.z, zero);
    const Pack u = IfThenElse(lower, IfThenElse(Lt(x, zero), zero - fold_x, fold_x), x);
    const Pack v = IfThenElse(lower, IfThenElse(Lt(y, zero), zero - fold_y, fold_y), y);
    StorePairs<bits>(u * scale + bias, v * scale + bias, out + k * (bits * 4));
  }
}

void EncodeOctBits(const float* directions, std::size_t packs, int bits, std::uint8_t* out) {
  bits == 8 ? EncodeOct<8>(directions, packs, out) : EncodeOct<16>(directions, packs, out);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, EncodeQ16Kernel,
             (const float* points, const float* origin, const float* inverse_step,
              std::size_t packs, std::uint16_t* out),
             EncodeQ16, (points, origin, inverse_step, packs, out))
SINEW_KERNEL(void, EncodeOctKernel,
             (const float* directions, std::size_t packs, int bits, std::uint8_t* out),
             EncodeOctBits, (directions, packs, bits, out))
#endif
