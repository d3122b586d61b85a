#include "core/deform/spherical_blend/spherical_blend_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/spherical_blend/spherical_blend_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/quaternion-inl.h"
#include "core/simd/rotation-inl.h"
#include "core/simd/slopes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// The centre of lanes with one joint is the expected one.
inline constexpr float kLeastPairs = 1e-20f;

// m v and m^T v, m row-major 3x3 per lane.
HWY_INLINE PackPoint Times(const Pack* m, const PackPoint& v) {
  return {DotOf({m[0], m[1], m[2]}, v), DotOf({m[3], m[4], m[5]}, v), DotOf({m[6], m[7], m[8]}, v)};
}
HWY_INLINE PackPoint TransposeTimes(const Pack* m, const PackPoint& v) {
  return {DotOf({m[0], m[3], m[6]}, v), DotOf({m[1], m[4], m[7]}, v), DotOf({m[2], m[5], m[8]}, v)};
}
// r v, r row-major 3x3.
HWY_INLINE PackPoint Turned(const float* r, const PackPoint& v) {
  return {RowTimes(r, v), RowTimes(r + 3, v), RowTimes(r + 6, v)};
}

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

// A decomposition of s, symmetric (in the order of Gram) with eigenvalues of at least `least` > 0,
// which bounds the pivots.
struct Symmetric {
  Pack i0, i1, i2, l1, l2, l3;

  static HWY_INLINE Symmetric Of(const Pack* s, const Pack& least) {
    const Pack one = Pack::Set(1.0f);
    const Pack i0 = one / Max(s[0], least);
    const Pack l1 = s[1] * i0, l2 = s[2] * i0;
    const Pack i1 = one / Max(NegMulAdd(l1, s[1], s[3]), least);
    const Pack m = NegMulAdd(l1, s[2], s[4]), l3 = m * i1;
    const Pack i2 = one / Max(NegMulAdd(l3, m, NegMulAdd(l2, s[2], s[5])), least);
    return {i0, i1, i2, l1, l2, l3};
  }
  // s x = b.
  HWY_INLINE PackPoint Solve(const PackPoint& b) const {
    const Pack y1 = NegMulAdd(l1, b.x, b.y);
    const Pack z = NegMulAdd(l3, y1, NegMulAdd(l2, b.x, b.z)) * i2;
    const Pack y = NegMulAdd(l3, z, y1 * i1);
    return {NegMulAdd(l1, y, NegMulAdd(l2, z, b.x * i0)), y, z};
  }
};

// The centre is p - x, s x = pull - turn^T gap, turn = sum w E. With F the difference of two
// rotations relative to the pivot, sum_{a<b} w_a w_b F^T F = sum w E^T E - turn^T turn, and E^T E =
// -(E + E^T) because I + E is a rotation; s has `least` added to its diagonal.
struct Centre {
  Symmetric s;
  PackPoint x;

  static HWY_INLINE Centre Of(const Pack* turn, const CentreSums& sums, float fade) {
    const Pack least = Max(Pack::Set(fade * fade) * sums.pairs, Pack::Set(kLeastPairs));
    Pack gram[6], pull[3];
    Gram(turn, gram);
    const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; ++i) {
      const int r = row[i], c = column[i];
      gram[i] = Pack::Zero() - (gram[i] + (turn[3 * r + c] + turn[3 * c + r]));
      if (r == c) gram[i] = gram[i] + least;
    }
    for (int i = 0; i < 3; ++i) {
      pull[i] = NegMulAdd(
          turn[i], sums.gap[0],
          NegMulAdd(turn[3 + i], sums.gap[1], NegMulAdd(turn[6 + i], sums.gap[2], sums.pull[i])));
    }
    const Symmetric s = Symmetric::Of(gram, least);
    return {s, s.Solve({pull[0], pull[1], pull[2]})};
  }
};

HWY_INLINE PackPoint CentreOfSet(const float* centres, const std::uint32_t* lane_set) {
  alignas(64) float lanes[48];
  for (std::size_t i = 0; i < 16; ++i) {
    const float* centre = centres + std::size_t{lane_set[i]} * 3;
    for (std::size_t c = 0; c < 3; ++c) lanes[c * 16 + i] = centre[c];
  }
  return LoadPoint(lanes);
}

// Sums over a block's relations: the blended quaternion and turn, relative to the pivot.
struct Turns {
  PackQuat q;
  Pack turn[9];

  static HWY_INLINE Turns Of(const Pack& own) {
    const Pack zero = Pack::Zero();
    Turns turns = {{own, zero, zero, zero}, {}};
    HWY_UNROLL(9)
    for (int i = 0; i < 9; ++i) turns.turn[i] = zero;
    return turns;
  }
  HWY_INLINE void Add(const Pack& w, const float* relation) {
    sinew::HWY_NAMESPACE::Add(w, relation + 12, q);
    HWY_UNROLL(9)
    for (int i = 0; i < 9; ++i) turn[i] = MulAdd(w, Pack::Set(relation[i]), turn[i]);
  }
};

// v minus m p, m row-major 3x3 per lane.
HWY_INLINE PackPoint LessTurn(const Pack* m, const PackPoint& p, const PackPoint& v) {
  const auto less = [&](const Pack* row, const Pack& c) HWY_ATTR {
    return NegMulAdd(row[0], p.x, NegMulAdd(row[1], p.y, NegMulAdd(row[2], p.z, c)));
  };
  return {less(m, v.x), less(m + 3, v.y), less(m + 6, v.z)};
}

// Slopes of a block's sums along one tangent.
struct SlopedTurns {
  Turns turns;
  Pack pairs;                // of sum_{a<b} w_a w_b; the weights' slopes sum to 0
  PackPoint constant, pull;  // sum w' d, sum w' E^T d

  template <bool kOwnCentres>
  static HWY_INLINE SlopedTurns Of(const SphericalBlendKernelArgs& args, std::size_t b,
                                   std::size_t tangent) {
    const float* const slopes = args.slopes.weights + tangent * 16;
    const std::size_t first = args.pair_offset[b];
    const Pack own = Pack::Load(slopes + first * 32), zero = Pack::Zero();
    SlopedTurns sums = {Turns::Of(own), zero, {zero, zero, zero}, {zero, zero, zero}};
    if constexpr (kOwnCentres) sums.pairs = zero - own * Pack::Load(args.weights + first * 16);
    for (std::size_t k = first + 1; k < args.pair_offset[b + 1]; ++k) {
      const float* r = args.relations + args.pair_relation[k] * kRelationFloats;
      const Pack w = Pack::Load(slopes + k * 32);
      sums.turns.Add(w, r);
      if constexpr (!kOwnCentres) continue;
      sums.pairs = NegMulAdd(w, Pack::Load(args.weights + k * 16), sums.pairs);
      sums.constant =
          AddScaled(w, {Pack::Set(r[9]), Pack::Set(r[10]), Pack::Set(r[11])}, sums.constant);
      sums.pull = AddScaled(w, {Pack::Set(r[16]), Pack::Set(r[17]), Pack::Set(r[18])}, sums.pull);
    }
    return sums;
  }
  // How far the centre moves along the tangent, negative. From (s x)' = (pull - turn^T gap)' with
  // gap' = turn' p + sum w' d and pull' = sum w' E^T d - (turn' + turn'^T) p:
  //   s x' = sum w' E^T d + turn' c + turn'^T (turn x - gap + c) + turn^T (turn' c - sum w' d)
  //          - least' x, c = x - p.
  HWY_INLINE PackPoint CentreSlope(const Pack* turn, const CentreSums& sums, const Centre& centre,
                                   const PackPoint& expected, float fade) const {
    const Pack fade2 = Pack::Set(fade * fade);
    const PackPoint& x = centre.x;
    const PackPoint c = Minus(x, expected), moved = Times(turns.turn, c);
    const PackPoint apart = Minus(Plus(Times(turn, x), c), {sums.gap[0], sums.gap[1], sums.gap[2]});
    const PackPoint right =
        Plus(Plus(pull, moved),
             Plus(TransposeTimes(turns.turn, apart), TransposeTimes(turn, Minus(moved, constant))));
    const Pack least =
        IfThenElse(Gt(fade2 * sums.pairs, Pack::Set(kLeastPairs)), fade2 * pairs, Pack::Zero());
    return centre.s.Solve({NegMulAdd(least, x.x, right.x), NegMulAdd(least, x.y, right.y),
                           NegMulAdd(least, x.z, right.z)});
  }
};

template <bool kOwnCentres, bool kSlopes>
HWY_INLINE void BlendBlock(const SphericalBlendKernelArgs& args, std::size_t b) {
  const Pack zero = Pack::Zero();
  const PackPoint u = LoadPoint(args.in + b * 48);
  const PackPoint expected = kOwnCentres ? LoadPoint(args.expected + b * 48)
                                         : CentreOfSet(args.set_centres, args.lane_set + b * 16);
  const std::size_t first = args.pair_offset[b], end = args.pair_offset[b + 1];
  const std::size_t pivot = args.pair_entry[first];
  const auto skin = [&](std::size_t k) { return args.skin + std::size_t{args.pair_entry[k]} * 12; };
  PackPoint moved = {zero, zero, zero};
  const Pack own = Pack::Load(args.weights + first * 16);
  if constexpr (!kSlopes) AddMoved(own, skin(first), u, moved);
  Turns turns = Turns::Of(own);
  CentreSums sums = {own, zero, {zero, zero, zero}, {zero, zero, zero}};
  for (std::size_t k = first + 1; k < end; ++k) {
    const float* relation = args.relations + args.pair_relation[k] * kRelationFloats;
    const Pack w = Pack::Load(args.weights + k * 16);
    if constexpr (!kSlopes) AddMoved(w, skin(k), u, moved);
    turns.Add(w, relation);
    if constexpr (kOwnCentres) AddGap(w, relation, expected, sums);
  }
  const Pack s = Pack::Set(args.signs[pivot]);
  Centre centre{};
  PackPoint middle = expected;
  if constexpr (kOwnCentres) {
    centre = Centre::Of(turns.turn, sums, args.fade);
    middle = Minus(expected, centre.x);
  }
  const PackPoint arm = Scaled(s, Minus(u, middle));
  const Turning turning(turns.q, Pack::Set(2.0f) / Length2(turns.q), arm);
  const float* r = args.rotations + pivot * 9;
  const PackPoint more = LessTurn(turns.turn, arm, Scaled(turning.scale, turning.turned));
  const PackPoint turned = Turned(r, more);
  if constexpr (kSlopes) {
    PackPoint slope_turned[kTangents];
    SINEW_EACH_TANGENT(k) {
      const SlopedTurns slopes = SlopedTurns::Of<kOwnCentres>(args, b, k);
      PackPoint darm = LoadSlope(args.slopes.in, b, k);
      if constexpr (kOwnCentres) {
        darm = Plus(darm, slopes.CentreSlope(turns.turn, sums, centre, expected, args.fade));
      }
      darm = Scaled(s, darm);
      const PackPoint excess = LessTurn(turns.turn, darm, turning.Slope(slopes.turns.q, darm));
      slope_turned[k] = Turned(r, LessTurn(slopes.turns.turn, arm, excess));
    }
    // Last, when the sums above are no longer needed: together they do not fit the registers.
    BlendedMotion motion = BlendedMotion::Zero();
    for (std::size_t k = first; k < end; ++k) {
      motion.Add(SlopedWeight::Load(args.weights, args.slopes.weights, k), skin(k), u);
    }
    SINEW_EACH_TANGENT(k) {
      StoreSlope(Plus(motion.Slope(k, LoadSlope(args.slopes.in, b, k)), slope_turned[k]),
                 args.slopes.out, b, k);
    }
    moved = motion.moved;
  }
  StorePoint(Plus(moved, turned), args.out + b * 48);
}

template <bool kOwnCentres>
void BlendBlocks(const SphericalBlendKernelArgs& args, std::size_t begin, std::size_t end) {
  if (args.slopes.out == nullptr) {
    for (std::size_t b = begin; b < end; ++b) BlendBlock<kOwnCentres, false>(args, b);
  } else {
    for (std::size_t b = begin; b < end; ++b) BlendBlock<kOwnCentres, true>(args, b);
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
