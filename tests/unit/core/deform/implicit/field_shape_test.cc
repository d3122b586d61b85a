// Shape of the bent fitted limb: its skin moved to its own distance on the canonical cylinder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"
#include "tests/support/canonical_limb.h"

namespace sinew {
namespace {

using testing::AskField;
using testing::BendPose;
using testing::CanonicalLimb;
using testing::FieldInPose;
using testing::FieldPoint;
using testing::RestPoints;

// Distance to the bones of the bent limb.
double FromBones(const Vec3d& p, double radians) {
  const auto segment = [&](const Vec3d& tip) {
    const double s = std::clamp(Dot(p, tip) / Dot(tip, tip), 0.0, 1.0);
    return Length(p - s * tip);
  };
  return std::min(segment({-5, 0, 0}), segment({5 * std::cos(radians), 5 * std::sin(radians), 0}));
}

// Dual quaternion skinning of two joints that share an origin.
Vec3d Bent(const Vec3d& v, double radians) {
  const double t = std::clamp(0.5 * (v.x + 1), 0.0, 1.0), w = t * t * (3 - 2 * t);
  const double psi = 2 * std::atan2(w * std::sin(radians / 2), 1 - w + w * std::cos(radians / 2));
  return {std::cos(psi) * v.x - std::sin(psi) * v.y, std::sin(psi) * v.x + std::cos(psi) * v.y,
          v.z};
}

struct Shape {
  double bulge = 0, dent = 0;  // of the outer side, relative to the radius
};

// Newton steps to each vertex's own level, with a stop where the gradient turns.
Shape BendShape(const LimbField& field, const Rig& rig, double degrees) {
  const double radians = degrees * 3.14159265358979323846 / 180;
  const std::vector<Vec3d> rest = RestPoints(rig);
  FieldInPose at_rest(field, testing::RestPose(rig)), bent(field, BendPose(rig, degrees));
  const auto iso = AskField(*at_rest, rest);
  std::vector<Vec3d> points;
  for (const Vec3d& v : rest) points.push_back(Bent(v, radians));
  std::vector<bool> done(points.size());
  auto at = AskField(*bent, points);
  for (int step = 0; step < 40; ++step) {
    std::vector<Vec3d> next = points;
    for (std::size_t v = 0; v < points.size(); ++v) {
      const double d = iso[v].value - at[v].value, g2 = Dot(at[v].gradient, at[v].gradient);
      if (done[v] || g2 < 1e-10) continue;
      const double s = std::clamp(0.7 * d / std::sqrt(g2), -0.25, 0.25) / std::sqrt(g2);
      next[v] = points[v] + s * at[v].gradient;
    }
    const auto moved = AskField(*bent, next);
    for (std::size_t v = 0; v < points.size(); ++v) {
      const double turn = Dot(at[v].gradient, moved[v].gradient) /
                          (Length(at[v].gradient) * Length(moved[v].gradient) + 1e-30);
      done[v] = done[v] || turn < 0.5736;
      if (done[v]) continue;
      points[v] = next[v];
      at[v] = moved[v];
    }
  }
  Shape shape;
  for (std::size_t v = 0; v < points.size(); ++v) {
    if (Length(rest[v]) > 3 || done[v]) continue;
    const double distance = FromBones(points[v], radians);
    shape.bulge = std::max(shape.bulge, distance - 1);
    shape.dent = std::max(shape.dent, 1 - distance);
  }
  return shape;
}

TEST(LimbShape, CanonicalBendKeepsRadius) {
  const Rig rig = CanonicalLimb();
  for (const std::uint32_t samples : {30u, 50u, 100u, 200u}) {
    const LimbField field = testing::BindField(rig, samples);
    for (const double degrees : {30.0, 60.0, 90.0, 120.0}) {
      const Shape shape = BendShape(field, rig, degrees);
      EXPECT_LT(shape.bulge, samples >= 50 ? 0.008 : 0.011);
      EXPECT_LT(shape.dent, samples >= 50 ? 0.025 : 0.04);
    }
  }
}

}  // namespace
}  // namespace sinew
