// The tree of the skin against all triangles.
#include "core/deform/implicit/skin_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/vectors.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

struct Soup {
  std::vector<Vec3d> points;
  std::vector<Corners> triangles;
};

Vec3d RandomPoint(testing::Random& random) {
  const auto next = [&] { return 2.0 * random.Next() - 1; };
  const double x = next(), y = next(), z = next();
  return {x, y, z};
}

// Small triangles along a curve, so that runs are small, and a few large ones among them.
Soup RandomSoup(std::size_t count) {
  testing::Random random(static_cast<std::uint32_t>(count));
  Soup soup;
  for (std::uint32_t i = 0; i < count; ++i) {
    const double at = 0.02 * i, size = i % 50 == 7 ? 2 : 0.1;
    const Vec3d middle = {std::cos(at), std::sin(at), std::sin(0.3 * at)};
    for (std::uint32_t k = 0; k < 3; ++k) {
      soup.points.push_back(middle + size * RandomPoint(random));
    }
    soup.triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  return soup;
}

TEST(SkinTree, VisitsEveryTriangleThatTheRayMeets) {
  for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 65u, 1000u}) {
    const Soup soup = RandomSoup(count);
    const SkinTree tree(soup.points, soup.triangles);
    testing::Random random(5);
    std::size_t visits = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Vec3d from = 1.5 * RandomPoint(random);
      const Corners& t = soup.triangles[i];
      const double u = 0.5 * random.Next(), v = 0.5 * random.Next();
      const Vec3d hit =
          (1 - u - v) * soup.points[t[0]] + u * soup.points[t[1]] + v * soup.points[t[2]];
      const double distance = Length(hit - from);
      std::vector<std::uint32_t> visited;
      tree.VisitAlong(from, Unit(hit - from), distance,
                      [&](std::uint32_t triangle) { visited.push_back(triangle); });
      EXPECT_TRUE(std::ranges::is_sorted(visited));
      EXPECT_EQ(std::ranges::count(visited, i), 1) << count << " " << i;
      visits += visited.size();
    }
    if (count == 1000) {
      EXPECT_LT(visits, count * count / 5) << "most of the skin is skipped";
    }
  }
}

TEST(SkinTree, LeavesOutWhatIsBehindAndBeyond) {
  const Soup soup = {{{1, -1, -1}, {1, 1, -1}, {1, 0, 1}}, {{0, 1, 2}}};
  const SkinTree tree(soup.points, soup.triangles);
  const auto visits = [&](const Vec3d& along, double farthest) {
    int count = 0;
    tree.VisitAlong({-3, 0, 0}, along, farthest, [&](std::uint32_t) { ++count; });
    return count;
  };
  EXPECT_EQ(visits({1, 0, 0}, 4), 1);
  EXPECT_EQ(visits({1, 0, 0}, 2), 0);
  EXPECT_EQ(visits({-1, 0, 0}, 100), 0);
  EXPECT_EQ(visits({0, 1, 0}, 100), 0);
}

}  // namespace
}  // namespace sinew
