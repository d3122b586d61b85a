#include "core/deform/cor/cor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/deform/dqs/dqs.h"
#include "core/deform/lbs/lbs.h"
#include "tests/reference/cor_reference.h"
#include "tests/support/continuity.h"
#include "tests/support/posing.h"
#include "tests/support/random.h"
#include "tests/support/small_rigs.h"
#include "tests/unit/core/deform/cor/bound_cor.h"

namespace sinew {
namespace {

using testing::AffineMotions;
using testing::BendPose;
using testing::ExpectHalvedSteps;
using testing::ExpectStretchSetsInSmoothly;
using testing::HardPoses;
using testing::MaxDistance;
using testing::Moved;
using testing::NamedRig;
using testing::PosedTolerance;
using testing::RestPoints;
using testing::RestPose;
using testing::RunMethod;
using testing::Shifted;
using testing::SkinMatrices;
using testing::Transformed;
using testing::TubeRig;
using testing::TubeWeights;
using testing::TwistPose;
using testing::ValueOrDie;

std::vector<NamedRig> Rigs() {
  std::vector<NamedRig> rigs;
  for (NamedRig& named : testing::AllRigs()) {
    if (named.rig.mesh().faces() < 5000) rigs.push_back(std::move(named));
  }
  rigs.push_back(
      {"four", TubeRig({.rings = 41, .around = 8, .joints = 6, .weights = TubeWeights::kFour})});
  rigs.push_back(
      {"noisy", testing::MakeRig(testing::NoisyWeights({.rings = 6, .around = 5, .joints = 4}))});
  return rigs;
}

TEST(Cor, MatchesReference) {
  for (const NamedRig& named : Rigs()) {
    const auto centres = reference::CorCentres(named.rig, {});
    const auto poses = HardPoses(named.rig);
    for (std::size_t i = 0; i < poses.size(); ++i) {
      const auto want = reference::CorPosed(RestPoints(named.rig), centres, named.rig.influences(),
                                            SkinMatrices(named.rig, poses[i]));
      EXPECT_LT(MaxDistance(RunMethod<Cor>(named.rig, {}, poses[i]).points, want),
                4 * PosedTolerance(named.rig))
          << named.name << " pose " << i;
    }
  }
}

// Largest distance of the tube from the nearer posed bone, beyond its radius.
double Bulge(std::span<const Affine> pose, std::span<const Vec3d> posed) {
  const AffineD bend = ToDouble(pose.back());
  const Vec3d ends[2] = {{-2, 0, 0}, Apply(bend, {2, 0, 0})};
  double bulge = 0;
  for (const Vec3d& v : posed) {
    double nearest = HUGE_VAL;
    for (const Vec3d& end : ends) {
      const double t = std::clamp(Dot(v, end) / Dot(end, end), 0.0, 1.0);
      nearest = std::min(nearest, testing::Distance(v, t * end));
    }
    bulge = std::max(bulge, nearest / 0.5 - 1);
  }
  return bulge;
}

// The published values for the tube with smooth weights, to the last digit.
TEST(Cor, TubeKeepsVolume) {
  const Rig rig = TubeRig();
  struct Row {
    std::vector<Affine> pose;
    double volume, radius;
  };
  const Row rows[] = {{BendPose(rig, 90), 0.997, 1.000},
                      {BendPose(rig, 135), 0.989, 1.000},
                      {TwistPose(rig, 90), 1.000, 1.000},
                      {TwistPose(rig, 179), 0.999, 1.000}};
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const auto posed = RunMethod<Cor>(rig, {.refine = false}, rows[i].pose).points;
    const testing::TubeShape shape = testing::ShapeOf(rig, posed);
    EXPECT_NEAR(shape.volume, rows[i].volume, 1e-3) << i;
    EXPECT_NEAR(shape.radius, rows[i].radius, 1e-3) << i;
    if (i == 0) {
      EXPECT_NEAR(Bulge(rows[i].pose, posed), 0.055, 1e-3);
    }
  }
}

TEST(Cor, OneInfluenceHasLinearBlendBits) {
  for (const TubeWeights weights : {TubeWeights::kRigid, TubeWeights::kSmooth}) {
    const Rig rig = TubeRig({.weights = weights});
    for (const auto& pose : {BendPose(rig, 80), TwistPose(rig, 170)}) {
      const auto linear = RunMethod<Lbs>(rig, {}, pose).points;
      const auto cor = RunMethod<Cor>(rig, {}, pose).points;
      for (std::size_t v = 0; v < cor.size(); ++v) {
        if (rig.influences().bindings(v).size() > 1) continue;
        EXPECT_EQ(cor[v], linear[v]) << v;
      }
    }
  }
}

TEST(Cor, EqualsLinearBlendForTranslations) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  const auto pose = Shifted(RestPose(rig));
  EXPECT_LT(MaxDistance(RunMethod<Cor>(rig, {}, pose).points, RunMethod<Lbs>(rig, {}, pose).points),
            2e-6);
}

TEST(Cor, CommonAffineMotionIsExact) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  for (const AffineD& motion : AffineMotions()) {
    EXPECT_LT(MaxDistance(RunMethod<Cor>(rig, {}, Moved(motion, RestPose(rig))).points,
                          Transformed(motion, RestPoints(rig))),
              1e-5);
  }
}

TEST(Cor, ContinuousInPose) {
  const Rig rig = TubeRig();
  ExpectHalvedSteps({{20, 90, 150}}, [&](double degrees) {
    return RunMethod<Cor>(rig, {}, BendPose(rig, degrees)).points;
  });
}

TEST(Cor, StretchIsContinuous) {
  ExpectStretchSetsInSmoothly<Cor>();
}

TEST(Cor, KeepsStrongestInfluences) {
  const Rig rig = TubeRig({.joints = 6, .weights = TubeWeights::kFour});
  const auto pose = BendPose(rig, 40);
  EXPECT_EQ(MaxDistance(RunMethod<Cor>(rig, {.max_influences = 4}, pose).points,
                        RunMethod<Cor>(rig, {}, pose).points),
            0);
  EXPECT_LT(MaxDistance(RunMethod<Cor>(rig, {.max_influences = 1}, pose).points,
                        RunMethod<Lbs>(rig, {.max_influences = 1}, pose).points),
            1e-30);
}

// If a previous stage moved the rest points, centres stay and points rotate about them.
TEST(Cor, RotatesDisplacedPointsAboutSameCentres) {
  const Rig rig = TubeRig({.rings = 31, .around = 8});
  const auto pose = BendPose(rig, 70);
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  Task task;
  const Cor cor = ValueOrDie(Cor::Bind({rig, *layout, RigSurface(rig, *layout)}, {}, task));
  const PosedRigTables tables = PosedRigTables::Create(rig, layout->centre);
  PosedRigBuffer buffer;
  const PosedRig posed = buffer.Compute(tables, {.joints = pose}, true);
  AlignedVector<PointBlock> blocks(layout->rest.begin(), layout->rest.end());
  auto moved = RestPoints(rig);
  testing::Random random;
  for (std::size_t v = 0; v < moved.size(); ++v) {
    const float offset = random.Next();
    moved[v].y += offset;
    blocks[layout->lane[v] / kLanes].y[layout->lane[v] % kLanes] += offset;
  }
  AlignedVector<float> scratch(cor.Facts().scratch_floats);
  cor.Run({.layout = *layout,
           .posed = posed,
           .task = task,
           .scratch = scratch,
           .in_is_rest = false,
           .in = blocks,
           .out = blocks});
  const auto want = reference::CorPosed(moved, reference::CorCentres(rig, {}), rig.influences(),
                                        SkinMatrices(rig, pose));
  EXPECT_LT(MaxDistance(testing::FileOrder(*layout, blocks), want), 4 * PosedTolerance(rig));
}

TEST(Cor, ReportsPieceCount) {
  const Rig rig = TubeRig({.rings = 9, .around = 8});
  const auto layout = ValueOrDie(BlockLayout::Create(rig));
  Task task;
  const auto pieces = [&](bool refine) {
    const Cor cor =
        ValueOrDie(Cor::Bind({rig, *layout, RigSurface(rig, *layout)}, {.refine = refine}, task));
    EXPECT_EQ(cor.Statistics()[1].value, 0);
    return cor.Statistics()[0].value;
  };
  EXPECT_EQ(pieces(false), 128);
  EXPECT_GT(pieces(true), 200);
}

}  // namespace
}  // namespace sinew
