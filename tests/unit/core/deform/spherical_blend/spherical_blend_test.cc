#include "core/deform/spherical_blend/spherical_blend.h"

#include <gtest/gtest.h>

#include "core/deform/dqs/dqs.h"
#include "core/deform/lbs/lbs.h"
#include "tests/reference/lbs_reference.h"
#include "tests/reference/spherical_blend_reference.h"
#include "tests/support/posing.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::AffineMotions;
using testing::AllRigs;
using testing::BendPose;
using testing::Distance;
using testing::MaxDistance;
using testing::Moved;
using testing::NamedRig;
using testing::PosedTolerance;
using testing::RestPoints;
using testing::RestPose;
using testing::RigidMotion;
using testing::RunMethod;
using testing::ScaleMotion;
using testing::Shifted;
using testing::SkinMatrices;
using testing::Transformed;
using testing::TubeOptions;
using testing::TubeRig;
using testing::TubeWeights;
using testing::TurnPose;
using testing::TwistPose;
using testing::WithLast;

constexpr BlendCentres kBoth[] = {BlendCentres::kWeighted, BlendCentres::kPerSet};

std::vector<Vec3d> Posed(const Rig& rig, BlendCentres centres, std::span<const Affine> pose) {
  return RunMethod<SphericalBlend>(rig, {.centres = centres}, pose).points;
}

std::vector<Vec3d> Reference(const Rig& rig, BlendCentres centres, std::span<const Affine> pose) {
  return reference::SphericalBlend(rig, SkinMatrices(rig, pose), RestPoints(rig),
                                   centres == BlendCentres::kPerSet);
}

// Some poses pull joints out of their sockets, or hardly rotate them.
std::vector<std::vector<Affine>> Poses(const Rig& rig) {
  auto poses = testing::HardPoses(rig);
  // Between a joint that mirrors and one that does not there is no rotation to compare.
  poses.erase(poses.begin() + testing::kHalfMirrored);
  poses.push_back(BendPose(rig, 0.3));
  poses.push_back(WithLast(BendPose(rig, 40), RigidMotion({1, 2, 1}, 30, {0.5, -0.3, 1})));
  poses.push_back(WithLast(BendPose(rig, 0.6), RigidMotion({1, 2, 1}, 0.2, {0.5, -0.3, 1})));
  return poses;
}

TEST(SphericalBlend, MatchesReference) {
  for (const NamedRig& named : AllRigs()) {
    const auto poses = Poses(named.rig);
    for (std::size_t i = 0; i < poses.size(); ++i) {
      for (const BlendCentres centres : kBoth) {
        EXPECT_LT(MaxDistance(Posed(named.rig, centres, poses[i]),
                              Reference(named.rig, centres, poses[i])),
                  PosedTolerance(named.rig))
            << named.name << " pose " << i << (centres == BlendCentres::kPerSet ? " per set" : "");
      }
    }
  }
}

// A copy of the tube's rig with only each vertex's `kept` strongest influences.
Rig Truncated(const TubeOptions& options, const Rig& rig, std::size_t kept) {
  RigSource source = testing::TubeSource(options);
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const auto bindings = rig.influences().bindings(v);
    const auto weights = rig.influences().weights(v);
    double sum = 0;
    for (std::size_t k = 0; k < kept; ++k) sum += weights[k];
    for (std::size_t k = 0; k < kept; ++k) {
      source.influences.bindings.push_back(bindings[k]);
      source.influences.weights.push_back(static_cast<float>(weights[k] / sum));
    }
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  return testing::MakeRig(std::move(source));
}

TEST(SphericalBlend, TruncationMatchesRig) {
  const TubeOptions options = {.joints = 5, .weights = TubeWeights::kFour};
  const Rig rig = TubeRig(options);
  const Rig two = Truncated(options, rig, 2);
  const auto pose = TurnPose(rig, {0, 1, 1}, 70);
  for (const BlendCentres centres : kBoth) {
    const auto points =
        RunMethod<SphericalBlend>(rig, {.centres = centres, .max_influences = 2}, pose).points;
    EXPECT_LT(MaxDistance(points, Reference(two, centres, pose)), PosedTolerance(rig));
    EXPECT_GT(MaxDistance(points, Posed(rig, centres, pose)), 1e-2);
  }
}

TEST(SphericalBlend, OneInfluenceHasLinearBlendBits) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  const auto pose = WithLast(BendPose(rig, 40), ScaleMotion({-2, 0.5, 3}));
  const auto linear = RunMethod<Lbs>(rig, {.max_influences = 1}, pose).points;
  for (const BlendCentres centres : kBoth) {
    const auto points =
        RunMethod<SphericalBlend>(rig, {.centres = centres, .max_influences = 1}, pose).points;
    EXPECT_EQ(MaxDistance(points, linear), 0);
  }
}

TEST(SphericalBlend, EqualRotationsGiveLinearBlend) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  const auto pose = Shifted(Moved(RigidMotion({1, 2, 3}, 100), RestPose(rig)));
  for (const BlendCentres centres : kBoth) {
    EXPECT_LT(MaxDistance(Posed(rig, centres, pose), RunMethod<Lbs>(rig, {}, pose).points), 1e-6);
  }
}

TEST(SphericalBlend, CommonAffineMotionIsExact) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  for (const AffineD& motion : AffineMotions()) {
    for (const BlendCentres centres : kBoth) {
      EXPECT_LT(MaxDistance(Posed(rig, centres, Moved(motion, RestPose(rig))),
                            Transformed(motion, RestPoints(rig))),
                1e-5);
    }
  }
}

// Two joints that share a point: blended rotations about it equal dual quaternions, and rings move
// rigidly. The volumes are those published for dual quaternions.
TEST(SphericalBlend, TubeKeepsRingsAndVolume) {
  const Rig rig = TubeRig();
  const TubeOptions options;
  const struct {
    std::vector<Affine> pose;
    double volume;
  } rows[] = {{BendPose(rig, 90), 0.999},
              {BendPose(rig, 135), 0.998},
              {TwistPose(rig, 90), 1.000},
              {TwistPose(rig, 179), 0.999}};
  for (const auto& row : rows) {
    for (const BlendCentres centres : kBoth) {
      for (const auto& points :
           {Posed(rig, centres, row.pose), Reference(rig, centres, row.pose)}) {
        const double rest = testing::TubeVolume(options, RestPoints(rig));
        EXPECT_NEAR(testing::TubeVolume(options, points) / rest, row.volume, 1e-3);
        EXPECT_NEAR(testing::TubeMinRadius(options, points), 1, 2e-6);
        EXPECT_LT(MaxDistance(points, RunMethod<Dqs>(rig, {}, row.pose).points), 2e-6);
      }
    }
  }
}

// Vertices on the arm a - b - c with given weights of the first joints, so close to each other that
// only their weights matter, but not at one place, where rounding of weights makes no difference.
Rig ArmRig(const std::vector<std::vector<double>>& rows) {
  std::vector<Vec3f> points;
  for (std::size_t v = 0; v < rows.size(); ++v) {
    points.push_back({0.2f, 1, 0.1f + 1e-7f * static_cast<float>(v)});
  }
  RigSource source = testing::RigidSource(std::move(points), {});
  source.joints = {{.name = "a"}, {.name = "b", .parent = 0}, {.name = "c", .parent = 1}};
  source.rest_local = {RigidMotion({0, 0, 1}, 0), RigidMotion({0, 0, 1}, 0, {1, 0, 0}),
                       RigidMotion({0, 0, 1}, 0, {0.5, 0.5, 0})};
  source.bindings = {{0, RigidMotion({0, 0, 1}, 0)},
                     {1, RigidMotion({0, 0, 1}, 0, {-1, 0, 0})},
                     {2, RigidMotion({0, 0, 1}, 0, {-1.5, -0.5, 0})}};
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (const auto& row : rows) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      source.influences.bindings.push_back(static_cast<std::uint32_t>(j));
      source.influences.weights.push_back(static_cast<float>(row[j]));
    }
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  return testing::MakeRig(std::move(source));
}

// c moves independently.
std::vector<Affine> ArmPose(const Rig& rig) {
  std::vector<Affine> pose = BendPose(rig, 100);
  pose.back() =
      ToFloat(Compose(RigidMotion({1, 0.3, 0}, 70, {0.9, -0.5, 1.4}), ToDouble(pose.back())));
  return pose;
}

TEST(SphericalBlend, WeightedCentresHaveNoSeams) {
  for (const double third : {2e-6, 0.0}) {
    const Rig rig = ArmRig({{0.6, 0.4}, {0.6, 0.4, third}});
    for (const auto of : {Posed, Reference}) {
      const auto jump = [&](BlendCentres centres) {
        const auto points = of(rig, centres, ArmPose(rig));
        return Distance(points[0], points[1]);
      };
      EXPECT_LT(jump(BlendCentres::kWeighted), 1e-5) << third;
      EXPECT_NEAR(jump(BlendCentres::kPerSet), third > 0 ? 0.09746 : 0, 1e-5);
    }
  }
}

// The weight of the third joint grows from 0: the weighted centre is continuous.
TEST(SphericalBlend, WeightedCentresAreContinuousInWeights) {
  std::vector<std::vector<double>> rows;
  for (double third = 2e-6; third < 0.3; third *= 1.3) {
    rows.push_back({0.6 * (1 - third), 0.4 * (1 - third), third});
  }
  const Rig rig = ArmRig(rows);
  const auto points = Posed(rig, BlendCentres::kWeighted, ArmPose(rig));
  EXPECT_LT(MaxDistance(points, Reference(rig, BlendCentres::kWeighted, ArmPose(rig))), 1e-5);
  for (std::size_t v = 1; v < points.size(); ++v) {
    EXPECT_LT(Distance(points[v], points[v - 1]), 5 * (rows[v][2] - rows[v - 1][2]) + 2e-6) << v;
  }
}

// A joint pulled out of its socket with decreasing rotation: the correction to linear blending
// vanishes with the angle, though the fitted point goes to infinity.
TEST(SphericalBlend, SmallAnglesFadeToLinearBlend) {
  const Rig rig = TubeRig();
  for (const BlendCentres centres : kBoth) {
    for (double angle = 1e-1; angle > 5e-7; angle *= 0.1) {
      const auto pose =
          WithLast(RestPose(rig), RigidMotion({0, 0.6, 0.8}, angle * 180 / M_PI, {0.2, 1, 0.3}));
      const auto skin = SkinMatrices(rig, pose);
      const auto linear = reference::Lbs(RestPoints(rig), rig.influences(), skin);
      const auto want = Reference(rig, centres, pose), got = Posed(rig, centres, pose);
      // R - sum w R_j| <= angle^2 / 8, times the distance of a point from the joint plus that of
      // the centre from the joint, which is displaced by 1.07.
      const double lever = 1 + 1.07 * angle / (angle * angle + 1e-4);
      const double bound = 1.05 * angle * angle / 8 * lever + 1e-13;
      EXPECT_LT(MaxDistance(want, linear), bound) << angle;
      EXPECT_GT(MaxDistance(want, linear), bound / 20 - 1e-13) << angle;
      EXPECT_LT(MaxDistance(got, want), 6e-7) << angle;
      EXPECT_LT(MaxDistance(got, RunMethod<Lbs>(rig, {}, pose).points), bound + 3e-7) << angle;
    }
  }
}

TEST(SphericalBlend, ContinuousFromZeroTo180Degrees) {
  const Rig rig = TubeRig({.rings = 31, .joints = 3, .weights = TubeWeights::kFour});
  for (const BlendCentres centres : kBoth) {
    std::vector<Vec3d> last;
    double before = 0;
    for (double angle = 1e-6; angle < 1.5; angle *= 1.2) {
      auto pose = TurnPose(rig, {1, 2, 1}, angle * 180 / M_PI);
      pose[1].m[7] += 0.5f;
      pose[2].m[11] -= 0.25f;
      const auto points = Posed(rig, centres, pose);
      if (!last.empty()) {
        EXPECT_LT(MaxDistance(points, last), 8 * (angle - before) + 3e-6) << angle;
      }
      last = points;
      before = angle;
    }
  }
}

TEST(SphericalBlend, FollowsLargeRigidMotions) {
  const Rig rig = TubeRig({.rings = 31, .joints = 4, .weights = TubeWeights::kFour});
  for (const double turn : {1e-3, 0.3, 2.0, 70.0}) {
    const auto pose = WithLast(BendPose(rig, turn), RigidMotion({1, 0, 2}, turn, {0.7, 0.4, -1}));
    for (const double far : {0.0, 10.0, 1000.0}) {
      const AffineD motion = RigidMotion({1, -1, 2}, 140, far * Vec3d{0.6, 0, -0.8});
      for (const BlendCentres centres : kBoth) {
        EXPECT_LT(MaxDistance(Posed(rig, centres, Moved(motion, pose)),
                              Transformed(motion, Posed(rig, centres, pose))),
                  1e-5 + 5e-7 * far)
            << turn << " degrees, far " << far;
      }
    }
  }
}

TEST(SphericalBlend, InvariantToRigOrigin) {
  const TubeOptions near = {.rings = 31, .joints = 3, .weights = TubeWeights::kFour};
  TubeOptions far = near;
  far.origin = {512, -1024, 256};
  const Rig here = TubeRig(near), there = TubeRig(far);
  for (const BlendCentres centres : kBoth) {
    const auto want = Posed(here, centres, BendPose(here, 60));
    // Relative to the mesh both have the same numbers, except for rounding of the far pose.
    const auto got = Posed(there, centres, BendPose(there, 60));
    EXPECT_LT(MaxDistance(got, Transformed(RigidMotion({0, 0, 1}, 0, far.origin), want)), 5e-4);
  }
}

// Joints that share an axis, rotate alike, coincide or differ by 180 degrees.
TEST(SphericalBlend, DegenerateFitsStayFiniteAndClose) {
  const Rig rig = TubeRig({.rings = 31, .joints = 4, .weights = TubeWeights::kFour});
  auto coaxial = RestPose(rig), alike = Moved(RigidMotion({1, 1, 1}, 90), RestPose(rig));
  for (std::size_t j = 0; j < coaxial.size(); ++j) {
    const AffineD turn = RigidMotion({0, 0, 1}, 40.0 * static_cast<double>(j * j));
    coaxial[j] = ToFloat(Compose(turn, ToDouble(coaxial[j])));
    alike[j].m[3] += static_cast<float>(j) * 0.5f;
  }
  auto stacked = BendPose(rig, 50), half = TwistPose(rig, 180), none = BendPose(rig, 50);
  for (Affine& joint : stacked) joint.m[3] = joint.m[7] = joint.m[11] = 0;
  for (Affine& joint : none) {
    for (const std::size_t i : {0, 1, 2, 4, 5, 6, 8, 9, 10}) joint.m[i] = 0;
  }
  for (const BlendCentres centres : kBoth) {
    for (const auto& pose : {coaxial, alike, stacked}) {
      EXPECT_LT(MaxDistance(Posed(rig, centres, pose), Reference(rig, centres, pose)), 2e-5);
    }
    for (const auto& pose : {half, none}) {
      EXPECT_LT(MaxDistance(Posed(rig, centres, pose), RestPoints(rig)), 20);
    }
  }
}

// Shapes displace the points before skinning; the expected centre remains that of the bind.
TEST(SphericalBlend, UsesDisplacedPoints) {
  const Rig rig = TubeRig({.rings = 31, .joints = 3, .weights = TubeWeights::kFour});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const auto pose = BendPose(rig, 70);
  AlignedVector<PointBlock> moved = layout->rest;
  for (PointBlock& block : moved) {
    for (std::size_t i = 0; i < kLanes; ++i) block.y[i] += 0.3f * block.x[i];
  }
  auto points = testing::FileOrder(*layout, moved);
  for (Vec3d& p : points) p = p + layout->centre;
  PosedRigBuffer buffer;
  const PosedRigTables tables = PosedRigTables::Create(rig, layout->centre);
  const PosedRig posed = buffer.Compute(tables, {.joints = pose}, true);
  for (const BlendCentres centres : kBoth) {
    Task task;
    const auto bound = testing::ValueOrDie(
        SphericalBlend::Bind({rig, *layout, RigSurface(rig, *layout)}, {.centres = centres}, task));
    AlignedVector<float> scratch(bound.Facts().scratch_floats);
    AlignedVector<PointBlock> blocks = moved;
    bound.Run({.layout = *layout,
               .posed = posed,
               .task = task,
               .scratch = scratch,
               .in_is_rest = false,
               .in = blocks,
               .out = blocks});  // in place
    const auto want = reference::SphericalBlend(rig, SkinMatrices(rig, pose), points,
                                                centres == BlendCentres::kPerSet);
    EXPECT_LT(MaxDistance(testing::FileOrder(*layout, blocks), want), PosedTolerance(rig));
  }
}

}  // namespace
}  // namespace sinew
