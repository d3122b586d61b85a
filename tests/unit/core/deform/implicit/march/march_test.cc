// The march on closed-form fields: invariants, every status, and the reference in double.
#include "core/deform/implicit/march/march.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "core/deform/dqs/dqs.h"
#include "core/deform/lbs/lbs.h"
#include "tests/support/compare.h"
#include "tests/support/overlap.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/tube.h"
#include "tests/unit/core/deform/implicit/limb_figures.h"
#include "tests/unit/core/deform/implicit/march/march_limb.h"
#include "tests/unit/core/deform/implicit/wild_field.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::MarchLimb;
using testing::MarchRun;
using testing::RoundedLimb;
using testing::SameBits;
using testing::SkinMatrices;

// By how much bisection misses a level or a crease, and float.
constexpr double kBracket = 1.1e-4;

const RoundedLimb& RestLimb() {
  static const auto* const kLimb = new RoundedLimb(std::array<AffineD, 2>{});
  return *kLimb;
}

MarchLimb CylinderWith(const MarchRules& rules) {
  return {testing::CanonicalCylinder(), RestLimb(), rules};
}

const MarchLimb& Cylinder() {
  static const auto* const kCylinder = new MarchLimb(CylinderWith({}));
  return *kCylinder;
}

RoundedLimb PosedLimb(std::span<const Affine> pose) {
  return RoundedLimb(SkinMatrices(Cylinder().rig(), pose));
}

// Bent, with the joint shifted so that no ring lies exactly between both parts: there rounding
// decides in which of them a point marches.
std::vector<Affine> AskewPose(double degrees) {
  std::vector<Affine> pose = testing::BendPose(Cylinder().rig(), degrees);
  pose[1].m[3] += 0.03f;
  pose[1].m[11] += 0.02f;
  return pose;
}

MarchRun Bent(const MarchLimb& limb, double degrees) {
  const auto pose = testing::BendPose(limb.rig(), degrees);
  return limb.Run<Dqs>(pose, PosedLimb(pose));
}

// The union in closed form.
double UnionOf(const RoundedLimb& field, const Vec3d& x) {
  return std::min(field.DistanceOf(0, x).value, field.DistanceOf(1, x).value);
}

TEST(March, KeepsRestPoseBits) {
  const auto rest = testing::RestPose(Cylinder().rig());
  const MarchRun run = Cylinder().Run<Dqs>(rest, PosedLimb(rest));
  EXPECT_TRUE(SameBits(run.in, run.out));
  EXPECT_EQ(run.Count(VertexStatus::kNotDisplaced), 2592u);
  // The centres of the caps are on the axis, where the field has no gradient.
  EXPECT_EQ(run.Count(VertexStatus::kExcluded), 2u);
}

// Bent the other way, the other side of the limb does the same.
TEST(March, MirroredInputGivesMirroredResult) {
  const MarchRun a = Bent(Cylinder(), 100), b = Bent(Cylinder(), -100);
  for (std::size_t v = 0; v < 2592; ++v) {
    const std::size_t ring = v / 32, k = v % 32, w = ring * 32 + (48 - k) % 32;  // y to -y
    EXPECT_LT(Distance(a.points[v], {b.points[w].x, -b.points[w].y, b.points[w].z}), 1e-4) << v;
    EXPECT_EQ(a.vertex_status[v], b.vertex_status[w]) << v;
  }
}

TEST(March, FittedPointsHaveTheirRestValue) {
  const MarchLimb limb = CylinderWith({.smoothing = 0});
  for (const double degrees : {-90.0, 60.0, 120.0}) {
    const auto pose = testing::BendPose(limb.rig(), degrees);
    const RoundedLimb field = PosedLimb(pose);
    const MarchRun run = limb.Run<Dqs>(pose, field);
    EXPECT_GT(run.Count(VertexStatus::kFitted), 200u);
    for (std::size_t v = 0; v < run.points.size(); ++v) {
      if (run.vertex_status[v] != static_cast<std::uint8_t>(VertexStatus::kFitted)) continue;
      EXPECT_NEAR(UnionOf(field, run.points[v]), double{limb.march().level[limb.PointOf(v)]},
                  kBracket)
          << v << " at " << degrees;
    }
  }
}

// Bisection ends where the gradient turns: whole steps would leave an overlap twenty times as
// large.
TEST(March, BendsCloseWithoutOverlap) {
  const MarchLimb limb = CylinderWith({.smoothing = 0});
  for (const auto& [degrees, most] : {std::pair(60.0, 2e-5), {90.0, 2e-4}, {120.0, 6e-4}}) {
    const MarchRun run = Bent(limb, degrees);
    const auto volume =
        testing::MeasureOverlap(testing::TrianglesOf(limb.rig().mesh()), run.points);
    const double rest = testing::CanonicalVolume();
    EXPECT_NEAR(volume.Union() / rest, testing::ExactUnion(degrees), 4e-3) << degrees;
    EXPECT_LT(volume.overlap / rest, most) << degrees;
  }
}

// Below 55 degrees the gradient never turns by as much.
TEST(March, MeetsLimbOnlyBeyondThreshold) {
  EXPECT_EQ(Bent(Cylinder(), 45).Count(VertexStatus::kGradientDivergence), 0u);
  EXPECT_GT(Bent(Cylinder(), 100).Count(VertexStatus::kGradientDivergence), 20u);
  const MarchLimb early = CylinderWith({.gradient_threshold = 0.9f});
  EXPECT_GT(Bent(early, 45).Count(VertexStatus::kGradientDivergence), 0u);
}

TEST(March, StopsAtIterationLimit) {
  const MarchLimb limb = CylinderWith({.max_iterations = 2, .smoothing = 0});
  const MarchRun run = Bent(limb, 100);
  EXPECT_GT(run.Count(VertexStatus::kIterationLimit), 100u);
  for (std::size_t v = 0; v < run.points.size(); ++v) {
    EXPECT_LT(Distance(run.points[v], run.start[v]), 2 * 0.05 + 1e-5) << v;
  }
}

TEST(March, StaysWhereNoFieldReaches) {
  const auto pose = testing::BendPose(Cylinder().rig(), 60);
  const auto away = SkinMatrices(
      Cylinder().rig(), testing::Moved(testing::RigidMotion({0, 0, 1}, 0, {0, 0, 50}), pose));
  const MarchRun run = Cylinder().Run<Dqs>(pose, RoundedLimb(std::span<const AffineD>(away)));
  EXPECT_TRUE(SameBits(run.in, run.out));
  EXPECT_EQ(run.Count(VertexStatus::kZeroGradient), 2592u);
}

// One field along x for both parts.
class FieldAlongX : public RoundedLimb {
 public:
  FieldAlongX() : RoundedLimb(std::array<AffineD, 2>{}) {}
  // Value and slope.
  virtual std::pair<double, double> At(double x) const = 0;
  PartBlocks Distances(const PointBlock& points, const DistanceNeed&) const override {
    PartBlocks parts(2);
    for (std::uint32_t b = 0; b < 2; ++b) {
      parts[b].part = b;
      for (std::size_t i = 0; i < kLanes; ++i) {
        const auto [value, slope] = At(double{points.x[i]});
        parts[b].value[i] = static_cast<float>(value);
        parts[b].x[i] = static_cast<float>(slope);
        parts[b].y[i] = parts[b].z[i] = 0;
      }
    }
    return parts;
  }
  float Reach(std::uint32_t) const override { return 10; }
};

// Falls to 0.3 at x = 0, rises beyond, and has slope 1 on both sides.
class Pit : public FieldAlongX {
 public:
  std::pair<double, double> At(double x) const override { return {0.3 + std::abs(x), 1}; }
};

TEST(March, StaysBeforePotentialPit) {
  const MarchLimb limb = CylinderWith({.smoothing = 0});
  const auto rest = testing::RestPose(limb.rig());
  const MarchRun run = limb.Run<Dqs>(rest, Pit());
  EXPECT_GT(run.Count(VertexStatus::kPotentialPit), 1000u);
  for (std::size_t v = 0; v < run.points.size(); ++v) {
    if (run.vertex_status[v] != static_cast<std::uint8_t>(VertexStatus::kPotentialPit)) continue;
    // Those that start beyond the pit stay, the others stop less than a step before it turns.
    const double x = run.points[v].x, start = run.start[v].x;
    EXPECT_NEAR(x, start < 0.025 ? start : 0, start < 0.025 ? 1e-6 : 0.0251) << v;
  }
}

TEST(March, PassesPitsWithoutPotentialPit) {
  const MarchLimb limb =
      CylinderWith({.max_iterations = 10, .potential_pit = false, .smoothing = 0});
  const MarchRun run = limb.Run<Dqs>(testing::RestPose(limb.rig()), Pit());
  EXPECT_EQ(run.Count(VertexStatus::kPotentialPit), 0u);
  EXPECT_EQ(run.Count(VertexStatus::kIterationLimit), 2592u);
  for (std::size_t v = 0; v < 2592; ++v) {
    EXPECT_NEAR(run.points[v].x, run.start[v].x - 0.5, 1e-5) << v;
  }
}

// 0 everywhere, and so the level of every vertex bound to it.
class Zero : public FieldAlongX {
 public:
  std::pair<double, double> At(double) const override { return {0, 1}; }
};

class Ramp : public FieldAlongX {
 public:
  std::pair<double, double> At(double x) const override { return {std::max(x, 0.0), 1}; }
};

// Rings are 1/8 apart, so that every second step ends on the level itself.
TEST(March, StepThatEndsAtLevelFits) {
  const Zero zero;
  const MarchLimb limb(testing::CanonicalCylinder(), zero,
                       {.step_length = 0.0625f, .smoothing = 0});
  const MarchRun run = limb.Run<Dqs>(testing::RestPose(limb.rig()), Ramp());
  for (std::size_t v = 0; v < run.points.size(); ++v) {
    const bool outside = run.start[v].x > 0;
    EXPECT_EQ(
        run.vertex_status[v],
        static_cast<std::uint8_t>(outside ? VertexStatus::kFitted : VertexStatus::kNotDisplaced))
        << v;
    EXPECT_NEAR(run.points[v].x, outside ? 0 : run.start[v].x, kBracket) << v;
  }
}

class Cliff : public FieldAlongX {
 public:
  std::pair<double, double> At(double x) const override {
    return x > 1 ? std::pair(x, 1.0) : std::pair(1.0, 0.0);
  }
};

// Points whose step ends where the field has no gradient do not make it.
TEST(March, StaysBeforeZeroGradient) {
  const MarchLimb limb = CylinderWith({.smoothing = 0});
  const MarchRun run = limb.Run<Dqs>(testing::RestPose(limb.rig()), Cliff());
  EXPECT_EQ(run.Count(VertexStatus::kZeroGradient), 2592u);
  for (std::size_t v = 0; v < 2592; ++v) {
    const double start = run.start[v].x, x = run.points[v].x;
    EXPECT_TRUE(start > 1 ? x > 1 && x < 1.0501 : x == start) << v << ": " << start << " to " << x;
  }
}

class Five : public FieldAlongX {
 public:
  std::pair<double, double> At(double) const override { return {5, 1}; }
};

// Ends at x = 1.
class ShortRamp : public FieldAlongX {
 public:
  std::pair<double, double> At(double x) const override {
    return x < 1 ? std::pair(x, 1.0) : std::pair(20.0, 0.0);
  }
};

// The end of the field is not taken for the level that lies beyond it.
TEST(March, StaysInsideWhereFieldEnds) {
  const Five five;
  const MarchLimb limb(testing::CanonicalCylinder(), five, {.smoothing = 0});
  const MarchRun run = limb.Run<Dqs>(testing::RestPose(limb.rig()), ShortRamp());
  EXPECT_EQ(run.Count(VertexStatus::kZeroGradient), run.points.size());
  for (std::size_t v = 0; v < run.points.size(); ++v) {
    const double start = run.start[v].x, x = run.points[v].x;
    EXPECT_TRUE(start < 1 ? x < 1 && x > 0.9499 : x == start) << v << ": " << start << " to " << x;
  }
}

TEST(March, SmoothingChangesOnlySkinNearContacts) {
  const MarchLimb rough = CylinderWith({.smoothing = 0});
  const MarchRun before = Bent(rough, 110), after = Bent(Cylinder(), 110);
  EXPECT_EQ(before.vertex_status, after.vertex_status);
  double far = 0, near = 0;
  for (std::size_t v = 0; v < before.points.size(); ++v) {
    const double moved = Distance(before.points[v], after.points[v]);
    const bool beside = std::abs(rough.rig().mesh().positions()[v].x) < 2.5f;
    (beside ? near : far) = std::max(beside ? near : far, moved);
  }
  EXPECT_GT(near, 0.01);
  EXPECT_EQ(far, 0);
}

TEST(March, InvariantToUnits) {
  const auto pose = testing::BendPose(Cylinder().rig(), 90);
  const auto large = testing::Moved(testing::ScaleMotion({4, 4, 4}), pose);
  const MarchRun plain = Cylinder().Run<Lbs>(pose, PosedLimb(pose));
  const MarchRun scaled = Cylinder().Run<Lbs>(large, PosedLimb(large));
  EXPECT_EQ(plain.vertex_status, scaled.vertex_status);
  for (std::size_t v = 0; v < plain.points.size(); ++v) {
    EXPECT_LT(Distance(4 * plain.points[v], scaled.points[v]), 4e-4) << v;
  }
}

TEST(March, FiniteForAnyField) {
  const auto pose = testing::BendPose(Cylinder().rig(), 150);
  for (const int kind : {0, 1, 2}) {
    const MarchRun run = Cylinder().Run<Lbs>(pose, testing::WildField(kind, 1e30f));
    for (std::size_t v = 0; v < run.points.size(); ++v) {
      EXPECT_LE(Distance(run.points[v], run.start[v]), 250 * 0.05 + 1e-3) << v << ", " << kind;
    }
  }
}

TEST(March, MatchesReference) {
  for (const std::uint32_t smoothing : {0u, 7u}) {
    const MarchLimb limb = CylinderWith({.smoothing = smoothing});
    for (const double degrees : {45.0, 90.0, 120.0, 145.0}) {
      const auto pose = AskewPose(degrees);
      const RoundedLimb posed = PosedLimb(pose);
      const MarchRun run = limb.Run<Dqs>(pose, posed);
      const auto of = [](const RoundedLimb& field) {
        return [&field](std::size_t part, const Vec3d& x) {
          const testing::FieldSample sample = field.DistanceOf(part, x);
          return reference::FieldValue{sample.value, sample.gradient};
        };
      };
      reference::LimbDistances distances;
      distances.bind = of(RestLimb());
      distances.posed = of(posed);
      distances.reach = {1, 1};
      const reference::Marched want = limb.Reference(distances, run.start);
      for (std::size_t v = 0; v < run.points.size(); ++v) {
        EXPECT_LT(Distance(run.points[v], want.points[v]), kBracket) << v << " at " << degrees;
        EXPECT_EQ(run.vertex_status[v], static_cast<std::uint8_t>(want.status[v]))
            << v << " at " << degrees;
      }
    }
  }
}

}  // namespace
}  // namespace sinew
