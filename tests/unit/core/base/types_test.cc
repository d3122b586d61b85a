#include "core/base/types.h"

#include <gtest/gtest.h>

namespace sinew {
namespace {

const AffineD kTurn = {
    {0, -1, 0, 5, 1, 0, 0, -2, 0, 0, 1, 3}};  // 90 degrees about z, then a translation
const AffineD kStretch = {{2, 0.5, 0, 1, 0, 3, 0, 0, 0.25, 0, 4, -1}};

// The optimiser of g++ 12 has left the rounding out, two elements at a time.
[[gnu::noinline]] Vec3d RoundedToFloat(const Vec3d& v) {
  return ToDouble(ToFloat(v));
}

TEST(Vec3, ToFloatRounds) {
  const volatile double third = 1.0 / 3;  // volatile: the compiler must not compute the result
  const double rounded = double{1.0f / 3};
  EXPECT_NE(rounded, third);
  EXPECT_EQ(RoundedToFloat({third, third, third}), (Vec3d{rounded, rounded, rounded}));
}

TEST(Affine, ComposeAppliesSecondArgumentFirst) {
  const Vec3d p = {1, 2, 3};
  const Vec3d both = Apply(Compose(kTurn, kStretch), p);
  const Vec3d twice = Apply(kTurn, Apply(kStretch, p));
  EXPECT_NEAR(both.x, twice.x, 1e-12);
  EXPECT_NEAR(both.y, twice.y, 1e-12);
  EXPECT_NEAR(both.z, twice.z, 1e-12);
  EXPECT_EQ(Apply(kTurn, {1, 0, 0}), (Vec3d{5, -1, 3}));
}

TEST(Affine, InverseUndoesTransform) {
  for (const AffineD& a : {kTurn, kStretch}) {
    const AffineD identity = Compose(Inverse(a), a);
    for (std::size_t i = 0; i < 12; ++i) {
      EXPECT_NEAR(identity.m[i], i % 5 == 0 ? 1 : 0, 1e-12) << i;
    }
  }
}

TEST(Mat3, DeterminantIsSigned) {
  EXPECT_DOUBLE_EQ(Determinant(Linear(kTurn)), 1);
  EXPECT_DOUBLE_EQ(Determinant({{-1, 0, 0, 0, 1, 0, 0, 0, 1}}), -1);
}

}  // namespace
}  // namespace sinew
