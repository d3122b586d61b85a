#include "core/deform/bulge_free/bulge_free.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/deform/lbs/lbs.h"
#include "tests/reference/bulge_free_reference.h"
#include "tests/support/continuity.h"
#include "tests/support/posing.h"
#include "tests/support/small_rigs.h"
#include "tests/unit/core/deform/bulge_free/bulge_free_fixture.h"

namespace sinew {
namespace {

using testing::BendPose;
using testing::Correct;
using testing::Distance;
using testing::DqsCorrected;
using testing::EndedTube;
using testing::EndedTubeSource;
using testing::ExpectHalvedSteps;
using ::testing::HasSubstr;
using testing::MaxDistance;
using testing::Moved;
using testing::NamedRig;
using testing::PosedMesh;
using testing::RestPoints;
using testing::RestPose;
using testing::RigidMotion;
using testing::RunMethod;
using testing::ScaleMotion;
using testing::SkinMatrices;
using testing::TubeRig;
using testing::TubeWeights;
using testing::TwistPose;

constexpr BulgeFreeParams kBisector = {.method = BulgeMethod::kBisector};

// All options that change the computation.
std::vector<BulgeFreeParams> Projections() {
  return {{},
          {.softness = 0},
          {.softness = 10, .sharpness = 1},
          {.strength = 0.5f, .sharpness = 4},
          {.strongest = true},
          {.softness = 0, .strongest = true}};
}

std::vector<NamedRig> Rigs() {
  auto rigs = testing::AllRigs();
  rigs.push_back({"ended", EndedTube()});
  rigs.push_back({"ended_five", EndedTube({.joints = 5, .weights = TubeWeights::kFour})});
  return rigs;
}

// For two consecutive stages.
double Tolerance(const Rig& rig) {
  return 2 * testing::PosedTolerance(rig);
}

TEST(BulgeFree, ProjectionMatchesReference) {
  for (const NamedRig& named : Rigs()) {
    const Rig& rig = named.rig;
    const auto bones = reference::RestBones(rig);
    for (const auto& pose :
         {BendPose(rig, 80), TwistPose(rig, 120), testing::ScaledPose(rig, {1.5, 0.5, 2}),
          Moved(RigidMotion({1, 1, 0}, 400, {3, 1, -2}), BendPose(rig, 130))}) {
      const auto skin = SkinMatrices(rig, pose);
      for (const PosedMesh& before :
           {RunMethod<Dqs>(rig, {}, pose), RunMethod<Lbs>(rig, {}, pose)}) {
        for (const BulgeFreeParams& params : Projections()) {
          const auto want = reference::BulgeFree(RestPoints(rig), before.points, rig.influences(),
                                                 skin, bones, params);
          EXPECT_LT(MaxDistance(Correct(rig, params, pose, before), want), Tolerance(rig))
              << named.name;
        }
      }
    }
  }
}

TEST(BulgeFree, BisectorMatchesReference) {
  for (const auto& rig : {EndedTube(), EndedTube({.joints = 5, .weights = TubeWeights::kFour})}) {
    for (const auto& pose : {BendPose(rig, 80), testing::TurnPose(rig, {1, 2, 3}, -35),
                             Moved(RigidMotion({1, 1, 0}, 400, {3, 1, -2}), BendPose(rig, 35))}) {
      const PosedMesh before = RunMethod<Dqs>(rig, {}, pose);
      for (const float strength : {0.0f, 0.6f, 1.0f}) {
        const auto want =
            reference::Bisector(rig, before.points, SkinMatrices(rig, pose), strength);
        const auto got =
            Correct(rig, {.strength = strength, .method = BulgeMethod::kBisector}, pose, before);
        EXPECT_LT(MaxDistance(got, want), 1e-5);
        EXPECT_EQ(MaxDistance(got, before.points) > 0.01,
                  strength > 0);  // the correction has an effect
      }
    }
  }
}

TEST(BulgeFree, StrengthScalesCorrection) {
  const Rig rig = EndedTube();
  const auto pose = BendPose(rig, 90);
  const PosedMesh before = RunMethod<Dqs>(rig, {}, pose);
  for (const BulgeMethod method : {BulgeMethod::kProjection, BulgeMethod::kBisector}) {
    EXPECT_EQ(
        MaxDistance(Correct(rig, {.strength = 0, .method = method}, pose, before), before.points),
        0);
    const auto full = Correct(rig, {.method = method}, pose, before);
    const auto half = Correct(rig, {.strength = 0.5f, .method = method}, pose, before);
    ASSERT_GT(MaxDistance(full, before.points), 0.02);
    for (std::size_t v = 0; v < half.size(); ++v) {
      EXPECT_LT(Distance(half[v], 0.5 * (full[v] + before.points[v])), 1e-6);
    }
  }
}

TEST(BulgeFree, KeepsTwist) {
  for (const Rig& rig : {EndedTube(), TubeRig()}) {
    for (const double degrees : {45, 120, 179}) {
      const auto pose = TwistPose(rig, degrees);
      const PosedMesh before = RunMethod<Dqs>(rig, {}, pose);
      for (const BulgeFreeParams& params : Projections()) {
        EXPECT_LT(MaxDistance(Correct(rig, params, pose, before), before.points), 1e-6);
      }
      EXPECT_LT(MaxDistance(Correct(rig, kBisector, pose, before), before.points), 1e-6);
    }
  }
}

TEST(BulgeFree, KeepsPointsInside) {
  const Rig rig = EndedTube();
  const auto bones = reference::RestBones(rig);
  const auto pose = BendPose(rig, 100);
  const auto skin = SkinMatrices(rig, pose);
  const PosedMesh before = RunMethod<Lbs>(rig, {}, pose);
  const auto after = Correct(rig, {.softness = 0}, pose, before);
  std::size_t inside = 0;
  for (std::size_t v = 0; v < after.size(); ++v) {
    bool within = true;
    for (const std::uint16_t e : rig.influences().bindings(v)) {
      const reference::Bone posed = {Apply(skin[e], bones[e].root), Apply(skin[e], bones[e].tip)};
      const Vec3d u = RestPoints(rig)[v], p = before.points[v];
      within = within && Distance(p, reference::Nearest(posed, p)) <
                             Distance(u, reference::Nearest(bones[e], u)) - 1e-6;
    }
    if (!within) continue;
    ++inside;
    EXPECT_EQ(Distance(after[v], before.points[v]), 0) << v;
  }
  EXPECT_GT(inside, 20u);
}

TEST(BulgeFree, SingleBoneDistanceAtMostRest) {
  const Rig rig = EndedTube();
  const auto bones = reference::RestBones(rig);
  for (const double degrees : {30, 90, 150}) {
    const auto pose = BendPose(rig, degrees);
    const auto skin = SkinMatrices(rig, pose);
    const auto points = DqsCorrected(rig, {.softness = 0, .strongest = true}, pose);
    for (std::size_t v = 0; v < points.size(); ++v) {
      const std::uint16_t e = rig.influences().bindings(v).front();
      const reference::Bone posed = {Apply(skin[e], bones[e].root), Apply(skin[e], bones[e].tip)};
      const Vec3d u = RestPoints(rig)[v];
      EXPECT_LT(Distance(points[v], reference::Nearest(posed, points[v])),
                Distance(u, reference::Nearest(bones[e], u)) + 1e-6);
    }
  }
}

TEST(BulgeFree, KeepsVerticesWithOneInfluence) {
  const Rig rig = EndedTube({.weights = TubeWeights::kRigid});
  std::vector<Affine> pose = BendPose(rig, 70);
  pose[1] = ToFloat(Compose(ToDouble(pose[1]), ScaleMotion({2, 0.5, 3})));
  const PosedMesh before = RunMethod<Lbs>(rig, {}, pose);
  for (const BulgeFreeParams& params : Projections()) {
    const auto after = Correct(rig, params, pose, before);
    for (std::size_t v = 0; v < after.size(); ++v) {
      if (rig.influences().bindings(v).size() > 1) continue;
      EXPECT_EQ(Distance(after[v], before.points[v]), 0) << v;
    }
  }
}

// Distances stored at bind would shrink the whole character to its rest size.
TEST(BulgeFree, FollowsUniformScale) {
  for (const Rig& rig : {EndedTube(), TubeRig()}) {
    const AffineD twice = ScaleMotion({2, 2, 2});
    const auto pose = BendPose(rig, 80), scaled = Moved(twice, pose);
    for (const BulgeFreeParams& params : {BulgeFreeParams{}, kBisector}) {
      auto want = DqsCorrected(rig, params, pose);
      for (Vec3d& p : want) p = Apply(twice, p);
      EXPECT_LT(MaxDistance(DqsCorrected(rig, params, scaled), want), 2e-5);
    }
  }
}

// After a stage that moved the rest points, distances are those of the moved points.
TEST(BulgeFree, UsesFrameRestPoints) {
  const Rig rig = EndedTube();
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  AlignedVector<PointBlock> swollen = layout->rest;
  for (PointBlock& block : swollen) {
    for (std::size_t i = 0; i < kLanes; ++i) block.y[i] *= 1.5f;
  }
  const auto pose = RestPose(rig);
  PosedMesh before = RunMethod<Lbs>(rig, {}, pose);
  before.blocks = swollen;
  before.points = testing::FileOrder(*layout, swollen);
  EXPECT_LT(MaxDistance(Correct(rig, {}, pose, before, swollen), before.points), 1e-6);
  EXPECT_GT(MaxDistance(Correct(rig, {}, pose, before), before.points), 0.1);
}

// Neither pulled onto the bone nor NaN.
TEST(BulgeFree, KeepsPointsWhoseSquareOverflows) {
  const Rig rig = EndedTube();
  const auto rest = RestPose(rig);
  const auto far = Moved(RigidMotion({1, 0, 0}, 0, {-3e38, 0, 0}), rest);
  for (const auto& [pose, x] : {std::pair(rest, 3e19f), std::pair(far, 3e38f)}) {
    PosedMesh before = RunMethod<Dqs>(rig, {}, rest);
    for (PointBlock& block : before.blocks) block.x[3] = x;
    before.points = testing::FileOrder(*before.layout, before.blocks);
    for (const BulgeFreeParams& params : Projections()) {
      const auto after = Correct(rig, params, pose, before);
      for (std::size_t v = 0; v < after.size(); ++v) {
        ASSERT_LT(Distance(after[v], before.points[v]), 1e-6) << v << " of " << x;
      }
    }
  }
}

// Products have the same bits on every machine.
TEST(BulgeFree, IntegerSharpnessIsProduct) {
  const Rig rig = EndedTube({.joints = 5, .weights = TubeWeights::kFour});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  for (const int sharpness : {1, 2, 3, 4}) {
    Task task;
    const BulgeFree bound =
        testing::ValueOrDie(BulgeFree::Bind({rig, *layout, RigSurface(rig, *layout)},
                                            {.sharpness = static_cast<float>(sharpness)}, task));
    for (std::size_t v = 0; v < rig.vertices(); ++v) {
      const auto weights = rig.influences().weights(v);
      const auto power = [&](double w) {
        return sharpness == 1   ? w
               : sharpness == 2 ? w * w
               : sharpness == 3 ? w * w * w
                                : w * w * w * w;
      };
      double sum = 0;
      for (const double w : weights) sum += power(w);
      for (std::size_t k = 0; k < weights.size(); ++k) {
        const std::size_t lane = layout->lane[v];
        const std::size_t pair =
            FindPair(bound.joints, lane / kLanes, rig.influences().bindings(v)[k]);
        ASSERT_EQ(bound.shares[pair * kLanes + lane % kLanes],
                  static_cast<float>(power(weights[k]) / sum));
      }
    }
  }
}

// A limb that ends without a joint is corrected like one with an end joint.
TEST(BulgeFree, LeafMatchesBoneWithEnd) {
  const Rig leaf = TubeRig(), ended = EndedTube();
  for (const double degrees : {30, 90, 150}) {
    for (const BulgeFreeParams& params : Projections()) {
      EXPECT_LT(MaxDistance(DqsCorrected(leaf, params, BendPose(leaf, degrees)),
                            DqsCorrected(ended, params, BendPose(ended, degrees))),
                1e-6)
          << degrees;
    }
  }
}

// Both halves of a bent limb are mirror images in the bisecting plane.
TEST(BulgeFree, BentLimbHalvesAreMirrored) {
  const testing::TubeOptions options;
  const Rig rig = TubeRig(options);
  for (const double degrees : {60, 90, 120, -75}) {
    const auto pose = BendPose(rig, degrees);
    const PosedMesh before = RunMethod<Dqs>(rig, {}, pose);
    const double half = degrees / 360 * std::numbers::pi;
    const Vec3d normal = {std::cos(half), std::sin(half), 0};
    for (const BulgeFreeParams& params : {BulgeFreeParams{}, {.softness = 0, .sharpness = 4}}) {
      const auto after = Correct(rig, params, pose, before);
      double most[2] = {};  // maximum motion per half
      for (std::size_t v = 0; v < after.size(); ++v) {
        const std::size_t ring = v / options.around, opposite = options.rings - 1 - ring;
        const Vec3d& p = after[opposite * options.around + v % options.around];
        EXPECT_LT(Distance(after[v], p - 2 * Dot(p, normal) * normal), 2e-6) << v;
        double& moved = most[ring < opposite ? 0 : 1];
        moved = std::max(moved, Distance(after[v], before.points[v]));
      }
      EXPECT_GT(most[0], 0.02) << degrees;
      EXPECT_NEAR(most[1], most[0], 1e-5) << degrees;
    }
  }
}

// The bone follows the skin, however its joint's axes are rotated, mirrored or scaled.
TEST(BulgeFree, InvariantToLeafAxes) {
  const Rig rig = TubeRig();
  const auto pose = BendPose(rig, 80);
  const auto want = DqsCorrected(rig, {}, pose);
  for (const AffineD& axes : {RigidMotion({3, 1, 2}, 100), ScaleMotion({-1, 1, 1}),
                              ScaleMotion({4, 4, 4}), ScaleMotion({1, 2, 0.5})}) {
    RigSource source = testing::TubeSource();
    source.rest_local[1] = Compose(source.rest_local[1], axes);
    source.bindings[1].inverse_bind = Compose(Inverse(axes), source.bindings[1].inverse_bind);
    auto other_pose = pose;
    other_pose[1] = ToFloat(Compose(ToDouble(pose[1]), axes));
    EXPECT_LT(MaxDistance(DqsCorrected(testing::MakeRig(std::move(source)), {}, other_pose), want),
              5e-6);
  }
}

TEST(BulgeFree, ZeroLengthBonesArePoints) {
  // All joints coincide, and vertices are on them.
  RigSource source = testing::RigidSource({{0, 0, 0}, {0, 1, 0}}, {});
  source.joints.push_back({.name = "same", .parent = 0});
  source.rest_local.emplace_back();
  source.bindings.push_back({1, AffineD{}});
  source.influences = {.offsets = {0, 2, 4}, .bindings = {0, 1, 0, 1}, .weights = {.5, .5, .3, .7}};
  const Rig point = testing::MakeRig(std::move(source));
  for (const BulgeFreeParams& params : {BulgeFreeParams{}, kBisector}) {
    const auto pose = BendPose(point, 90);
    const auto after = DqsCorrected(point, params, pose);
    EXPECT_LT(MaxDistance(after, RunMethod<Dqs>(point, {}, pose).points), 1e-6);
  }
}

// Bound in another, rotated place: the same posed points.
TEST(BulgeFree, InvariantToBindPose) {
  const AffineD moved = RigidMotion({1, 2, 3}, 70, {2, -1, 1});
  for (RigSource source : {EndedTubeSource(), testing::TubeSource()}) {
    const Rig rig = testing::MakeRig(source);
    for (Vec3f& p : source.mesh.positions) p = ToFloat(Apply(moved, ToDouble(p)));
    for (Binding& binding : source.bindings) {
      binding.inverse_bind = Compose(binding.inverse_bind, Inverse(moved));
    }
    const Rig elsewhere = testing::MakeRig(std::move(source));
    const auto pose = BendPose(rig, 80);
    for (const BulgeFreeParams& params : {BulgeFreeParams{}, kBisector}) {
      EXPECT_LT(MaxDistance(DqsCorrected(elsewhere, params, pose), DqsCorrected(rig, params, pose)),
                5e-6);
    }
  }
}

// The push depends neither on the order of bindings nor on the joints' axes.
TEST(BulgeFree, BisectorInvariantToJointOrderAndAxes) {
  RigSource source = EndedTubeSource();
  std::swap(source.bindings[0], source.bindings[1]);
  for (std::uint32_t& e : source.influences.bindings) e = 1 - e;
  const AffineD turned = RigidMotion({3, 1, 2}, 100);
  source.rest_local[1] = Compose(source.rest_local[1], turned);
  source.rest_local[2] = Compose(Inverse(turned), source.rest_local[2]);
  source.bindings[0].inverse_bind = Compose(Inverse(turned), source.bindings[0].inverse_bind);
  const Rig other = testing::MakeRig(std::move(source)), rig = EndedTube();
  const auto pose = BendPose(rig, 80);
  auto other_pose = pose;
  other_pose[1] = ToFloat(Compose(ToDouble(pose[1]), turned));
  EXPECT_LT(
      MaxDistance(DqsCorrected(other, kBisector, other_pose), DqsCorrected(rig, kBisector, pose)),
      5e-6);
}

// Parallel fingers are not connected end to end.
TEST(BulgeFree, BisectorIgnoresSiblings) {
  RigSource source = testing::RigidSource({{0, 1, 0}, {1, 1, 1}}, {});
  for (const char* name : {"left", "right"}) {
    source.joints.push_back({.name = name, .parent = 0});
    source.rest_local.push_back({{1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0}});
  }
  source.bindings = {{1, {{1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1, 0}}},
                     {2, {{1, 0, 0, -1, 0, 1, 0, 0, 0, 0, 1, 0}}}};
  source.influences = {
      .offsets = {0, 2, 4}, .bindings = {0, 1, 0, 1}, .weights = {0.6f, 0.4f, 0.2f, 0.8f}};
  const Rig rig = testing::MakeRig(std::move(source));
  auto pose = RestPose(rig);
  pose[2] = ToFloat(Compose(ToDouble(pose[2]), RigidMotion({0, 0, 1}, 70)));
  EXPECT_EQ(MaxDistance(DqsCorrected(rig, kBisector, pose), RunMethod<Dqs>(rig, {}, pose).points),
            0);
}

TEST(BulgeFree, ContinuousInPose) {
  const Rig rig = EndedTube();
  for (const BulgeFreeParams& params : {BulgeFreeParams{}, kBisector}) {
    std::vector<double> angles;
    for (double degrees = 1; degrees < 170; degrees += 12) angles.push_back(degrees);
    ExpectHalvedSteps(
        angles, [&](double degrees) { return DqsCorrected(rig, params, BendPose(rig, degrees)); });
  }
}

// Bones folded onto each other and beyond: the push fades out instead of reversing.
TEST(BulgeFree, BisectorFadesForFoldedBones) {
  const Rig rig = EndedTube();
  const auto push = [&](double degrees) {
    const auto pose = BendPose(rig, degrees);
    const PosedMesh before = RunMethod<Dqs>(rig, {}, pose);
    return MaxDistance(Correct(rig, kBisector, pose, before), before.points);
  };
  EXPECT_GT(push(170), 0.05);
  EXPECT_LT(push(179.9), 2e-3);
  EXPECT_LT(push(180.1), 2e-3);
}

TEST(BulgeFree, RejectsStrongestBisector) {
  const absl::Status status =
      BulgeFree::Validate({.strongest = true, .method = BulgeMethod::kBisector});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("bulge_free.strongest"));
  EXPECT_TRUE(BulgeFree::Validate({.strongest = true}).ok());
  EXPECT_TRUE(BulgeFree::Validate(kBisector).ok());
}

}  // namespace
}  // namespace sinew
