// The joints that may carry a vertex: those of its surroundings.
#include "core/examples/candidates.h"

#include <gtest/gtest.h>

#include <vector>

namespace sinew {
namespace {

// Ten points in a row; joint 0 carries the first five, joint 1 the others, joint 2 also the last.
constexpr std::size_t kPoints = 10;

Candidates Found(std::size_t rings, std::size_t most) {
  const auto own = CollectRows<JointWeight>(kPoints, [](const auto& add) {
    for (std::size_t p = 0; p < kPoints; ++p) {
      const bool last = p == 9;
      add(p, JointWeight{p < 5 ? 0u : 1u, last ? 0.75 : 1});
      if (last) add(p, JointWeight{2, 0.25});
    }
  });
  const auto row = CollectRows<std::uint32_t>(kPoints, [](const auto& add) {
    for (std::uint32_t p = 0; p < kPoints; ++p) {
      if (p > 0) add(p, p - 1);
      if (p + 1 < kPoints) add(p, p + 1);
    }
  });
  return FindCandidates(own, 3, row.offsets, row.values, rings, most, Task());
}

std::vector<std::uint32_t> Joints(const Candidates& found, std::size_t p) {
  std::vector<std::uint32_t> joints;
  for (const JointWeight& entry : found.rows.row(p)) joints.push_back(entry.joint);
  return joints;
}
using List = std::vector<std::uint32_t>;

TEST(Candidates, ReachAsFarAsTheRings) {
  EXPECT_EQ(Joints(Found(0, 8), 4), List{0});
  EXPECT_EQ(Joints(Found(1, 8), 4), (List{0, 1}));
  EXPECT_EQ(Joints(Found(1, 8), 3), List{0});
  EXPECT_EQ(Joints(Found(3, 8), 2), (List{0, 1}));
  EXPECT_EQ(Joints(Found(3, 8), 6), (List{0, 1, 2}));
}

TEST(Candidates, OwnJointsStayAndTheNearestOfOthers) {
  const Candidates two = Found(8, 2);
  EXPECT_EQ(Joints(two, 9), (List{1, 2}));  // joint 0 is farther
  EXPECT_EQ(Joints(two, 5), (List{0, 1}));
  EXPECT_EQ(Joints(Found(8, 1), 9), (List{1, 2}));  // both are its own
  const auto row = two.rows.row(5);
  EXPECT_EQ(row[0].weight, 0);
  EXPECT_EQ(row[1].weight, 1);
  EXPECT_GT(two.reach[two.rows.offsets[5] + 1], two.reach[two.rows.offsets[5]]);
}

TEST(Candidates, RowsAreFilledUpByReach) {
  const Candidates found = Found(8, 3);
  Rows<JointWeight> one{.offsets = {0}, .values = {}};
  for (std::size_t p = 0; p < kPoints; ++p) {
    one.values.push_back({1, 1});
    one.offsets.push_back(p + 1);
  }
  const Rows<JointWeight> two = FillUp(one, found, 2), all = FillUp(one, found, 8);
  const auto row = [](const Rows<JointWeight>& rows, std::size_t p) {
    return std::vector<JointWeight>(rows.row(p).begin(), rows.row(p).end());
  };
  EXPECT_EQ(row(two, 5), (std::vector<JointWeight>{{0, 0}, {1, 1}}));  // joint 2 is farther
  EXPECT_EQ(row(two, 9), (std::vector<JointWeight>{{1, 1}, {2, 0}}));
  EXPECT_EQ(row(all, 9), (std::vector<JointWeight>{{0, 0}, {1, 1}, {2, 0}}));
  EXPECT_EQ(row(FillUp(all, found, 1), 9), row(all, 9));
}

}  // namespace
}  // namespace sinew
