// Hemisphere rules of dual quaternions: dqs(signs=...).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/deform/dqs/dqs.h"
#include "core/simd/target.h"
#include "tests/reference/dqs_reference.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::MaxDistance;
using testing::Moved;
using testing::RigidMotion;
using testing::RunMethod;
using testing::TubeRig;
using testing::TubeWeights;

constexpr DqsParams kStrongest = {};

DqsParams ByParent() {
  DqsParams params;
  params.signs = SignRule::kParent;
  return params;
}

struct Vertex {
  Vec3f at;
  std::vector<std::pair<std::uint32_t, float>> weights;
};

// Joints at the origin, each binding's inverse bind the identity. Bindings are listed by joint.
RigSource Source(const std::vector<std::uint32_t>& parents,
                 const std::vector<std::uint16_t>& joints, const std::vector<Vertex>& vertices) {
  std::vector<Vec3f> positions;
  for (const Vertex& vertex : vertices) positions.push_back(vertex.at);
  RigSource source = testing::RigidSource(positions, {});
  source.joints.clear();
  source.rest_local.clear();
  for (const std::uint32_t parent : parents) {
    source.joints.push_back(
        {.name = "joint" + std::to_string(source.joints.size()), .parent = parent});
    source.rest_local.emplace_back();
  }
  source.bindings.clear();
  for (const std::uint16_t joint : joints) source.bindings.push_back({joint, AffineD{}});
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (const Vertex& vertex : vertices) {
    for (const auto& [binding, weight] : vertex.weights) {
      source.influences.bindings.push_back(binding);
      source.influences.weights.push_back(weight);
    }
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  return source;
}

// Joints rotated about x by the given degrees.
std::vector<Affine> Turned(const std::vector<double>& degrees) {
  std::vector<Affine> pose;
  for (const double d : degrees) pose.push_back(ToFloat(RigidMotion({1, 0, 0}, d)));
  return pose;
}

Vec3d At(double degrees) {
  return Apply(RigidMotion({1, 0, 0}, degrees), {0, 1, 0});
}

// A chain of three, bindings from its end to its root.
Rig Chain(const std::vector<Vertex>& vertices) {
  return testing::MakeRig(Source({kNoParent, 0, 1}, {2, 1, 0}, vertices));
}

// Binding of each binding's parent joint; one binding per joint, in the same order.
std::vector<std::uint32_t> Parents(const Rig& rig) {
  std::vector<std::uint32_t> parents;
  for (std::size_t j = 0; j < rig.joints(); ++j) parents.push_back(rig.skeleton().joint(j).parent);
  return parents;
}

TEST(DqsSigns, ParentMatchesReference) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const Rig& rig = named.rig;
    for (const auto& pose :
         {testing::RestPose(rig), testing::TurnPose(rig, {1, 2, 3}, -100),
          testing::TwistPose(rig, 170), testing::TwistPose(rig, 110),
          Moved(RigidMotion({1, 1, 0}, 300, {3, 1, -2}), testing::BendPose(rig, 140)),
          Moved(testing::ScaleMotion({-1, 1, 1}), testing::BendPose(rig, 40))}) {
      const auto want = reference::DqsByParent(testing::RestPoints(rig), rig.influences(),
                                               testing::SkinMatrices(rig, pose), Parents(rig));
      const Vec3d far = rig.mesh().maximum();
      EXPECT_LT(MaxDistance(RunMethod<Dqs>(rig, ByParent(), pose).points, want),
                3e-5 * rig.mesh().diagonal() + 1e-6 * std::sqrt(Dot(far, far)) + 1e-6)
          << named.name;
    }
  }
}

// Each joint 120 degrees from its parent: the first and the last are closer the other way round.
TEST(DqsSigns, ThreeInconsistentJoints) {
  const Rig rig = Chain({{{0, 1, 0}, {{2, 0.34f}, {1, 0.33f}, {0, 0.33f}}},
                         {{0, 1, 0}, {{2, 0.33f}, {1, 0.34f}, {0, 0.33f}}},
                         {{0, 1, 0}, {{2, 0.33f}, {1, 0.33f}, {0, 0.34f}}}});
  const auto pose = Turned({0, 120, 240});
  const auto strongest = RunMethod<Dqs>(rig, kStrongest, pose).points;
  EXPECT_NEAR(Distance(strongest[0], strongest[2]), std::sqrt(3.0), 0.05);  // torn
  const auto by_parent = RunMethod<Dqs>(rig, ByParent(), pose).points;
  for (const Vec3d& p : by_parent) EXPECT_LT(Distance(p, At(120)), 0.03);
}

// Two twist joints with 240 degrees in total: the surface follows all the way.
TEST(DqsSigns, TwistChainDoesNotTear) {
  const testing::TubeOptions options = {.rings = 81, .joints = 5, .weights = TubeWeights::kFour};
  const Rig rig = TubeRig(options);
  const auto largest_step = [&](const DqsParams& params) {
    const auto points = RunMethod<Dqs>(rig, params, testing::TwistPose(rig, 110)).points;
    double largest = 0;
    for (std::size_t v = 0; v + options.around < points.size(); ++v) {
      largest = std::max(largest, Distance(points[v], points[v + options.around]));
    }
    return largest / options.radius;
  };
  EXPECT_LT(largest_step(ByParent()), 0.2);
  EXPECT_GT(largest_step(kStrongest), 0.6);
}

TEST(DqsSigns, RulesAgreeForConsistentJoints) {
  const Rig rig = TubeRig({.joints = 5, .weights = TubeWeights::kFour});
  for (const auto& pose : {testing::BendPose(rig, 40), testing::TwistPose(rig, -44)}) {
    EXPECT_EQ(MaxDistance(RunMethod<Dqs>(rig, ByParent(), pose).points,
                          RunMethod<Dqs>(rig, kStrongest, pose).points),
              0);
  }
}

// Cancelling lanes fall back individually; the others keep their parents' hemisphere.
TEST(DqsSigns, CancellingLanesFollowStrongest) {
  const Rig rig = Chain({{{0, 1, 0}, {{2, 0.5f}, {0, 0.5f}}},
                         {{0, 1, 0}, {{0, 0.6f}, {1, 0.4f}}},
                         {{0, 1, 0}, {{0, 0.4f}, {1, 0.3f}, {2, 0.3f}}}});
  const auto pose = Turned({0, 175, 350});
  const auto strongest = RunMethod<Dqs>(rig, kStrongest, pose).points;
  const auto by_parent = RunMethod<Dqs>(rig, ByParent(), pose).points;
  EXPECT_EQ(Distance(by_parent[0], strongest[0]), 0);
  EXPECT_LT(Distance(by_parent[0], At(-5)), 1e-5);
  EXPECT_GT(Distance(by_parent[2], strongest[2]), 0.1);
  // Below cancellation, the direction along the chain is kept.
  const auto near = RunMethod<Dqs>(rig, ByParent(), Turned({0, 150, 300})).points;
  EXPECT_LT(Distance(near[0], At(150)), 1e-5);
  for (const Isa isa : SupportedIsas()) {
    ASSERT_TRUE(ForceIsa(isa).ok());
    EXPECT_EQ(MaxDistance(RunMethod<Dqs>(rig, ByParent(), pose).points, by_parent), 0)
        << IsaName(isa);
  }
  ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
  for (double d = 160; d < 200; d += 0.25) {
    for (const Vec3d& p : RunMethod<Dqs>(rig, ByParent(), Turned({0, d, 2 * d})).points) {
      EXPECT_NEAR(Dot(p, p), 1, 1e-5) << d;  // a rotation about the origin for any weights
    }
  }
}

// The root has no binding, and a second root is unrelated: signs still depend on relative rotations
// alone.
TEST(DqsSigns, FollowFullTurnsOfRoot) {
  const std::vector<Vertex> vertices = {{{0, 1, 0}, {{0, 0.5f}, {1, 0.3f}, {2, 0.2f}}},
                                        {{0, 1, 1}, {{1, 0.4f}, {2, 0.35f}, {0, 0.25f}}},
                                        {{1, 0, 1}, {{2, 0.7f}, {0, 0.3f}}}};
  for (const std::vector<std::uint32_t>& parents :
       {std::vector<std::uint32_t>{kNoParent, 0, 0, 0}, {kNoParent, kNoParent, kNoParent, 2}}) {
    const Rig rig = testing::MakeRig(Source(parents, {1, 2, 3}, vertices));
    const auto pose = Turned({0, 40, 150, 260});
    const auto still = RunMethod<Dqs>(rig, ByParent(), pose).points;
    for (int degrees = 0; degrees <= 720; degrees += 15) {
      const AffineD motion = RigidMotion({1, -1, 2}, degrees, {0.5, 0, 1});
      auto want = still;
      for (Vec3d& p : want) p = Apply(motion, p);
      EXPECT_LT(MaxDistance(RunMethod<Dqs>(rig, ByParent(), Moved(motion, pose)).points, want),
                1e-5)
          << degrees;
    }
  }
}

// Two meshes have the same joints, the second with a rotated bind: both deform alike.
TEST(DqsSigns, EachMeshFollowsItsOwnParents) {
  RigSource source =
      Source({kNoParent, 0}, {0, 1, 0, 1},
             {{{0, 1, 0}, {{0, 0.5f}, {1, 0.5f}}}, {ToFloat(At(-100)), {{2, 0.5f}, {3, 0.5f}}}});
  source.bindings[2].inverse_bind = source.bindings[3].inverse_bind = RigidMotion({1, 0, 0}, 100);
  const Rig rig = testing::MakeRig(std::move(source));
  for (const double degrees : {90, 150, 170, -150}) {
    const auto points = RunMethod<Dqs>(rig, ByParent(), Turned({0, degrees})).points;
    EXPECT_LT(Distance(points[0], At(degrees / 2)), 1e-5);
    EXPECT_LT(Distance(points[1], At(degrees / 2)), 1e-5);
  }
}

TEST(DqsSigns, CheckRejectsInconsistentChains) {
  const Rig rig = Chain({{{0, 1, 0}, {{2, 0.5f}, {0, 0.5f}}}});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  Task task;
  const Dqs bound =
      testing::ValueOrDie(Dqs::Bind({rig, *layout, RigSurface(rig, *layout)}, ByParent(), task));
  ASSERT_TRUE(bound.Check(*layout, 3).ok());
  EXPECT_THAT(bound.sign_order, ::testing::ElementsAre(2, 1, 0));
  EXPECT_THAT(bound.sign_parent, ::testing::ElementsAre(2, 2, 1));
  const auto refused = [&](auto spoil) {
    Dqs spoilt = bound;
    spoil(spoilt);
    return spoilt.Check(*layout, 3).code() == absl::StatusCode::kDataLoss;
  };
  EXPECT_TRUE(refused([](Dqs& d) { d.sign_order.pop_back(); }));
  EXPECT_TRUE(refused([](Dqs& d) { d.sign_parent.pop_back(); }));
  EXPECT_TRUE(refused([](Dqs& d) { d.sign_order[1] = 9; }));
  EXPECT_TRUE(refused([](Dqs& d) { d.sign_order[1] = 2; }));
  EXPECT_TRUE(refused([](Dqs& d) { d.sign_parent[1] = 0; }));
  EXPECT_TRUE(refused([](Dqs& d) { d.sign_parent[0] = 1; }));
}

}  // namespace
}  // namespace sinew
