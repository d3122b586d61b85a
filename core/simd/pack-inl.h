// pack-inl.h - 16 float lanes on every instruction set. All kernels are written in these packs.
//
// Include it once per target, after hwy/foreach_target.h, and use it inside HWY_BEFORE_NAMESPACE()
// ... HWY_AFTER_NAMESPACE(). A pack is two registers on AVX2 (which hides the latency of a chain of
// multiply-adds), one on AVX-512, four on NEON, and 16 floats with std::fma on the scalar level.
// The bits are the same on all levels because every operation is exactly rounded and none crosses
// lanes. Kernels must use nothing else: horizontal sums, approximate reciprocals and compiler
// contractions differ between levels.
//
// Load and Store need 64-byte alignment; StoreInterleaved needs none. NaN: comparisons
// are false, Min and Max return b, arithmetic returns a NaN of any sign and payload. Kernels run
// under DenormalGuard, which flushes denormals.
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

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// Added to the exponent before PowerOfTwo: rounds the sum to a whole number and leaves the
// exponent's bits at the bottom of the mantissa.
inline constexpr float kPowerBias = 12583039.0f;  // 1.5 * 2^23 + 127

#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR

// A loop stays a loop: unrolled, this level alone takes nine tenths of the time that a kernel takes
// to compile.
#define SINEW_EACH_LANE \
  HWY_UNROLL(1)         \
  for (int i = 0; i < 16; ++i)

// One boolean per lane: the result of comparisons, the condition of IfThenElse and MaskBits.
struct PackMask {
  bool m[16];
};

struct Pack {
  float v[16];

  static HWY_INLINE Pack Load(const float* p) {
    Pack r;
    SINEW_EACH_LANE r.v[i] = p[i];
    return r;
  }
  // Byte k of 16 words, 0 is the lowest.
  template <int k>
  static HWY_INLINE Pack LoadByte(const std::uint32_t* p) {
    Pack r;
    SINEW_EACH_LANE r.v[i] = static_cast<float>(p[i] >> (8 * k) & 255);
    return r;
  }
  static HWY_INLINE Pack Set(float s) {
    Pack r;
    SINEW_EACH_LANE r.v[i] = s;
    return r;
  }
  static HWY_INLINE Pack Zero() { return Set(0.0f); }
  HWY_INLINE void Store(float* p) const { SINEW_EACH_LANE p[i] = v[i]; }
};

#define SINEW_PACK_BINARY(name, expression)            \
  HWY_INLINE Pack name(const Pack& a, const Pack& b) { \
    Pack r;                                            \
    SINEW_EACH_LANE r.v[i] = expression;               \
    return r;                                          \
  }
#define SINEW_PACK_COMPARE(name, op)                       \
  HWY_INLINE PackMask name(const Pack& a, const Pack& b) { \
    PackMask r;                                            \
    SINEW_EACH_LANE r.m[i] = a.v[i] op b.v[i];             \
    return r;                                              \
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
  SINEW_EACH_LANE r.v[i] = std::fma(a.v[i], b.v[i], c.v[i]);
  return r;
}
// c - a * b, rounded once.
HWY_INLINE Pack NegMulAdd(const Pack& a, const Pack& b, const Pack& c) {
  Pack r;
  SINEW_EACH_LANE r.v[i] = std::fma(-a.v[i], b.v[i], c.v[i]);
  return r;
}
HWY_INLINE Pack Sqrt(const Pack& a) {
  Pack r;
  SINEW_EACH_LANE r.v[i] = std::sqrt(a.v[i]);
  return r;
}
HWY_INLINE Pack Abs(const Pack& a) {
  Pack r;
  SINEW_EACH_LANE r.v[i] = std::fabs(a.v[i]);
  return r;
}
HWY_INLINE PackMask And(const PackMask& a, const PackMask& b) {
  PackMask r;
  SINEW_EACH_LANE r.m[i] = a.m[i] && b.m[i];
  return r;
}
// Per lane: mask ? a : b.
HWY_INLINE Pack IfThenElse(const PackMask& mask, const Pack& a, const Pack& b) {
  Pack r;
  SINEW_EACH_LANE r.v[i] = mask.m[i] ? a.v[i] : b.v[i];
  return r;
}
// 2^n for a = n + kPowerBias, n a whole number in [-126, 127].
HWY_INLINE Pack PowerOfTwo(const Pack& a) {
  Pack r;
  SINEW_EACH_LANE {
    r.v[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(a.v[i]) << 23);
  }
  return r;
}
// x0 y0 z0 x1 y1 z1 ... as 48 floats.
HWY_INLINE void StoreInterleaved(const Pack& x, const Pack& y, const Pack& z, float* p) {
  SINEW_EACH_LANE {
    p[3 * i] = x.v[i];
    p[3 * i + 1] = y.v[i];
    p[3 * i + 2] = z.v[i];
  }
}
// Bit i is lane i.
HWY_INLINE std::uint32_t MaskBits(const PackMask& mask) {
  std::uint32_t bits = 0;
  SINEW_EACH_LANE bits |= static_cast<std::uint32_t>(mask.m[i]) << i;
  return bits;
}

#undef SINEW_EACH_LANE

#else  // a vector target

namespace hn = hwy::HWY_NAMESPACE;
// Has as many lanes as the target, at most 16.
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
  template <int k>
  static HWY_INLINE Pack LoadByte(const std::uint32_t* p) {
    const hn::RebindToUnsigned<PackTag> words;
    const hn::RebindToSigned<PackTag> whole;
    Pack r;
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < kVecs; ++i) {
      const auto word = hn::ShiftRight<8 * k>(hn::Load(words, p + i * kVecLanes));
      const auto byte = hn::And(word, hn::Set(words, 255));
      r.v[i] = hn::ConvertTo(PackTag(), hn::BitCast(whole, byte));
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
// Exactly a < b ? a : b and a > b ? a : b, so that NaN and zeros of opposite sign give the same
// result on every level. On x86 that is a single instruction.
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

HWY_INLINE Pack MulAdd(const Pack& a, const Pack& b, const Pack& c) {
  Pack r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::MulAdd(a.v[i], b.v[i], c.v[i]);
  return r;
}
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
HWY_INLINE PackMask And(const PackMask& a, const PackMask& b) {
  PackMask r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) r.m[i] = hn::And(a.m[i], b.m[i]);
  return r;
}
HWY_INLINE Pack IfThenElse(const PackMask& mask, const Pack& a, const Pack& b) {
  Pack r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) r.v[i] = hn::IfThenElse(mask.m[i], a.v[i], b.v[i]);
  return r;
}
HWY_INLINE Pack PowerOfTwo(const Pack& a) {
  const hn::RebindToUnsigned<PackTag> bits;
  Pack r;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) {
    r.v[i] = hn::BitCast(PackTag(), hn::ShiftLeft<23>(hn::BitCast(bits, a.v[i])));
  }
  return r;
}
HWY_INLINE void StoreInterleaved(const Pack& x, const Pack& y, const Pack& z, float* p) {
  for (std::size_t i = 0; i < kVecs; ++i) {
    hn::StoreInterleaved3(x.v[i], y.v[i], z.v[i], PackTag(), p + i * kVecLanes * 3);
  }
}
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
