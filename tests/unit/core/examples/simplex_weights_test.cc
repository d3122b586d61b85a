// Simplex weights against every support tried in turn, and the choices among equal ones.
#include "core/examples/simplex_weights.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/solve/dense.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

struct Problem {
  std::vector<double> matrix, values;
  std::size_t size() const { return values.size(); }
};

// |A w - y|^2 for a random A of `rows` rows; with fewer rows than columns G is singular.
Problem LeastSquares(testing::Random& random, std::size_t k, std::size_t rows) {
  std::vector<double> a(rows * k), y(rows);
  for (double& v : a) v = 2.0 * random.Next() - 1;
  for (double& v : y) v = 2.0 * random.Next() - 1;
  Problem problem{std::vector<double>(k * k), std::vector<double>(k)};
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) problem.matrix[i * k + j] += a[r * k + i] * a[r * k + j];
      problem.values[i] += a[r * k + i] * y[r];
    }
  }
  return problem;
}

// The minimum on the plane sum w = 1 of the indices in `support`, if it is not negative.
std::vector<double> OnSupport(const Problem& p, unsigned support) {
  const std::size_t k = p.size();
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < k; ++i) {
    if (support >> i & 1) index.push_back(i);
  }
  const std::size_t n = index.size() + 1;
  std::vector<double> system(n * n), x(n, 1);
  for (std::size_t a = 0; a + 1 < n; ++a) {
    for (std::size_t b = 0; b + 1 < n; ++b) system[a * n + b] = p.matrix[index[a] * k + index[b]];
    system[a * n + n - 1] = system[(n - 1) * n + a] = 1;
    x[a] = p.values[index[a]];
  }
  SolveDense(system, x);
  std::vector<double> weights(k, 0);
  for (std::size_t a = 0; a + 1 < n; ++a) {
    if (!(x[a] >= 0)) return {};
    weights[index[a]] = x[a];
  }
  return weights;
}

std::vector<double> Best(const Problem& p, std::size_t most) {
  std::vector<double> best;
  double least = std::numeric_limits<double>::infinity();
  for (unsigned support = 1; support < 1u << p.size(); ++support) {
    if (static_cast<std::size_t>(std::popcount(support)) > most) continue;
    const auto weights = OnSupport(p, support);
    if (weights.empty()) continue;
    const double objective = SimplexObjective(p.matrix, p.values, weights);
    if (objective < least) {
      least = objective;
      best = weights;
    }
  }
  return best;
}

std::vector<double> Solved(const Problem& p, std::size_t most, std::vector<double> start = {}) {
  start.resize(p.size());
  SimplexWeights().Solve(p.matrix, p.values, most, start);
  return start;
}

std::size_t Above(const std::vector<double>& weights) {
  std::size_t above = 0;
  for (const double w : weights) above += w > 0;
  return above;
}

void ExpectSimplex(const std::vector<double>& weights, std::size_t most) {
  double sum = 0;
  for (const double w : weights) {
    EXPECT_GE(w, 0);
    sum += w;
  }
  EXPECT_NEAR(sum, 1, 1e-14);
  EXPECT_LE(Above(weights), most);
}

TEST(SimplexWeights, EqualsEverySupportTried) {
  testing::Random random(7);
  std::size_t inner = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t k = 2 + random.Below(6);
    const Problem p = LeastSquares(random, k, k + 3);
    std::vector<double> start(k);
    for (double& w : start) w = random.Next();
    const auto want = Best(p, k), got = Solved(p, k, start), single = Solved(p, k);
    ExpectSimplex(got, k);
    inner += Above(want) > 2;
    for (std::size_t i = 0; i < k; ++i) {
      EXPECT_NEAR(got[i], want[i], 1e-9) << trial;
      EXPECT_NEAR(single[i], want[i], 1e-9) << trial;
    }
  }
  EXPECT_GT(inner, 50u);  // not only corners and edges
}

TEST(SimplexWeights, CutIsAtMostSlightlyWorseThanBest) {
  testing::Random random(8);
  std::size_t best = 0, cut = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Problem p = LeastSquares(random, 7, 24);
    // A target inside the hull: many weights are above zero.
    std::vector<double> weights(7);
    for (double& w : weights) w = 0.2 + random.Next();
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t i = 0; i < 7; ++i) {
      p.values[i] = 0;
      for (std::size_t j = 0; j < 7; ++j) p.values[i] += p.matrix[i * 7 + j] * weights[j] / sum;
    }
    const auto got = Solved(p, 3);
    ExpectSimplex(got, 3);
    // Against solving again without trying others.
    const auto all = Solved(p, 7);
    std::vector<std::size_t> order(7);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](auto a, auto b) { return all[a] > all[b]; });
    unsigned support = 0;
    for (std::size_t a = 0; a < 3; ++a) support |= 1u << order[a];
    const double found = SimplexObjective(p.matrix, p.values, got);
    const double least = SimplexObjective(p.matrix, p.values, Best(p, 3));
    if (const auto plain = OnSupport(p, support); !plain.empty()) {
      const double objective = SimplexObjective(p.matrix, p.values, plain);
      EXPECT_LE(found, objective + 1e-9);
      cut += objective < least + 1e-9;
    }
    EXPECT_GE(found, least - 1e-9);
    best += found < least + 1e-9;
  }
  EXPECT_GT(best, cut);  // swaps find more of the best choices
  EXPECT_GT(best, 200u);
}

TEST(SimplexWeights, SingularMatrixStillReachesTheMinimum) {
  testing::Random random(9);
  for (int trial = 0; trial < 200; ++trial) {
    const Problem p = LeastSquares(random, 6, 3);
    const auto got = Solved(p, 6, {0.2f, 0.2f, 0.2f, 0.2f, 0.1f, 0.1f});
    ExpectSimplex(got, 6);
    // No residual pulls outward: the conditions of a minimum.
    std::vector<double> residual(6);
    double mean = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      residual[i] = p.values[i];
      for (std::size_t j = 0; j < 6; ++j) residual[i] -= p.matrix[i * 6 + j] * got[j];
      mean += got[i] * residual[i];
    }
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_LE(residual[i] - mean, 1e-9) << trial;
      if (got[i] > 0) {
        EXPECT_NEAR(residual[i], mean, 1e-9) << trial;
      }
    }
  }
  // No matrix at all: the best corner. Nothing at all: the start.
  EXPECT_EQ(Solved({std::vector<double>(9), {1, 3, 2}}, 3, {1, 0, 1}),
            (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(Solved({std::vector<double>(4), {0, 0}}, 2, {1, 3}), (std::vector<double>{0.25, 0.75}));
}

TEST(SimplexWeights, TiesGoToTheLowerIndex) {
  // Two equal columns and an optimum that needs only one of them.
  const Problem equal{{1, 1, 0, 1, 1, 0, 0, 0, 1}, {1, 1, 0}};
  EXPECT_EQ(Solved(equal, 3), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(Solved(equal, 3, {0, 1, 0}), (std::vector<double>{0, 1, 0}));
  // Four equal weights cut to two.
  const Problem even{{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, {.25, .25, .25, .25}};
  EXPECT_EQ(Solved(even, 2, {1, 1, 1, 1}), (std::vector<double>{.5, .5, 0, 0}));
}

TEST(SimplexWeights, ReusedSolverGivesTheSameBits) {
  testing::Random random(10);
  SimplexWeights solver;
  for (int trial = 0; trial < 50; ++trial) {
    const Problem p = LeastSquares(random, 2 + random.Below(9), 12);
    std::vector<double> weights(p.size(), 0);
    solver.Solve(p.matrix, p.values, 4, weights);
    EXPECT_EQ(weights, Solved(p, 4));
  }
}

}  // namespace
}  // namespace sinew
