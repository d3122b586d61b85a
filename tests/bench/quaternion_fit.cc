#include "tests/bench/quaternion_fit.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/quaternion_fit.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/rotation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

constexpr int kNewtonSteps = 12;

// x a - y b + z c
HWY_INLINE Pack Minor(const Pack& x, const Pack& a, const Pack& y, const Pack& b, const Pack& z,
                      const Pack& c) {
  return MulAdd(z, c, NegMulAdd(y, b, x * a));
}

// The largest root of f^4 - 2 f^2 - 8 det f + 1 - 4 |cof|^2, of a matrix of norm 1.
HWY_INLINE Pack LargestEigenvalue(const Pack* n) {
  Pack cofactor[9];
  Cofactor(n, cofactor);
  const Pack det = Dot3(n, cofactor, 1), one = Pack::Set(1.0f), two = Pack::Set(2.0f);
  const Pack constant = NegMulAdd(Pack::Set(4.0f), Norm9(cofactor), one);
  const Pack c8 = Pack::Set(8.0f) * det;
  Pack f = Pack::Set(1.7320508f);
  for (int step = 0; step < kNewtonSteps; ++step) {
    const Pack f2 = f * f;
    const Pack value = MulAdd(f2, f2 - two, NegMulAdd(c8, f, constant));
    const Pack slope = MulAdd(Pack::Set(4.0f) * f, f2 - one, Pack::Zero() - c8);
    f = f - value / Max(slope, Pack::Set(1e-6f));
  }
  return f;
}

// The column of adj(K - f) with the largest diagonal, w x y z.
HWY_INLINE void Eigenvector(const Pack* h, const Pack& f, Pack* q) {
  const Pack a00 = (h[0] + h[4] + h[8]) - f, a11 = (h[0] - h[4] - h[8]) - f,
             a22 = (h[4] - h[0] - h[8]) - f, a33 = (h[8] - h[0] - h[4]) - f;
  const Pack a01 = h[7] - h[5], a02 = h[2] - h[6], a03 = h[3] - h[1], a12 = h[1] + h[3],
             a13 = h[2] + h[6], a23 = h[5] + h[7];
  const auto minor = [](const Pack& a, const Pack& b, const Pack& c, const Pack& d)
                         HWY_ATTR { return NegMulAdd(c, d, a * b); };
  const Pack s0 = minor(a00, a11, a01, a01), s1 = minor(a00, a12, a01, a02),
             s2 = minor(a00, a13, a01, a03), s3 = minor(a01, a12, a11, a02),
             s4 = minor(a01, a13, a11, a03), s5 = minor(a02, a13, a12, a03);
  const Pack c5 = minor(a22, a33, a23, a23), c4 = minor(a12, a33, a13, a23),
             c3 = minor(a12, a23, a13, a22), c2 = minor(a02, a33, a03, a23),
             c1 = minor(a02, a23, a03, a22);
  const Pack zero = Pack::Zero();
  const Pack b00 = Minor(a11, c5, a12, c4, a13, c3), b01 = zero - Minor(a01, c5, a02, c4, a03, c3),
             b02 = Minor(a13, s5, a23, s4, a33, s3), b03 = zero - Minor(a12, s5, a22, s4, a23, s3),
             b11 = Minor(a00, c5, a02, c2, a03, c1), b12 = zero - Minor(a03, s5, a23, s2, a33, s1),
             b13 = Minor(a02, s5, a22, s2, a23, s1), b22 = Minor(a03, s4, a13, s2, a33, s0),
             b23 = zero - Minor(a02, s4, a12, s2, a23, s0), b33 = Minor(a02, s3, a12, s1, a22, s0);
  const Pack columns[4][4] = {
      {b00, b01, b02, b03}, {b01, b11, b12, b13}, {b02, b12, b22, b23}, {b03, b13, b23, b33}};
  Pack best = Abs(b00);
  for (int i = 0; i < 4; ++i) q[i] = columns[0][i];
  for (int c = 1; c < 4; ++c) {
    const Pack size = Abs(columns[c][c]);
    const PackMask larger = Gt(size, best);
    best = Max(best, size);
    for (int i = 0; i < 4; ++i) q[i] = IfThenElse(larger, columns[c][i], q[i]);
  }
}

// Rotation of a quaternion of any length.
HWY_INLINE void ToMatrix(const Pack* q, Pack* r) {
  const Pack norm = MulAdd(q[0], q[0], MulAdd(q[1], q[1], MulAdd(q[2], q[2], q[3] * q[3])));
  const Pack scale = Pack::Set(2.0f) / Max(norm, Pack::Set(1e-37f)), one = Pack::Set(1.0f);
  const Pack w = q[0], x = q[1] * scale, y = q[2] * scale, z = q[3] * scale;
  const Pack wx = w * x, wy = w * y, wz = w * z, xx = q[1] * x, xy = q[1] * y, xz = q[1] * z,
             yy = q[2] * y, yz = q[2] * z, zz = q[3] * z;
  const Pack out[9] = {one - (yy + zz), xy - wz, xz + wy, xy + wz,        one - (xx + zz),
                       yz - wx,         xz - wy, yz + wx, one - (xx + yy)};
  for (int i = 0; i < 9; ++i) r[i] = out[i];
}

// One Newton step of max tr(R^T H) on the rotations.
HWY_INLINE void PolishRotation(const Pack* h, Pack* r) {
  Pack b[9];
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      b[3 * i + k] = MulAdd(r[i], h[k], MulAdd(r[3 + i], h[3 + k], r[6 + i] * h[6 + k]));
    }
  }
  const Pack half = Pack::Set(0.5f), zero = Pack::Zero();
  const Pack g[3] = {b[7] - b[5], b[2] - b[6], b[3] - b[1]};
  const Pack e00 = b[4] + b[8], e11 = b[0] + b[8], e22 = b[0] + b[4];
  const Pack e01 = zero - half * (b[1] + b[3]), e02 = zero - half * (b[2] + b[6]),
             e12 = zero - half * (b[5] + b[7]);
  const Pack c00 = NegMulAdd(e12, e12, e11 * e22), c01 = NegMulAdd(e01, e22, e02 * e12),
             c02 = NegMulAdd(e02, e11, e01 * e12), c11 = NegMulAdd(e02, e02, e00 * e22),
             c12 = NegMulAdd(e00, e12, e01 * e02), c22 = NegMulAdd(e01, e01, e00 * e11);
  const Pack det = MulAdd(e00, c00, MulAdd(e01, c01, e02 * c02));
  const Pack scale = half / IfThenElse(Gt(Abs(det), Pack::Set(1e-12f)), det, Pack::Set(1e30f));
  const Pack step[4] = {Pack::Set(1.0f), scale * MulAdd(c00, g[0], MulAdd(c01, g[1], c02 * g[2])),
                        scale * MulAdd(c01, g[0], MulAdd(c11, g[1], c12 * g[2])),
                        scale * MulAdd(c02, g[0], MulAdd(c12, g[1], c22 * g[2]))};
  const Pack size = MulAdd(step[1], step[1], MulAdd(step[2], step[2], step[3] * step[3]));
  const PackMask small = Le(size, Pack::Set(0.05f));
  Pack turn[9], turned[9];
  ToMatrix(step, turn);
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) turned[3 * i + k] = Dot3(r + 3 * i, turn + k, 3);
  }
  for (int i = 0; i < 9; ++i) r[i] = IfThenElse(small, turned[i], r[i]);
}

void QuaternionFitBlock(const float* h, float* r, bool polish) {
  Pack matrix[9], n[9], q[4], rotation[9];
  for (int i = 0; i < 9; ++i) matrix[i] = Pack::Load(h + 16 * i);
  NormaliseMatrix(matrix, n);
  Eigenvector(n, LargestEigenvalue(n), q);
  ToMatrix(q, rotation);
  if (polish) PolishRotation(n, rotation);
  for (int i = 0; i < 9; ++i) rotation[i].Store(r + 16 * i);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinew {

HWY_EXPORT(QuaternionFitBlock);

namespace bench {
void QuaternionFit(const float* h, float* r, bool polish) {
  HWY_DYNAMIC_DISPATCH(QuaternionFitBlock)(h, r, polish);
}
}  // namespace bench

}  // namespace sinew
#endif
