// Turns of joints, and the poses made of them.
#include "core/distil/pose_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/vectors.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

constexpr double kPi = std::numbers::pi;

// A chain whose joints are turned, moved and scaled at rest.
Skeleton Chain() {
  const Mat3d turned = RotationOf({0.4, -1.2, 0.3});
  AffineD local;
  for (std::size_t k = 0; k < 9; ++k) local.m[k / 3 * 4 + k % 3] = 1.5 * turned.m[k];
  local.m[3] = 0.2;
  local.m[7] = 1;
  return *Skeleton::Create({{.name = "a"}, {.name = "b", .parent = 0}, {.name = "c", .parent = 1}},
                           {local, local, local});
}

TEST(PoseSamples, TurnOfRotationIsTheTurn) {
  testing::Random random;
  for (int k = 0; k < 1000; ++k) {
    const Vec3d axis = Unit({random.Next() - 0.5, random.Next() - 0.5, random.Next() - 0.5});
    for (const double angle : {0.0, 1e-9, 0.3, 2.0, kPi - 1e-6}) {
      EXPECT_LT(Length(TurnOf(RotationOf(angle * axis)) - angle * axis), 1e-9) << angle;
    }
  }
}

TEST(PoseSamples, MeterMeasuresTheTurnsOfPose) {
  const Skeleton skeleton = Chain();
  const std::vector<Vec3d> turns = {{0.5, 0, -0.2}, {0, 2.5, 0}, {-0.1, -0.2, 1.1}};
  const std::vector<Vec3d> measured = TurnMeter(skeleton).Measure(TurnedPose(skeleton, turns));
  for (std::size_t j = 0; j < 3; ++j) EXPECT_LT(Length(measured[j] - turns[j]), 1e-9) << j;
}

TEST(PoseSamples, NoTurnIsRest) {
  const Skeleton skeleton = Chain();
  const std::vector<AffineD> pose = TurnedPose(skeleton, std::vector<Vec3d>(3));
  for (std::size_t j = 0; j < 3; ++j) {
    for (std::size_t k = 0; k < 12; ++k) {
      EXPECT_NEAR(pose[j].m[k], skeleton.rest_model()[j].m[k], 1e-12);
    }
  }
}

TEST(PoseSamples, RandomTurnsAreThoseOfSeedAndPose) {
  const std::vector<TurnRange> ranges(2, TurnRange{.low = {-1, 0, 0.5}, .high = {1, 2, 0.5}});
  const Vec3d turn = RandomTurns(ranges, 1, 7)[1];
  EXPECT_EQ(turn, RandomTurns(ranges, 1, 7)[1]);
  EXPECT_FALSE(turn == RandomTurns(ranges, 2, 7)[1]);
  EXPECT_FALSE(turn == RandomTurns(ranges, 1, 8)[1]);
  EXPECT_FALSE(turn == RandomTurns(ranges, 1, 7)[0]);
  double low = 1, high = -1;
  for (std::uint64_t pose = 0; pose < 1000; ++pose) {
    const Vec3d one = RandomTurns(ranges, 1, pose)[0];
    EXPECT_EQ(one.z, 0.5);
    low = std::min(low, one.x);
    high = std::max(high, one.x);
  }
  EXPECT_TRUE(low >= -1 && low < -0.98 && high <= 1 && high > 0.98) << low << " " << high;
}

TEST(PoseSamples, FreeRangeTurnsNoFartherThanItsAngle) {
  const std::vector<TurnRange> ranges(1, FreeRange(0.6));
  for (std::uint64_t pose = 0; pose < 300; ++pose) {
    EXPECT_LE(Length(RandomTurns(ranges, 5, pose)[0]), 0.6 + 1e-12);
  }
  for (const Vec3d& turn : SpanningTurns(ranges[0])) EXPECT_LE(Length(turn), 0.6 + 1e-12);
}

TEST(PoseSamples, RangesHoldPosesAndRest) {
  const std::vector<std::vector<Vec3d>> poses = {{{0.5, 1, -1}}, {{1, 2, -2}}};
  const TurnRange range = RangesOf(poses, 1, 0.2)[0];
  EXPECT_LT(Length(range.low - Vec3d{-0.1, -0.2, -2.2}), 1e-12);
  EXPECT_LT(Length(range.high - Vec3d{1.1, 2.2, 0.2}), 1e-12);
}

TEST(PoseSamples, SpanningTurnsAreApart) {
  EXPECT_EQ(SpanningTurns(FreeRange(0.6)).size(), 21u);
  EXPECT_EQ(SpanningTurns({}).size(), 1u);
  const std::vector<Vec3d> hinge = SpanningTurns({.low = {0, 0, 0}, .high = {1, 0, 0}});
  ASSERT_EQ(hinge.size(), 3u);
  EXPECT_EQ(hinge[0], Vec3d{});
}

TEST(PoseSamples, ThirdIsHeldOutButNeverRest) {
  const std::vector<std::size_t> first = HeldOutPoses(100, 1), second = HeldOutPoses(100, 2);
  EXPECT_EQ(first.size(), 33u);
  EXPECT_NE(first, second);
  for (const auto& poses : {first, second}) {
    EXPECT_TRUE(std::ranges::is_sorted(poses));
    EXPECT_EQ(std::set(poses.begin(), poses.end()).size(), 33u);
    EXPECT_TRUE(poses.front() >= 1 && poses.back() < 100);
  }
  EXPECT_TRUE(HeldOutPoses(1, 1).empty());
}

}  // namespace
}  // namespace sinew
