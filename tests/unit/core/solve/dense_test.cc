// Dense systems: against Eigen, and against elimination as it is written, bit for bit.
#include "core/solve/dense.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <utility>
#include <vector>

#include "core/simd/target.h"
#include "tests/support/random.h"

namespace sinew {
namespace {

struct System {
  std::vector<double> matrix, values;
};

System RandomSystem(std::size_t n) {
  testing::Random random(static_cast<std::uint32_t>(n));
  System system;
  for (std::size_t i = 0; i < n * n; ++i) system.matrix.push_back(2.0 * random.Next() - 1);
  for (std::size_t i = 0; i < n; ++i) system.values.push_back(2.0 * random.Next() - 1);
  // Needs a pivot from another row.
  if (n > 1) system.matrix[0] = 0;
  return system;
}

constexpr std::size_t kSizes[] = {1, 2, 7, 8, 9, 16, 61, 200};

TEST(SolveDense, MatchesEigen) {
  for (const std::size_t n : kSizes) {
    System system = RandomSystem(n);
    const auto size = static_cast<Eigen::Index>(n);
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Matrix matrix = Eigen::Map<const Matrix>(system.matrix.data(), size, size);
    const Eigen::VectorXd want =
        matrix.fullPivLu().solve(Eigen::Map<const Eigen::VectorXd>(system.values.data(), size));
    SolveDense(system.matrix, system.values);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(system.values[i], want[static_cast<Eigen::Index>(i)],
                  1e-9 * (1 + want.lpNorm<Eigen::Infinity>()))
          << n << " unknowns";
    }
  }
}

// One pivot after the other, one entry at a time; `volatile` keeps products from being fused.
std::vector<double> Eliminated(System system) {
  const std::size_t n = system.values.size();
  const auto at = [&](std::size_t r, std::size_t c) -> double& { return system.matrix[r * n + c]; };
  const auto subtract = [](double& from, double a, double b) {
    const volatile double product = a * b;
    from -= product;
  };
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t r = p; r < n; ++r)
      best = std::abs(at(r, p)) > std::abs(at(best, p)) ? r : best;
    for (std::size_t c = 0; c < n; ++c) std::swap(at(p, c), at(best, c));
    std::swap(system.values[p], system.values[best]);
    for (std::size_t r = p + 1; r < n; ++r) {
      const double factor = at(r, p) / at(p, p);
      for (std::size_t c = p; c < n; ++c) subtract(at(r, c), factor, at(p, c));
      subtract(system.values[r], factor, system.values[p]);
    }
  }
  for (std::size_t p = n; p-- > 0;) {
    system.values[p] /= at(p, p);
    for (std::size_t r = 0; r < p; ++r) subtract(system.values[r], at(r, p), system.values[p]);
  }
  return system.values;
}

TEST(SolveDense, SameBitsAsPlainElimination) {
  for (const std::size_t n : kSizes) {
    const std::vector<double> want = Eliminated(RandomSystem(n));
    for (const Isa isa : SupportedIsas()) {
      ASSERT_TRUE(ForceIsa(isa).ok());
      System system = RandomSystem(n);
      SolveDense(system.matrix, system.values);
      EXPECT_EQ(system.values, want) << n << " unknowns, " << IsaName(isa);
    }
    ASSERT_TRUE(ForceIsa(Isa::kAuto).ok());
  }
}

TEST(SolveDense, SingularMatrixGivesNoFiniteSolution) {
  std::vector<double> matrix = {1, 2, 2, 4}, values = {1, 3};
  SolveDense(matrix, values);
  EXPECT_FALSE(std::isfinite(values[0]) && std::isfinite(values[1]));
}

}  // namespace
}  // namespace sinew
