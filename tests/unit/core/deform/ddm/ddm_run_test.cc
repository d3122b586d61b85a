// Laws of the method, plain and enhanced.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "core/simd/target.h"
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
using testing::Reach;
using testing::RestPoints;
using testing::StretchedPose;
using testing::Transformed;

TEST(Ddm, KeepsRestPose) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    for (const bool guard : {false, true}) {
      for (const float alpha : {0.0f, 0.8f, 1.0f}) {
        DdmParams params;
        params.pop_guard = guard;
        params.alpha = alpha;
        const BoundDdm ddm(named.rig, params);
        const double tolerance =
            1e-6 * (named.rig.mesh().diagonal() + Reach(RestPoints(named.rig)));
        for (const bool enhanced : {false, true}) {
          EXPECT_LE(
              MaxDistance(ddm.Run(testing::RestPose(named.rig), enhanced), RestPoints(named.rig)),
              tolerance)
              << named.name << " guard " << guard << " alpha " << alpha;
        }
      }
    }
  }
}

TEST(Ddm, FollowsCommonRigidMotion) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const BoundDdm ddm(named.rig);
    const double diagonal = std::max(1.0, named.rig.mesh().diagonal());
    for (const double distance : {0.0, 10.0, 100.0}) {
      const AffineD motion = testing::RigidMotion(
          {1, 2, 3}, 200, {distance * diagonal, -0.5 * distance * diagonal, 0});
      const auto want = Transformed(motion, RestPoints(named.rig));
      // A few float steps at coordinates of this size.
      const double tolerance = 6e-7 * (diagonal + Reach(want));
      for (const bool enhanced : {false, true}) {
        EXPECT_LE(
            MaxDistance(ddm.Run(testing::Moved(motion, testing::RestPose(named.rig)), enhanced),
                        want),
            tolerance)
            << named.name << " " << distance;
      }
    }
  }
}

TEST(Ddm, RotatesWithPose) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const BoundDdm ddm(rig);
  const auto pose = testing::TurnPose(rig, {1, 0, 1}, 30);
  const AffineD motion = testing::RigidMotion({3, -1, 2}, 77, {1, 2, 3});
  EXPECT_LT(MaxDistance(ddm.Run(testing::Moved(motion, pose)), Transformed(motion, ddm.Run(pose))),
            1e-5);
}

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

TEST(Ddm, SeamsStayClosed) {
  // The tube with every vertex doubled, faces split between the copies.
  RigSource source = testing::TubeSource({.rings = 31, .around = 16});
  const auto vertices = static_cast<std::uint32_t>(source.mesh.positions.size());
  const MeshSource mesh = source.mesh;
  const InfluenceSource influences = source.influences;
  source.mesh.positions.insert(source.mesh.positions.end(), mesh.positions.begin(),
                               mesh.positions.end());
  for (std::size_t f = 0; f + 1 < mesh.face_offsets.size(); f += 2) {
    for (std::uint32_t c = mesh.face_offsets[f]; c < mesh.face_offsets[f + 1]; ++c) {
      source.mesh.face_vertices[c] += vertices;
    }
  }
  for (std::uint32_t v = 0; v < vertices; ++v) {
    for (std::uint64_t k = influences.offsets[v]; k < influences.offsets[v + 1]; ++k) {
      source.influences.bindings.push_back(influences.bindings[k]);
      source.influences.weights.push_back(influences.weights[k]);
    }
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  source.mesh.parts[0].vertex_count = 2 * vertices;
  const Rig seamed = testing::MakeRig(std::move(source)),
            plain = testing::TubeRig({.rings = 31, .around = 16});
  const auto pose = testing::BendPose(plain, 80);
  const auto got = BoundDdm(seamed).Run(pose), want = BoundDdm(plain).Run(pose);
  for (std::uint32_t v = 0; v < vertices; ++v) {
    EXPECT_EQ(got[v], got[v + vertices]) << v;
    EXPECT_LT(Distance(got[v], want[v]), 1e-6);
  }
}

TEST(Ddm, IndependentOfVertexOrder) {
  RigSource source = testing::TubeSource(testing::kChainTube);
  const Rig rig = testing::MakeRig(source);
  std::vector<std::uint32_t> order(rig.vertices());
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(4));
  std::vector<std::uint32_t> place(order.size());
  InfluenceSource influences;
  influences.offsets = {0};
  for (std::uint32_t k = 0; k < order.size(); ++k) {
    place[order[k]] = k;
    source.mesh.positions[k] = rig.mesh().positions()[order[k]];
    for (std::size_t i = rig.influences().bindings(order[k]).size(); i-- > 0;) {
      influences.bindings.push_back(rig.influences().bindings(order[k])[i]);
      influences.weights.push_back(static_cast<float>(rig.influences().weights(order[k])[i]));
    }
    influences.offsets.push_back(influences.bindings.size());
  }
  for (std::uint32_t& corner : source.mesh.face_vertices) corner = place[corner];
  source.influences = influences;
  const Rig shuffled = testing::MakeRig(std::move(source));
  const auto pose = testing::TurnPose(rig, {1, 0, 1}, 40);
  const auto want = BoundDdm(rig).Run(pose), got = BoundDdm(shuffled).Run(pose);
  for (std::uint32_t v = 0; v < order.size(); ++v)
    EXPECT_LT(Distance(got[place[v]], want[v]), 2e-6);
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

TEST(Ddm, SameBitsOnEveryLevelAndThreadCount) {
  const Rig rig = testing::TubeRig(
      {.rings = 161, .around = 24, .joints = 6, .weights = testing::TubeWeights::kFour});
  for (const float alpha : {0.0f, 0.5f}) {
    DdmParams params;
    params.alpha = alpha;
    const BoundDdm serial(rig, params, {}, false), parallel(rig, params, {}, true);
    for (const auto& pose : {testing::TurnPose(rig, {1, 1, 0}, 60), testing::TwistPose(rig, 170),
                             StretchedPose(rig)}) {
      for (const bool enhanced : {false, true}) {
        AlignedVector<PointBlock> first;
        for (const Isa isa : SupportedIsas()) {
          ASSERT_TRUE(ForceIsa(isa).ok());
          for (const BoundDdm* ddm : {&serial, &parallel}) {
            const auto blocks = ddm->RunBlocks(pose, enhanced);
            if (first.empty()) first = blocks;
            EXPECT_EQ(std::memcmp(first.data(), blocks.data(), blocks.size() * sizeof(PointBlock)),
                      0)
                << IsaName(isa);
          }
        }
      }
    }
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
}

TEST(Ddm, FiniteForAnyPose) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const std::size_t joints = named.rig.joints();
    const std::vector<std::vector<Affine>> poses = {
        std::vector<Affine>(joints, Affine{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}),
        std::vector<Affine>(joints, Affine{{0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5}}),
        std::vector<Affine>(joints),
        testing::Moved(testing::ScaleMotion({-1, 1, 1}), testing::RestPose(named.rig)),
        testing::Moved(testing::ScaleMotion({1e-20, 1, 1}), testing::RestPose(named.rig)),
        testing::Moved(testing::ScaleMotion({1e-12, 1e-12, 1e-12}),
                       testing::TwistPose(named.rig, 180)),
        testing::TwistPose(named.rig, 180),
        testing::BendPose(named.rig, 180)};
    for (const bool guard : {false, true}) {
      for (const float alpha : {0.0f, 1.0f}) {
        DdmParams params;
        params.pop_guard = guard;
        params.alpha = alpha;
        const BoundDdm ddm(named.rig, params);
        for (std::size_t k = 0; k < poses.size(); ++k) {
          for (const bool enhanced : {false, true}) {
            for (const PointBlock& block : ddm.RunBlocks(poses[k], enhanced)) {
              for (std::size_t i = 0; i < kLanes; ++i) {
                ASSERT_TRUE(std::isfinite(block.x[i]) && std::isfinite(block.y[i]) &&
                            std::isfinite(block.z[i]))
                    << named.name << " pose " << k;
              }
            }
          }
        }
      }
    }
  }
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

TEST(EnhancedDdm, FollowsCommonAffineMotionUnlikePlain) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    AffineD motion = Compose(testing::RigidMotion({1, 0, 1}, 100, {1, 2, 3}),
                             testing::ScaleMotion({1.7, 0.6, 1.1}));
    motion.m[1] += 0.4;
    const BoundDdm ddm(named.rig);
    const auto pose = testing::Moved(motion, testing::RestPose(named.rig));
    const auto want = Transformed(motion, RestPoints(named.rig));
    const double tolerance = 1e-6 * (named.rig.mesh().diagonal() + Reach(want));
    EXPECT_LE(MaxDistance(ddm.Run(pose, true), want), tolerance) << named.name;
    if (named.name == "tube_smooth") {
      EXPECT_GT(MaxDistance(ddm.Run(pose, false), want), 0.01);
    }
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

TEST(EnhancedDdm, RotatesWithPose) {
  const Rig rig = testing::TubeRig(testing::kChainTube);
  const BoundDdm ddm(rig);
  const auto pose = StretchedPose(rig);
  const AffineD motion = testing::RigidMotion({3, -1, 2}, 77, {1, 2, 3});
  EXPECT_LT(MaxDistance(ddm.Run(testing::Moved(motion, pose), true),
                        Transformed(motion, ddm.Run(pose, true))),
            1e-5);
}

TEST(EnhancedDdm, FollowsOnlyJoint) {
  // A chain with joints that propagate scale and joints that do not; far from other joints a vertex
  // follows its own.
  RigSource source = testing::TubeSource({.rings = 161,
                                          .around = 8,
                                          .joints = 4,
                                          .length = 8,
                                          .weights = testing::TubeWeights::kRigid});
  source.joints[2].compensates_scale = true;
  const Rig rig = testing::MakeRig(std::move(source));
  const Skeleton& skeleton = rig.skeleton();
  std::vector<AffineD> local(rig.joints()), model(rig.joints());
  std::vector<Affine> pose;
  for (std::size_t j = 0; j < rig.joints(); ++j) {
    local[j] = Compose(Compose(skeleton.rest_local()[j], testing::RigidMotion({0, 1, 1}, 25)),
                       testing::ScaleMotion({1.5, 0.8, 1.2}));
    const std::uint32_t parent = skeleton.joint(j).parent;
    model[j] = parent == kNoParent ? local[j]
                                   : skeleton.ToModel(j, model[parent], local[parent], local[j]);
    pose.push_back(ToFloat(model[j]));
  }
  DdmParams params;
  params.lambda = 2;
  const BoundDdm ddm(rig, params);
  const auto skin = testing::SkinMatrices(rig, pose);
  const auto rest = RestPoints(rig), posed = ddm.Run(pose, true);
  std::size_t alone = 0;
  for (std::size_t v = 0; v < rest.size(); ++v) {
    const auto omega = ddm.Field(v, kOmega);
    const auto own = std::max_element(omega.begin(), omega.end());
    if (*own < 1) continue;
    ++alone;
    EXPECT_LT(
        Distance(posed[v], Apply(skin[static_cast<std::size_t>(own - omega.begin())], rest[v])),
        2e-5);
  }
  EXPECT_GT(alone, rest.size() / 4);
}

}  // namespace
}  // namespace sinew
