// Swelling of a belly: constant volume, square-root law, activation, the elbow's table.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <tuple>

#include "tests/unit/core/muscle/two_joints.h"

namespace sinew {
namespace {

using testing::At;
using testing::Bent;
using testing::OnLower;
using testing::OnUpper;
using testing::Tables;

constexpr std::array kProfiles = {MuscleProfile::kEllipsoid, MuscleProfile::kSine,
                                  MuscleProfile::kRootSine, MuscleProfile::kParabola};

double Integral(MuscleProfile profile, double warp) {
  constexpr int kSteps = 200'000;
  double sum = 0;
  for (int k = 0; k < kSteps; ++k) {
    const double r = ProfileRadius(profile, warp, (k + 0.5) / kSteps);
    sum += r * r;
  }
  return sum / kSteps;
}

TEST(MuscleLaw, ProfileAreasMatchFormulas) {
  EXPECT_NEAR(ProfileArea(MuscleProfile::kEllipsoid, 1), 2.0 / 3, 1e-15);
  EXPECT_NEAR(ProfileArea(MuscleProfile::kSine, 1), 0.5, 1e-15);
  EXPECT_NEAR(ProfileArea(MuscleProfile::kRootSine, 1), 0.63662, 1e-6);
  EXPECT_NEAR(ProfileArea(MuscleProfile::kParabola, 1), 8.0 / 15, 1e-15);
  for (const MuscleProfile profile : kProfiles) {
    for (const double warp : {0.4, 1.0, 1.7, 3.0}) {
      EXPECT_NEAR(ProfileArea(profile, warp), Integral(profile, warp), 2e-6) << warp;
    }
  }
}

TEST(MuscleLaw, InverseWarpMirrorsProfile) {
  for (const MuscleProfile profile : kProfiles) {
    for (const double u : {0.05, 0.3, 0.5, 0.8, 0.99}) {
      EXPECT_NEAR(ProfileRadius(profile, 2.5, u), ProfileRadius(profile, 0.4, 1 - u), 1e-14);
      EXPECT_NEAR(ProfileSlope(profile, 2.5, u), -ProfileSlope(profile, 0.4, 1 - u), 1e-12);
    }
  }
}

TEST(MuscleLaw, SlopeIsDerivative) {
  for (const MuscleProfile profile : kProfiles) {
    for (const double warp : {0.6, 1.0, 2.0}) {
      for (const double u : {0.2, 0.45, 0.7}) {
        const double h = 1e-6;
        EXPECT_NEAR(
            ProfileSlope(profile, warp, u),
            (ProfileRadius(profile, warp, u + h) - ProfileRadius(profile, warp, u - h)) / (2 * h),
            1e-7);
      }
    }
  }
}

TEST(MuscleLaw, ConservesVolumeToTwelveDigits) {
  const BellyAxes rest = {0.6, 0.45};
  for (const MuscleProfile profile : kProfiles) {
    const double volume = BellyVolume(rest, 2.5, profile, 1);
    for (const double length : {1.25, 1.9, 2.5, 3.1, 3.75}) {
      for (const double activation : {0.0, 0.3, 1.0}) {
        const BellyAxes axes = PumpedAxes(rest, 2.5, length, 1.4, activation);
        EXPECT_NEAR(BellyVolume(axes, length, profile, 1) / volume, 1, 1e-12);
        EXPECT_NEAR(axes.width / axes.depth, rest.width / rest.depth * (1 + 0.4 * activation),
                    1e-12);
      }
      EXPECT_NEAR(PumpedAxes(rest, 2.5, length, 1.4, 0).width / rest.width, std::sqrt(2.5 / length),
                  1e-14);
    }
  }
  // The volume of the ellipsoid with these semi-axes.
  EXPECT_NEAR(BellyVolume(rest, 2.5, MuscleProfile::kEllipsoid, 1),
              4.0 / 3 * std::numbers::pi * 1.25 * 0.6 * 0.45, 1e-14);
}

Muscle Elbow(double from, double to, double tendons) {
  Muscle muscle;
  muscle.name = "flexor";
  muscle.origin = OnUpper(-from, 0);
  muscle.insertion = OnLower(to, 0);
  muscle.origin_tendon = muscle.insertion_tendon = tendons / 2;
  muscle.width = muscle.depth = 2;
  muscle.width_direction = {0, 1, 0};
  return muscle;
}

TEST(MuscleLaw, ElbowTable) {
  const MuscleTables tables = Tables(Elbow(25, 4, 0.25 * 29));
  const std::array<std::array<double, 3>, 5> table = {{{0, 1, 1},
                                                       {45, 0.965, 1.025},
                                                       {90, 0.873, 1.097},
                                                       {120, 0.802, 1.166},
                                                       {150, 0.746, 1.230}}};
  for (const auto& [degrees, length, gain] : table) {
    const MuscleState state = At(tables, degrees);
    EXPECT_NEAR(state.path_length / 29, length, 6e-4) << degrees;
    EXPECT_NEAR(state.radii[1] / 2, gain, 6e-4) << degrees;
    EXPECT_NEAR(state.radii[0], state.belly_length / 2, 1e-12);
  }
  EXPECT_NEAR(At(Tables(Elbow(25, 6, 0.25 * 31)), 150).radii[1] / 2, 1.376, 6e-4);
  EXPECT_NEAR(At(Tables(Elbow(25, 6, 7.25)), 150).radii[1] / 2, 1.363, 6e-4);
}

TEST(MuscleLaw, RadiusGrowsAtMostRootTwo) {
  const MuscleTables tables = Tables(Elbow(25, 24, 0.2 * 49));
  for (int degrees = 0; degrees <= 179; ++degrees) {
    const MuscleState state = At(tables, degrees);
    EXPECT_LE(state.radii[1] / 2, std::numbers::sqrt2 + 1e-12);
    EXPECT_NEAR(state.radii[0] * state.radii[1] * state.radii[2], 0.5 * 0.8 * 49 * 4,
                1e-9);  // volume, clamped or not
  }
}

TEST(MuscleLaw, ActivationWidensTowardsSkin) {
  Muscle muscle = Elbow(25, 4, 7.25);
  muscle.activation = 0;
  muscle.tension = 1.44;
  const MuscleTables tables = Tables(muscle);
  const MuscleState slack = At(tables, 30), tense = At(tables, 30, 1), over = At(tables, 30, 7);
  EXPECT_NEAR(tense.radii[1] / slack.radii[1], 1.2, 1e-12);
  EXPECT_NEAR(tense.radii[2] / slack.radii[2], 1 / 1.2, 1e-12);
  EXPECT_EQ(over.radii[1], tense.radii[1]);                                    // clamped to 1
  EXPECT_NEAR(slack.frame.m[5], std::cos(std::asin(slack.frame.m[4])), 1e-6);  // width along +y
}

}  // namespace
}  // namespace sinew
