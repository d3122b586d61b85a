// Parts: samples, bones, and the constraints of a field: the skin of its joint in the bind pose,
// and end caps that no joint rotation moves out of the skin.
#include "core/deform/implicit/parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/vectors.h"
#include "tests/support/canonical_limb.h"
#include "tests/support/random.h"
#include "tests/support/small_rigs.h"

namespace sinew {
namespace {

struct Fitted {
  LimbBone bone;
  PartFit fit;
  std::vector<Vec3d> centres;  // model space
};

std::vector<Fitted> FitAll(const Rig& rig) {
  const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
  std::vector<Fitted> all;
  for (const LimbBone& bone : MakeLimbBones(rig, surface)) {
    Fitted fitted{bone, FitPart(surface, bone, 50, Task()), {}};
    for (const Vec3d& c : fitted.fit.hrbf.centres) {
      fitted.centres.push_back(fitted.fit.centre + bone.reach * c);
    }
    all.push_back(std::move(fitted));
  }
  return all;
}

// On a capsule of radius 1 and length 6.
TEST(SpreadSamples, RespectsCountAndDistance) {
  std::vector<SurfaceSample> candidates;
  testing::Random random(7);
  while (candidates.size() < 2000) {
    const double angle = 2 * 3.14159265358979323846 * random.Next(), x = 6 * random.Next() - 3;
    const double beyond = std::max(0.0, std::abs(x) - 2);
    const double across = std::sqrt(1 - beyond * beyond);
    const Vec3d normal = {std::copysign(beyond, x), across * std::cos(angle),
                          across * std::sin(angle)};
    candidates.push_back({Vec3d{std::clamp(x, -2.0, 2.0), 0, 0} + normal, normal});
  }
  for (const std::size_t count : {std::size_t{10}, std::size_t{50}, std::size_t{100}}) {
    const auto spread = SpreadSamples(candidates, count, 7);
    EXPECT_GE(spread.size() * 10, count * 9);
    EXPECT_LE(spread.size() * 10, count * 11);
    double nearest = 1e9;
    for (const SurfaceSample& a : spread) {
      for (const SurfaceSample& b : spread) {
        if (&a != &b) nearest = std::min(nearest, Length(a.point - b.point));
      }
    }
    EXPECT_GT(nearest, 0.5 * std::sqrt(37.7 / static_cast<double>(count)));
  }
}

// Both sides of a sheet whose thickness is a fifth of the distance of its samples.
TEST(SpreadSamples, SamplesBothSidesOfThinSheet) {
  std::vector<SurfaceSample> candidates;
  testing::Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const double up = i % 2 == 0 ? 1 : -1;
    candidates.push_back({{random.Next(), random.Next(), 0.02 * up}, {0, 0, up}});
  }
  const auto spread = SpreadSamples(candidates, 60, 1);
  const auto above = std::ranges::count_if(spread, [](const auto& s) { return s.normal.z > 0; });
  EXPECT_GE(above, 24);
  EXPECT_LE(above, 36);
}

TEST(SpreadSamples, AcceptsAllOfFewCandidates) {
  const SurfaceSample one = {{1, 2, 3}, {1, 0, 0}};
  EXPECT_EQ(SpreadSamples(std::vector<SurfaceSample>{}, 50, 1).size(), 0u);
  EXPECT_EQ(SpreadSamples(std::vector(9, one), 50, 1).size(), 1u);
  const SurfaceSample two = {{2, 2, 3}, {1, 0, 0}}, close = {{2, 2.009, 3}, {1, 0, 0}};
  EXPECT_EQ(SpreadSamples(std::vector{one, two, one, two}, 50, 1).size(), 2u);
  EXPECT_EQ(SpreadSamples(std::vector{one, two, close}, 50, 1).size(), 2u);
}

// The forearm has most of the weight up to one radius before its joint.
TEST(PartFit, IgnoresSkinBeyondJoint) {
  RigSource source = testing::CanonicalSource();
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (const Vec3f& p : source.mesh.positions) {
    const float second = p.x < -1 ? 0.1F : p.x < 0 ? 0.6F : 0.9F;
    rows.bindings.insert(rows.bindings.end(), {0, 1});
    rows.weights.insert(rows.weights.end(), {1 - second, second});
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = rows;
  const std::vector<Fitted> all = FitAll(testing::MakeRig(source));
  ASSERT_EQ(all.size(), 2u);
  const Fitted& forearm = all[1];
  ASSERT_GT(forearm.centres.size(), forearm.fit.samples);
  std::size_t behind = 0;
  for (const Vec3d& c : forearm.centres) {
    if (c.x > -1e-6) continue;
    ++behind;
    EXPECT_LT(Length(c), 1.01) << "outside of the ball about the joint";
  }
  EXPECT_GE(behind, 1 + kCapRing);
}

// Skin in the middle shared evenly between two of four joints and others: no part includes it.
TEST(PartFit, IgnoresSharedSkin) {
  RigSource source = testing::CanonicalSource();
  for (int k = 0; k < 2; ++k) {
    source.joints.push_back({.name = k == 0 ? "c" : "d", .parent = 0});
    source.rest_local.push_back(source.rest_local[1]);
    source.bindings.push_back({static_cast<std::uint16_t>(2 + k), source.bindings[1].inverse_bind});
  }
  InfluenceSource rows{.offsets = {0}, .bindings = {}, .weights = {}};
  for (const Vec3f& p : source.mesh.positions) {
    if (p.x >= 1 && p.x <= 3) {
      rows.bindings.insert(rows.bindings.end(), {0, 1, 2, 3});
      rows.weights.insert(rows.weights.end(), {0.2F, 0.4F, 0.2F, 0.2F});
    } else {
      rows.bindings.push_back(p.x < 0 ? 0 : 1);
      rows.weights.push_back(1);
    }
    rows.offsets.push_back(rows.bindings.size());
  }
  source.influences = rows;
  for (const Fitted& fitted : FitAll(testing::MakeRig(source))) {
    EXPECT_GT(fitted.fit.samples, 0u);
    for (std::size_t i = 0; i < fitted.centres.size(); ++i) {
      const Vec3d& c = fitted.centres[i];
      // Halfway between a row of one joint and a shared one.
      EXPECT_FALSE(c.x > 1.07 && c.x < 2.93) << "joint " << fitted.bone.joint << " at " << c.x;
    }
  }
}

// Parallel bones: each field ends at its own skin, not inside the other.
TEST(PartFit, ClosesSidesAtSkinExtent) {
  const std::vector<Fitted> all = FitAll(testing::MakeRig(testing::PalmSource()));
  ASSERT_EQ(all.size(), 2u);
  for (const Fitted& fitted : all) {
    const double side = fitted.bone.root.y;
    const auto value = [&](const Vec3d& at) {
      return fitted.fit.hrbf.Value((1 / fitted.bone.reach) * (at - fitted.fit.centre));
    };
    EXPECT_LT(value({0, side, 0}), -0.15) << "its own bone";
    for (double x = -1.5; x <= 1.5; x += 0.1) {  // at rings and between them
      EXPECT_NEAR(value({x, side, 0.4}), 0, 0.15) << "its own skin";
      // The value at an open side: -0.18 throughout.
      EXPECT_GT(value({x, -0.2 * side, 0}), -0.05) << "beside it";
      EXPECT_GT(value({x, -0.5 * side, 0}), -0.05) << "farther on";
      EXPECT_GT(value({x, -side, 0}), 0) << "the other bone";
    }
  }
}

// The rest pose bends the limb; sections and lengths come from the bind pose.
TEST(PartFit, InvariantToRestPose) {
  RigSource source = testing::CanonicalSource();
  const double c = std::cos(1.2), s = std::sin(1.2);
  RigSource bent = source;
  bent.rest_local[1] = Compose(source.rest_local[1], {{c, -s, 0, 0, s, c, 0, 0, 0, 0, 1, 0}});
  const std::vector<Fitted> straight = FitAll(testing::MakeRig(source)),
                            other = FitAll(testing::MakeRig(bent));
  ASSERT_EQ(straight.size(), other.size());
  for (std::size_t i = 0; i < straight.size(); ++i) {
    ASSERT_EQ(straight[i].centres.size(), other[i].centres.size());
    for (std::size_t k = 0; k < straight[i].centres.size(); ++k) {
      EXPECT_LT(Length(straight[i].centres[k] - other[i].centres[k]), 1e-5);
    }
  }
}

TEST(LimbBones, CanonicalLimb) {
  for (const double scale : {1e-3, 1.0, 1e5}) {
    const Rig rig = testing::CanonicalLimb({.scale = scale});
    const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
    const auto bones = MakeLimbBones(rig, surface);
    ASSERT_EQ(bones.size(), 2u);
    EXPECT_FALSE(bones[0].last);
    EXPECT_TRUE(bones[1].last);
    for (const LimbBone& bone : bones) {
      EXPECT_NEAR(bone.size, scale, 1e-6 * scale);
      EXPECT_NEAR(bone.reach, scale, 1e-6 * scale);
      EXPECT_NEAR(Length(bone.tip - bone.root), 5 * scale, 1e-5 * scale);
      EXPECT_NEAR(bone.direction.x, 1, 1e-9);
    }
  }
}

TEST(PartFit, FitsCylinderAndClosesOpenEnd) {
  const Rig rig = testing::CanonicalLimb();
  const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
  const auto bones = MakeLimbBones(rig, surface);
  for (const LimbBone& bone : bones) {
    const PartFit fit = FitPart(surface, bone, 50, Task());
    EXPECT_EQ(fit.folded, 0);
    EXPECT_FALSE(fit.open);
    // One end cap where the other part follows; the closed end uses its own skin.
    EXPECT_EQ(fit.hrbf.size(), fit.samples + 1 + kCapRing);
    const double side = bone.joint == 0 ? -1 : 1;
    for (double x = 0.5; x <= 4; x += 0.25) {
      EXPECT_LT(std::abs(fit.hrbf.Value(Vec3d{side * x, 1, 0} - fit.centre)), 0.03);
    }
    // The ball that fits between the 32 flat faces.
    EXPECT_NEAR(fit.hrbf.Value(Vec3d{-side, 0, 0} - fit.centre), 0.0043, 5e-4)
        << "top of the end cap";
    for (double x = 5.2; x <= 7; x += 0.1) {
      EXPECT_GT(fit.hrbf.Value(Vec3d{side * x, 0, 0} - fit.centre), 0) << "no second body at " << x;
    }
  }
}

// The bone is off the centre by a quarter of the radius: the end cap stays in the ball that fits on
// the near side, because a bend rotates the far side there; the section follows the skin on both
// sides.
TEST(PartFit, EndCapsStayInsideJointBall) {
  RigSource source = testing::CanonicalSource();
  for (Vec3f& p : source.mesh.positions) p.y += 0.25F;
  const Rig rig = testing::MakeRig(source);
  const LimbSurface surface = MakeLimbSurface(rig, Weld(rig));
  const auto bones = MakeLimbBones(rig, surface);
  ASSERT_EQ(bones.size(), 2u);
  for (const LimbBone& bone : bones) {
    const PartFit fit = FitPart(surface, bone, 50, Task());
    const double out = bone.joint == 0 ? 1 : -1;
    const auto value = [&](double x, double y) {
      return bone.reach * fit.hrbf.Value((1 / bone.reach) * (Vec3d{out * x, y, 0} - fit.centre));
    };
    EXPECT_NEAR(value(0, 1.25), 0, 0.06);
    EXPECT_NEAR(value(0, -0.75), 0, 0.06);
    // Just above the ring, 0.75 from the joint on all sides.
    EXPECT_GT(value(0.53, 0.8), 0.02);
    EXPECT_LT(value(0.53, 0.4), -0.02);
    EXPECT_NEAR(value(0.53, -0.53), 0, 0.06);
  }
}

}  // namespace
}  // namespace sinew
