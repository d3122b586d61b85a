// The fit: constraints, gradient, scaling, rigid motions; and the sampling.
#include "core/deform/implicit/hrbf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"
#include "core/deform/implicit/limb_bones.h"
#include "core/deform/implicit/limb_surface.h"
#include "core/deform/implicit/part_fit.h"
#include "core/deform/implicit/spread_samples.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/random.h"

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

TEST(SpreadSamples, RespectsCountAndDistance) {
  std::vector<SurfaceSample> candidates;
  const Samples s = Capsule(2000);
  for (std::size_t i = 0; i < s.points.size(); ++i) {
    candidates.push_back({s.points[i], s.normals[i]});
  }
  for (const std::size_t count : {std::size_t{10}, std::size_t{50}, std::size_t{100}}) {
    const auto spread = SpreadSamples(candidates, count, 7);
    EXPECT_GE(spread.size() * 10, count * 9);
    EXPECT_LE(spread.size() * 10, count * 11);
    double nearest = 1e9;
    for (const SurfaceSample& a : spread) {
      for (const SurfaceSample& b : spread) {
        if (&a != &b) nearest = std::min(nearest, Length(a.point - b.point));
      }
    }
    EXPECT_GT(nearest, 0.5 * std::sqrt(37.7 / static_cast<double>(count)));
  }
}

// Both sides of a sheet whose thickness is a fifth of the distance of its samples.
TEST(SpreadSamples, SamplesBothSidesOfThinSheet) {
  std::vector<SurfaceSample> candidates;
  testing::Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const double up = i % 2 == 0 ? 1 : -1;
    candidates.push_back({{random.Next(), random.Next(), 0.02 * up}, {0, 0, up}});
  }
  const auto spread = SpreadSamples(candidates, 60, 1);
  const auto above = std::ranges::count_if(spread, [](const auto& s) { return s.normal.z > 0; });
  EXPECT_GE(above, 24);
  EXPECT_LE(above, 36);
}

TEST(SpreadSamples, AcceptsAllOfFewCandidates) {
  const SurfaceSample one = {{1, 2, 3}, {1, 0, 0}};
  EXPECT_EQ(SpreadSamples(std::vector<SurfaceSample>{}, 50, 1).size(), 0u);
  EXPECT_EQ(SpreadSamples(std::vector(9, one), 50, 1).size(), 1u);
  const SurfaceSample two = {{2, 2, 3}, {1, 0, 0}}, close = {{2, 2.009, 3}, {1, 0, 0}};
  EXPECT_EQ(SpreadSamples(std::vector{one, two, one, two}, 50, 1).size(), 2u);
  EXPECT_EQ(SpreadSamples(std::vector{one, two, close}, 50, 1).size(), 2u);
}

TEST(LimbBones, CanonicalLimb) {
  for (const double scale : {1e-3, 1.0, 1e5}) {
    const Rig rig = testing::CanonicalLimb({.scale = scale});
    const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
    const auto bones = MakeLimbBones(rig, surface);
    ASSERT_EQ(bones.size(), 2u);
    EXPECT_EQ(bones[1].parent, 0);
    for (const LimbBone& bone : bones) {
      EXPECT_NEAR(bone.flesh, scale, 1e-6 * scale);
      EXPECT_NEAR(bone.radius, scale, 1e-6 * scale);
      EXPECT_NEAR(Length(bone.tip - bone.root), 5 * scale, 1e-5 * scale);
      EXPECT_NEAR(bone.direction.x, 1, 1e-9);
      EXPECT_NEAR(bone.out_root.x, -1, 1e-9);
      EXPECT_NEAR(bone.out_tip.x, 1, 1e-9);
    }
  }
}

// Bound with a bend of 60 degrees: both parts end in the bisecting plane.
TEST(LimbBones, BentLimbBonesShareEndPlane) {
  RigSource source = testing::CanonicalSource();
  const AffineD bend = testing::RigidMotion({0, 0, 1}, 60);
  for (Vec3f& p : source.mesh.positions) {
    if (p.x > 0) p = ToFloat(Apply(bend, ToDouble(p)));
  }
  const Rig rig = testing::MakeRig(std::move(source));
  const auto bones = MakeLimbBones(rig, MakeLimbSurface(rig, Weld(rig)));
  ASSERT_EQ(bones.size(), 2u);
  EXPECT_NEAR(Length(bones[0].out_tip + bones[1].out_root), 0, 1e-6);
  EXPECT_NEAR(Dot(bones[0].out_tip, bones[0].direction), Dot(bones[0].out_tip, bones[1].direction),
              1e-6);
  EXPECT_NEAR(std::acos(bones[0].out_tip.x), 0.5236, 0.02);  // 30 degrees
}

TEST(PartFit, FitsCylinderAndClosesOpenEnd) {
  const Rig rig = testing::CanonicalLimb();
  const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
  const auto bones = MakeLimbBones(rig, surface);
  for (const LimbBone& bone : bones) {
    const PartFit fit = FitPart(surface, bone, 50, Task());
    EXPECT_EQ(fit.folded, 0);
    EXPECT_FALSE(fit.open);
    // One end cap where the other part follows; the closed end uses its own skin.
    EXPECT_EQ(fit.hrbf.size(), fit.samples + 1 + kDomeRing);
    const double side = bone.joint == 0 ? -1 : 1;
    for (double x = 0.5; x <= 4; x += 0.25) {
      EXPECT_LT(std::abs(fit.hrbf.Value(Vec3d{side * x, 1, 0} - fit.centre)), 0.03);
    }
    // The ball that fits between the 32 flat faces.
    EXPECT_NEAR(fit.hrbf.Value(Vec3d{-side, 0, 0} - fit.centre), 0.0043, 5e-4)
        << "top of the end cap";
    for (double x = 5.2; x <= 7; x += 0.1) {
      EXPECT_GT(fit.hrbf.Value(Vec3d{side * x, 0, 0} - fit.centre), 0) << "no second body at " << x;
    }
  }
}

// The bone is off the centre by a quarter of the radius: the end cap stays in the ball that fits on
// the near side, because a bend rotates the far side there; the section follows the skin on both
// sides.
TEST(PartFit, EndCapsStayInsideJointBall) {
  RigSource source = testing::CanonicalSource();
  for (Vec3f& p : source.mesh.positions) p.y += 0.25F;
  const Rig rig = testing::MakeRig(source);
  const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
  const auto bones = MakeLimbBones(rig, surface);
  ASSERT_EQ(bones.size(), 2u);
  for (const LimbBone& bone : bones) {
    const PartFit fit = FitPart(surface, bone, 50, Task());
    const double out = bone.joint == 0 ? 1 : -1;
    const auto value = [&](double x, double y) {
      return bone.radius * fit.hrbf.Value((1 / bone.radius) * (Vec3d{out * x, y, 0} - fit.centre));
    };
    EXPECT_NEAR(value(0, 1.25), 0, 0.06);
    EXPECT_NEAR(value(0, -0.75), 0, 0.06);
    // Just above the ring, 0.75 from the joint on all sides.
    EXPECT_GT(value(0.53, 0.8), 0.02);
    EXPECT_LT(value(0.53, 0.4), -0.02);
    EXPECT_NEAR(value(0.53, -0.53), 0, 0.06);
  }
}

}  // namespace
}  // namespace sinew
