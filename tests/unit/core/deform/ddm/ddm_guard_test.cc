// Motion of vertices from one degree to the next, with and without the guard.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/deform/ddm/ddm_lane.h"
#include "tests/reference/ddm_reference.h"
#include "tests/unit/core/deform/ddm/bound_ddm.h"

namespace sinew {
namespace {

using testing::BoundDdm;

double LargestStep(float lambda, std::uint32_t iterations, bool guard, bool bend) {
  const Rig rig = testing::TubeRig({.weights = testing::TubeWeights::kRigid});
  DdmParams params = testing::ExactParams(lambda, iterations);
  params.pop_guard = guard;
  const BoundDdm ddm(rig, params);
  std::vector<Vec3d> last;
  double largest = 0;
  for (int degrees = 0; degrees < 180; ++degrees) {
    auto posed = ddm.Run(bend ? testing::BendPose(rig, degrees) : testing::TwistPose(rig, degrees));
    if (!last.empty()) largest = std::max(largest, testing::MaxDistance(posed, last));
    last = std::move(posed);
  }
  return largest;
}

struct Figures {
  float lambda;
  std::uint32_t iterations;
  bool bend;
  double with, without;
};

TEST(PopGuard, LimitsJumpsOfFittedRotation) {
  // When bent, the far end moves by 2 sin(half a degree) * 2.06 = 0.036 per step.
  for (const Figures& f : {Figures{1, 16, false, .009, .188},
                           {1, 16, true, .073, .186},
                           {3, 20, false, .056, .53},
                           {3, 20, true, .167, .53}}) {
    EXPECT_NEAR(LargestStep(f.lambda, f.iterations, true, f.bend), f.with, 0.15 * f.with + 0.001)
        << f.lambda << (f.bend ? " bend" : " twist");
    EXPECT_NEAR(LargestStep(f.lambda, f.iterations, false, f.bend), f.without, 0.15 * f.without)
        << f.lambda << (f.bend ? " bend" : " twist");
  }
}

TEST(PopGuard, NoEffectInMildPoses) {
  const Rig rig = testing::TubeRig();
  DdmParams off;
  off.pop_guard = false;
  for (const double degrees : {0.0, 20.0, 45.0}) {
    EXPECT_EQ(testing::MaxDistance(BoundDdm(rig).Run(testing::BendPose(rig, degrees)),
                                   BoundDdm(rig, off).Run(testing::BendPose(rig, degrees))),
              0);
  }
}

// The rotation of every vertex, from displacing the rest points along each axis.
std::vector<Mat3d> Rotations(const BoundDdm& ddm, const std::vector<Affine>& pose) {
  const auto still = ddm.Run(pose);
  std::vector<Mat3d> rotations(still.size());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    AlignedVector<PointBlock> in = ddm.layout().rest;
    for (PointBlock& block : in) {
      float* const lanes = axis == 0 ? block.x : axis == 1 ? block.y : block.z;
      for (std::size_t i = 0; i < kLanes; ++i) lanes[i] += 4;
    }
    const auto moved = testing::FileOrder(ddm.layout(), ddm.RunBlocks(pose, false, in));
    for (std::size_t v = 0; v < moved.size(); ++v) {
      const Vec3d d = 0.25 * (moved[v] - still[v]);
      rotations[v].m[axis] = d.x;
      rotations[v].m[3 + axis] = d.y;
      rotations[v].m[6 + axis] = d.z;
    }
  }
  return rotations;
}

TEST(FittedRotation, ContinuousWhereUnique) {
  const Rig rig = testing::TubeRig({.rings = 41, .around = 16});
  const DdmParams params = testing::ExactParams(1, 16);
  const BoundDdm ddm(rig, params);
  const reference::DdmReference reference(reference::MeshOf(rig),
                                          reference::DdmReferenceParams(params));
  for (const bool bend : {false, true}) {
    std::vector<Mat3d> last;
    std::vector<double> was;
    double largest = 0;
    for (int degrees = 60; degrees < 180; ++degrees) {
      const auto pose = bend ? testing::BendPose(rig, degrees) : testing::TwistPose(rig, degrees);
      const auto now = Rotations(ddm, pose);
      const auto distinct = reference.Distinctness(testing::SkinMatrices(rig, pose));
      for (std::size_t v = 0; v < last.size(); ++v) {
        if (distinct[v] < 0.05 || was[v] < 0.05) continue;
        const Mat3d apart = Multiply(Transpose(last[v]), now[v]);
        const double trace = apart.m[0] + apart.m[4] + apart.m[8];
        largest = std::max(largest, std::acos(std::clamp((trace - 1) / 2, -1.0, 1.0)));
      }
      last = now;
      was = distinct;
    }
    EXPECT_LT(largest * 180 / M_PI, 30) << (bend ? "bend" : "twist");
    EXPECT_GT(largest * 180 / M_PI, 0.5);
  }
}

Mat3d RotationAboutX(double degrees) {
  const double a = degrees * M_PI / 180;
  return {{1, 0, 0, 0, std::cos(a), -std::sin(a), 0, std::sin(a), std::cos(a)}};
}

double AngleAboutX(const Mat3d& r) {
  return std::atan2(r.m[7], r.m[4]) * 180 / M_PI;
}

TEST(PopGuard, FadesToBlendedFrom60To85Degrees) {
  for (double apart = 1; apart < 179; apart += 0.25) {
    const Mat3d r = ChooseRotation(RotationAboutX(apart), {2, 0, 0, 0}, true);
    const double t = std::clamp((85 - apart) / 25, 0.0, 1.0);
    EXPECT_NEAR(AngleAboutX(r), apart * t * t * (3 - 2 * t), 1e-7) << apart;
    EXPECT_NEAR(Determinant(r), 1, 1e-12);
    EXPECT_NEAR(AngleAboutX(ChooseRotation(RotationAboutX(apart), {2, 0, 0, 0}, false)), apart,
                1e-7);
  }
}

TEST(PopGuard, UsesBlendedRotationWithoutFit) {
  const double half = 50 * M_PI / 180;
  const Mat3d nothing{{0, 0, 0, 0, 0, 0, 0, 0, 0}};
  for (const bool guard : {false, true}) {
    EXPECT_NEAR(
        AngleAboutX(ChooseRotation(nothing, {3 * std::cos(half), 3 * std::sin(half), 0, 0}, guard)),
        100, 1e-9);
  }
}

}  // namespace
}  // namespace sinew
