#include "core/fit/distance_grid.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

namespace sinew::fit {
namespace {

using Cells = std::array<std::int32_t, 3>;

int SquaredDistance(const Cells& cells, std::size_t a, std::size_t b) {
  int sum = 0;
  for (const std::int32_t count : cells) {
    const auto size = static_cast<std::size_t>(count);
    const int apart = static_cast<int>(a % size) - static_cast<int>(b % size);
    sum += apart * apart;
    a /= size;
    b /= size;
  }
  return sum;
}

TEST(FindNearest, EqualsExhaustiveSearch) {
  std::mt19937 random(7);
  for (const Cells& cells : {Cells{1, 1, 1}, Cells{9, 1, 4}, Cells{13, 11, 7}, Cells{5, 17, 6}}) {
    const std::size_t n = static_cast<std::size_t>(cells[0] * cells[1] * cells[2]);
    for (const double share : {0.01, 0.2, 0.9}) {
      std::vector<std::uint8_t> source(n);
      for (std::uint8_t& cell : source) cell = std::uniform_real_distribution<>()(random) < share;
      source[random() % n] = 1;
      const NearestCells nearest = FindNearest(cells, source, Task());
      for (std::size_t c = 0; c < n; ++c) {
        int least = 1 << 30;
        for (std::size_t d = 0; d < n; ++d) {
          if (source[d]) least = std::min(least, SquaredDistance(cells, c, d));
        }
        ASSERT_EQ(nearest.distance[c], std::sqrt(static_cast<float>(least))) << c;
        ASSERT_EQ(source[nearest.source[c]], 1);
        ASSERT_EQ(SquaredDistance(cells, c, nearest.source[c]), least);
      }
    }
  }
}

TEST(FindNearest, WithoutSourcesEverythingIsFar) {
  const NearestCells nearest = FindNearest({3, 3, 3}, std::vector<std::uint8_t>(27, 0), Task());
  EXPECT_GT(*std::ranges::min_element(nearest.distance), 1000);
}

TEST(FindNearest, ThreadsDoNotChangeTheResult) {
  const Cells cells = {40, 41, 42};
  std::vector<std::uint8_t> source(40 * 41 * 42, 0);
  std::mt19937 random(3);
  for (int k = 0; k < 50; ++k) source[random() % source.size()] = 1;
  const NearestCells one = FindNearest(cells, source, Task({.parallel = false}));
  const NearestCells many = FindNearest(cells, source, Task());
  EXPECT_EQ(one.source, many.source);
  EXPECT_EQ(one.distance, many.distance);
}

}  // namespace
}  // namespace sinew::fit
