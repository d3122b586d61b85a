// Paths: via points, wrapping, the side kept from the rest pose, frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/muscle/muscle_path.h"
#include "tests/support/compare.h"
#include "tests/unit/core/muscle/two_joints.h"

namespace sinew {
namespace {

using std::numbers::pi;
using testing::At;
using testing::Distance;
using testing::OnLower;
using testing::OnUpper;
using testing::Tables;

std::vector<PathNode> Around(const Vec3d& from, const Vec3d& to, const WrapSolid& wrap) {
  std::vector<PathNode> path = {{0, from}};
  AppendWrapped(to, wrap, path);
  return path;
}

WrapSolid Cylinder(double radius, double rest_angle) {
  return {.shape = WrapShape::kCylinder,
          .centre = {},
          .axis = {0, 0, 1},
          .radius = radius,
          .rest_angle = rest_angle};
}

TEST(MusclePath, CylinderWrapIsTangentsAndArc) {
  // Both ends 5 from the axis, radius 3: tangents of 4, cos(angle to the tangent point) = 3 / 5.
  const double angle = 2.8, arc = 3 * (angle - 2 * std::acos(0.6));
  const Vec3d from = {5, 0, 0}, to = {5 * std::cos(angle), 5 * std::sin(angle), 0};
  EXPECT_NEAR(Around(from, to, Cylinder(3, angle)).back().at, 8 + arc, 1e-12);
  // Height is linear along the unrolled path.
  const auto path = Around({5, 0, -1}, {to.x, to.y, 5}, Cylinder(3, angle));
  EXPECT_NEAR(path.back().at, std::hypot(8 + arc, 6), 1e-12);
  for (const PathNode& node : path) {
    EXPECT_NEAR(node.point.z, -1 + 6 * node.at / path.back().at, 1e-9);
    EXPECT_GE(std::hypot(node.point.x, node.point.y), 3 - 1e-12);
  }
}

TEST(MusclePath, StraightWhenMissingCylinder) {
  EXPECT_NEAR(Around({5, 1, 0}, {4, 4, 2}, Cylinder(3, 0.6)).back().at,
              Distance({5, 1, 0}, {4, 4, 2}), 1e-12);
}

TEST(MusclePath, LengthAndDerivativeContinuousAtLiftOff) {
  const double lift = 2 * std::acos(0.6);
  const auto length = [](double angle) {
    return Around({5, 0, 0}, {5 * std::cos(angle), 5 * std::sin(angle), 0.5}, Cylinder(3, angle))
        .back()
        .at;
  };
  for (const double h : {1e-3, 1e-4, 1e-5}) {
    EXPECT_NEAR(length(lift + h), length(lift - h), 4 * h * 3.1);
    const double below = (length(lift) - length(lift - h)) / h;
    const double above = (length(lift + h) - length(lift)) / h;
    EXPECT_NEAR(below, above, 3 * h);
  }
}

TEST(MusclePath, KeepsRestPoseSide) {
  // Straight at rest, then rotated past 180 degrees: the arc keeps growing instead of switching to
  // the shorter side.
  double last = 0;
  for (double angle = 2.0; angle < 5; angle += 0.05) {
    const Vec3d to = {5 * std::cos(angle), 5 * std::sin(angle), 0};
    const double length = Around({5, 0, 0}, to, Cylinder(3, 2.0)).back().at;
    EXPECT_GT(length, last);
    EXPECT_LT(length - last, last == 0 ? 100 : 0.05 * 5.1);
    last = length;
  }
  // The mirrored limb has the mirrored path.
  WrapSolid mirrored = Cylinder(3, 2.0);
  mirrored.mirrored = true;
  const Vec3d to = {5 * std::cos(4.0), 5 * std::sin(4.0), 0};
  EXPECT_NEAR(Around({5, 0, 0}, {to.x, -to.y, 0}, mirrored).back().at,
              Around({5, 0, 0}, to, Cylinder(3, 2.0)).back().at, 1e-12);
}

TEST(MusclePath, SphereWrapInPlaneOfEnds) {
  const double angle = 2.8;
  WrapSolid sphere = {
      .shape = WrapShape::kSphere, .centre = {1, 2, 3}, .axis = {0, 0, 1}, .radius = 3};
  const Vec3d e = {0.6, 0.8, 0}, f = {0, 0, 1};
  const Vec3d from = sphere.centre + 5.0 * e;
  const Vec3d to = sphere.centre + 5 * std::cos(angle) * e + 5 * std::sin(angle) * f;
  const auto path = Around(from, to, sphere);
  EXPECT_NEAR(path.back().at, 8 + 3 * (angle - 2 * std::acos(0.6)), 1e-12);
  for (const PathNode& node : path) {
    EXPECT_NEAR(Dot(node.point - sphere.centre, Cross(e, f)), 0, 1e-9);
  }
  // For opposite ends any plane is valid; the rest pose's is used.
  const Vec3d opposite = sphere.centre - 5.0 * e;
  EXPECT_NEAR(Around(from, opposite, sphere).back().at, 8 + 3 * (pi - 2 * std::acos(0.6)), 1e-9);
}

TEST(MusclePath, EndsInsideMoveToSurface) {
  for (const double inside : {2.999999, 1.0, 1e-14, 0.0}) {
    const auto path = Around({inside, 0, 0}, {0, 5, 0}, Cylinder(3, 1.5));
    EXPECT_TRUE(std::isfinite(path.back().at)) << inside;
    EXPECT_GT(path.back().at, 1.9);
  }
  for (const Vec3d& same : {Vec3d{}, Vec3d{5, 0, 0}}) {
    for (const WrapShape shape : {WrapShape::kCylinder, WrapShape::kSphere}) {
      WrapSolid wrap = Cylinder(3, 0);
      wrap.shape = shape;
      EXPECT_TRUE(std::isfinite(Around(same, same, wrap).back().at));
    }
  }
}

Muscle Wrapped() {
  Muscle muscle;
  muscle.name = "extensor";
  muscle.origin = OnUpper(-20, -1.8);
  muscle.insertion = OnLower(3, -2.6);
  muscle.wrap = {WrapShape::kCylinder, 0, {testing::kUpper, 0, 0}, {0, 0, 1}, 2.2};
  muscle.origin_tendon = 4;
  muscle.insertion_tendon = 9;
  muscle.width = muscle.depth = 2;
  return muscle;
}

TEST(MusclePath, HingeStretchesWrappedExtensorMonotonically) {
  const MuscleTables tables = Tables(Wrapped());
  double last = 0;
  for (int degrees = -20; degrees <= 150; degrees += 2) {
    const double length = At(tables, degrees).path_length;
    if (degrees > 0) {
      EXPECT_GT(length, last) << degrees;
    }
    if (degrees > -20) {
      EXPECT_LT(std::abs(length - last), 2 * 4 * pi / 180) << degrees;
    }
    last = length;
  }
  // Around the end of the bone, with the radius as lever arm.
  const double grown = At(tables, 121).path_length - At(tables, 120).path_length;
  EXPECT_NEAR(grown, 2.2 * pi / 180, 1e-9);
}

TEST(MusclePath, HingeShortensFlexorWithViaMonotonically) {
  Muscle muscle = Wrapped();
  muscle.wrap = {};
  muscle.via = {OnUpper(-3, 2)};
  muscle.origin = OnUpper(-25, 1.5);
  muscle.insertion = OnLower(5, 1.5);
  const MuscleTables tables = Tables(muscle);
  for (int degrees = 1; degrees <= 110; ++degrees) {
    EXPECT_LT(At(tables, degrees).path_length, At(tables, degrees - 1).path_length) << degrees;
  }
}

TEST(MusclePath, IgnoresCoincidentViaPoints) {
  Muscle muscle = Wrapped();
  muscle.wrap = {};
  muscle.via = {OnUpper(-3, 2)};
  const MuscleState once = At(Tables(muscle), 70);
  muscle.via = {OnUpper(-3, 2), OnUpper(-3, 2), OnUpper(-3, 2)};
  const MuscleState thrice = At(Tables(muscle), 70);
  EXPECT_NEAR(once.path_length, thrice.path_length, 1e-12);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(once.frame.m[i], thrice.frame.m[i], 1e-12);
}

TEST(MusclePath, FramesAreRightHandedAndFollowBone) {
  const MuscleTables tables = Tables(Wrapped());
  Vec3d last;
  for (int degrees = 0; degrees <= 150; degrees += 5) {
    const AffineD frame = At(tables, degrees).frame;
    EXPECT_NEAR(Determinant(Linear(frame)), 1, 1e-12);
    const Vec3d width = {frame.m[1], frame.m[5], frame.m[9]};
    if (degrees > 0) {
      EXPECT_GT(Dot(width, last), 0.99);
    }
    last = width;
  }
}

TEST(MusclePath, FiniteWhenEndsCoincide) {
  Muscle muscle = Wrapped();
  for (const bool wraps : {false, true}) {
    if (!wraps) muscle.wrap = {};
    if (wraps) muscle = Wrapped();
    const MuscleTables tables = Tables(muscle);
    // Moves the lower joint until the insertion coincides with the origin, then scales everything
    // to a point.
    auto joints = testing::Bent(0);
    const Vec3d origin = Apply(joints[0], muscle.origin.at);
    joints[1] = {{1, 0, 0, origin.x - muscle.insertion.at.x, 0, 1, 0,
                  origin.y - muscle.insertion.at.y, 0, 0, 1, origin.z}};
    const std::vector<float> controls = {0};
    const auto finite = [](const MuscleState& state) {
      return std::ranges::all_of(state.frame.m, [](double v) { return std::isfinite(v); }) &&
             std::ranges::all_of(state.radii, [](double v) { return std::isfinite(v) && v > 0; });
    };
    const MuscleState met = PoseMuscle(tables, 0, joints, controls);
    EXPECT_TRUE(finite(met));
    if (!wraps) {
      EXPECT_EQ(met.path_length, 0);
      EXPECT_NEAR(met.radii[1], 2 * std::numbers::sqrt2, 1e-12);
    }
    for (AffineD& joint : joints) joint = {{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3}};
    EXPECT_TRUE(finite(PoseMuscle(tables, 0, joints, controls)));
    for (AffineD& joint : joints) joint.m.fill(1e19);
    EXPECT_FALSE(std::ranges::any_of(PoseMuscle(tables, 0, joints, controls).frame.m,
                                     [](double v) { return std::isnan(v); }));
  }
}

TEST(MusclePath, InvariantToCharacterScale) {
  const MuscleTables tables = Tables(Wrapped());
  auto joints = testing::Bent(60);
  const std::vector<float> controls = {0};
  const MuscleState one = PoseMuscle(tables, 0, joints, controls);
  for (AffineD& joint : joints) {
    for (double& value : joint.m) value *= 3;
  }
  const MuscleState three = PoseMuscle(tables, 0, joints, controls);
  EXPECT_NEAR(three.scale, 3, 1e-12);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(three.radii[i], 3 * one.radii[i], 1e-9);
}

}  // namespace
}  // namespace sinew
