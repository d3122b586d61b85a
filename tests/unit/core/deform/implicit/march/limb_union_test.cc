#include "core/deform/implicit/march/limb_union.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/deform/implicit/field.h"
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

// The points are beyond the first part, and at 5 in the second, which reaches farther. Omits parts
// that are not needed.
class FarPart : public testing::RoundedLimb {
 public:
  FarPart() : RoundedLimb(std::array<AffineD, 2>{}) {}
  PartBlocks Distances(const PointBlock&, const DistanceNeed& need) const override {
    PartBlocks parts(need.own[0] == 1 || 1 + need.margin[0] > 5 ? 2 : 1);
    for (std::uint32_t b = 0; b < parts.size(); ++b) {
      parts[b].part = b;
      std::ranges::fill(parts[b].value, b == 0 ? 1.0f : 5.0f);
    }
    return parts;
  }
  float Reach(std::uint32_t part) const override { return part == 0 ? 1 : 10; }
};

TEST(LimbUnion, FindsPartThatReachesFarther) {
  for (std::uint16_t likely = 0; likely < 2; ++likely) {
    std::array<std::uint16_t, kLanes> guess;
    guess.fill(likely);
    const auto got = UnionAt(FarPart(), SomePoints(1), guess);
    EXPECT_EQ(got[3].part, 1) << likely;
    EXPECT_EQ(got[3].f, 5) << likely;
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
