// pack-inl.h - 16 float lanes on every instruction set: what kernels are written in.
//
// Include it once per target, after hwy/foreach_target.h, and use it inside
// HWY_BEFORE_NAMESPACE() ... HWY_AFTER_NAMESPACE(). A pack is two registers on AVX2 (which hides
// the latency of a chain of multiply-adds), one on AVX-512, four on NEON, and 16 floats with
// std::fma on the scalar level, whose results are the same bits because every operation is exactly
// rounded and none crosses lanes. So write kernels in these alone: a sum over lanes, an approximate
// reciprocal or a contraction left to the compiler would differ between levels.
//
// Pointers of Load and Store are 64-byte aligned, LoadHalf's 32; StoreInterleaved takes any. NaN:
// comparisons are false, Min and Max give b, arithmetic gives a NaN of any sign and payload.
// Denormals are as the thread has them: kernels run under DenormalGuard, which flushes them.
#if defined(SINEW_CORE_SIMD_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_SIMD_PACK_INL_H_
#undef SINEW_CORE_SIMD_PACK_INL_H_
#else
#define SINEW_CORE_SIMD_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "core/simd/half.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// What PowerOfTwo expects on top of its exponent: makes a sum round to whole numbers, and leaves
// the exponent's bits at the bottom.
inline constexpr float kPowerBias = 12583039.0f;  // 1.5 * 2^23 + 127

#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR

// One truth a lane: what comparisons give, and IfThenElse and MaskBits take.
struct PackMask {
  bool m[16];
};

struct Pack {
  float v[16];

  static HWY_INLINE Pack Load(const float* p) {
    Pack r;
    for (int i = 0; i < 16; ++i) r.v[i] = p[i];
    return r;
  }
  // 16 float16, see core/simd/half.h; exact.
  static HWY_INLINE Pack LoadHalf(const std::uint16_t* p) {
    Pack r;
    for (int i = 0; i < 16; ++i) r.v[i] = FromHalf(p[i]);
    return r;
  }
  static HWY_INLINE Pack Set(float s) {
    Pack r;
    for (int i = 0; i < 16; ++i) r.v[i] = s;
    return r;
  }
  static HWY_INLINE Pack Zero() { return Set(0.0f); }
  HWY_INLINE void Store(float* p) const {
    for (int i = 0; i < 16; ++i) p[i] = v[i];
  }
};

// Lane by lane, here as on vectors.
#define SINEW_PACK_BINARY(name, expression)            \
  HWY_INLINE Pack name(const Pack& a, const Pack& b) { \
    Pack r;                                            \
    for (int i = 0; i < 16; ++i) r.v[i] = expression;  \
    return r;                                          \
  }
#define SINEW_PACK_COMPARE(name, op)                        \
  HWY_INLINE PackMask name(const Pack& a, const Pack& b) {  \
    PackMask r;                                             \
    for (int i = 0; i < 16; ++i) r.m[i] = a.v[i] op b.v[i]; \
    return r;                                               \
  }
SINEW_PACK_BINARY(operator+, a.v[i] + b.v[i])
SINEW_PACK_BINARY(operator-, a.v[i] - b.v[i])
SINEW_PACK_BINARY(operator*, a.v[i] * b.v[i])
SINEW_PACK_BINARY(operator/, a.v[i] / b.v[i])
SINEW_PACK_BINARY(Min, a.v[i] < b.v[i] ? a.v[i] : b.v[i])
SINEW_PACK_BINARY(Max, a.v[i] > b.v[i] ? a.v[i] : b.v[i])
SINEW_PACK_COMPARE(Lt, <)
SINEW_PACK_COMPARE(Le, <=)
SINEW_PACK_COMPARE(Gt, >)

// a * b + c, rounded once.
HWY_INLINE Pack MulAdd(const Pack& a, const Pack& b, const Pack& c) {
  Pack r;
  for (int i = 0; i < 16; ++i) r.v[i] = std::fma(a.v[i], b.v[i], c.v[i]);
  return r;
}
// c - a * b, rounded once.
HWY_INLINE Pack NegMulAdd(const Pack& a, const Pack& b, const Pack& c) {
  Pack r;
  for (int i = 0; i < 16; ++i) r.v[i] = std::fma(-a.v[i], b.v[i], c.v[i]);
  return r;
}
HWY_INLINE Pack Sqrt(const Pack& a) {
  Pack r;
  for (int i = 0; i < 16; ++i) r.v[i] = std::sqrt(a.v[i]);
  return r;
}
HWY_INLINE Pack Abs(const Pack& a) {
  Pack r;
  for (int i = 0; i < 16; ++i) r.v[i] = std::fabs(a.v[i]);
  return r;
}
// a where the mask holds, else b.
HWY_INLINE Pack IfThenElse(const PackMask& mask, const Pack& a, const Pack& b) {
  Pack r;
  for (int i = 0; i < 16; ++i) r.v[i] = mask.m[i] ? a.v[i] : b.v[i];
  return r;
}
// 2^n of a = n + kPowerBias, n whole, -126 to 127.
HWY_INLINE Pack PowerOfTwo(const Pack& a) {
  Pack r;
  for (int i = 0; i < 16; ++i) {
    r.v[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(a.v[i]) << 23);
  }
  return r;
}
// x0 y0 z0 x1 y1 z1 ... to 48 floats.
HWY_INLINE void StoreInterleaved(const Pack& x, const Pack& y, const Pack& z, float* p) {
  for (int i = 0; i < 16; ++i) {
    p[3 * i] = x.v[i];
    p[3 * i + 1] = y.v[i];
    p[3 * i + 2] = z.v[i];
  }
}
// Bit i is lane i.
HWY_INLINE std::uint32_t MaskBits(const PackMask& mask) {
  std::uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<std::uint32_t>(mask.m[i]) << i;
  return bits;
}

#else  // a vector target

namespace hn = hwy::HWY_NAMESPACE;
// As many lanes as the target has, 16 at most; a pack is so many vectors of them.
using PackTag = hn::CappedTag<float, 16>;
using PackVec = hn::Vec<PackTag>;
inline constexpr std::size_t kVecLanes = hn::MaxLanes(PackTag());
inline constexpr std::size_t kVecs = 16 / kVecLanes;

struct PackMask {
  hn::Mask<PackTag> m[kVecs];
};

struct Pack {
  PackVec v[kVecs];

  static HWY_INLINE Pack Load(const float* p) {
    Pack r;
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::Load(PackTag(), p + i * kVecLanes);
    return r;
  }
  // 16 float16, see core/simd/half.h, 32-byte aligned; exact, flushing denormals or not.
  static HWY_INLINE Pack LoadHalf(const std::uint16_t* p) {
    const hn::Rebind<hwy::float16_t, PackTag> half;
    const auto* const from = reinterpret_cast<const hwy::float16_t*>(p);
    Pack r;
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < kVecs; ++i) {
      r.v[i] = hn::PromoteTo(PackTag(), hn::Load(half, from + i * kVecLanes));
    }
    return r;
  }
  static HWY_INLINE Pack Set(float s) {
    Pack r;
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::Set(PackTag(), s);
    return r;
  }
  static HWY_INLINE Pack Zero() {
    Pack r;
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::Zero(PackTag());
    return r;
  }
  HWY_INLINE void Store(float* p) const {
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < kVecs; ++i) hn::Store(v[i], PackTag(), p + i * kVecLanes);
  }
};

#define SINEW_PACK_BINARY(name, expression)                      \
  HWY_INLINE Pack name(const Pack& a, const Pack& b) {           \
    Pack r;                                                      \
    HWY_UNROLL(4)                                                \
    for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = expression; \
    return r;                                                    \
  }
#define SINEW_PACK_COMPARE(name, op)                                         \
  HWY_INLINE PackMask name(const Pack& a, const Pack& b) {                   \
    PackMask r;                                                              \
    HWY_UNROLL(4)                                                            \
    for (std::size_t i = 0; i < kVecs; ++i) r.m[i] = hn::op(a.v[i], b.v[i]); \
    return r;                                                                \
  }
SINEW_PACK_BINARY(operator+, hn::Add(a.v[i], b.v[i]))
SINEW_PACK_BINARY(operator-, hn::Sub(a.v[i], b.v[i]))
SINEW_PACK_BINARY(operator*, hn::Mul(a.v[i], b.v[i]))
SINEW_PACK_BINARY(operator/, hn::Div(a.v[i], b.v[i]))
// The comparisons a < b ? a : b and a > b ? a : b, so that equal values of opposite sign and NaN
// come out alike on every level; on x86 that is what one instruction does.
#if HWY_ARCH_X86
SINEW_PACK_BINARY(Min, hn::Min(a.v[i], b.v[i]))
SINEW_PACK_BINARY(Max, hn::Max(a.v[i], b.v[i]))
#else
SINEW_PACK_BINARY(Min, hn::IfThenElse(hn::Lt(a.v[i], b.v[i]), a.v[i], b.v[i]))
SINEW_PACK_BINARY(Max, hn::IfThenElse(hn::Gt(a.v[i], b.v[i]), a.v[i], b.v[i]))
#endif
SINEW_PACK_COMPARE(Lt, Lt)
SINEW_PACK_COMPARE(Le, Le)
SINEW_PACK_COMPARE(Gt, Gt)

// a * b + c, rounded once.
HWY_INLINE Pack MulAdd(const Pack& a, const Pack& b, const Pack& c) {
  Pack r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::MulAdd(a.v[i], b.v[i], c.v[i]);
  return r;
}
// c - a * b, rounded once.
HWY_INLINE Pack NegMulAdd(const Pack& a, const Pack& b, const Pack& c) {
  Pack r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::NegMulAdd(a.v[i], b.v[i], c.v[i]);
  return r;
}
HWY_INLINE Pack Sqrt(const Pack& a) {
  Pack r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::Sqrt(a.v[i]);
  return r;
}
HWY_INLINE Pack Abs(const Pack& a) {
  Pack r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::Abs(a.v[i]);
  return r;
}
HWY_INLINE Pack IfThenElse(const PackMask& mask, const Pack& a, const Pack& b) {
  Pack r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::IfThenElse(mask.m[i], a.v[i], b.v[i]);
  return r;
}
// 2^n of a = n + kPowerBias, n whole, -126 to 127.
HWY_INLINE Pack PowerOfTwo(const Pack& a) {
  const hn::RebindToUnsigned<PackTag> bits;
  Pack r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) {
    r.v[i] = hn::BitCast(PackTag(), hn::ShiftLeft<23>(hn::BitCast(bits, a.v[i])));
  }
  return r;
}
// x0 y0 z0 x1 y1 z1 ... to 48 floats.
HWY_INLINE void StoreInterleaved(const Pack& x, const Pack& y, const Pack& z, float* p) {
  for (std::size_t i = 0; i < kVecs; ++i) {
    hn::StoreInterleaved3(x.v[i], y.v[i], z.v[i], PackTag(), p + i * kVecLanes * 3);
  }
}
// Bit i is lane i.
HWY_INLINE std::uint32_t MaskBits(const PackMask& mask) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kVecs; ++i) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(PackTag(), mask.m[i], bytes);
    const std::uint32_t lanes = bytes[0] | static_cast<std::uint32_t>(bytes[1]) << 8;
    bits |= lanes << (i * kVecLanes);
  }
  return bits;
}

#endif
#undef SINEW_PACK_BINARY
#undef SINEW_PACK_COMPARE

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
