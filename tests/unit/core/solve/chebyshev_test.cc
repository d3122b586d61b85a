// The polynomial filter against exact sparse solves.
#include "core/solve/chebyshev.h"

#include <gtest/gtest.h>

#include <Eigen/SparseCholesky>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "core/simd/target.h"
#include "core/surface/laplacian.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew {
namespace {

double Sum(const std::vector<double>& series) {
  return std::accumulate(series.begin(), series.end(), 0.0);
}

// sum c_k T_k(x) for x = cos(t).
double Evaluate(const std::vector<double>& series, double t) {
  double sum = 0;
  for (std::size_t k = 0; k < series.size(); ++k)
    sum += series[k] * std::cos(static_cast<double>(k) * t);
  return sum;
}

TEST(ChebyshevSeries, ImplicitErrorWithinTail) {
  for (const auto& [lambda, steps] :
       {std::pair(4.0, 4u), {3.0, 20u}, {100.0, 4u}, {1e-9, 8u}, {1000.0, 1000u}}) {
    for (const double tail : {1e-4, 1e-7, 1e-10}) {
      const auto series = ImplicitSeries(lambda, steps, tail);
      ASSERT_FALSE(series.empty());
      EXPECT_NEAR(Sum(series), 1, tail * 1.001 + 1e-13);
      for (double t = 0; t <= M_PI; t += 0.01) {
        const double want = std::pow(1 + lambda * (1 - std::cos(t)), -double(steps));
        ASSERT_NEAR(Evaluate(series, t), want, tail + 1e-11) << lambda << " " << steps << " " << t;
      }
    }
  }
}

TEST(ChebyshevSeries, ExplicitNeedsFewerTermsThanSteps) {
  const auto series = ExplicitSeries(0.9, 400, 1e-7);
  EXPECT_LT(series.size(), 150u);
  for (double t = 0; t <= M_PI; t += 0.01) {
    ASSERT_NEAR(Evaluate(series, t), std::pow(0.1 + 0.9 * std::cos(t), 400), 1e-7);
  }
}

TEST(ChebyshevSeries, NoSmoothingGivesOneTerm) {
  EXPECT_EQ(ImplicitSeries(0, 4, 1e-7).size(), 1u);
  EXPECT_EQ(ExplicitSeries(0, 4, 1e-7).size(), 1u);
  EXPECT_EQ(ExplicitSeries(0.5, 0, 1e-7).size(), 1u);
}

TEST(ChebyshevSeries, EmptyAboveMaxDegree) {
  EXPECT_TRUE(ImplicitSeries(1e9, 1, 1e-7).empty());
}

TEST(ChebyshevSeries, RingsWithinTail) {
  const auto series = ImplicitSeries(4, 4, 1e-10);
  std::size_t last = series.size();
  for (const double tail : {1e-9, 1e-7, 1e-4, 1e-2}) {
    const std::size_t rings = RingsWithin(series, tail);
    EXPECT_LE(rings, last);
    double left = 1;
    for (std::size_t k = 0; k <= rings; ++k) left -= series[k];
    EXPECT_LE(left, tail);
    last = rings;
  }
  EXPECT_LT(last, series.size() / 2);
}

// (I + lambda (I - N))^-p X by the symmetric form.
Eigen::MatrixXd Solve(const NeighbourWeights& n, Eigen::MatrixXd x, double lambda, unsigned steps) {
  const auto points = static_cast<Eigen::Index>(n.points());
  Eigen::SparseMatrix<double> system(points, points);
  Eigen::VectorXd degree = Eigen::VectorXd::Map(n.degree.data(), points);
  for (std::size_t p = 0; p < n.points(); ++p) {
    const auto row = static_cast<Eigen::Index>(p);
    system.coeffRef(row, row) += (1 + lambda) * n.degree[p];
    for (std::uint64_t k = n.offsets[p]; k < n.offsets[p + 1]; ++k) {
      system.coeffRef(row, n.neighbours[k]) -= lambda * n.degree[p] * n.weights[k];
    }
  }
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(system);
  for (unsigned k = 0; k < steps; ++k) x = factor.solve(Eigen::MatrixXd(degree.asDiagonal() * x));
  return x;
}

struct Weights {
  std::string name;
  NeighbourWeights n;
};
std::vector<Weights> AllWeights(const Rig& rig) {
  const WeldedPoints welded = Weld(rig);
  return {{"uniform", UniformWeights(PolygonNeighbours(rig.mesh(), welded))},
          {"cotangent", CotangentWeights(rig.mesh(), welded, TriangleNeighbours(rig.mesh(), welded),
                                         NegativeWeights::kClamp)}};
}

ChebyshevFilter FilterOf(const std::vector<double>& series) {
  ChebyshevFilter filter;
  for (const double c : series) {
    filter.coefficients.emplace_back();
    filter.coefficients.back().fill(c);
  }
  filter.rings = series.size();
  return filter;
}

// Largest difference between filter and solve; random columns on every 7th point among the first
// half.
double FilterError(const NeighbourWeights& n, double lambda, unsigned steps, double tail,
                   double support_tail) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::uint32_t> seeds;
  for (std::uint32_t p = 0; p <= n.points() / 2; p += 7) seeds.push_back(p);
  const std::vector<double> series = ImplicitSeries(lambda, steps, tail);
  ChebyshevFilter filter = FilterOf(series);
  filter.rings = RingsWithin(series, support_tail);
  FilterWorkspace workspace;
  workspace.Start(n, seeds, filter.rings);
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(n.points()), kFilterLanes);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    for (std::size_t l = 0; l < kFilterLanes; ++l) {
      workspace.seed_row(i)[l] = unit(random);
      x(seeds[i], static_cast<Eigen::Index>(l)) = workspace.seed_row(i)[l];
    }
  }
  EXPECT_TRUE(workspace.Run(filter, [](std::size_t) { return true; }));
  const Eigen::MatrixXd want = Solve(n, x, lambda, steps);
  Eigen::MatrixXd got = Eigen::MatrixXd::Zero(want.rows(), want.cols());
  for (std::size_t i = 0; i < workspace.graph().points().size(); ++i) {
    for (std::size_t l = 0; l < kFilterLanes; ++l) {
      got(workspace.graph().points()[i], static_cast<Eigen::Index>(l)) = workspace.result()[i][l];
    }
  }
  return (got - want).cwiseAbs().maxCoeff();
}

TEST(ChebyshevFilter, MatchesExactSolves) {
  const Rig rig = testing::TubeRig({.rings = 41, .around = 24});
  for (const Weights& weights : AllWeights(rig)) {
    for (const auto& [lambda, steps] : {std::pair(4.0, 4u), {3.0, 20u}, {1.0, 1u}, {25.0, 2u}}) {
      EXPECT_LT(FilterError(weights.n, lambda, steps, 1e-7, 1e-7), 1e-6) << weights.name << lambda;
      EXPECT_LT(FilterError(weights.n, lambda, steps, 1e-12, 1e-12), 1e-11)
          << weights.name << lambda;
    }
  }
}

TEST(ChebyshevFilter, TruncationErrorWithinTail) {
  const Rig rig = testing::TubeRig({.rings = 81, .around = 16});
  for (const Weights& weights : AllWeights(rig)) {
    for (const double tail : {1e-2, 1e-3, 1e-4}) {
      EXPECT_LT(FilterError(weights.n, 4, 4, 1e-10, tail), 2 * tail) << weights.name;
    }
  }
}

TEST(ChebyshevFilter, KeepsIsolatedPoints) {
  const Rig rig = testing::IsolatedVertex();
  for (const Weights& weights : AllWeights(rig)) {
    EXPECT_LT(FilterError(weights.n, 4, 4, 1e-12, 1e-12), 1e-11) << weights.name;
  }
}

TEST(ChebyshevFilter, StopsOnRequest) {
  const Rig rig = testing::TubeRig();
  const WeldedPoints welded = Weld(rig);
  const NeighbourWeights n = UniformWeights(PolygonNeighbours(rig.mesh(), welded));
  ChebyshevFilter filter;
  filter.coefficients.resize(30, FilterRow{});
  filter.rings = 30;
  FilterWorkspace workspace;
  workspace.Start(n, std::vector<std::uint32_t>{5}, filter.rings);
  int steps = 0;
  EXPECT_FALSE(workspace.Run(filter, [&](std::size_t) { return ++steps < 4; }));
  EXPECT_EQ(steps, 4);
}

AlignedVector<FilterPoint> RandomPoints(std::size_t count) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  AlignedVector<FilterPoint> points(count);
  for (FilterPoint& p : points) {
    for (double& value : p) value = unit(random);
  }
  return points;
}

TEST(ChebyshevFilter, AllPointsGiveBitsOfSeeds) {
  const Rig rig = testing::TubeRig({.rings = 41, .around = 24});
  const ChebyshevFilter filter = FilterOf(ImplicitSeries(4, 4, 1e-7));
  for (const Weights& weights : AllWeights(rig)) {
    const std::size_t points = weights.n.points();
    const AlignedVector<FilterPoint> x = RandomPoints(points);
    std::vector<std::uint32_t> all(points);
    std::iota(all.begin(), all.end(), 0u);
    FilterWorkspace workspace;
    workspace.Start(weights.n, all, 0);
    for (std::size_t i = 0; i < points; ++i) {
      for (std::size_t l = 0; l < kFilterLanes; ++l) workspace.seed_row(i)[l] = x[i][l % 4];
    }
    ASSERT_TRUE(workspace.Run(filter, [](std::size_t) { return true; }));
    const auto got = FilterAll(weights.n, filter, x, [](std::size_t rows, auto part) {
      part(rows / 3, rows);
      part(0, rows / 3);
      return true;
    });
    ASSERT_EQ(got.size(), points);
    for (std::size_t i = 0; i < points; ++i) {
      for (std::size_t l = 0; l < kFilterLanes; ++l) {
        ASSERT_EQ(got[i][l % 4], workspace.result()[i][l]) << weights.name << " " << i;
      }
    }
  }
}

TEST(ChebyshevFilter, AllPointsStopOnRequest) {
  const Rig rig = testing::TubeRig();
  const NeighbourWeights n = UniformWeights(PolygonNeighbours(rig.mesh(), Weld(rig)));
  int steps = 0;
  EXPECT_TRUE(FilterAll(n, FilterOf(ImplicitSeries(4, 4, 1e-7)), RandomPoints(n.points()),
                        [&](std::size_t, auto) { return ++steps < 4; })
                  .empty());
  EXPECT_EQ(steps, 4);
}

TEST(ChebyshevFilter, SameBitsOnEveryInstructionSet) {
  const Rig rig = testing::TubeRig({.rings = 21, .around = 12});
  const ChebyshevFilter filter = FilterOf(ImplicitSeries(4, 4, 1e-7));
  const std::vector<std::uint32_t> seeds = {3, 40, 41, 100};
  for (const Weights& weights : AllWeights(rig)) {
    std::vector<FilterRow> rows;
    AlignedVector<FilterPoint> points;
    for (const Isa isa : SupportedIsas()) {
      ASSERT_TRUE(ForceIsa(isa).ok());
      FilterWorkspace workspace;
      workspace.Start(weights.n, seeds, filter.rings);
      for (std::size_t i = 0; i < seeds.size(); ++i) {
        for (std::size_t l = 0; l < kFilterLanes; ++l) {
          workspace.seed_row(i)[l] = 1.0 / static_cast<double>(3 + i + l);
        }
      }
      ASSERT_TRUE(workspace.Run(filter, [](std::size_t) { return true; }));
      const auto all = FilterAll(weights.n, filter, RandomPoints(weights.n.points()),
                                 [](std::size_t count, auto part) {
                                   part(0, count);
                                   return true;
                                 });
      const std::vector<FilterRow> got(workspace.result().begin(), workspace.result().end());
      if (rows.empty()) {
        rows = got;
        points = all;
      }
      EXPECT_EQ(got, rows) << weights.name << " " << IsaName(isa);
      EXPECT_EQ(all, points) << weights.name << " " << IsaName(isa);
    }
    ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
  }
}

}  // namespace
}  // namespace sinew
