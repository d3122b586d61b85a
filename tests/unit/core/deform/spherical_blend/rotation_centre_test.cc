// The double part of spherical blend skinning: joint sets, expected centres, fitted centres.
#include "core/deform/spherical_blend/rotation_centre.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/deform/spherical_blend/joint_sets.h"
#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::Distance;
using testing::RigidMotion;

RigidPart Motion(const AffineD& m) {
  return {Linear(m), Translation(m)};
}

Vec3d Apply(const RigidPart& m, const Vec3d& p) {
  return Multiply(m.rotation, p) + m.translation;
}

// The rotation by `degrees` about an axis through p.
AffineD TurnAbout(const Vec3d& p, const Vec3d& axis, double degrees) {
  AffineD there;
  there.m[3] = p.x;
  there.m[7] = p.y;
  there.m[11] = p.z;
  return Compose(there, Compose(RigidMotion(axis, degrees), Inverse(there)));
}

double Degrees(double radians) {
  return radians * 180 / M_PI;
}

TEST(CentreOf, FindsSharedJointAtAnyAngle) {
  const Vec3d shared = {0.3, -1.7, 2.1};
  const AffineD whole = RigidMotion({1, 2, -1}, 77, {4, -3, 2});
  for (const double angle : {3.1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-9, 0.0}) {
    const std::vector<RigidPart> motions = {
        Motion(whole), Motion(Compose(whole, TurnAbout(shared, {0.2, 1, 0.5}, Degrees(angle))))};
    const Vec3d r = CentreOf(motions, shared);
    EXPECT_LT(Distance(Apply(motions[0], r), Apply(motions[1], r)), 1e-11) << angle;
  }
}

// If the expected centre is wrong, the true one dominates once the angle is well above the fade.
TEST(CentreOf, FadesFromAxisToExpectedCentre) {
  const Vec3d on_axis = {0.3, -1.7, 2.1}, axis = {0.6, 0, 0.8}, expected = {1, 0, 0.5};
  const auto from_axis = [&](const Vec3d& p) {
    const Vec3d off = Cross(p - on_axis, axis);
    return std::sqrt(Dot(off, off));
  };
  double last = 0;
  for (const double angle : {2.0, 1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 1e-4, 1e-6}) {
    const std::vector<RigidPart> motions = {Motion({}),
                                            Motion(TurnAbout(on_axis, axis, Degrees(angle)))};
    const double off = from_axis(CentreOf(motions, expected)) / from_axis(expected);
    // Normal equations of one pair: 4 sin^2(angle / 2) perpendicular to the axis against the fade.
    const double pull = 4 * std::pow(std::sin(angle / 2), 2), fade = kCentreFade * kCentreFade;
    EXPECT_NEAR(off, fade / (pull + fade), 1e-9) << angle;
    EXPECT_GT(off, last);
    last = off;
  }
  EXPECT_GT(last, 0.9999);
}

TEST(CentreOf, ThreeJointsAboutOnePoint) {
  const Vec3d shared = {5, 6, -7};
  const std::vector<RigidPart> motions = {Motion(TurnAbout(shared, {1, 0, 0}, 50)),
                                          Motion(TurnAbout(shared, {0, 1, 0}, -30)),
                                          Motion(TurnAbout(shared, {1, 1, 1}, 100))};
  const double fade2 = kCentreFade * kCentreFade;
  EXPECT_LT(Distance(CentreOf(motions, {5.1, 6, -7}), shared), fade2);
}

TEST(CentreOf, OneOrEqualJointsGiveExpectedCentre) {
  const auto m = Motion(RigidMotion({1, 2, 3}, 40, {1, 1, 1}));
  auto slid = m;
  slid.translation = slid.translation + Vec3d{3, 0, 0};
  const Vec3d expected = {1, 2, 3};
  for (const auto& motions : {std::vector{m}, std::vector{m, m}, std::vector{m, slid, m}}) {
    EXPECT_LT(Distance(CentreOf(motions, expected), expected), 1e-12);
  }
}

// root - arm - hand, root - leg, and a second root.
Rig Figure(const std::vector<std::vector<std::uint32_t>>& rows,
           const std::vector<std::uint16_t>& bound) {
  RigSource source = testing::RigidSource(std::vector<Vec3f>(rows.size()), {});
  const Vec3d at[] = {{0, 0, 0}, {1, 0, 0}, {2, 1, 0}, {0, -1, 0}, {9, 9, 9}};
  const char* names[] = {"root", "arm", "hand", "leg", "prop"};
  const std::uint32_t parents[] = {kNoParent, 0, 1, 0, kNoParent};
  source.joints.clear();
  source.rest_local.clear();
  source.bindings.clear();
  for (std::size_t j = 0; j < 5; ++j) {
    source.joints.push_back({.name = names[j], .parent = parents[j]});
    const Vec3d local = parents[j] == kNoParent ? at[j] : at[j] - at[parents[j]];
    source.rest_local.push_back(RigidMotion({0, 0, 1}, 0, local));
  }
  for (const std::uint16_t j : bound) {
    source.bindings.push_back({j, RigidMotion({0, 0, 1}, 0, -1.0 * (at[j] + Vec3d{0, 0, 1}))});
  }
  source.influences = {.offsets = {0}, .bindings = {}, .weights = {}};
  for (const auto& row : rows) {
    for (const std::uint32_t e : row) {
      source.influences.bindings.push_back(e);
      source.influences.weights.push_back(1.0f / static_cast<float>(row.size()));
    }
    source.influences.offsets.push_back(source.influences.bindings.size());
  }
  return testing::MakeRig(std::move(source));
}

// At bind all joints are one unit higher than at rest.
TEST(ExpectedCentre, JointBetweenParentAndChild) {
  const Rig rig = Figure({{0}}, {0, 1, 2, 3, 4});
  const Vec3d centre = {0.5, -0.5, 4};
  const auto origins = BindOrigins(rig, centre);
  const auto at = [&](std::vector<std::uint16_t> set) {
    return ExpectedCentres(rig, centre, origins).Of(set) + centre;
  };
  const auto near = [](const Vec3d& a, const Vec3d& b) { return Distance(a, b) < 1e-12; };
  EXPECT_TRUE(near(at({0, 1}), {1, 0, 1})) << "parent and child: the child";
  EXPECT_TRUE(near(at({0, 2}), {2, 1, 1})) << "ancestor and descendant: the descendant";
  EXPECT_TRUE(near(at({0, 1, 2}), {1.5, 0.5, 1})) << "a chain: the mean of all but the first";
  EXPECT_TRUE(near(at({0, 1, 3}), {0.5, -0.5, 1})) << "siblings and their parent";
  EXPECT_TRUE(near(at({1, 3}), {0, 0, 1})) << "siblings: their parent";
  EXPECT_TRUE(near(at({2, 3}), {0, 0, 1})) << "cousins: their lowest common ancestor";
  EXPECT_TRUE(near(at({2, 4}), {5.5, 5, 5.5})) << "unrelated: the mean";
  EXPECT_TRUE(near(at({0, 1, 4}), {1, 0, 1})) << "an unrelated joint does not count";
  EXPECT_TRUE(near(at({3}), {0, -1, 1}));
}

TEST(ExpectedCentre, CommonAncestorNeedNotBeBound) {
  const Rig rig = Figure({{0}}, {2, 3});
  const auto origins = BindOrigins(rig, {});
  const Vec3d r = ExpectedCentres(rig, {}, origins).Of(std::vector<std::uint16_t>{0, 1});
  EXPECT_LT(Distance(r, {0, 0, 1}), 1e-12) << "the root, in bind space";
}

TEST(BindOrigins, SingularBindMatrixUsesRestPose) {
  RigSource source = testing::TubeSource();
  source.bindings[1].inverse_bind = testing::ScaleMotion({1, 0, 1});
  const Rig rig = testing::MakeRig(std::move(source));
  EXPECT_LT(Distance(BindOrigins(rig, {1, 2, 3})[1], {-1, -2, -3}), 1e-12);
}

TEST(JointSets, EverySetOnceAndOnePerLane) {
  const Rig rig =
      Figure({{0, 1}, {1, 0}, {2}, {0, 1, 3}, {3, 1, 0}, {1}, {0, 3}, {0, 1}, {4, 2}, {2}},
             {0, 1, 2, 3, 4});
  for (const std::uint32_t max : {0u, 1u, 2u}) {
    const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
    const JointSets sets = testing::ValueOrDie(JointSets::Create(rig, *layout, max, Task()));
    std::set<std::vector<std::uint16_t>> seen;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      EXPECT_TRUE(seen.insert({sets.set(s).begin(), sets.set(s).end()}).second);
    }
    for (std::size_t i = 0; i < layout->order.size(); ++i) {
      const auto row = rig.influences().bindings(layout->Vertex(i));
      const std::size_t kept = max == 0 ? row.size() : std::min<std::size_t>(max, row.size());
      const std::set<std::uint16_t> want(row.begin(),
                                         row.begin() + static_cast<std::ptrdiff_t>(kept));
      const auto got = sets.set(sets.lane_set[i]);
      EXPECT_TRUE(std::ranges::equal(got, want)) << "lane " << i;
    }
    const auto bound = testing::ValueOrDie(JointSets::CountAtMost(rig, *layout, max, Task()));
    EXPECT_GE(bound.sets, sets.size());
    EXPECT_GE(bound.entries, sets.entry.size());
    EXPECT_EQ(sets.size(), max == 0 ? 6u : max == 1 ? 3u : 5u);
  }
}

TEST(JointSets, Cancellable) {
  const Rig rig = testing::TubeRig({});
  const auto layout = testing::ValueOrDie(BlockLayout::Create(rig));
  std::stop_source stop;
  stop.request_stop();
  const Task task({.stop = stop.get_token()});
  EXPECT_TRUE(absl::IsCancelled(JointSets::Create(rig, *layout, 0, task).status()));
  EXPECT_TRUE(absl::IsCancelled(JointSets::CountAtMost(rig, *layout, 0, task).status()));
}

}  // namespace
}  // namespace sinew
