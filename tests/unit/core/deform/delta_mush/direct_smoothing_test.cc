// Delta Mush behind linear blending: tables instead of iterations.
#include "core/deform/delta_mush/direct_smoothing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/deform/lbs/lbs.h"
#include "core/surface/rig_surface.h"
#include "tests/reference/delta_mush_reference.h"
#include "tests/reference/dqs_reference.h"
#include "tests/reference/lbs_reference.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"
#include "tests/unit/core/deform/delta_mush/posed_stage.h"

namespace sinew {
namespace {

using testing::BendPose;
using testing::MaxDistance;
using testing::Moved;
using testing::PosedMesh;
using testing::RunMethod;
using testing::TubeOptions;
using testing::TubeRig;
using testing::TubeWeights;

DeltaMush Bind(const Rig& rig, const BlockLayout& layout, const DeltaMushParams& params,
               std::optional<LinearBlend> blended) {
  Task task;
  DeltaMush mush = testing::ValueOrDie(DeltaMush::Bind(
      {.rig = rig, .layout = layout, .surface = RigSurface(rig, layout), .blended = blended},
      params, task));
  EXPECT_TRUE(mush.Check(layout, rig.bindings().size()).ok());
  return mush;
}

std::vector<DeltaMushParams> Options() {
  return {{},
          {.iterations = 3, .step = 1, .laplacian = MushLaplacian::kUniform, .keep_area = 0},
          {.iterations = 40, .pin_borders = false},
          {.laplacian = MushLaplacian::kInverseDistance, .displacement = 2}};
}

double Off(const PosedMesh& posed, const Rig& rig, std::span<const Affine> pose,
           const DeltaMush& mush, std::span<const Vec3d> expected) {
  return MaxDistance(testing::RunMush(rig, *posed.layout, mush, pose, posed.blocks), expected);
}

// Both are rounded; where a pose hardly defines a frame, rounding is amplified.
TEST(DirectSmoothing, IsAsExactAsIterations) {
  std::size_t direct = 0, frames = 0;
  std::vector<testing::NamedRig> rigs = testing::AllRigs();
  std::erase_if(rigs, [](const testing::NamedRig& named) {
    return named.rig.vertices() < 3 || named.rig.vertices() > 500;  // the reference is slow
  });
  const TubeOptions tube = {.rings = 21, .around = 12, .joints = 5};
  TubeOptions rigid = tube, far = tube;
  rigid.weights = TubeWeights::kRigid;
  far.origin = {100, -200, 50};
  for (const TubeOptions& options : {tube, rigid, far}) rigs.push_back({"tube", TubeRig(options)});
  for (const testing::NamedRig& named : rigs) {
    const Rig& rig = named.rig;
    for (const DeltaMushParams& params : Options()) {
      const auto pose =
          Moved(testing::RigidMotion({1, 2, 3}, 250, {3, -2, 1}), BendPose(rig, -100));
      const auto skin = testing::SkinMatrices(rig, pose);
      const std::vector<Vec3d> reference = reference::DeltaMush(
          rig, params.laplacian == MushLaplacian::kCotangent,
          [&](const std::vector<Vec3d>& points) {
            return reference::SmoothExplicitly(rig, params, {}, points);
          },
          params.displacement, reference::Lbs(testing::RestPoints(rig), rig.influences(), skin),
          testing::PivotRotations(rig, skin, reference::OrthogonalBySvd));
      const PosedMesh posed = RunMethod<Lbs>(rig, {}, pose);
      const DeltaMush tables = Bind(rig, *posed.layout, params, LinearBlend{});
      EXPECT_LT(Off(posed, rig, pose, tables, reference),
                2e-6 * rig.mesh().diagonal() +
                    2 * Off(posed, rig, pose, Bind(rig, *posed.layout, params, {}), reference))
          << named.name << ", " << params.iterations << " steps";
      direct += tables.direct.used();
      ++frames;
    }
  }
  EXPECT_GT(direct, frames * 3 / 4);
}

TEST(DirectSmoothing, UsesInfluencesOfTheBlend) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  const auto pose = BendPose(rig, 50);
  const PosedMesh posed = RunMethod<Lbs>(rig, {.max_influences = 2}, pose);
  const auto run = [&](std::optional<LinearBlend> blended) {
    return testing::RunMush(rig, *posed.layout, Bind(rig, *posed.layout, {}, blended), pose,
                            posed.blocks);
  };
  const std::vector<Vec3d> iterated = run({});
  EXPECT_LT(MaxDistance(run(LinearBlend{2}), iterated), 1e-5);
  EXPECT_GT(MaxDistance(run(LinearBlend{}), iterated), 1e-3);
}

// Everything that moves as one keeps the shape it has at rest, however many joints move it.
TEST(DirectSmoothing, CommonMotionOfJointsIsExact) {
  const Rig rig = TubeRig({.rings = 60, .around = 12, .joints = 15, .length = 3});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const DeltaMush mush = Bind(rig, *layout, {}, LinearBlend{});
  ASSERT_TRUE(mush.direct.used());
  for (std::size_t b = 0; b + 1 < mush.direct.joints.offset.size(); ++b) {
    for (std::size_t i = 0; i < kLanes && b * kLanes + i < mush.points(); ++i) {
      double omega = 0;
      for (std::size_t k = mush.direct.joints.offset[b]; k < mush.direct.joints.offset[b + 1];
           ++k) {
        omega += double{mush.direct.moments[(k * 4 + 3) * kLanes + i]};
      }
      EXPECT_NEAR(omega, 1, 1e-7);
    }
  }
}

// Rows of the steps are not kept beside tables.
TEST(DirectSmoothing, ReplacesRows) {
  const Rig rig = TubeRig();
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  const DeltaMush tables = Bind(rig, *layout, {}, LinearBlend{}), rows = Bind(rig, *layout, {}, {});
  EXPECT_TRUE(tables.direct.used() && tables.neighbours.empty() && tables.weights.empty());
  EXPECT_TRUE(!rows.direct.used() && !rows.neighbours.empty());
  EXPECT_LT(tables.Facts().scratch_floats, rows.Facts().scratch_floats);
}

// Tables of many joints would be larger and slower than steps.
TEST(DirectSmoothing, ManyJointsAreIterated) {
  RigSource source = testing::TubeSource({.rings = 21, .around = 12, .joints = 40});
  auto& rows = source.influences;
  rows = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (std::size_t v = 0; v < source.mesh.positions.size(); ++v) {
    for (std::uint32_t j = 0; j < 40; ++j) {
      rows.bindings.push_back(j);
      rows.weights.push_back(1.0f / 40);
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  const Rig rig = testing::MakeRig(std::move(source));
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  EXPECT_FALSE(Bind(rig, *layout, {}, LinearBlend{}).direct.used());
  EXPECT_TRUE(Bind(rig, *layout, {}, LinearBlend{4}).direct.used());
  EXPECT_FALSE(Bind(rig, *layout, {.iterations = 1}, LinearBlend{4}).direct.used());
}

}  // namespace
}  // namespace sinew
