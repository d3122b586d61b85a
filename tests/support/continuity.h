// continuity.h - small changes of a pose cause small changes of the result: holds for every method
// that blends motions.
#pragma once

#include <gtest/gtest.h>

#include <span>

#include "tests/support/posing.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew::testing {

// Half a degree moves the points half as far as a degree; `points` as a function of the angle.
template <class Points>
void ExpectHalvedSteps(std::span<const double> angles, const Points& points) {
  for (const double degrees : angles) {
    const auto at = points(degrees);
    const double step = MaxDistance(at, points(degrees + 1));
    EXPECT_NEAR(MaxDistance(at, points(degrees + 0.5)) / step, 0.5, 0.05) << degrees;
  }
}

// A nearly rigid joint must not cause a jump where it starts to count as stretched.
template <class Method>
void ExpectStretchSetsInSmoothly() {
  const Rig rig = TubeRig();
  const auto rigid = RunMethod<Method>(rig, {}, ScaledPose(rig, {1, 1, 1})).points;
  for (const double off : {1e-6, 1.9e-6, 2.1e-6, 4e-6}) {
    const auto near = RunMethod<Method>(rig, {}, ScaledPose(rig, {1 + off, 1, 1})).points;
    EXPECT_LT(MaxDistance(rigid, near), 4 * off + 2e-6) << off;
  }
}

}  // namespace sinew::testing
