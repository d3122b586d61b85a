#include "core/deform/bulge_free/bone_segments.h"

#include <gtest/gtest.h>

#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

using testing::Distance;

AffineD At(const Vec3d& p) {
  return {{1, 0, 0, p.x, 0, 1, 0, p.y, 0, 0, 1, p.z}};
}

// hip (0 0 0) with two legs, one with a foot; a joint coincident with the foot; bound at rest.
RigSource Legs() {
  RigSource source = testing::RigidSource({{0, 0, 0}, {1, 0, 0}, {0, 10, 0}}, {});
  source.joints = {{.name = "hip"},
                   {.name = "left", .parent = 0},
                   {.name = "right", .parent = 0},
                   {.name = "foot", .parent = 1},
                   {.name = "toe", .parent = 3}};
  const Vec3d model[] = {{0, 0, 0}, {1, -1, 0}, {-1, -3, 0}, {1, -4, 0}, {1, -4, 0}};
  source.rest_local = {At(model[0]), At(model[1]), At(model[2]), At({0, -3, 0}), At({0, 0, 0})};
  source.bindings.clear();
  for (std::uint16_t j = 0; j < 5; ++j) source.bindings.push_back({j, At(-1.0 * model[j])});
  return source;
}

TEST(BoneSegments, EndAtChildren) {
  const Rig rig = testing::MakeRig(Legs());
  const Vec3d centre = {0.5, 2, -1};
  const BoneSegments segments(rig, Weld(rig), centre);
  const Vec3d want[][2] = {{{0, 0, 0}, {0, -2, 0}},     // mean of two children
                           {{1, -1, 0}, {1, -4, 0}},    // its only child
                           {{-1, -3, 0}, {-1, -3, 0}},  // none: a point
                           {{1, -4, 0}, {1, -4, 0}},    // a coincident child
                           {{1, -4, 0}, {1, -4, 0}}};
  for (std::size_t e = 0; e < 5; ++e) {
    EXPECT_LT(Distance(segments.segment(e).root, want[e][0] - centre), 1e-12) << e;
    EXPECT_LT(Distance(segments.segment(e).tip, want[e][1] - centre), 1e-12) << e;
  }
}

TEST(BoneSegments, CouplesOrderAncestorFirst) {
  const Rig rig = testing::MakeRig(Legs());
  const BoneSegments segments(rig, Weld(rig), {});
  EXPECT_TRUE(segments.IsAncestor(0, 1));
  EXPECT_TRUE(segments.IsAncestor(0, 4));
  EXPECT_FALSE(segments.IsAncestor(1, 0));
  EXPECT_FALSE(segments.IsAncestor(1, 2));
  EXPECT_FALSE(segments.IsAncestor(1, 1));
  const double diagonal = std::sqrt(0.5);
  const BoneCouple hip = segments.Couple(0, 1);  // not towards the mean of both legs
  EXPECT_LT(Distance(hip.upper, {diagonal, -diagonal, 0}), 1e-12);
  EXPECT_LT(Distance(hip.lower, {0, -1, 0}), 1e-12);
  const BoneCouple toe = segments.Couple(3, 4);  // two zero-length bones continue the leg
  EXPECT_LT(Distance(toe.upper, {0, -1, 0}), 1e-12);
  EXPECT_LT(Distance(toe.lower, {0, -1, 0}), 1e-12);
}

// A root at 0 and a leaf at (0, 2, 0) whose joint has all points.
RigSource Leaf(std::vector<Vec3f> points) {
  RigSource source = testing::RigidSource(std::move(points), {});
  source.joints.push_back({.name = "leaf", .parent = 0});
  source.rest_local.push_back(At({0, 2, 0}));
  source.bindings = {{0, {}}, {1, At({0, -2, 0})}};
  for (std::uint32_t& e : source.influences.bindings) e = 1;
  return source;
}

// Around the axis from (0, 2, 0) along z, and its far end.
std::vector<Vec3f> Limb() {
  return {{1, 2, 1}, {-1, 2, 1}, {0, 3, 1}, {0, 1, 1}, {0, 2, 4}};
}

void ExpectLeaf(const RigSource& source, const Vec3d& tip) {
  const Rig rig = testing::MakeRig(source);
  const BoneSegments segments(rig, Weld(rig), {});
  for (std::size_t e = 1; e < source.bindings.size(); ++e) {
    EXPECT_LT(Distance(segments.segment(e).root, {0, 2, 0}), 1e-6) << e;
    EXPECT_LT(Distance(segments.segment(e).tip, tip), 1e-6) << e;
  }
}

TEST(BoneSegments, LeafExtendsThroughItsSkin) {
  ExpectLeaf(Leaf(Limb()), {0, 2, 4});
  // Split along a seam: the same skin.
  std::vector<Vec3f> cut = Limb();
  cut.push_back(cut[0]);
  ExpectLeaf(Leaf(cut), {0, 2, 4});
  // Skin symmetric about the joint defines no direction: continue the parent's bone.
  ExpectLeaf(Leaf({{1, 2, 0}, {-1, 2, 0}, {0, 3, 0}, {0, 1, 0}}), {0, 3, 0});
}

TEST(BoneSegments, LeafWithoutSkinIsPoint) {
  RigSource source = Leaf(Limb());
  for (std::uint32_t& e : source.influences.bindings) e = 0;
  ExpectLeaf(source, {0, 2, 0});
}

// An eyelid in front of its joint is no limb.
TEST(BoneSegments, LeafWithDistantSkinIsPoint) {
  std::vector<Vec3f> lid = {{0, 2, 4}};
  for (const float x : {-1.0f, 0.0f, 1.0f}) {
    for (const float y : {1.0f, 2.0f, 3.0f}) lid.push_back({x, y, 3});
  }
  lid.push_back({0, 2, 3.5});
  ExpectLeaf(Leaf(lid), {0, 2, 0});
  lid.push_back({0, 2, 1});  // one point of twelve
  ExpectLeaf(Leaf(lid), {0, 2, 0});
  lid.push_back({0, 2, 1.5});
  lid.push_back({0, 2, 0.5});
  ExpectLeaf(Leaf(lid), {0, 2, 4});
}

// Skin with a larger weight for another joint does not count.
TEST(BoneSegments, LeafUsesDominantSkin) {
  std::vector<Vec3f> points = Limb();
  points.push_back({5, -7, 9});
  RigSource source = Leaf(points);
  source.influences.bindings.back() = 0;
  source.influences.bindings.push_back(1);
  source.influences.weights.back() = 0.6f;
  source.influences.weights.push_back(0.4f);
  ++source.influences.offsets.back();
  ExpectLeaf(source, {0, 2, 4});
}

// Several meshes with their own bindings of one joint: its bone uses all their skin.
TEST(BoneSegments, LeafBindingsShareSkin) {
  RigSource source = Leaf(Limb());
  source.bindings.push_back(source.bindings[1]);
  source.influences.bindings[0] = 2;
  ExpectLeaf(source, {0, 2, 4});
}

// Bound in another pose than rest: bones are in bind space.
TEST(BoneSegments, EndsAreInBindSpace) {
  RigSource source = Legs();
  const AffineD moved = testing::RigidMotion({1, 2, 3}, 50, {4, 5, 6});
  for (Binding& binding : source.bindings) {
    binding.inverse_bind = Compose(binding.inverse_bind, Inverse(moved));
  }
  const Rig rig = testing::MakeRig(std::move(source));
  const BoneSegments segments(rig, Weld(rig), {});
  EXPECT_LT(Distance(segments.segment(1).root, Apply(moved, {1, -1, 0})), 1e-6);
  EXPECT_LT(Distance(segments.segment(1).tip, Apply(moved, {1, -4, 0})), 1e-6);
}

TEST(BoneSegments, SingleJointHasNoDirection) {
  const Rig rig = testing::OneTriangle();
  const BoneSegments segments(rig, Weld(rig), {});
  EXPECT_EQ(segments.segment(0).root, Vec3d{});
  EXPECT_FALSE(segments.IsAncestor(0, 0));
}

TEST(BoneSegments, SingularBindStaysFinite) {
  RigSource source = Legs();
  for (std::size_t i = 0; i < 3; ++i) source.bindings[3].inverse_bind.m[i] = 0;
  const auto rig = Rig::Create(std::move(source));
  if (!rig.ok()) GTEST_SKIP() << rig.status();
  const BoneSegments segments(*rig, Weld(*rig), {});
  EXPECT_EQ(segments.segment(3).root, Vec3d{});
  EXPECT_EQ(segments.Couple(1, 3).lower, Vec3d{});
}

}  // namespace
}  // namespace sinew
