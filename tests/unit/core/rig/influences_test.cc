#include "core/rig/influences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sinew {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Influences, SortsMergesPrunesAndNormalises) {
  const auto influences = Influences::Create(
      {.offsets = {0, 4}, .bindings = {2, 0, 2, 1}, .weights = {0.25f, 0.4995f, 0.25f, 1e-7f}}, 3);
  ASSERT_TRUE(influences.ok()) << influences.status();
  EXPECT_THAT(influences->bindings(0), ElementsAre(2, 0));
  EXPECT_DOUBLE_EQ(influences->weights(0)[0] + influences->weights(0)[1], 1);
  EXPECT_GT(influences->weights(0)[0], influences->weights(0)[1]);
  EXPECT_EQ(influences->max_per_vertex(), 2u);
}

TEST(Influences, BreaksTiesByLowerBinding) {
  const auto influences =
      Influences::Create({.offsets = {0, 2}, .bindings = {5, 3}, .weights = {0.5f, 0.5f}}, 6);
  ASSERT_TRUE(influences.ok());
  EXPECT_THAT(influences->bindings(0), ElementsAre(3, 5));
}

TEST(Influences, UsesFallbackForVertexWithoutWeights) {
  const auto influences =
      Influences::Create({.offsets = {0, 0}, .bindings = {}, .weights = {}, .fallback = {4}}, 5);
  ASSERT_TRUE(influences.ok()) << influences.status();
  EXPECT_THAT(influences->bindings(0), ElementsAre(4));
  EXPECT_THAT(influences->weights(0), ElementsAre(1));
}

struct BadCase {
  InfluenceSource source;
  const char* message;
};

TEST(Influences, RejectsBadRows) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const BadCase cases[] = {
      {{{0, 1}, {0}, {0.998f}, {}}, "vertex 0 sums to 0.998, need 1"},
      {{{0, 1, 2}, {0, 0}, {1, 1.002f}, {}}, "vertex 1 sums to 1.002"},
      {{{0, 0, 1}, {0}, {1}, {}}, "fallback_joint (1 vertex)"},
      {{{0, 2}, {0, 1}, {1.5f, -0.5f}, {}}, "-0.5"},
      {{{0, 1}, {0}, {nan}, {}}, "nan"},
      {{{0, 1}, {2}, {1}, {}}, "names 2, need less than 2"},
      {{{0, 3}, {0, 1}, {0.5f, 0.5f}, {}}, "add up to 3"},
      {{{0, 2}, {0, 1}, {1}, {}}, "2 joints and 1 weights"},
      {{{0, 2, 1, 2}, {0, 1}, {1, 1}, {}}, "influence_counts"},
      {{{0, 0}, {}, {}, {2}}, "fallback_joint: got 2, need less than 2"},
      {{{0, 0}, {}, {}, {0, 0}}, "fallback_joint: got 2 rows, need 1"},
  };
  for (const BadCase& bad : cases) {
    const auto influences = Influences::Create(bad.source, 2);
    EXPECT_EQ(influences.status().code(), absl::StatusCode::kInvalidArgument) << bad.message;
    EXPECT_THAT(std::string(influences.status().message()), HasSubstr(bad.message));
  }
}

TEST(Influences, AtMost255PerVertex) {
  const auto spread = [](std::uint32_t bindings, std::uint32_t times) {
    InfluenceSource source;
    for (std::uint32_t k = 0; k < bindings * times; ++k) {
      source.bindings.push_back(k % bindings);
      source.weights.push_back(1 / static_cast<float>(bindings * times));
    }
    source.offsets = {0, source.bindings.size()};
    return Influences::Create(std::move(source), bindings).status();
  };
  EXPECT_TRUE(spread(255, 1).ok());
  EXPECT_TRUE(spread(255, 2).ok()) << "merged, because they are of one binding";
  EXPECT_THAT(std::string(spread(256, 1).message()),
              HasSubstr("influence_counts: vertex 0 has 256 bindings, need 255 or fewer"));
}

TEST(Influences, AcceptsSumsWithinTolerance) {
  for (const float sum : {0.9991f, 1.0009f}) {
    EXPECT_TRUE(Influences::Create({.offsets = {0, 1}, .bindings = {0}, .weights = {sum}}, 1).ok())
        << sum;
  }
}

}  // namespace
}  // namespace sinew
