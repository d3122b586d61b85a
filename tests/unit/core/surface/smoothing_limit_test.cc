// Where smoothing is limited, and the resulting neighbour weights.
#include "core/surface/smoothing_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "tests/support/run_method.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

struct Smoothing {
  explicit Smoothing(const Rig& rig)
      : welded(Weld(rig)),
        weights(CotangentWeights(rig.mesh(), welded, TriangleNeighbours(rig.mesh(), welded),
                                 NegativeWeights::kClamp)) {
    for (const std::uint32_t v : welded.first) {
      rest.push_back(ToDouble(rig.mesh().positions()[v]));
    }
  }
  WeldedPoints welded;
  NeighbourWeights weights;
  std::vector<Vec3d> rest;  // [P]
};

// Rest points with their distance from the x axis multiplied by `part`.
std::vector<Vec3d> Thinner(std::vector<Vec3d> points, double part) {
  for (Vec3d& p : points) p = {p.x, part * p.y, part * p.z};
  return points;
}

TEST(SmoothingLimit, OneWhereAreaIsKept) {
  const Rig rig = testing::TubeRig({.rings = 21, .around = 24});
  const Smoothing s(rig);
  // The area of a tube is proportional to its radius, nearly.
  for (const double part : {1.0, 0.85}) {
    const auto factors =
        MaxSmoothingSteps(rig.mesh(), s.welded, s.weights, Thinner(s.rest, part), 0.8);
    for (const double factor : factors) EXPECT_EQ(factor, 1) << part;
    const NeighbourWeights same = LimitSmoothing(s.weights, factors);
    EXPECT_EQ(same.weights, s.weights.weights);
    EXPECT_EQ(same.neighbours, s.weights.neighbours);
  }
}

TEST(SmoothingLimit, SquareOfKeptArea) {
  const Rig rig = testing::TubeRig({.rings = 21, .around = 24});
  const Smoothing s(rig);
  for (const auto& [part, keep, want] :
       {std::tuple(0.4, 0.8, 0.25), std::tuple(0.5, 1.0, 0.25), std::tuple(0.02, 0.8, 0.01)}) {
    for (const double factor :
         MaxSmoothingSteps(rig.mesh(), s.welded, s.weights, Thinner(s.rest, part), keep)) {
      EXPECT_NEAR(factor, want, 1e-6) << part;  // open ends: no caps, whose area would be quadratic
    }
  }
}

// Half of the tube collapses: the factors change over a few rings.
TEST(SmoothingLimit, FactorsChangeGradually) {
  const Rig rig = testing::TubeRig({.rings = 41, .around = 24});
  const Smoothing s(rig);
  auto smoothed = s.rest;
  for (Vec3d& p : smoothed) {
    if (p.x > 0) p = {p.x, 0.4 * p.y, 0.4 * p.z};
  }
  const auto factors = MaxSmoothingSteps(rig.mesh(), s.welded, s.weights, smoothed, 0.8);
  double largest = 0;
  for (std::uint32_t p = 0; p < s.rest.size(); ++p) {
    for (std::uint64_t k = s.weights.offsets[p]; k < s.weights.offsets[p + 1]; ++k) {
      largest = std::max(largest, std::abs(factors[p] - factors[s.weights.neighbours[k]]));
    }
  }
  EXPECT_GT(largest, 0.05);
  EXPECT_LT(largest, 0.5);  // 0.75 without blurring
  EXPECT_NEAR(*std::ranges::min_element(factors), 0.25, 1e-6);
  EXPECT_EQ(*std::ranges::max_element(factors), 1);
}

TEST(SmoothingLimit, FiniteOnEveryRig) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const Smoothing s(named.rig);
    // Smoothed to a point, and not at all: faces without area keep the factor 1.
    for (const double size : {0.0, 1.0}) {
      std::vector<Vec3d> smoothed;
      for (const Vec3d& p : s.rest) smoothed.push_back(size * p);
      const auto factors = MaxSmoothingSteps(named.rig.mesh(), s.welded, s.weights, smoothed, 0.8);
      for (const double factor : factors) {
        EXPECT_GE(factor, size == 0 ? 0.01 : 1) << named.name;
        EXPECT_LE(factor, 1) << named.name;
      }
    }
  }
}

// I - F (I - N) entry by entry; rows sum to 1 and rise; self-adjoint by degree / F.
TEST(SmoothingLimit, WeightsMatchFormula) {
  for (const testing::NamedRig& named : testing::AllRigs()) {
    const Smoothing s(named.rig);
    std::vector<double> factors;
    for (std::size_t p = 0; p < s.rest.size(); ++p) {
      factors.push_back(0.05 + 0.95 * static_cast<double>(p * 7 % 11) / 10);
    }
    const NeighbourWeights& n = s.weights;
    const NeighbourWeights held = LimitSmoothing(n, factors);
    EXPECT_FALSE(held.even);
    const auto entry = [](const NeighbourWeights& of, std::uint32_t p, std::uint32_t q) {
      for (std::uint64_t k = of.offsets[p]; k < of.offsets[p + 1]; ++k) {
        if (of.neighbours[k] == q) return of.weights[k];
      }
      return 0.0;
    };
    for (std::uint32_t p = 0; p < held.points(); ++p) {
      double sum = 0;
      for (std::uint64_t k = held.offsets[p]; k < held.offsets[p + 1]; ++k) {
        const std::uint32_t q = held.neighbours[k];
        if (k > held.offsets[p]) {
          EXPECT_LT(held.neighbours[k - 1], q) << named.name;
        }
        const double want = (p == q ? 1 - factors[p] : 0) + factors[p] * entry(n, p, q);
        EXPECT_NEAR(held.weights[k], want, 1e-15) << named.name;
        EXPECT_NEAR(held.degree[p] * held.weights[k], held.degree[q] * entry(held, q, p),
                    1e-12 * held.degree[p])
            << named.name;
        sum += held.weights[k];
      }
      EXPECT_NEAR(sum, 1, 1e-14) << named.name;
    }
  }
}

}  // namespace
}  // namespace sinew
