// Joints that could move a vertex of a strip.
#include "core/distil/joint_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sinew {
namespace {

constexpr std::size_t kStrip = 3000, kEvery = 10;

// Vertices in a row; every ten have a joint of their own.
struct Strip {
  Rows<JointWeight> own = CollectRows<JointWeight>(kStrip, [](const auto& add) {
    for (std::uint32_t i = 0; i < kStrip; ++i) {
      add(i, {i / static_cast<std::uint32_t>(kEvery), 1});
    }
  });
  Rows<std::uint32_t> neighbours = CollectRows<std::uint32_t>(kStrip, [](const auto& add) {
    for (std::uint32_t i = 0; i < kStrip; ++i) {
      if (i > 0) add(i, i - 1);
      if (i + 1 < kStrip) add(i, i + 1);
    }
  });
};

bool All(std::size_t, std::uint32_t) {
  return true;
}

std::vector<std::uint32_t> JointsOf(const Rows<JointWeight>& rows, std::size_t i) {
  std::vector<std::uint32_t> joints;
  for (const JointWeight& entry : rows.row(i)) joints.push_back(entry.joint);
  return joints;
}

TEST(JointCandidates, ReachAsFarAsTheRings) {
  const Strip strip;
  const Rows<JointWeight> rows = JointCandidates(strip.own, strip.neighbours, 3, 16, All, Task());
  EXPECT_EQ(JointsOf(rows, 15), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(JointsOf(rows, 17), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(JointsOf(rows, 12), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(rows.row(17)[0].weight, 1);
  EXPECT_EQ(rows.row(17)[1].weight, 0);
}

TEST(JointCandidates, OwnJointsStayAndStrongestOthersFollow) {
  const Strip strip;
  const Rows<JointWeight> one = JointCandidates(strip.own, strip.neighbours, 12, 1, All, Task());
  EXPECT_EQ(JointsOf(one, 19), (std::vector<std::uint32_t>{1}));
  const Rows<JointWeight> two = JointCandidates(strip.own, strip.neighbours, 12, 2, All, Task());
  EXPECT_EQ(JointsOf(two, 18), (std::vector<std::uint32_t>{1, 2}));  // 2 is nearer than 0
}

TEST(JointCandidates, ForbiddenJointsDoNotSpread) {
  const Strip strip;
  const auto odd = [](std::size_t, std::uint32_t joint) { return joint % 2 == 1; };
  const Rows<JointWeight> rows = JointCandidates(strip.own, strip.neighbours, 12, 16, odd, Task());
  EXPECT_EQ(JointsOf(rows, 25), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(JointsOf(rows, 15), (std::vector<std::uint32_t>{1}));
}

TEST(JointCandidates, ThreadsDoNotMatter) {
  const Strip strip;
  const Task alone({.parallel = false});
  EXPECT_EQ(JointCandidates(strip.own, strip.neighbours, 30, 4, All, alone).values,
            JointCandidates(strip.own, strip.neighbours, 30, 4, All, Task()).values);
}

TEST(JointCandidates, LoneVerticesKeepTheirs) {
  const Rows<JointWeight> own{.offsets = {0, 2}, .values = {{3, 0.25}, {5, 0.75}}};
  const Rows<std::uint32_t> none{.offsets = {0, 0}, .values = {}};
  EXPECT_EQ(JointCandidates(own, none, 12, 16, All, Task()).values, own.values);
}

}  // namespace
}  // namespace sinew
