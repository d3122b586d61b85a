#include "core/deform/implicit/march/limb_union.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/deform/implicit/field/limb_field.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/run_method.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

// A chain of parts, bent so that several reach each point.
struct Chain {
  Chain() : rig(testing::TubeRig({.joints = 4})) {
    Task task;
    field = testing::ValueOrDie(LimbField::Bind(rig, Weld(rig), 50, task));
    joints = testing::BendPose(rig, 60);
    pose.joints = joints;
  }
  Rig rig;
  LimbField field;
  std::vector<Affine> joints;
  PosedRig pose;
};

PointBlock SomePoints(float reach) {
  PointBlock block;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const auto k = static_cast<float>(i);
    block.Set(i, {reach * std::sin(k), reach * std::sin(2 * k), 0.3f * std::cos(3 * k)});
  }
  return block;
}

TEST(LimbUnion, IsLeastDistanceWhateverPartIsLikely) {
  const Chain chain;
  const PosedLimbField posed(chain.field, chain.pose);
  ASSERT_EQ(chain.field.parts(), 4u);
  for (const float reach : {0.5f, 1.5f, 3.0f}) {
    const PointBlock points = SomePoints(reach);
    DistanceNeed all;
    all.margin.fill(std::numeric_limits<float>::infinity());
    const PartBlocks parts = posed.Distances(points, all);
    for (std::uint16_t likely = 0; likely < 4; ++likely) {
      std::array<std::uint16_t, kLanes> guess;
      for (std::size_t i = 0; i < kLanes; ++i) {
        guess[i] = static_cast<std::uint16_t>((likely + i) % 4);
      }
      const auto got = UnionAt(posed, points, guess);
      for (std::size_t i = 0; i < kLanes; ++i) {
        UnionValue want;
        for (const PartBlock& part : parts) {
          if (part.value[i] < want.f && part.value[i] < posed.Reach(part.part)) {
            want.f = part.value[i];
            want.gradient = {part.x[i], part.y[i], part.z[i]};
            want.part = static_cast<std::uint16_t>(part.part);
          }
        }
        EXPECT_EQ(got[i].f, want.f) << i << ", " << likely;
        EXPECT_EQ(got[i].part, want.part) << i << ", " << likely;
        EXPECT_EQ(got[i].gradient, want.gradient) << i << ", " << likely;
      }
    }
  }
}

TEST(LimbUnion, InfiniteBeyondAllParts) {
  const testing::RoundedLimb limb(std::array<AffineD, 2>{});
  const auto got = UnionAt(limb, SomePoints(1e6f), std::array<std::uint16_t, kLanes>{});
  EXPECT_TRUE(std::isinf(got[1].f));
  EXPECT_EQ(got[1].part, kNoPart);
  EXPECT_EQ(got[1].gradient, Vec3d{});
}

}  // namespace
}  // namespace sinew
