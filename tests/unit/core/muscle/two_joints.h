// two_joints.h - an upper bone along x up to the origin and a lower one beyond, bent about z.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "core/muscle/posed_muscle.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::testing {

inline constexpr double kUpper = 30;  // length of the upper bone

inline Skeleton TwoJoints() {
  const AffineD shoulder = {{1, 0, 0, -kUpper, 0, 1, 0, 0, 0, 0, 1, 0}};
  const AffineD elbow = {{1, 0, 0, kUpper, 0, 1, 0, 0, 0, 0, 1, 0}};
  return ValueOrDie(
      Skeleton::Create({{.name = "upper"}, {.name = "lower", .parent = 0}}, {shoulder, elbow}));
}

// Joint to model with the elbow bent by `degrees` towards +y.
inline std::vector<AffineD> Bent(double degrees) {
  const AffineD shoulder = {{1, 0, 0, -kUpper, 0, 1, 0, 0, 0, 0, 1, 0}};
  const double t = degrees * std::numbers::pi / 180, c = std::cos(t), s = std::sin(t);
  return {shoulder, {{c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0}}};
}

// A point of model space at rest, fixed to the upper or the lower bone.
inline MusclePoint OnUpper(double x, double y, double z = 0) {
  return {0, {x + kUpper, y, z}};
}
inline MusclePoint OnLower(double x, double y, double z = 0) {
  return {1, {x, y, z}};
}

inline MuscleTables Tables(const Muscle& muscle) {
  return ValueOrDie(MuscleTables::Create(std::vector{muscle}, TwoJoints().rest_model(), 1));
}

inline MuscleState At(const MuscleTables& tables, double degrees, float activation = 0) {
  const std::vector<float> controls = {activation};
  return PoseMuscle(tables, 0, Bent(degrees), controls);
}

}  // namespace sinew::testing
