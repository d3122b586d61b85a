// Laws of the method, plain and enhanced.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/reference/ddm_reference.h"
#include "tests/reference/lbs_reference.h"
#include "tests/support/posing.h"
#include "tests/unit/core/deform/ddm/bound_ddm.h"

namespace sinew {
namespace {

using testing::BoundDdm;
using testing::Distance;
using testing::ExactParams;
using testing::MaxDistance;
using testing::RestPoints;
using testing::StretchedPose;
using testing::Transformed;

TEST(Ddm, FollowsCommonTranslationDespiteTruncation) {
  const Rig rig = testing::TubeRig({.rings = 81, .around = 16, .joints = 8, .length = 8});
  for (const float truncation : {1e-3f, 0.05f, 0.3f}) {
    for (const float alpha : {0.0f, 0.7f}) {
      DdmParams params;
      params.truncation = truncation;
      params.alpha = alpha;
      params.lambda = 16;
      const BoundDdm ddm(rig, params);
      const AffineD motion = testing::RigidMotion({0, 0, 1}, 0, {80, 0, 0});
      EXPECT_LT(MaxDistance(ddm.Run(testing::Moved(motion, testing::RestPose(rig))),
                            Transformed(motion, RestPoints(rig))),
                2e-5)
          << truncation;
    }
  }
}

TEST(Ddm, NoSmoothingGivesLinearBlend) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  for (const bool bend : {false, true}) {
    const auto pose = bend ? testing::TurnPose(rig, {0, 1, 1}, 40) : StretchedPose(rig);
    const auto want =
        reference::Lbs(RestPoints(rig), rig.influences(), testing::SkinMatrices(rig, pose));
    for (const float lambda : {0.0f, 1e-9f}) {
      for (const Smoothing smoothing : {Smoothing::kImplicit, Smoothing::kExplicit}) {
        DdmParams params = ExactParams(lambda, 8);
        params.smoothing = smoothing;
        const BoundDdm ddm(rig, params);
        for (const bool enhanced : {false, true}) {
          EXPECT_LT(MaxDistance(ddm.Run(pose, enhanced), want), 2e-6) << lambda;
        }
      }
    }
  }
}

TEST(Ddm, MatchesReference) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const auto pose = testing::TurnPose(rig, {1, 1, 1}, 35), stretched = StretchedPose(rig);
  for (const Laplacian laplacian : {Laplacian::kUniform, Laplacian::kCotangent}) {
    for (const Smoothing smoothing : {Smoothing::kImplicit, Smoothing::kExplicit}) {
      for (const auto& [alpha, keep_area] :
           {std::pair(0.0f, 0.0f), std::pair(0.8f, 0.0f), std::pair(0.8f, 0.9f)}) {
        const bool implicit = smoothing == Smoothing::kImplicit;
        DdmParams params = ExactParams(implicit ? 3.0f : 0.75f, implicit ? 6 : 20);
        params.laplacian = laplacian;
        params.smoothing = smoothing;
        params.alpha = alpha;
        params.kappa = implicit ? 1.0f : 0.3f;
        params.keep_area = keep_area;
        const reference::DdmReference want(reference::MeshOf(rig),
                                           reference::DdmReferenceParams(params));
        const BoundDdm ddm(rig, params);
        const double diagonal = rig.mesh().diagonal();
        EXPECT_LT(
            MaxDistance(ddm.Run(pose), want.Evaluate(testing::SkinMatrices(rig, pose), false)),
            2e-6 * diagonal);
        EXPECT_LT(MaxDistance(ddm.Run(stretched, true),
                              want.Evaluate(testing::SkinMatrices(rig, stretched), true)),
                  2e-6 * diagonal);
      }
    }
  }
}

TEST(Ddm, ExplicitAndImplicitSmoothingAreClose) {
  const Rig rig = testing::TubeRig({.weights = testing::TubeWeights::kRigid});
  const DdmParams implicit = ExactParams(1, 16);
  DdmParams stepwise = ExactParams(0.5f, 32);
  stepwise.smoothing = Smoothing::kExplicit;
  const auto pose = testing::BendPose(rig, 60);
  const double apart =
      MaxDistance(BoundDdm(rig, implicit).Run(pose), BoundDdm(rig, stepwise).Run(pose));
  EXPECT_LT(apart, 0.02 * rig.mesh().diagonal());
  EXPECT_GT(apart, 1e-5);
}

TEST(Ddm, TranslationWeightsKeepRotation) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const auto pose = testing::TurnPose(rig, {1, 1, 1}, 35);
  const auto arms = [&](float alpha) {
    DdmParams params = ExactParams();
    params.alpha = alpha;
    const BoundDdm ddm(rig, params);
    // R d for a displacement d of every rest point.
    AlignedVector<PointBlock> in = ddm.layout().rest;
    for (PointBlock& block : in) {
      for (float& x : block.x) x += 1;
    }
    auto moved = testing::FileOrder(ddm.layout(), ddm.RunBlocks(pose, false, in));
    const auto still = ddm.Run(pose);
    for (std::size_t v = 0; v < moved.size(); ++v) moved[v] = moved[v] - still[v];
    return moved;
  };
  EXPECT_LT(MaxDistance(arms(0), arms(1)), 3e-6);
}

TEST(Ddm, RotatesDisplacedPointsWithoutMirroring) {
  const Rig rig = testing::MakeRig(testing::GridSource(12));
  const BoundDdm ddm(rig);
  AlignedVector<PointBlock> in = ddm.layout().rest;
  for (PointBlock& block : in) {
    for (float& z : block.z) z += 0.25f;  // off the plane
  }
  const AffineD motion = testing::RigidMotion({1, 1, 0}, 130, {4, 5, 6});
  const auto pose = testing::Moved(motion, testing::RestPose(rig));
  auto want = RestPoints(rig);
  for (Vec3d& p : want) p.z += 0.25;
  EXPECT_LT(MaxDistance(testing::FileOrder(ddm.layout(), ddm.RunBlocks(pose, false, in)),
                        Transformed(motion, want)),
            2e-5);
}

TEST(Ddm, HandlesDisplacedPointsInFallbackLanes) {
  const Rig rig = testing::OneVertex();  // no neighbours: every lane uses the fallback
  const BoundDdm ddm(rig);
  AlignedVector<PointBlock> in = ddm.layout().rest;
  for (PointBlock& block : in) {
    for (float& x : block.x) x += 2;
  }
  const AffineD motion = testing::RigidMotion({0, 0, 1}, 90, {10, 0, 0});
  const auto got = testing::FileOrder(
      ddm.layout(), ddm.RunBlocks(testing::Moved(motion, testing::RestPose(rig)), false, in));
  EXPECT_LT(Distance(got[0], Apply(motion, {3, 2, 3})), 1e-5);
}

TEST(Ddm, MirroredInputGivesMirroredResult) {
  const auto mirror = [](const AffineD& a) {
    AffineD m = a;
    for (const std::size_t i : {1, 2, 3, 4, 8}) m.m[i] = -m.m[i];
    return m;
  };
  RigSource source = testing::TubeSource(testing::kChainTube);
  const Rig rig = testing::MakeRig(source);
  for (Vec3f& p : source.mesh.positions) p.x = -p.x;
  for (Binding& b : source.bindings) b.inverse_bind = mirror(b.inverse_bind);
  for (AffineD& local : source.rest_local) local = mirror(local);
  const Rig mirrored = testing::MakeRig(std::move(source));
  const auto pose = testing::TurnPose(rig, {0.3, 1, 1}, 30);
  std::vector<Affine> mirrored_pose;
  for (const Affine& a : pose) mirrored_pose.push_back(ToFloat(mirror(ToDouble(a))));
  auto want = BoundDdm(rig).Run(pose);
  for (Vec3d& p : want) p.x = -p.x;
  EXPECT_LT(MaxDistance(BoundDdm(mirrored).Run(mirrored_pose), want), 3e-6);
}

TEST(EnhancedDdm, EqualsPlainForRigidJoints) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const BoundDdm ddm(named.rig);
    const auto pose = testing::TurnPose(named.rig, {1, 2, 1}, 50);
    const auto plain = ddm.RunBlocks(pose, false), enhanced = ddm.RunBlocks(pose, true);
    EXPECT_EQ(std::memcmp(plain.data(), enhanced.data(), plain.size() * sizeof(PointBlock)), 0)
        << named.name;
  }
}

TEST(EnhancedDdm, FollowsMirroredJoint) {
  const Rig rig = testing::MakeRig(testing::GridSource(6));
  const BoundDdm ddm(rig);
  for (const Vec3d& scale :
       {Vec3d{-1, 1, 1}, Vec3d{-1, -1, -1}, Vec3d{2, -0.5, 1}, Vec3d{0, 1, 1}}) {
    const AffineD motion =
        Compose(testing::RigidMotion({1, 2, 3}, 40, {1, 0, 0}), testing::ScaleMotion(scale));
    EXPECT_LT(MaxDistance(ddm.Run(testing::Moved(motion, testing::RestPose(rig)), true),
                          Transformed(motion, RestPoints(rig))),
              1e-5);
  }
}

}  // namespace
}  // namespace sinew
