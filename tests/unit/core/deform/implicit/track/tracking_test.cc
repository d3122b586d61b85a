// Tracking against its reference in double, and its figures on the canonical cylinder.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tests/reference/tracking_reference.h"
#include "tests/unit/core/deform/implicit/track/limb_sequence.h"

namespace sinew {
namespace {

using testing::LimbSequence;

// Percent of the cylinder's volume.
double Overlap(const testing::OverlapVolumes& volumes) {
  return 100 * volumes.overlap / testing::CanonicalVolume();
}
double Union(const testing::OverlapVolumes& volumes) {
  return volumes.Union() / testing::CanonicalVolume();
}

// Percent of the rest area that is inverted relative to its blended joints.
double TurnedOver(const LimbSequence& limb, std::span<const Affine> pose,
                  std::span<const Vec3d> points) {
  const auto rest = testing::RestPoints(limb.rig());
  const auto skin = testing::SkinMatrices(limb.rig(), pose);
  const auto corners = limb.rig().mesh().face_vertices();
  const auto normal = [&](std::span<const Vec3d> at, std::size_t f) {
    const Vec3d& a = at[corners[f]];
    return Cross(at[corners[f + 1]] - a, at[corners[f + 2]] - a);
  };
  double turned = 0, all = 0;
  for (std::size_t f = 0; f + 2 < corners.size(); f += 3) {
    const Vec3d before = normal(rest, f);
    Vec3d carried;
    for (std::size_t c = f; c < f + 3; ++c) {
      const auto bindings = limb.rig().influences().bindings(corners[c]);
      const auto weights = limb.rig().influences().weights(corners[c]);
      for (std::size_t k = 0; k < bindings.size(); ++k) {
        carried = carried + double{weights[k]} * Multiply(Linear(skin[bindings[k]]), before);
      }
    }
    const double area = std::sqrt(Dot(before, before));
    all += area;
    if (Dot(carried, normal(points, f)) < 0) turned += area;
  }
  return 100 * turned / all;
}

double AtPart(std::vector<double>& values, double part) {
  const auto rank = static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + rank);
  return values[static_cast<std::size_t>(rank)];
}

TEST(Tracking, OneStepMatchesReference) {
  // The shares of a smooth step from cosine -.17 to -.77.
  for (const auto& [from, bent] : {std::pair(0.0, 0.0), {120.0, 0.7486}, {135.0, 1.0}}) {
    LimbSequence limb;
    std::vector<Vec3d> previous = testing::RestPoints(limb.rig());
    for (double degrees = 5; degrees <= from; degrees += 5) previous = limb.Bend(degrees);
    const auto pose = testing::BendPose(limb.rig(), from + 5);
    const auto before = testing::SkinMatrices(limb.rig(), testing::BendPose(limb.rig(), from));
    const auto now = testing::SkinMatrices(limb.rig(), pose);
    reference::TrackingStep step = {
        .part_of_binding = limb.limb().part_of_binding(),
        .motions = {Compose(now[0], Inverse(before[0])), Compose(now[1], Inverse(before[1]))},
        .previous = previous,
        .skinned = testing::FileOrder(limb.layout(), limb.Skinned(pose)),
        .tracked = {},
        .farthest = 1,
        .kept = 0.9};
    for (const std::uint32_t lane : limb.layout().lane) {
      const std::uint32_t p = limb.surface().lane_point[lane];
      step.tracked.push_back(bent * double{limb.limb().level().hold[p]});
    }
    const auto expected = testing::ReferenceOf(limb.limb(), limb.rest(), pose,
                                               reference::TrackingStarts(limb.rig(), step));
    const auto got = limb.To(pose);
    std::vector<double> errors;
    for (std::size_t v = 0; v < got.size(); ++v) {
      errors.push_back(testing::Distance(got[v], expected[v]));
    }
    // In deep folds six steps along the ray leave single points short of where 40 end.
    EXPECT_LE(AtPart(errors, 0.99), 1e-3) << from;
    EXPECT_LE(AtPart(errors, 1), from < 130 ? 2e-3 : 0.02) << from;
  }
}

TEST(Tracking, EqualsProjectionUpTo100Degrees) {
  LimbSequence limb, jumped;
  std::vector<Vec3d> points;
  for (int degrees = 5; degrees <= 95; degrees += 5) points = limb.Bend(degrees);
  EXPECT_EQ(points, jumped.Bend(95));
}

TEST(Tracking, Bends150DegreesWithoutOverlap) {
  for (const int step : {1, 2, 5}) {
    LimbSequence limb;
    std::vector<Vec3d> points;
    for (int degrees = step; degrees <= 150; degrees += step) {
      points = limb.Bend(degrees);
      if (degrees % 30 != 0) continue;
      const auto volumes = limb.Measure(points);
      EXPECT_NEAR(Union(volumes), testing::ExactUnion(degrees), 0.004);
      EXPECT_LE(Overlap(volumes), degrees < 150 ? 0.01 : 0.02);
    }
  }
}

// Beyond 150 degrees the skinned position is beyond the other limb's axis.
TEST(Tracking, Bends160DegreesWithLittleOverlap) {
  LimbSequence limb, jumped;
  std::vector<Vec3d> points;
  for (int degrees = 1; degrees <= 160; ++degrees) points = limb.Bend(degrees);
  EXPECT_LE(Overlap(limb.Measure(points)), 0.1);
  EXPECT_GE(Overlap(jumped.Measure(jumped.Bend(160))), 0.2) << "without steps";
}

TEST(Tracking, FoldsInvertLittleSkin) {
  LimbSequence limb;
  double worst = 0;
  for (int degrees = 1; degrees <= 150; ++degrees) {
    const auto points = limb.Bend(degrees);
    worst = std::max(worst, TurnedOver(limb, testing::BendPose(limb.rig(), degrees), points));
  }
  EXPECT_LE(worst, 2.5);  // linear blending: 1.8
}

TEST(Tracking, OpenedFoldIsForgotten) {
  LimbSequence limb;
  for (int degrees = 1; degrees <= 150; ++degrees) limb.Bend(degrees);
  for (int degrees = 149; degrees > 60; --degrees) limb.Bend(degrees);
  LimbSequence fresh;
  EXPECT_EQ(limb.Bend(60), fresh.Bend(60));
}

TEST(Tracking, ReplayFromRestIsCloseToStepping) {
  LimbSequence stepped, replayed;
  std::vector<Vec3d> a, b;
  for (int degrees = 1; degrees <= 150; ++degrees) a = stepped.Bend(degrees);
  for (int degrees = 2; degrees <= 150; degrees += 2) b = replayed.Bend(degrees);
  double sum = 0;
  for (std::size_t v = 0; v < a.size(); ++v) sum += std::pow(testing::Distance(a[v], b[v]), 2);
  EXPECT_LE(std::sqrt(sum / static_cast<double>(a.size())), 0.02);
}

// Second difference of a bend in steps of one degree, in radii, |x| < 2.
TEST(Tracking, ContinuousInTime) {
  LimbSequence limb;
  const auto rest = testing::RestPoints(limb.rig());
  std::vector<Vec3d> before = rest, now = limb.Bend(1);
  std::vector<double> to_130, to_150;
  for (int degrees = 2; degrees <= 150; ++degrees) {
    const auto next = limb.Bend(degrees);
    for (std::size_t v = 0; v < next.size(); ++v) {
      if (std::abs(rest[v].x) >= 2) continue;
      const Vec3d change = (next[v] - now[v]) - (now[v] - before[v]);
      (degrees <= 130 ? to_130 : to_150).push_back(Length(change));
    }
    before = now;
    now = next;
  }
  EXPECT_LE(AtPart(to_130, 1), 0.02);
  EXPECT_LE(AtPart(to_130, 0.999), 0.004);
  EXPECT_LE(AtPart(to_150, 1), 0.05);
  EXPECT_LE(AtPart(to_150, 0.999), 0.01);
}

}  // namespace
}  // namespace sinew
