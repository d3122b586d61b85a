// Rows of neighbours and weights in 16 bits: what goes in comes out.
#include "core/deform/implicit/neighbour_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/field/poisson_disk.h"

namespace sinew {
namespace {

TEST(NeighbourRows, KeepsNeighboursNearAndFar) {
  constexpr std::uint32_t kPoints = 200'000;
  const std::vector<std::int64_t> steps = {1,      -1,      32'767, -32'767,
                                           32'768, -32'768, 32'769, 150'000};
  NeighbourRows rows;
  std::vector<std::vector<std::uint32_t>> expected(kPoints);
  for (std::uint32_t p = 0; p < kPoints; ++p) {
    for (const std::int64_t step : steps) {
      const std::int64_t q = p + step;
      if (q >= 0 && q < kPoints && (p % 3 != 0))
        expected[p].push_back(static_cast<std::uint32_t>(q));
    }
    rows.AddRow(expected[p]);
  }
  EXPECT_TRUE(rows.Fits(kPoints));
  EXPECT_FALSE(rows.Fits(kPoints - 1));
  for (std::uint32_t p = 0; p < kPoints; ++p) {
    ASSERT_EQ(rows.RowSize(p), expected[p].size()) << p;
    for (std::size_t k = 0; k < rows.RowSize(p); ++k) {
      ASSERT_EQ(rows.At(p, rows.begin(p) + k), expected[p][k]) << p;
    }
  }
}

TEST(NeighbourRows, WeightsAreExactToTheLastBit) {
  CounterRandom random(3);
  NeighbourRows rows;
  std::vector<std::uint16_t> weights;
  const std::vector<std::size_t> sizes = {1, 2, 6, 7, 0, 40, 100'000};
  for (const std::size_t size : sizes) {
    std::vector<double> row(size);
    for (double& weight : row) weight = std::pow(random.Next(), 4) + 1e-9;
    rows.AddRow(std::vector<std::uint32_t>(size, 0));
    const std::size_t first = weights.size();
    AddWeights(row, weights);
    ASSERT_EQ(weights.size(), first + size);
    const double whole = std::accumulate(row.begin(), row.end(), 0.0);
    const double total =
        std::accumulate(weights.begin() + std::ssize(weights) - static_cast<std::ptrdiff_t>(size),
                        weights.end(), 0.0);
    for (std::size_t k = 0; k < size; ++k) {
      ASSERT_NEAR(weights[first + k] / total, row[k] / whole, 1.0 / kLargestWeight) << size;
    }
  }
  AddWeights(std::vector<double>(5, 0.125), weights);
  rows.AddRow(std::vector<std::uint32_t>(5, 0));
  for (std::size_t k = weights.size() - 5; k < weights.size(); ++k) {
    EXPECT_EQ(weights[k], kLargestWeight);
  }
  AddWeights(std::vector<double>(4, 0.0), weights);
  rows.AddRow(std::vector<std::uint32_t>(4, 0));
  const std::size_t points = sizes.size() + 2;
  ASSERT_TRUE(AreWeights(rows, points, weights));
  weights.back() = 1;
  EXPECT_FALSE(AreWeights(rows, points, weights));
  weights.pop_back();
  EXPECT_FALSE(AreWeights(rows, points, weights));
}

}  // namespace
}  // namespace sinew
