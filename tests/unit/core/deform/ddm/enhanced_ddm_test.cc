// Enhanced Direct Delta Mush on joints that stretch: variants 0, 2, 3 and 4.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/reference/ddm_reference.h"
#include "tests/unit/core/deform/ddm/bound_ddm.h"

namespace sinew {
namespace {

using testing::BoundDdm;
using testing::Distance;
using testing::MaxDistance;
using testing::RestPoints;

constexpr std::uint32_t kVariants[] = {0, 2, 3, 4};

DdmParams ParamsOf(std::uint32_t variant) {
  DdmParams params = testing::ExactParams(2);
  params.variant = variant;
  return params;
}

TEST(EnhancedDdmVariants, FollowCommonAffineMotion) {
  AffineD motion = Compose(testing::RigidMotion({1, 0, 1}, 100, {1, 2, 3}),
                           testing::ScaleMotion({1.7, 0.6, 1.1}));
  motion.m[1] += 0.4;
  for (const testing::NamedRig& named : testing::AllRigs()) {
    auto want = RestPoints(named.rig);
    double reach = 0;
    for (Vec3d& p : want) {
      p = Apply(motion, p);
      reach = std::max(reach, std::sqrt(Dot(p, p)));
    }
    const auto pose = testing::Moved(motion, testing::RestPose(named.rig));
    for (const std::uint32_t variant : kVariants) {
      EXPECT_LE(MaxDistance(BoundDdm(named.rig, ParamsOf(variant)).Run(pose, true), want),
                1e-6 * (named.rig.mesh().diagonal() + reach))
          << named.name << " variant " << variant;
    }
  }
}

TEST(EnhancedDdmVariants, EqualPlainForRigidJoints) {
  const Rig rig = testing::TubeRig({.rings = 61, .around = 12, .joints = 5});
  const auto pose = testing::TurnPose(rig, {1, 2, 1}, 50);
  for (const std::uint32_t variant : kVariants) {
    const BoundDdm ddm(rig, ParamsOf(variant));
    EXPECT_LT(MaxDistance(ddm.Run(pose, false), ddm.Run(pose, true)), 2e-6) << variant;
  }
}

// A posed chain with non-uniformly scaling joints; joint `compensating` ignores its parent's scale.
struct Chain {
  Rig rig;
  std::vector<Affine> pose;
};
Chain StretchedChain(std::vector<std::size_t> compensating) {
  RigSource source = testing::TubeSource({.rings = 161,
                                          .around = 8,
                                          .joints = 4,
                                          .length = 8,
                                          .weights = testing::TubeWeights::kRigid});
  for (const std::size_t j : compensating) source.joints[j].compensates_scale = true;
  Chain chain = {testing::MakeRig(std::move(source)), {}};
  const Skeleton& skeleton = chain.rig.skeleton();
  std::vector<AffineD> local(chain.rig.joints()), model(chain.rig.joints());
  for (std::size_t j = 0; j < local.size(); ++j) {
    local[j] = Compose(Compose(skeleton.rest_local()[j], testing::RigidMotion({0, 1, 1}, 25)),
                       testing::ScaleMotion({1.5, 0.8, 1.2}));
    const std::uint32_t parent = skeleton.joint(j).parent;
    model[j] = parent == kNoParent ? local[j]
                                   : skeleton.ToModel(j, model[parent], local[parent], local[j]);
    chain.pose.push_back(ToFloat(model[j]));
  }
  return chain;
}

// Largest cosine between two columns of a transform: 0 without shear.
double Shear(const Affine& a) {
  double largest = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t k = (i + 1) % 3;
    double dot = 0, ii = 0, kk = 0;
    for (std::size_t r = 0; r < 12; r += 4) {
      dot += double{a.m[r + i]} * a.m[r + k];
      ii += double{a.m[r + i]} * a.m[r + i];
      kk += double{a.m[r + k]} * a.m[r + k];
    }
    largest = std::max(largest, std::abs(dot) / std::sqrt(ii * kk));
  }
  return largest;
}

// Vertices reached by one joint alone follow linear blending, all others the formulas.
void ExpectFollowsItsJoints(const Chain& chain) {
  const auto skin = testing::SkinMatrices(chain.rig, chain.pose);
  const auto rest = RestPoints(chain.rig);
  double reach = 0;
  for (std::size_t v = 0; v < rest.size(); ++v) {
    for (const AffineD& m : skin) reach = std::max(reach, std::abs(Apply(m, rest[v]).x));
  }
  for (const std::uint32_t variant : kVariants) {
    DdmParams params = ParamsOf(variant);
    const reference::DdmReference reference(reference::MeshOf(chain.rig),
                                            reference::DdmReferenceParams(params));
    EXPECT_LT(MaxDistance(BoundDdm(chain.rig, params).Run(chain.pose, true),
                          reference.Evaluate(skin, true)),
              2e-6 * (chain.rig.mesh().diagonal() + reach))
        << variant;
    params.truncation = 1e-3f;
    const auto posed = BoundDdm(chain.rig, params).Run(chain.pose, true);
    params.variant = 0;
    const BoundDdm weights(chain.rig, params);
    std::vector<std::size_t> alone(chain.rig.joints());
    for (std::size_t v = 0; v < rest.size(); ++v) {
      const auto omega = weights.Field(v, kOmega);
      const auto own = std::max_element(omega.begin(), omega.end());
      if (*own < 1) continue;
      const auto e = static_cast<std::size_t>(own - omega.begin());
      ++alone[e];
      EXPECT_LT(Distance(posed[v], Apply(skin[e], rest[v])), 2e-5) << variant;
    }
    for (const std::size_t count : alone) EXPECT_GT(count, 40u);
  }
}

TEST(EnhancedDdmVariants, FollowChildrenOfNonUniformlyScaledParents) {
  const Chain chain = StretchedChain({});
  EXPECT_GT(Shear(chain.pose[2]), 0.1);  // the scale propagates and becomes shear
  ExpectFollowsItsJoints(chain);
}

TEST(EnhancedDdmVariants, FollowScaleCompensatingChildren) {
  const Chain chain = StretchedChain({1, 2, 3});
  for (const Affine& joint : chain.pose) EXPECT_LT(Shear(joint), 1e-6);
  ExpectFollowsItsJoints(chain);
}

TEST(EnhancedDdmVariants, MixPropagatingAndCompensatingJoints) {
  const Chain chain = StretchedChain({2}), propagating = StretchedChain({});
  EXPECT_GT(Shear(chain.pose[1]), 0.1);
  EXPECT_GT(Shear(chain.pose[3]), 0.1);
  // Joint 2 ignores the scale of joint 1 only.
  double apart = 0;
  for (std::size_t i = 0; i < 12; ++i) {
    apart = std::max(apart, std::abs(double{chain.pose[2].m[i]} - propagating.pose[2].m[i]));
  }
  EXPECT_GT(apart, 0.1);
  ExpectFollowsItsJoints(chain);
}

TEST(EnhancedDdmVariants, ScaleWithSkeleton) {
  const Rig rig = testing::TubeRig({.rings = 61, .around = 12, .joints = 5});
  const auto pose = testing::Moved(testing::ScaleMotion({2, 2, 2}), testing::RestPose(rig));
  auto want = RestPoints(rig);
  for (Vec3d& p : want) p = 2.0 * p;
  for (const std::uint32_t variant : kVariants) {
    EXPECT_LT(MaxDistance(BoundDdm(rig, ParamsOf(variant)).Run(pose, true), want), 1e-5) << variant;
  }
}

}  // namespace
}  // namespace sinew
