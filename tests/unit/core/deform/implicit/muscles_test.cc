// The primitive: against formulas, differences and its mirror image.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/base/vectors.h"
#include "core/muscle/muscle_shape.h"
#include "core/simd/target.h"
#include "tests/reference/muscle_reference.h"
#include "tests/unit/core/muscle/two_joints.h"

namespace sinew {
namespace {

using testing::At;
using testing::OnLower;
using testing::OnUpper;
using testing::Tables;

struct Sample {
  double value;
  Vec3d gradient;
};

Sample Evaluate(const MuscleShape& shape, const Vec3d& at) {
  PointBlock points;
  FieldBlock out;
  for (std::size_t i = 0; i < kLanes; ++i) {
    points.x[i] = static_cast<float>(at.x);
    points.y[i] = static_cast<float>(at.y);
    points.z[i] = static_cast<float>(at.z);
  }
  EvaluateMuscle(shape, 0, points, out);
  return {out.value[5], {out.x[5], out.y[5], out.z[5]}};
}

Muscle Straight(MuscleProfile profile) {
  Muscle muscle;
  muscle.name = "straight one";
  muscle.origin = OnUpper(-25, 1, 0.5);
  muscle.insertion = OnLower(4, 2, 1);
  muscle.origin_tendon = 4;
  muscle.insertion_tendon = 6;
  muscle.width = 2.4;
  muscle.depth = 2.4;
  muscle.profile = profile;
  return muscle;
}

Vec3d InBelly(const MuscleState& state, const Vec3d& p) {
  return Multiply(Transpose(Linear(state.frame)), p - Translation(state.frame));
}
Vec3d FromBelly(const MuscleState& state, const Vec3d& v) {
  return Multiply(Linear(state.frame), v);
}

std::vector<Vec3d> Points(const MuscleState& state, int count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> at(-1.6, 1.6);
  std::vector<Vec3d> points;
  for (int k = 0; k < count; ++k) {
    points.push_back(Translation(state.frame) +
                     FromBelly(state, {at(random) * state.radii[0], at(random) * state.radii[1],
                                       at(random) * state.radii[2]}));
  }
  return points;
}

TEST(MuscleField, EllipsoidMatchesFormula) {
  Muscle muscle = Straight(MuscleProfile::kEllipsoid);
  muscle.depth = 1.5;
  const MuscleTables tables = Tables(muscle);
  for (const double degrees : {0.0, 40.0, 110.0}) {
    const MuscleState state = At(tables, degrees);
    const MuscleShape shape = MakeMuscleShape(tables.rows[0], state);
    for (const Vec3d& p : Points(state, 300)) {
      const auto expected = reference::EllipsoidField(
          InBelly(state, p), {state.radii[0], state.radii[1], state.radii[2]});
      const Sample got = Evaluate(shape, p);
      EXPECT_NEAR(got.value, expected.value, 2e-5);
      EXPECT_LE(Length(got.gradient - FromBelly(state, expected.gradient)), 3e-5);
    }
  }
}

TEST(MuscleField, GradientMatchesDifferences) {
  const Vec3d r = {1.5, 0.6, 0.4};
  for (const Vec3d& p : {Vec3d{0.3, 0.5, 0.2}, Vec3d{1.6, 0.1, -0.3}, Vec3d{-0.7, 0.2, 0.6}}) {
    const double h = 1e-6;
    const auto slope = [&](const Vec3d& d) {
      return (reference::EllipsoidField(p + d, r).value -
              reference::EllipsoidField(p - d, r).value) /
             (2 * h);
    };
    const Vec3d g = {slope({h, 0, 0}), slope({0, h, 0}), slope({0, 0, h})};
    EXPECT_LE(Length(reference::EllipsoidField(p, r).gradient - g), 5e-9);
  }
}

TEST(MuscleField, GradientOnSurfaceAndInCentre) {
  const MuscleTables tables = Tables(Straight(MuscleProfile::kEllipsoid));
  const MuscleState state = At(tables, 30);
  const MuscleShape shape = MakeMuscleShape(tables.rows[0], state);
  for (double a = 0.1; a < 6.2; a += 0.3) {
    const Vec3d q = {0.6 * std::cos(a), 0.8 * std::cos(a), std::sin(a)};
    const Vec3d p =
        Translation(state.frame) +
        FromBelly(state, {q.x * state.radii[0], q.y * state.radii[1], q.z * state.radii[2]});
    const Sample on = Evaluate(shape, p);
    EXPECT_NEAR(on.value, 0, 2e-5);
    EXPECT_NEAR(Length(on.gradient), 1, 2e-5);
  }
  const Sample centre = Evaluate(shape, ToDouble(ToFloat(Translation(state.frame))));
  EXPECT_NEAR(centre.value, -std::min({state.radii[0], state.radii[1], state.radii[2]}), 1e-5);
  EXPECT_LE(Length(centre.gradient), 1.01);
}

TEST(MuscleField, StraightSpindleMatchesFormula) {
  for (const auto& [profile, warp] : {std::pair{MuscleProfile::kSine, 1.0},
                                      {MuscleProfile::kSine, 1.5},
                                      {MuscleProfile::kParabola, 1 / 1.5}}) {
    Muscle muscle = Straight(profile);
    muscle.warp = warp;
    const MuscleTables tables = Tables(muscle);
    const MuscleState state = At(tables, 0);
    const MuscleShape shape = MakeMuscleShape(tables.rows[0], state);
    for (const Vec3d& p : Points(state, 300)) {
      const Vec3d local = InBelly(state, p) + Vec3d{state.radii[0], 0, 0};
      const double u = local.x / state.belly_length;
      if (std::abs(u) < 0.03 || std::abs(u - 1) < 0.03 || std::hypot(local.y, local.z) < 0.1) {
        continue;  // no gradient on the axis, and blunter tips than the formula
      }
      const auto expected =
          reference::SpindleField(local, state.belly_length, state.radii[1], profile, warp);
      const Sample got = Evaluate(shape, p);
      // The profile is a cubic between 13 knots.
      EXPECT_NEAR(got.value, expected.value, 6e-3 * state.radii[1]) << u;
      EXPECT_LE(Length(got.gradient - FromBelly(state, expected.gradient)), 0.06) << u;
    }
  }
}

TEST(MuscleField, EllipticAndBentSpindlesMatchDifferences) {
  Muscle muscle = Straight(MuscleProfile::kRootSine);
  muscle.depth = 1.5;
  muscle.via = {OnUpper(-3, 5), OnLower(1, 5)};
  const MuscleTables tables = Tables(muscle);
  int bad = 0, all = 0;
  for (const double degrees : {0.0, 70.0}) {
    const MuscleState state = At(tables, degrees);
    const MuscleShape shape = MakeMuscleShape(tables.rows[0], state);
    for (const Vec3d& p : Points(state, 300)) {
      const double h = 2e-3;
      const auto slope = [&](const Vec3d& d) {
        return (Evaluate(shape, p + d).value - Evaluate(shape, p - d).value) / (2 * h);
      };
      const Vec3d g = {slope({h, 0, 0}), slope({0, h, 0}), slope({0, 0, h})};
      ++all;
      if (Length(Evaluate(shape, p).gradient - g) > 0.02) ++bad;
    }
  }
  // Only where the nearest segment changes on the inside of a bend, or at a tip.
  EXPECT_LE(bad, all / 20) << all;
}

TEST(MuscleField, SwappedEndsGiveSameSurface) {
  for (const MuscleProfile profile : {MuscleProfile::kEllipsoid, MuscleProfile::kParabola}) {
    Muscle muscle = Straight(profile);
    if (profile != MuscleProfile::kEllipsoid) muscle.warp = 1.6;
    muscle.width_direction = {0, 1, 0};
    Muscle swapped = muscle;
    std::swap(swapped.origin, swapped.insertion);
    std::swap(swapped.origin_tendon, swapped.insertion_tendon);
    swapped.warp = 1 / muscle.warp;
    const MuscleTables a = Tables(muscle), b = Tables(swapped);
    for (const double degrees : {0.0, 65.0}) {
      const MuscleState state = At(a, degrees);
      const MuscleShape one = MakeMuscleShape(a.rows[0], state);
      const MuscleShape other = MakeMuscleShape(b.rows[0], At(b, degrees));
      for (const Vec3d& p : Points(state, 200)) {
        EXPECT_NEAR(Evaluate(one, p).value, Evaluate(other, p).value, 3e-4);
      }
    }
  }
}

TEST(MuscleField, FiniteForFarAndHugePoints) {
  for (const MuscleProfile profile : {MuscleProfile::kEllipsoid, MuscleProfile::kSine}) {
    for (const double size : {1e-3, 1.0, 1e3}) {  // millimetres and kilometres
      Muscle muscle = Straight(profile);
      muscle.width *= size;
      muscle.depth *= 0.01 * size;
      const MuscleTables tables = Tables(muscle);
      const MuscleState state = At(tables, 30);
      const MuscleShape shape = MakeMuscleShape(tables.rows[0], state);
      for (const double far : {1e3, 1e9, 1e18, 1e30, 3e38}) {
        const Sample got = Evaluate(shape, {far, -far, 0.3 * far});
        EXPECT_TRUE(std::isfinite(got.value) && std::isfinite(Length(got.gradient))) << far;
        EXPECT_GT(got.value, 0);
      }
    }
  }
}

TEST(MuscleField, DistanceBoundOutsideBox) {
  for (const MuscleProfile profile : {MuscleProfile::kEllipsoid, MuscleProfile::kRootSine}) {
    Muscle muscle = Straight(profile);
    muscle.depth = 1.1;
    muscle.via = {OnUpper(-3, 4)};
    const MuscleTables tables = Tables(muscle);
    const MuscleState state = At(tables, 90);
    const MuscleShape shape = MakeMuscleShape(tables.rows[0], state);
    const MuscleBox box = BoxBelow(shape, 3);
    for (double a = -1; a <= 1; a += 0.1) {
      for (double b = -1; b <= 1; b += 0.1) {
        for (int side = 0; side < 6; ++side) {
          double q[3];
          q[side % 3] = side < 3 ? -1 : 1;
          q[(side + 1) % 3] = a;
          q[(side + 2) % 3] = b;
          const Vec3d middle = 0.5 * (box.low + box.high), half = 0.5 * (box.high - box.low);
          EXPECT_GE(
              Evaluate(shape, middle + Vec3d{q[0] * half.x, q[1] * half.y, q[2] * half.z}).value,
              3 - 1e-4);
        }
      }
    }
  }
}

TEST(MuscleField, SameBitsOnEveryInstructionSet) {
  for (const MuscleProfile profile : {MuscleProfile::kEllipsoid, MuscleProfile::kSine}) {
    Muscle muscle = Straight(profile);
    muscle.via = {OnUpper(-3, 5)};
    const MuscleTables tables = Tables(muscle);
    const MuscleState state = At(tables, 50);
    const MuscleShape shape = MakeMuscleShape(tables.rows[0], state);
    const auto points = Points(state, 16);
    PointBlock block;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const Vec3f p = ToFloat(points[i]);
      block.x[i] = p.x;
      block.y[i] = p.y;
      block.z[i] = p.z;
    }
    std::vector<FieldBlock> results;
    for (const Isa isa : SupportedIsas()) {
      ASSERT_TRUE(ForceIsa(isa).ok());
      EvaluateMuscle(shape, 0.1, block, results.emplace_back());
    }
    ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
    for (const FieldBlock& each : results) {
      EXPECT_EQ(std::memcmp(&each, &results[0], sizeof each), 0);
    }
  }
}

}  // namespace
}  // namespace sinew
