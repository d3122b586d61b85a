#include "core/deform/spherical_blend/spherical_blend_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/spherical_blend/spherical_blend_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"
#include "core/simd/rotation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// Sums of a centre's normal equations, with E and d of the relations and the gap e = E p + d at the
// expected centre p.
struct CentreSums {
  Pack weight, pairs;    // running sum of w; sum_{a<b} w_a w_b
  Pack gap[3], pull[3];  // sum w e; sum w E^T e
};

HWY_INLINE void AddGap(const Pack& w, const float* relation, const PackPoint& p, CentreSums& sums) {
  sums.pairs = MulAdd(w, sums.weight, sums.pairs);
  sums.weight = sums.weight + w;
  Pack e[3];
  for (int i = 0; i < 3; ++i) e[i] = w * RowTimes(relation + 3 * i, p, relation[9 + i]);
  for (int i = 0; i < 3; ++i) {
    sums.gap[i] = sums.gap[i] + e[i];
    sums.pull[i] = MulAdd(Pack::Set(relation[i]), e[0],
                          MulAdd(Pack::Set(relation[3 + i]), e[1],
                                 MulAdd(Pack::Set(relation[6 + i]), e[2], sums.pull[i])));
  }
}

// Solves s x = b. s is symmetric (in the order of Gram) with eigenvalues of at least `least` > 0,
// which bounds the pivots of the decomposition.
HWY_INLINE PackPoint SolveSymmetric(const Pack* s, const Pack* b, const Pack& least) {
  const Pack one = Pack::Set(1.0f);
  const Pack i0 = one / Max(s[0], least);
  const Pack l1 = s[1] * i0, l2 = s[2] * i0;
  const Pack i1 = one / Max(NegMulAdd(l1, s[1], s[3]), least);
  const Pack m = NegMulAdd(l1, s[2], s[4]), l3 = m * i1;
  const Pack i2 = one / Max(NegMulAdd(l3, m, NegMulAdd(l2, s[2], s[5])), least);
  const Pack y1 = NegMulAdd(l1, b[0], b[1]);
  const Pack z = NegMulAdd(l3, y1, NegMulAdd(l2, b[0], b[2])) * i2;
  const Pack y = NegMulAdd(l3, z, y1 * i1);
  return {NegMulAdd(l1, y, NegMulAdd(l2, z, b[0] * i0)), y, z};
}

// The centre; `turn` = sum w E. With F the difference of two rotations relative to the pivot,
// sum_{a<b} w_a w_b F^T F = sum w E^T E - turn^T turn, and E^T E = -(E + E^T) because I + E is a
// rotation.
HWY_INLINE PackPoint Centre(const Pack* turn, const CentreSums& sums, const PackPoint& expected,
                            float fade) {
  const Pack least = Max(Pack::Set(fade * fade) * sums.pairs, Pack::Set(1e-20f));
  Pack s[6], pull[3];
  Gram(turn, s);
  const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int i = 0; i < 6; ++i) {
    const int r = row[i], c = column[i];
    s[i] = Pack::Zero() - (s[i] + (turn[3 * r + c] + turn[3 * c + r]));
    if (r == c) s[i] = s[i] + least;
  }
  for (int i = 0; i < 3; ++i) {
    pull[i] = NegMulAdd(
        turn[i], sums.gap[0],
        NegMulAdd(turn[3 + i], sums.gap[1], NegMulAdd(turn[6 + i], sums.gap[2], sums.pull[i])));
  }
  const PackPoint x = SolveSymmetric(s, pull, least);
  return {expected.x - x.x, expected.y - x.y, expected.z - x.z};
}

HWY_INLINE PackPoint CentreOfSet(const float* centres, const std::uint32_t* lane_set) {
  alignas(64) float lanes[48];
  for (std::size_t i = 0; i < 16; ++i) {
    const float* centre = centres + std::size_t{lane_set[i]} * 3;
    for (std::size_t c = 0; c < 3; ++c) lanes[c * 16 + i] = centre[c];
  }
  return LoadPoint(lanes);
}

// (R - I - turn) v, R the rotation of q.
HWY_INLINE PackPoint Excess(const PackQuat& q, const Pack* turn, const PackPoint& v) {
  const Pack length2 = MulAdd(q.w, q.w, MulAdd(q.x, q.x, MulAdd(q.y, q.y, q.z * q.z)));
  const Pack scale = Pack::Set(2.0f) / length2;
  const Pack cx = MulAdd(q.w, v.x, Difference(q.y, v.z, q.z, v.y));
  const Pack cy = MulAdd(q.w, v.y, Difference(q.z, v.x, q.x, v.z));
  const Pack cz = MulAdd(q.w, v.z, Difference(q.x, v.y, q.y, v.x));
  const auto less = [&](const Pack& turned, const Pack* row) HWY_ATTR {
    return NegMulAdd(row[0], v.x, NegMulAdd(row[1], v.y, NegMulAdd(row[2], v.z, scale * turned)));
  };
  return {less(Difference(q.y, cz, q.z, cy), turn), less(Difference(q.z, cx, q.x, cz), turn + 3),
          less(Difference(q.x, cy, q.y, cx), turn + 6)};
}

template <bool kOwnCentres>
HWY_INLINE void BlendBlock(const SphericalBlendKernelArgs& args, std::size_t b) {
  const Pack zero = Pack::Zero();
  const PackPoint u = LoadPoint(args.in + b * 48);
  const PackPoint expected = kOwnCentres ? LoadPoint(args.expected + b * 48)
                                         : CentreOfSet(args.set_centres, args.lane_set + b * 16);
  const std::uint32_t first = args.pair_offset[b];
  const std::size_t pivot = args.pair_entry[first];
  const Pack own = Pack::Load(args.weights + std::size_t{first} * 16);
  PackPoint moved = {zero, zero, zero};
  AddMoved(own, args.skin + pivot * 12, u, moved);
  PackQuat q = {own, zero, zero, zero};
  Pack turn[9];
  for (Pack& t : turn) t = zero;
  CentreSums sums = {own, zero, {zero, zero, zero}, {zero, zero, zero}};
  for (std::uint32_t k = first + 1; k < args.pair_offset[b + 1]; ++k) {
    const float* relation = args.relations + std::size_t{args.pair_relation[k]} * 16;
    const Pack w = Pack::Load(args.weights + std::size_t{k} * 16);
    AddMoved(w, args.skin + std::size_t{args.pair_entry[k]} * 12, u, moved);
    Add(w, 1.0f, relation + 12, q);
    for (int i = 0; i < 9; ++i) turn[i] = MulAdd(w, Pack::Set(relation[i]), turn[i]);
    if constexpr (kOwnCentres) AddGap(w, relation, expected, sums);
  }
  PackPoint centre = expected;
  if constexpr (kOwnCentres) centre = Centre(turn, sums, expected, args.fade);
  const Pack s = Pack::Set(args.signs[pivot]);
  const PackPoint more =
      Excess(q, turn, {s * (u.x - centre.x), s * (u.y - centre.y), s * (u.z - centre.z)});
  const float* r = args.rotations + pivot * 9;
  StorePoint({moved.x + RowTimes(r, more), moved.y + RowTimes(r + 3, more),
              moved.z + RowTimes(r + 6, more)},
             args.out + b * 48);
}

void SphericalBlendBlocks(const SphericalBlendKernelArgs& args, std::size_t begin,
                          std::size_t end) {
  if (args.expected != nullptr) {
    for (std::size_t b = begin; b < end; ++b) BlendBlock<true>(args, b);
  } else {
    for (std::size_t b = begin; b < end; ++b) BlendBlock<false>(args, b);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, SphericalBlendKernel,
             (const SphericalBlendKernelArgs& args, std::size_t begin, std::size_t end),
             SphericalBlendBlocks, (args, begin, end))
#endif
