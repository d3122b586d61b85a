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

// 16 consecutive vertices.
HWY_INLINE bool IsRun(const std::int32_t* order) {
  const auto first = static_cast<std::uint32_t>(order[0]);
  std::uint32_t differs = 0;
  for (std::uint32_t i = 1; i < 16; ++i) {
    differs |= static_cast<std::uint32_t>(order[i]) ^ (first + i);
  }
  return differs == 0;
}

// order  [16] file vertex of a lane; -1 = padding, behind all others
// out    [V * 12] float32 x y z, any alignment
HWY_INLINE void StoreInFileOrder(const PackPoint& points, const std::int32_t* order,
                                 std::byte* out) {
  HWY_ALIGN float packed[48];
  StoreInterleaved(points.x, points.y, points.z, packed);
  if (IsRun(order)) {  // the usual case
    std::memcpy(out + static_cast<std::size_t>(order[0]) * 12, packed, sizeof packed);
    return;
  }
  for (std::size_t i = 0; i < 16 && order[i] >= 0; ++i) {
    std::memcpy(out + static_cast<std::size_t>(order[i]) * 12, packed + i * 3, 12);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
