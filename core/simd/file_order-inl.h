// file_order-inl.h - stores the points of a block where their vertices are in the caller's file
// order.
#if defined(SINEW_CORE_SIMD_FILE_ORDER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_SIMD_FILE_ORDER_INL_H_
#undef SINEW_CORE_SIMD_FILE_ORDER_INL_H_
#else
#define SINEW_CORE_SIMD_FILE_ORDER_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// 16 consecutive vertices. Two at a time: this is scalar work beside the stores.
HWY_INLINE bool IsRun(const std::int32_t* order) {
  constexpr std::uint64_t kBoth = 0x100000001;
  const std::uint64_t first =
      kBoth * static_cast<std::uint32_t>(order[0]) + (std::uint64_t{1} << 32);
  std::uint64_t differs = 0;
  HWY_UNROLL(8)
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::uint64_t low = static_cast<std::uint32_t>(order[2 * i]);
    const std::uint64_t high = static_cast<std::uint32_t>(order[2 * i + 1]);
    differs |= (high << 32 | low) ^ (first + 2 * i * kBoth);
  }
  return differs == 0;
}

// order  [16] file vertex of a lane; -1 = padding, behind all others
// out    [V * 12] float32 x y z, any alignment
HWY_INLINE void StoreInFileOrder(const PackPoint& points, const std::int32_t* order,
                                 std::byte* out) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(out) % alignof(float) == 0;
  if (aligned && IsRun(order)) {  // the usual case
    StoreInterleaved(points.x, points.y, points.z,
                     reinterpret_cast<float*>(out + static_cast<std::size_t>(order[0]) * 12));
    return;
  }
  HWY_ALIGN float packed[48];
  StoreInterleaved(points.x, points.y, points.z, packed);
  for (std::size_t i = 0; i < 16 && order[i] >= 0; ++i) {
    std::memcpy(out + static_cast<std::size_t>(order[i]) * 12, packed + i * 3, 12);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
