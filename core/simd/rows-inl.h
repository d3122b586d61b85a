// rows-inl.h - packs of points that are stored as rows of four floats, the last one unused.
//
// Rows are 16-byte aligned. They are loaded into whole registers, of one to four rows, and
// transposed there. Nothing is rounded.
//
//    LoadRows   rows number(0) ... number(15)
//    LoadPackedRows  16 rows behind one another, and their fourth numbers
//    StoreRows  16 rows; the fourth number of each becomes 0
#if defined(SINEW_CORE_SIMD_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_SIMD_ROWS_INL_H_
#undef SINEW_CORE_SIMD_ROWS_INL_H_
#else
#define SINEW_CORE_SIMD_ROWS_INL_H_
#endif

#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR

template <class Number>
HWY_INLINE PackPoint LoadRows(const float* rows, Number number) {
  PackPoint points;
  HWY_UNROLL(1)
  for (std::size_t i = 0; i < 16; ++i) {
    const float* const row = rows + std::size_t{4} * number(i);
    points.x.v[i] = row[0];
    points.y.v[i] = row[1];
    points.z.v[i] = row[2];
  }
  return points;
}

HWY_INLINE PackPoint LoadPackedRows(const float* rows, Pack& fourth) {
  HWY_UNROLL(1)
  for (std::size_t i = 0; i < 16; ++i) fourth.v[i] = rows[4 * i + 3];
  return LoadRows(rows, [](std::size_t i) { return i; });
}

HWY_INLINE void StoreRows(const PackPoint& points, float* rows) {
  HWY_UNROLL(1)
  for (std::size_t i = 0; i < 16; ++i) {
    rows[4 * i] = points.x.v[i];
    rows[4 * i + 1] = points.y.v[i];
    rows[4 * i + 2] = points.z.v[i];
    rows[4 * i + 3] = 0;
  }
}

#else  // a vector target

// Rows number(first), number(first + 4) and so on, of one register with `blocks` rows.
template <std::size_t blocks, class Number>
HWY_INLINE auto EveryFourthRow(const float* rows, Number number, std::size_t first) {
  if constexpr (blocks == 1) {
    return hn::Load(hn::Full128<float>(), rows + std::size_t{4} * number(first));
  } else {
    constexpr std::size_t half = blocks / 2;
    return hn::Combine(hn::CappedTag<float, 4 * blocks>(),
                       EveryFourthRow<half>(rows, number, first + 4 * half),
                       EveryFourthRow<half>(rows, number, first));
  }
}

// Interleaves pairs of floats, as doubles are.
HWY_INLINE PackVec LowerPairs(PackVec a, PackVec b) {
  const hn::RepartitionToWide<PackTag> pairs;
  return hn::BitCast(PackTag(),
                     hn::InterleaveLower(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
}
HWY_INLINE PackVec UpperPairs(PackVec a, PackVec b) {
  const hn::RepartitionToWide<PackTag> pairs;
  return hn::BitCast(PackTag(),
                     hn::InterleaveUpper(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
}

template <class Number>
HWY_INLINE PackPoint LoadRows(const float* rows, Number number) {
  PackPoint points;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) {
    PackVec row[4];
    HWY_UNROLL(4)
    for (std::size_t k = 0; k < 4; ++k) {
      row[k] = EveryFourthRow<kVecLanes / 4>(rows, number, i * kVecLanes + k);
    }
    const PackVec xy01 = hn::InterleaveLower(PackTag(), row[0], row[1]);
    const PackVec xy23 = hn::InterleaveLower(PackTag(), row[2], row[3]);
    const PackVec z01 = hn::InterleaveUpper(PackTag(), row[0], row[1]);
    const PackVec z23 = hn::InterleaveUpper(PackTag(), row[2], row[3]);
    points.x.v[i] = LowerPairs(xy01, xy23);
    points.y.v[i] = UpperPairs(xy01, xy23);
    points.z.v[i] = LowerPairs(z01, z23);
  }
  return points;
}

HWY_INLINE PackPoint LoadPackedRows(const float* rows, Pack& fourth) {
  PackPoint points;
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) {
    hn::LoadInterleaved4(PackTag(), rows + i * kVecLanes * 4, points.x.v[i], points.y.v[i],
                         points.z.v[i], fourth.v[i]);
  }
  return points;
}

HWY_INLINE void StoreRows(const PackPoint& points, float* rows) {
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kVecs; ++i) {
    hn::StoreInterleaved4(points.x.v[i], points.y.v[i], points.z.v[i], hn::Zero(PackTag()),
                          PackTag(), rows + i * kVecLanes * 4);
  }
}

#endif

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
