// narrow-inl.h - stores whole numbers of packs as integers of one or two bytes.
//
// Numbers are rounded by adding kRoundBias: ties go to even, and the lowest bits of the sum are the
// number in two's complement.
#if defined(SINEW_CORE_SIMD_NARROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_SIMD_NARROW_INL_H_
#undef SINEW_CORE_SIMD_NARROW_INL_H_
#else
#define SINEW_CORE_SIMD_NARROW_INL_H_
#endif

#include <bit>
#include <cstdint>
#include <cstring>

#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

inline constexpr float kRoundBias = 12582912.0f;  // 1.5 * 2^23, for numbers of up to 22 bits

#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR

HWY_INLINE PackPoint LoadInterleaved(const float* p) {
  PackPoint points;
  HWY_UNROLL(1)
  for (std::size_t i = 0; i < 16; ++i) {
    points.x.v[i] = p[3 * i];
    points.y.v[i] = p[3 * i + 1];
    points.z.v[i] = p[3 * i + 2];
  }
  return points;
}
// The lowest 16 bits of 16 biased numbers.
HWY_INLINE void StoreWords(const Pack& biased, std::uint16_t* out) {
  HWY_UNROLL(1)
  for (std::size_t i = 0; i < 16; ++i) {
    const auto word = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(biased.v[i]));
    std::memcpy(out + i, &word, sizeof word);  // any alignment
  }
}
// The lowest `bits` = 8 or 16 bits of x and y, one behind the other.
template <int bits>
HWY_INLINE void StorePairs(const Pack& x, const Pack& y, std::uint8_t* out) {
  HWY_UNROLL(1)
  for (std::size_t i = 0; i < 16; ++i) {
    const std::uint32_t mask = (1u << bits) - 1;
    const std::uint32_t pair = (std::bit_cast<std::uint32_t>(x.v[i]) & mask) |
                               (std::bit_cast<std::uint32_t>(y.v[i]) & mask) << bits;
    std::memcpy(out + i * (bits / 4), &pair, bits / 4);
  }
}

#else  // a vector target

using NarrowTag = hn::Rebind<std::uint16_t, PackTag>;
using WordTag = hn::RebindToUnsigned<PackTag>;

// x0 y0 z0 x1 y1 z1 ... of 48 floats, any alignment.
HWY_INLINE PackPoint LoadInterleaved(const float* p) {
  PackPoint points;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) {
    hn::LoadInterleaved3(PackTag(), p + i * kVecLanes * 3, points.x.v[i], points.y.v[i],
                         points.z.v[i]);
  }
  return points;
}

HWY_INLINE void StoreNarrow(hn::Vec<WordTag> word, std::uint16_t* out) {
  // Below 2^16, so saturation changes nothing.
  const hn::RebindToSigned<WordTag> whole;
  hn::StoreU(hn::DemoteTo(NarrowTag(), hn::BitCast(whole, word)), NarrowTag(), out);
}

HWY_INLINE void StoreWords(const Pack& biased, std::uint16_t* out) {
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) {
    const auto word = hn::And(hn::BitCast(WordTag(), biased.v[i]), hn::Set(WordTag(), 0xffff));
    StoreNarrow(word, out + i * kVecLanes);
  }
}

template <int bits>
HWY_INLINE void StorePairs(const Pack& x, const Pack& y, std::uint8_t* out) {
  const auto mask = hn::Set(WordTag(), (1u << bits) - 1);
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) {
    const auto low = hn::And(hn::BitCast(WordTag(), x.v[i]), mask);
    const auto high = hn::And(hn::BitCast(WordTag(), y.v[i]), mask);
    const auto pair = hn::Or(low, hn::ShiftLeft<bits>(high));
    if constexpr (bits == 8) {
      StoreNarrow(pair, reinterpret_cast<std::uint16_t*>(out + i * kVecLanes * 2));
    } else {
      hn::StoreU(pair, WordTag(), reinterpret_cast<std::uint32_t*>(out + i * kVecLanes * 4));
    }
  }
}

#endif

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
