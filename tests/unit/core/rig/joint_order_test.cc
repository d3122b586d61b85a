#include "core/rig/joint_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sinew {
namespace {

Skeleton Tree(const std::vector<std::uint32_t>& parents) {
  std::vector<SkeletonJoint> joints;
  for (const std::uint32_t parent : parents) {
    joints.push_back({.name = "joint" + std::to_string(joints.size()), .parent = parent});
  }
  auto skeleton = Skeleton::Create(joints, std::vector<AffineD>(joints.size()));
  EXPECT_TRUE(skeleton.ok()) << skeleton.status();
  return *std::move(skeleton);
}

bool Climbs(const std::vector<std::uint32_t>& parents, std::uint32_t joint,
            std::uint32_t ancestor) {
  while (joint != ancestor && joint != kNoParent) joint = parents[joint];
  return joint == ancestor;
}

// Parents precede their children, not necessarily directly: bushes, chains and several roots.
TEST(JointOrder, MatchesParentWalk) {
  std::mt19937 random(1);
  for (const std::uint32_t reach : {1u, 2u, 10u, 200u}) {
    std::vector<std::uint32_t> parents;
    for (std::uint32_t j = 0; j < 150; ++j) {
      const bool root = j == 0 || (reach > 1 && random() % 60 == 0);
      const auto back = static_cast<std::uint32_t>(random() % std::max(1u, std::min(j, reach)));
      parents.push_back(root ? kNoParent : j - 1 - back);
    }
    const JointOrder order(Tree(parents));
    for (std::uint32_t a = 0; a < parents.size(); ++a) {
      for (std::uint32_t b = 0; b < parents.size(); ++b) {
        ASSERT_EQ(order.IsOrDescends(a, b), Climbs(parents, a, b)) << a << " " << b;
        std::uint32_t common = a;
        while (common != kNoParent && !Climbs(parents, b, common)) common = parents[common];
        ASSERT_EQ(order.LowestCommon(a, b), common) << a << " " << b;
      }
    }
  }
}

TEST(JointOrder, EntriesFollowPreorder) {
  const JointOrder order(Tree({kNoParent, 0, kNoParent, 0, 1, 2}));
  EXPECT_EQ(order.entry(0), 0u);
  EXPECT_EQ(order.end(0), 4u);
  EXPECT_EQ(order.entry(1), 1u);
  EXPECT_EQ(order.entry(4), 2u);
  EXPECT_EQ(order.entry(3), 3u);
  EXPECT_EQ(order.entry(2), 4u);
  EXPECT_EQ(order.end(5), 6u);
}

}  // namespace
}  // namespace sinew
