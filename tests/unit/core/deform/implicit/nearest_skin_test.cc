#include "core/deform/implicit/skin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <tuple>
#include <vector>

namespace sinew {
namespace {

using Place = NearestSkin::Place;

// By brute force.
const Vec3d& Nearest(const std::vector<Place>& places, const Vec3d& at) {
  const auto key = [&](const Place& place) {
    const Vec3d d = place.at - at;
    return std::tuple(d.x * d.x + d.y * d.y + d.z * d.z, place.at.x, place.at.y, place.at.z);
  };
  return std::ranges::min_element(places, {}, key)->at;
}

// Points on a grid, so that many are equally far from a point between them.
std::vector<Place> Lattice(int side) {
  std::vector<Place> places;
  for (int i = 0; i < side * side * side; ++i) {
    const double x = i % side, y = i / side % side, z = i / side / side;
    places.push_back({{0.1 * x, 0.1 * y, 0.1 * z}, static_cast<std::uint32_t>(i)});
  }
  return places;
}

TEST(NearestSkin, NearestAndFirstAmongTies) {
  const std::vector<Place> places = Lattice(9);
  const NearestSkin skin(places);
  std::mt19937 random(7);
  std::uniform_int_distribution<int> cell(-4, 20);
  for (int trial = 0; trial < 2000; ++trial) {
    // Half steps: corners, edges, faces and centres of cells, inside and outside.
    const Vec3d at = {0.05 * cell(random), 0.05 * cell(random), 0.05 * cell(random)};
    const Vec3d found = places[skin.Find(at)].at, expected = Nearest(places, at);
    EXPECT_EQ(std::tie(found.x, found.y, found.z), std::tie(expected.x, expected.y, expected.z))
        << at.x << " " << at.y << " " << at.z;
  }
}

TEST(NearestSkin, IndependentOfOrder) {
  std::vector<Place> places = Lattice(6);
  const NearestSkin skin(places);
  std::ranges::shuffle(places, std::mt19937(3));
  const NearestSkin shuffled(places);
  for (int i = 0; i < 11 * 11 * 11; ++i) {
    const Vec3d at = {0.05 * (i % 11), 0.05 * (i / 11 % 11), 0.05 * (i / 121)};
    EXPECT_EQ(skin.Find(at), shuffled.Find(at));
  }
}

TEST(NearestSkin, OneZeroAndManyCoincidentPoints) {
  EXPECT_TRUE(NearestSkin({}).empty());
  EXPECT_EQ(NearestSkin({{{1, 2, 3}, 5}}).Find({-9, 0, 1e30}), 5u);
  EXPECT_EQ(NearestSkin(std::vector<Place>(100, {{1, 2, 3}, 8})).Find({1, 2, 3}), 8u);
}

}  // namespace
}  // namespace sinew
