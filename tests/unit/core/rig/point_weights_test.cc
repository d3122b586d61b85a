#include "core/rig/point_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace sinew {
namespace {

using ::testing::ElementsAre;

// Vertices of two bindings, by the weight of the first.
Influences TwoBindings(const std::vector<float>& first) {
  InfluenceSource source{.offsets = {0}, .bindings = {}, .weights = {}};
  for (const float weight : first) {
    source.bindings.insert(source.bindings.end(), {0, 1});
    source.weights.insert(source.weights.end(), {weight, 1 - weight});
    source.offsets.push_back(source.bindings.size());
  }
  auto influences = Influences::Create(std::move(source), 2);
  EXPECT_TRUE(influences.ok()) << influences.status();
  return *std::move(influences);
}

WeldedPoints Places(std::vector<std::uint32_t> point) {
  WeldedPoints places;
  for (std::uint32_t v = 0; v < point.size(); ++v) {
    if (point[v] == places.first.size()) places.first.push_back(v);
  }
  places.point = std::move(point);
  return places;
}

WeldedPoints OnePlace(std::size_t vertices) {
  return Places(std::vector<std::uint32_t>(vertices, 0));
}

std::vector<double> First(const Influences& influences) {
  std::vector<double> first;
  for (std::size_t v = 0; v < influences.vertices(); ++v) {
    for (std::size_t k = 0; k < influences.bindings(v).size(); ++k) {
      if (influences.bindings(v)[k] == 0) first.push_back(influences.weights(v)[k]);
    }
  }
  return first;
}

TEST(PointWeights, UnitesRowsThatDifferByRounding) {
  const Influences own = TwoBindings({0.75F, 0.7509F, 0.2F});
  const auto united = PointWeights(own, Places({0, 0, 1}));
  ASSERT_TRUE(united.has_value());
  const std::vector<double> was = First(own);
  EXPECT_THAT(First(*united), ElementsAre(was[0], was[0], was[2]));
}

TEST(PointWeights, KeepsRowsThatDifferByMore) {
  EXPECT_FALSE(PointWeights(TwoBindings({0.75F, 0.7511F}), OnePlace(2)).has_value());
}

TEST(PointWeights, KeepsRowsOfDifferentPlaces) {
  EXPECT_FALSE(PointWeights(TwoBindings({0.75F, 0.7509F}), Places({0, 1})).has_value());
}

TEST(PointWeights, KeepsEqualRows) {
  EXPECT_FALSE(PointWeights(TwoBindings({0.75F, 0.75F}), OnePlace(2)).has_value());
}

TEST(PointWeights, CountsAbsentBindingsAsZero) {
  const auto united = PointWeights(TwoBindings({1, 0.9995F}), OnePlace(2));
  ASSERT_TRUE(united.has_value());
  EXPECT_EQ(united->bindings(0).size(), united->bindings(1).size());
}

TEST(PointWeights, UnitesChains) {
  const auto united = PointWeights(TwoBindings({0.5F, 0.502F, 0.501F, 0.6F}), OnePlace(4));
  ASSERT_TRUE(united.has_value());
  EXPECT_THAT(First(*united), ElementsAre(0.5, 0.5, 0.5, First(TwoBindings({0.6F}))[0]));
}

TEST(PointWeights, DoesNotDependOnVertexOrder) {
  std::vector<float> first = {0.3F, 0.3004F, 0.3009F, 0.31F, 0.3101F, 0.5F};
  std::sort(first.begin(), first.end());
  do {
    const auto united = PointWeights(TwoBindings(first), OnePlace(first.size()));
    ASSERT_TRUE(united.has_value());
    const std::vector<double> got = First(*united);
    for (std::size_t v = 0; v < first.size(); ++v) {
      const float want = first[v] < 0.305F ? 0.3F : first[v] < 0.4F ? 0.31F : 0.5F;
      ASSERT_NEAR(got[v], double{want}, 1e-7);
    }
  } while (std::next_permutation(first.begin(), first.end()));
}

TEST(PointWeights, KeepsCrowdedPlaces) {
  std::vector<float> first(65);
  for (std::size_t v = 0; v < first.size(); ++v) first[v] = 0.2F + 0.0001F * static_cast<float>(v);
  EXPECT_FALSE(PointWeights(TwoBindings(first), OnePlace(65)).has_value());
  first.pop_back();
  EXPECT_TRUE(PointWeights(TwoBindings(first), OnePlace(64)).has_value());
}

}  // namespace
}  // namespace sinew
