#include "core/deform/spherical_blend/spherical_blend_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/spherical_blend/spherical_blend_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/jet-inl.h"
#include "core/simd/pack-inl.h"
#include "core/simd/quaternion-inl.h"
#include "core/simd/rotation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// Sums of a centre's normal equations, with E and d of the relations and the gap e = E p + d at the
// expected centre p.
template <class N>
struct CentreSums {
  N weight, pairs;    // running sum of w; sum_{a<b} w_a w_b
  N gap[3], pull[3];  // sum w e; sum w E^T e
};

// p does not change along the surface: it belongs to the vertex's set of joints.
template <class N>
HWY_INLINE void AddGap(const N& w, const float* relation, const PackPoint& p, CentreSums<N>& sums) {
  sums.pairs = MulAdd(w, sums.weight, sums.pairs);
  sums.weight = sums.weight + w;
  N e[3];
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
template <class N>
HWY_INLINE PointOf<N> SolveSymmetric(const N* s, const N* b, const N& least) {
  const Pack one = Pack::Set(1.0f);
  const N i0 = one / Larger(s[0], least);
  const N l1 = s[1] * i0, l2 = s[2] * i0;
  const N i1 = one / Larger(NegMulAdd(l1, s[1], s[3]), least);
  const N m = NegMulAdd(l1, s[2], s[4]), l3 = m * i1;
  const N i2 = one / Larger(NegMulAdd(l3, m, NegMulAdd(l2, s[2], s[5])), least);
  const N y1 = NegMulAdd(l1, b[0], b[1]);
  const N z = NegMulAdd(l3, y1, NegMulAdd(l2, b[0], b[2])) * i2;
  const N y = NegMulAdd(l3, z, y1 * i1);
  return {NegMulAdd(l1, y, NegMulAdd(l2, z, b[0] * i0)), y, z};
}

// The centre; `turn` = sum w E. With F the difference of two rotations relative to the pivot,
// sum_{a<b} w_a w_b F^T F = sum w E^T E - turn^T turn, and E^T E = -(E + E^T) because I + E is a
// rotation.
template <class N>
HWY_INLINE PointOf<N> Centre(const N* turn, const CentreSums<N>& sums, const PackPoint& expected,
                             float fade) {
  const N least = Max(Pack::Set(fade * fade) * sums.pairs, Pack::Set(1e-20f));
  N s[6], pull[3];
  Gram(turn, s);
  const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int i = 0; i < 6; ++i) {
    const int r = row[i], c = column[i];
    s[i] = N::Zero() - (s[i] + (turn[3 * r + c] + turn[3 * c + r]));
    if (r == c) s[i] = s[i] + least;
  }
  for (int i = 0; i < 3; ++i) {
    pull[i] = NegMulAdd(
        turn[i], sums.gap[0],
        NegMulAdd(turn[3 + i], sums.gap[1], NegMulAdd(turn[6 + i], sums.gap[2], sums.pull[i])));
  }
  const PointOf<N> x = SolveSymmetric(s, pull, least);
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
template <class N>
HWY_INLINE PointOf<N> Excess(const QuatOf<N>& q, const N* turn, const PointOf<N>& v) {
  const N scale = Pack::Set(2.0f) / Length2(q);
  const N cx = MulAdd(q.w, v.x, Difference(q.y, v.z, q.z, v.y));
  const N cy = MulAdd(q.w, v.y, Difference(q.z, v.x, q.x, v.z));
  const N cz = MulAdd(q.w, v.z, Difference(q.x, v.y, q.y, v.x));
  const auto less = [&](const N& turned, const N* row) HWY_ATTR {
    return NegMulAdd(row[0], v.x, NegMulAdd(row[1], v.y, NegMulAdd(row[2], v.z, scale * turned)));
  };
  return {less(Difference(q.y, cz, q.z, cy), turn), less(Difference(q.z, cx, q.x, cz), turn + 3),
          less(Difference(q.x, cy, q.y, cx), turn + 6)};
}

// Weights of a block's pairs, and linear blends with them, without and with slopes.
struct PlainBlock {
  using Number = Pack;
  const SphericalBlendKernelArgs& args;
  PackPoint u, moved = {Pack::Zero(), Pack::Zero(), Pack::Zero()};

  HWY_INLINE PlainBlock(const SphericalBlendKernelArgs& given, std::size_t b)
      : args(given), u(LoadPoint(given.in + b * 48)) {}
  HWY_INLINE Pack Weight(std::size_t k) const { return Pack::Load(args.weights + k * 16); }
  HWY_INLINE void Move(const Pack& w, const float* m) { AddMoved(w, m, u, moved); }
  HWY_INLINE PackPoint Moved() const { return moved; }
  HWY_INLINE void Store(const PackPoint& p, std::size_t b) const {
    StorePoint(p, args.out + b * 48);
  }
};
struct SlopedBlock {
  using Number = Jet;
  const SphericalBlendKernelArgs& args;
  JetPoint u;
  BlendedMotion motion = BlendedMotion::Zero();

  HWY_INLINE SlopedBlock(const SphericalBlendKernelArgs& given, std::size_t b)
      : args(given), u(LoadJetPoint(given.in + b * 48, given.slopes.in + b * 96)) {}
  HWY_INLINE Jet Weight(std::size_t k) const {
    return LoadJet(args.weights + k * 16, args.slopes.weights + k * 32);
  }
  HWY_INLINE void Move(const Jet& w, const float* m) {
    motion.Add(w, m, {u.x.value, u.y.value, u.z.value});
  }
  HWY_INLINE JetPoint Moved() const {
    return motion.Sum({u.x.first, u.y.first, u.z.first}, {u.x.second, u.y.second, u.z.second});
  }
  HWY_INLINE void Store(const JetPoint& p, std::size_t b) const {
    StoreJetPoint(p, args.out + b * 48, args.slopes.out + b * 96);
  }
};

template <bool kOwnCentres, class Block>
HWY_INLINE void BlendBlock(const SphericalBlendKernelArgs& args, std::size_t b) {
  using N = typename Block::Number;
  Block block(args, b);
  const N zero = N::Zero();
  const PackPoint expected = kOwnCentres ? LoadPoint(args.expected + b * 48)
                                         : CentreOfSet(args.set_centres, args.lane_set + b * 16);
  const std::uint32_t first = args.pair_offset[b];
  const std::size_t pivot = args.pair_entry[first];
  const N own = block.Weight(first);
  block.Move(own, args.skin + pivot * 12);
  QuatOf<N> q = {own, zero, zero, zero};
  N turn[9];
  for (N& t : turn) t = zero;
  CentreSums<N> sums = {own, zero, {zero, zero, zero}, {zero, zero, zero}};
  for (std::uint32_t k = first + 1; k < args.pair_offset[b + 1]; ++k) {
    const float* relation = args.relations + std::size_t{args.pair_relation[k]} * 16;
    const N w = block.Weight(k);
    block.Move(w, args.skin + std::size_t{args.pair_entry[k]} * 12);
    Add(w, 1.0f, relation + 12, q);
    for (int i = 0; i < 9; ++i) turn[i] = MulAdd(w, Pack::Set(relation[i]), turn[i]);
    if constexpr (kOwnCentres) AddGap(w, relation, expected, sums);
  }
  const Pack s = Pack::Set(args.signs[pivot]);
  PointOf<N> arm;
  if constexpr (kOwnCentres) {
    const PointOf<N> centre = Centre(turn, sums, expected, args.fade);
    arm = {s * (block.u.x - centre.x), s * (block.u.y - centre.y), s * (block.u.z - centre.z)};
  } else {
    arm = {s * (block.u.x - expected.x), s * (block.u.y - expected.y),
           s * (block.u.z - expected.z)};
  }
  const PointOf<N> more = Excess(q, turn, arm), moved = block.Moved();
  const float* r = args.rotations + pivot * 9;
  block.Store({moved.x + RowTimes(r, more), moved.y + RowTimes(r + 3, more),
               moved.z + RowTimes(r + 6, more)},
              b);
}

template <bool kOwnCentres>
void BlendBlocks(const SphericalBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  if (args.slopes.out == nullptr) {
    for (std::size_t b = begin; b < end; ++b) BlendBlock<kOwnCentres, PlainBlock>(args, b);
  } else {
    for (std::size_t b = begin; b < end; ++b) BlendBlock<kOwnCentres, SlopedBlock>(args, b);
  }
}

void SphericalBlendBlocks(const SphericalBlendKernelArgs& args, std::size_t begin,
                          std::size_t end) {
  args.expected != nullptr ? BlendBlocks<true>(args, begin, end)
                           : BlendBlocks<false>(args, begin, end);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, SphericalBlendKernel,
             (const SphericalBlendKernelArgs& args, std::size_t begin, std::size_t end),
             SphericalBlendBlocks, (args, begin, end))
#endif
