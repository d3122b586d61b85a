// 16-bit rows of neighbours and weights round-trip.
#include "core/deform/implicit/surface/neighbour_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/deform/implicit/field/poisson_disk.h"

namespace sinew {
namespace {

using Rows = std::vector<std::vector<std::uint32_t>>;

NeighbourRows Make(const Rows& rows) {
  std::vector<std::uint32_t> offsets = {0}, neighbours;
  for (const auto& row : rows) {
    neighbours.insert(neighbours.end(), row.begin(), row.end());
    offsets.push_back(static_cast<std::uint32_t>(neighbours.size()));
  }
  return {offsets, neighbours};
}

void ExpectRows(const NeighbourRows& rows, const Rows& expected) {
  for (std::size_t p = 0; p < expected.size(); ++p) {
    ASSERT_EQ(rows.RowSize(p), expected[p].size()) << p;
    for (std::size_t k = 0; k < expected[p].size(); ++k) {
      ASSERT_EQ(rows.At(p, rows.begin(p) + k), expected[p][k]) << p;
    }
  }
}

TEST(NeighbourRows, StoresNearAndFarNeighbours) {
  constexpr std::uint32_t kPoints = 200'000;
  const std::vector<std::int64_t> steps = {1,      -1,      32'767, -32'767,
                                           32'768, -32'768, 32'769, 150'000};
  Rows expected(kPoints);
  for (std::uint32_t p = 0; p < kPoints; ++p) {
    for (const std::int64_t step : steps) {
      const std::int64_t q = p + step;
      if (q >= 0 && q < kPoints && p % 3 != 0) {
        expected[p].push_back(static_cast<std::uint32_t>(q));
      }
    }
  }
  const NeighbourRows rows = Make(expected);
  EXPECT_TRUE(rows.Fits(kPoints));
  EXPECT_FALSE(rows.Fits(kPoints - 1));
  EXPECT_FALSE(rows.Fits(kPoints + 1));
  ExpectRows(rows, expected);
}

// The hub of a fan has more neighbours than 16 bits can count, at any index.
TEST(NeighbourRows, RejectsDamagedFarLists) {
  constexpr std::uint32_t kPoints = 100'000;
  Rows far(kPoints);
  for (std::uint32_t p = 0; p < 4; ++p) far[p] = {p + 1, kPoints - 1 - p};
  // Modifies the far lists of rows with four far entries.
  const auto fits = [&](std::string_view list, auto change) {
    NeighbourRows rows = Make(far);
    NeighbourRows::Fields(rows, [&]<class T>(std::string_view name, T& member, const auto&...) {
      if constexpr (std::is_same_v<T, std::vector<std::uint32_t>>) {
        if (name == list) change(member);
      }
    });
    return rows.Fits(kPoints);
  };
  using List = std::vector<std::uint32_t>;
  EXPECT_TRUE(fits("row_far_entry", [](List& list) { ASSERT_EQ(list.size(), 4u); }));
  EXPECT_FALSE(fits("row_far_entry", [](List& list) { std::swap(list[1], list[2]); }));
  EXPECT_FALSE(fits("row_far_entry", [](List& list) { list = {list[0], 0, 0, 0}; }));
  EXPECT_FALSE(fits("row_far_entry", [](List& list) { list.back() = 1 << 30; }));
  EXPECT_FALSE(fits("row_far_point", [](List& list) { list[2] = kPoints; }));
  EXPECT_TRUE(fits("row_far_point", [](List& list) { list[2] = 0; }));
}

TEST(NeighbourRows, StoresHub) {
  constexpr std::uint32_t kPoints = 70'000;
  for (const std::uint32_t hub : {0u, 31u, 32u, kPoints - 1}) {
    Rows expected(kPoints, std::vector<std::uint32_t>{hub});
    for (std::uint32_t p = 0; p < kPoints; ++p) expected[hub].push_back(p);
    const NeighbourRows rows = Make(expected);
    EXPECT_TRUE(rows.Fits(kPoints)) << hub;
    ExpectRows(rows, expected);
  }
}

// A row of weights each, and as many neighbours.
TEST(NeighbourRows, WeightsAreExact) {
  CounterRandom random(3);
  Rows rows;
  std::vector<std::uint16_t> weights;
  for (const std::size_t size : {1, 2, 6, 7, 0, 40, 50'000}) {
    std::vector<double> row(size);
    for (double& weight : row) weight = std::pow(random.Next(), 4) + 1e-9;
    rows.emplace_back(size, 0);
    const std::size_t first = weights.size();
    AddWeights(row, weights);
    ASSERT_EQ(weights.size(), first + size);
    const double whole = std::accumulate(row.begin(), row.end(), 0.0);
    const double total =
        std::accumulate(weights.end() - static_cast<std::ptrdiff_t>(size), weights.end(), 0.0);
    for (std::size_t k = 0; k < size; ++k) {
      ASSERT_NEAR(weights[first + k] / total, row[k] / whole, 1.0 / kLargestWeight) << size;
    }
  }
  AddWeights(std::vector<double>(5, 0.125), weights);
  rows.emplace_back(5, 0);
  for (std::size_t k = weights.size() - 5; k < weights.size(); ++k) {
    EXPECT_EQ(weights[k], kLargestWeight);
  }
  AddWeights(std::vector<double>(4, 0.0), weights);
  rows.emplace_back(4, 0);
  const NeighbourRows made = Make(rows);
  ASSERT_TRUE(AreWeights(made, rows.size(), weights));
  weights.back() = 1;
  EXPECT_FALSE(AreWeights(made, rows.size(), weights));
  weights.pop_back();
  EXPECT_FALSE(AreWeights(made, rows.size(), weights));
}

}  // namespace
}  // namespace sinew
