// Tracking against its reference in double, and its figures on the canonical cylinder.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
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
  for (const double from : {0.0, 40.0, 100.0}) {
    LimbSequence limb(0.02f);
    std::vector<Vec3d> previous = testing::RestPoints(limb.rig());
    for (double degrees = 5; degrees <= from; degrees += 5) previous = limb.Bend(degrees);
    const auto pose = testing::BendPose(limb.rig(), from + 3);
    const auto skin_before = testing::SkinMatrices(limb.rig(), testing::BendPose(limb.rig(), from));
    const auto skin = testing::SkinMatrices(limb.rig(), pose);
    const testing::RoundedLimb before{std::span<const AffineD>(skin_before)};
    const testing::RoundedLimb now{std::span<const AffineD>(skin)};
    const std::array<AffineD, 2> still{};
    const testing::RoundedLimb rest{std::span<const AffineD>(still)};
    reference::TrackingStep step = {
        .triangles = {},
        .rest = testing::RestPoints(limb.rig()),
        .previous = previous,
        .skinned = testing::FileOrder(limb.layout(), limb.Skinned(pose)),
        .inward = {},
        .held = {},
        .iso = {},
        .attraction = 0.02,
        .part_before = [&](std::size_t b, const Vec3d& p) { return before.Part(b, p).value; },
        .motion = {Compose(skin[0], Inverse(skin_before[0])),
                   Compose(skin[1], Inverse(skin_before[1]))},
        .field =
            [&](const Vec3d& p) {
              const testing::FieldSample sample = now.At(p, Contact::kSurface);
              return std::pair(sample.value, sample.gradient);
            }};
    for (std::size_t v = 0; v < limb.rig().vertices(); ++v) {
      const std::size_t p = limb.surface().lane_point[limb.layout().lane[v]];
      const bool held = limb.surface().IsSkin(p);
      step.iso.push_back(held ? double{limb.surface().potential[p]} : -1);
      const Vec3d gradient = rest.At(step.rest[v], Contact::kCrease).gradient;
      const double slope = std::sqrt(Dot(gradient, gradient));
      step.inward.push_back(slope > 0 ? (1 / slope) * gradient : gradient);
      const std::size_t holds = limb.layout().pivot[limb.layout().lane[v] / kLanes];
      step.held.push_back(Multiply(Linear(skin[holds]), step.inward[v]));
    }
    const auto corners = limb.rig().mesh().face_vertices();
    for (std::size_t f = 0; f < corners.size(); f += 3) {
      step.triangles.push_back({corners[f], corners[f + 1], corners[f + 2]});
    }
    const auto expected = reference::Track(step);
    const auto tracked = limb.To(pose);
    std::vector<double> errors;
    for (std::size_t v = 0; v < tracked.size(); ++v) {
      errors.push_back(testing::Distance(expected[v], tracked[v]));
    }
    const double all = AtPart(errors, 1), most = AtPart(errors, 0.99);
    // A point may rest once it would move less than 1e-5; beside a contact, where the field has a
    // kink, rounding decides its side.
    EXPECT_LE(most, 5e-5) << from;
    EXPECT_LE(all, from < 60 ? 2e-4 : 5e-3) << from;
  }
}

TEST(Tracking, Bends150DegreesWithoutOverlap) {
  for (const float attraction : {0.0f, 0.02f}) {
    for (const int step : {1, 2, 5}) {
      LimbSequence limb(attraction);
      std::vector<Vec3d> points;
      for (int degrees = step; degrees <= 150; degrees += step) {
        points = limb.Bend(degrees);
        if (degrees % 30 != 0) continue;
        const auto volumes = limb.Measure(points);
        EXPECT_NEAR(Union(volumes), testing::ExactUnion(degrees), 0.002);
        const double allowed = degrees < 150 ? 0.01 : attraction > 0 ? 0.05 : 0.02;
        EXPECT_LE(Overlap(volumes), allowed);
      }
    }
  }
}

// Half of the skin around a deep crease is flattened, where folding over would preserve edge
// lengths.
TEST(Tracking, FlattenedSkinDoesNotInvert) {
  for (const float attraction : {0.0f, 0.02f}) {
    LimbSequence limb(attraction);
    double worst = 0;
    for (int degrees = 1; degrees <= 150; ++degrees) {
      const auto points = limb.Bend(degrees);
      worst = std::max(worst, TurnedOver(limb, testing::BendPose(limb.rig(), degrees), points));
    }
    EXPECT_LE(worst, 1.2);  // linear blending: 1.8
  }
}

TEST(Tracking, ReturnToRestDependsOnAttraction) {
  struct Case {
    float attraction;
    double error, idle;
  };
  for (const auto& [attraction, error, idle] :
       {Case{0.0f, 1.0, 1.0}, {0.02f, 0.05, 0.01}, {0.1f, 0.005, 0.002}}) {
    LimbSequence limb(attraction);
    const auto rest = testing::RestPoints(limb.rig());
    std::vector<Vec3d> points;
    for (int degrees = 1; degrees <= 150; ++degrees) points = limb.Bend(degrees);
    for (int degrees = 149; degrees >= 0; --degrees) points = limb.Bend(degrees);
    const double back = testing::MaxDistance(points, rest);
    for (int frame = 0; frame < 10; ++frame) points = limb.Bend(0);
    const double ten = testing::MaxDistance(points, rest);
    EXPECT_LE(back, error);
    EXPECT_LE(ten, idle);
    if (attraction == 0) {
      EXPECT_GE(back, 0.1) << "without attraction it does not return";
    }
  }
}

TEST(Tracking, ReplayFromRestEqualsStepping) {
  LimbSequence stepped(0.02f), replayed(0.02f);
  std::vector<Vec3d> a, b;
  for (int degrees = 1; degrees <= 150; ++degrees) a = stepped.Bend(degrees);
  for (int degrees = 2; degrees <= 150; degrees += 2) b = replayed.Bend(degrees);
  const auto volumes = replayed.Measure(b);
  double sum = 0;
  for (std::size_t v = 0; v < a.size(); ++v) sum += std::pow(testing::Distance(a[v], b[v]), 2);
  const double rms = std::sqrt(sum / static_cast<double>(a.size()));
  EXPECT_LE(Overlap(volumes), 0.05);
  EXPECT_NEAR(Union(volumes), testing::ExactUnion(150), 0.002);
  EXPECT_LE(rms, 0.05);
  // The result of one jump is why replay exists.
  LimbSequence jumped(0.02f);
  EXPECT_GE(Overlap(jumped.Measure(jumped.Bend(150))), 1);
}

// acc = |p(k+1) - 2 p(k) + p(k-1)| / (R dtheta) over a bend of 0 to 130 degrees, |x| < 2 R.
TEST(Tracking, ContinuousInTime) {
  for (const float attraction : {0.0f, 0.02f}) {
    LimbSequence limb(attraction);
    const auto rest = testing::RestPoints(limb.rig());
    std::vector<Vec3d> before = rest, now = limb.Bend(1);
    std::vector<double> accelerations;
    for (int degrees = 2; degrees <= 130; ++degrees) {
      const auto next = limb.Bend(degrees);
      for (std::size_t v = 0; v < next.size(); ++v) {
        if (std::abs(rest[v].x) >= 2) continue;
        const Vec3d change = (next[v] - now[v]) - (now[v] - before[v]);
        accelerations.push_back(Length(change) * 180 / std::numbers::pi);
      }
      before = now;
      now = next;
    }
    EXPECT_LE(AtPart(accelerations, 0.99), attraction > 0 ? 0.35 : 0.25);
    EXPECT_LE(AtPart(accelerations, 0.999), 1.9);
  }
}

}  // namespace
}  // namespace sinew
