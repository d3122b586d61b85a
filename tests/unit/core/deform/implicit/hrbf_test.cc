// The fit: constraints, gradient, scaling, rigid motions.
#include "core/deform/implicit/hrbf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"
#include "tests/support/random.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

struct Samples {
  std::vector<Vec3d> points, normals;
};

// A capsule: surface points with normals.
Samples Capsule(std::size_t count, double scale = 1) {
  Samples samples;
  testing::Random random(7);
  while (samples.points.size() < count) {
    const double angle = 2 * 3.14159265358979323846 * random.Next(), x = 6 * random.Next() - 3;
    const double beyond = std::abs(x) - 2;
    const double across = beyond > 0 ? std::sqrt(1 - beyond * beyond) : 1;
    const Vec3d normal = {beyond > 0 ? std::copysign(beyond, x) : 0, across * std::cos(angle),
                          across * std::sin(angle)};
    const Vec3d axis = {std::clamp(x, -2.0, 2.0), 0, 0};
    samples.points.push_back(scale * (axis + normal));
    samples.normals.push_back(normal);
  }
  return samples;
}

TEST(Hrbf, InterpolatesSamplesAndNormals) {
  for (const std::size_t count : {std::size_t{8}, std::size_t{52}, std::size_t{200}}) {
    const Samples s = Capsule(count);
    const Hrbf fit = FitHrbf(s.points, s.normals);
    ASSERT_EQ(fit.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      const HrbfValue at = fit.At(s.points[i]);
      EXPECT_LT(std::abs(at.f), 1e-9);
      EXPECT_LT(Length(at.gradient - s.normals[i]), 1e-9);
    }
  }
}

TEST(Hrbf, GradientIsDerivative) {
  const Samples s = Capsule(52);
  const Hrbf fit = FitHrbf(s.points, s.normals);
  testing::Random random(3);
  for (int i = 0; i < 200; ++i) {
    const Vec3d x = {8 * random.Next() - 4, 4 * random.Next() - 2, 4 * random.Next() - 2};
    const HrbfValue at = fit.At(x);
    EXPECT_NEAR(at.f, fit.Value(x), 1e-12 * (1 + std::abs(at.f)));
    const double h = 1e-5;
    const auto slope = [&](const Vec3d& d) {
      return (fit.Value(x + h * d) - fit.Value(x - h * d)) / (2 * h);
    };
    const Vec3d numeric = {slope({1, 0, 0}), slope({0, 1, 0}), slope({0, 0, 1})};
    EXPECT_LT(Length(numeric - at.gradient), 1e-6 * (1 + Length(at.gradient)));
  }
}

TEST(Hrbf, InvariantToUnits) {
  const Samples s = Capsule(52);
  const Hrbf fit = FitHrbf(s.points, s.normals);
  for (const double scale : {1e-3, 0.1, 70.0, 1e6}) {
    const Samples scaled = Capsule(52, scale);
    const Hrbf big = FitHrbf(scaled.points, scaled.normals);
    ASSERT_EQ(big.size(), fit.size());
    for (const Vec3d& x : {Vec3d{0.2, 0.3, 0.1}, Vec3d{3, 1, 2}, Vec3d{-4, 0.5, 0}}) {
      const HrbfValue a = fit.At(x), b = big.At(scale * x);
      EXPECT_NEAR(b.f, scale * a.f, 1e-8 * scale);
      EXPECT_LT(Length(b.gradient - a.gradient), 1e-8);
    }
    EXPECT_NEAR(big.alpha[0] * scale * scale, fit.alpha[0], 1e-8);
    EXPECT_LT(Length(scale * big.beta[0] - fit.beta[0]), 1e-8);
  }
}

TEST(Hrbf, EquivariantUnderRigidMotionsAndMirrors) {
  const Samples s = Capsule(52);
  const Hrbf fit = FitHrbf(s.points, s.normals);
  for (const bool mirror : {false, true}) {
    AffineD motion = testing::RigidMotion({1, 2, -0.5}, 77, {3, -1, 2});
    if (mirror) motion = Compose(motion, testing::ScaleMotion({-1, 1, 1}));
    Samples moved = s;
    for (std::size_t i = 0; i < s.points.size(); ++i) {
      moved.points[i] = Apply(motion, s.points[i]);
      moved.normals[i] = Multiply(Linear(motion), s.normals[i]);
    }
    const Hrbf there = FitHrbf(moved.points, moved.normals);
    for (const Vec3d& x : {Vec3d{0.2, 0.3, 0.1}, Vec3d{3, 1, 2}, Vec3d{-4, 0.5, 0}}) {
      const HrbfValue a = fit.At(x), b = there.At(Apply(motion, x));
      EXPECT_NEAR(a.f, b.f, 1e-10);
      EXPECT_LT(Length(Multiply(Linear(motion), a.gradient) - b.gradient), 1e-10);
    }
  }
}

// The expected values were computed on x86-64, with and without AVX2 and FMA, and on AArch64.
TEST(Hrbf, SameBitsOnEveryProcessor) {
  Samples s;
  testing::Random random(7);
  for (int i = 0; i < 52; ++i) {
    const Vec3d d = {2.0 * random.Next() - 1, 2.0 * random.Next() - 1, 2.0 * random.Next() - 1};
    const Vec3d unit = Unit(d);
    s.points.push_back({2 * unit.x, unit.y, unit.z});
    s.normals.push_back(unit);
  }
  const Hrbf fit = FitHrbf(s.points, s.normals);
  ASSERT_EQ(fit.size(), 52u);
  EXPECT_EQ(fit.alpha[0], 0x1.1a090f7b272ddp+1);
  EXPECT_EQ(fit.alpha[51], 0x1.7ada04a6fce4ep+3);
  EXPECT_EQ(fit.beta[30].y, -0x1.87bb5400a4dc2p-5);
}

TEST(Hrbf, RejectsSingularSystems) {
  const Vec3d p = {1, 2, 3};
  EXPECT_EQ(FitHrbf(std::vector{p, p}, std::vector<Vec3d>{{1, 0, 0}, {0, 1, 0}}).size(), 0u);
}

}  // namespace
}  // namespace sinew
