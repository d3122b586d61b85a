// Compact fields, controllers and operators: check values, invariants, and bisection of the
// definition.
#include "core/deform/implicit/field/field_operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/deform/implicit/field/field_controller.h"
#include "tests/reference/field_reference.h"

namespace sinew {
namespace {

const std::vector<double>& Table(double m) {
  static const std::vector<double> usual = BulgeProfile::MakeTable(0.7);
  static const std::vector<double> none = BulgeProfile::MakeTable(0);
  return m == 0 ? none : usual;
}

// In either order of the arguments.
Composed Apply(FieldOperator op, double a, double b, double t) {
  const double lo = std::min(a, b), hi = std::max(a, b);
  switch (op) {
    case FieldOperator::kMax:
      return {hi, 0, 1};
    case FieldOperator::kCleanUnion:
      return CleanUnionFields(lo, hi);
    case FieldOperator::kBlend:
      return BlendFields(lo, hi, t);
    case FieldOperator::kBulge:
      return BulgeFields(lo, hi, t, BulgeProfile(Table(0.7)));
  }
  return {};
}

constexpr FieldOperator kOperators[] = {FieldOperator::kCleanUnion, FieldOperator::kBlend,
                                        FieldOperator::kBulge};
constexpr double kOpenings[] = {0, 0.2, 0.43, 0.7, 0.999, 1};

TEST(CompactFieldReference, MatchesTable) {
  EXPECT_DOUBLE_EQ(reference::CompactField(0), 0.5);
  EXPECT_NEAR(reference::CompactField(-0.5), 0.896484, 1e-6);
  EXPECT_NEAR(reference::CompactField(0.5), 0.103516, 1e-6);
  EXPECT_NEAR(reference::CompactField(-0.25), 0.724792, 1e-6);
  EXPECT_NEAR(reference::CompactField(0.9), 0.001158, 1e-6);
}

TEST(CompactFieldReference, ZeroSlopeAndCurvatureAtEnds) {
  const auto f = reference::CompactField;
  for (const double end : {-1.0, 1.0}) {
    const double h = 1e-4, inside = end - std::copysign(h, end), deeper = inside - (end - inside);
    EXPECT_NEAR((f(end) - f(inside)) / h, 0, 1e-6);
    EXPECT_NEAR((f(end) - 2 * f(inside) + f(deeper)) / (h * h), 0, 1e-3);
    EXPECT_EQ(f(2 * end), f(end));
  }
}

TEST(Controller, MatchesTable) {
  EXPECT_NEAR(Kappa(0.25), 0.05105, 1e-5);
  EXPECT_NEAR(Kappa(0.5), 0.44121, 1e-5);
  EXPECT_NEAR(Kappa(0.75), 0.92016, 1e-5);
  EXPECT_EQ(Kappa(0), 0);
  EXPECT_EQ(Kappa(1), 1);
  const double want[3][11] = {
      {1, 1, 1, 1, 1, 1, 1, .802, .441, .446, 1},
      {1, .992, .850, .609, .401, .305, .300, .433, .922, 1, 1},
      {1, .552, .174, .015, 0, 0, 0, .015, .174, .552, 1},
  };
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i <= 10; ++i) {
      const double c = -1 + 0.2 * i;
      const auto controller = static_cast<FieldController>(k);
      EXPECT_NEAR(ControllerLevel(controller, c), want[k][i], 6e-4) << k << " at " << c;
    }
  }
}

TEST(Controller, TableMatchesFormulaAndEnds) {
  for (std::size_t k = 0; k < 5; ++k) {
    const auto controller = static_cast<FieldController>(k);
    for (int i = -1005; i <= 1005; ++i) {
      const double c = i * 1e-3;
      const double t = std::tan(ControllerLevel(controller, c) * 3.14159265358979323846 / 4);
      EXPECT_NEAR(FieldOpening(controller, c), t, 2e-4) << k << " at " << c;
      EXPECT_LE(FieldOpening(controller, c), 1);
      EXPECT_GE(FieldOpening(controller, c), 0);
    }
    EXPECT_EQ(FieldOpening(controller, 1), k == 4 ? 0 : 1) << "parallel gradients never blend";
    EXPECT_EQ(FieldOpening(controller, -1), k == 4 ? 0 : 1);
  }
}

TEST(Bulge, ProfileMatchesTable) {
  const BulgeProfile profile(Table(0.7));
  const double want[] = {1, 1.00615, 0.99352, 1.07067, 1.41421};
  for (int i = 0; i <= 4; ++i) {
    EXPECT_NEAR(profile.Rho(0.25 * i), want[i], 1e-5);
    double slope = 0;
    const double h = 1e-6, at = std::clamp(0.25 * i, h, 1 - h);
    profile.Rho(at, &slope);
    EXPECT_NEAR(slope, (profile.Rho(at + h) - profile.Rho(at - h)) / (2 * h), 1e-3);
  }
}

TEST(Blend, MatchesSampleValues) {
  EXPECT_NEAR(BlendFields(.40, .45, 0).g, .54189, 1e-5);
  EXPECT_NEAR(BlendFields(.40, .45, .3).g, .51912, 1e-5);
  const Composed seven = BlendFields(.40, .45, .7);
  EXPECT_NEAR(seven.g, .46944, 1e-5);
  EXPECT_NEAR(seven.d_hi, .68506, 1e-5);
  EXPECT_NEAR(seven.d_lo, .40290, 1e-5);
}

TEST(Operators, MatchBisectionOfDefinition) {
  for (const FieldOperator op : kOperators) {
    for (const double t : kOpenings) {
      const int n = op == FieldOperator::kBulge ? 30 : 120;
      for (int i = 0; i <= n; ++i) {
        for (int k = 0; k <= i; ++k) {
          const double lo = static_cast<double>(k) / n, hi = static_cast<double>(i) / n;
          const double want = reference::ComposeFields(op, lo, hi, t, 0.7);
          const double tolerance = op == FieldOperator::kBulge ? 1e-6 : 1e-9;
          ASSERT_NEAR(Apply(op, lo, hi, t).g, want, tolerance)
              << static_cast<int>(op) << ": " << lo << " " << hi << " t " << t;
        }
      }
    }
  }
}

TEST(Operators, KeepTheirInvariants) {
  for (const FieldOperator op : kOperators) {
    for (const double t : kOpenings) {
      for (int i = 0; i <= 200; ++i) {
        const double f = i / 200.0;
        const Composed alone = Apply(op, 0, f, t);
        EXPECT_EQ(alone.g, f) << "g(F, 0) = F";
        EXPECT_EQ(alone.d_hi, 1);
        for (int k = 0; k <= 200; ++k) {
          const double other = k / 200.0;
          const Composed g = Apply(op, f, other, t);
          ASSERT_TRUE(std::isfinite(g.g) && std::isfinite(g.d_lo) && std::isfinite(g.d_hi));
          EXPECT_LE(g.g, 1 + 1e-12);
          EXPECT_GE(g.g, std::max(f, other) - 1e-12);
          if (op == FieldOperator::kBlend) {
            EXPECT_GE(g.d_lo, -1e-9);
            EXPECT_LE(g.d_lo, 1 + 1e-9);
            EXPECT_GE(g.d_hi, -1e-9);
            EXPECT_LE(g.d_hi, 1 + 1e-9);
          }
          if (t == 1 && op != FieldOperator::kCleanUnion) {
            EXPECT_EQ(g.g, std::max(f, other));
          }
        }
      }
    }
  }
  for (int i = 0; i <= 1000; ++i) {
    const double f = i / 1000.0;
    EXPECT_EQ(CleanUnionFields(std::min(f, 0.5), std::max(f, 0.5)).g, std::max(f, 0.5))
        << "equals max on the surface";
  }
}

TEST(Operators, DerivativesMatchDifferences) {
  const double h = 1e-6;
  for (const FieldOperator op : kOperators) {
    for (const double t : {0.0, 0.2, 0.43, 0.7}) {
      std::vector<double> errors;
      for (int i = 1; i < 100; ++i) {
        for (int k = 1; k < i; ++k) {
          // Off the kinks of the operators.
          const double hi = i / 101.7 * 0.69, lo = k / 103.1 * 0.69;
          const Composed g = Apply(op, lo, hi, t);
          const auto at = [&](double a, double b) { return Apply(op, a, b, t).g; };
          const double by_lo = (at(lo + h, hi) - at(lo - h, hi)) / (2 * h);
          const double by_hi = (at(lo, hi + h) - at(lo, hi - h)) / (2 * h);
          const double kink = std::abs(at(lo, hi + 2 * h) - at(lo, hi) - 2 * h * by_hi) +
                              std::abs(at(lo + 2 * h, hi) - at(lo, hi) - 2 * h * by_lo);
          if (kink > 1e-9 || hi - lo < 1e-3) continue;
          errors.push_back(std::abs(g.d_lo - by_lo) + std::abs(g.d_hi - by_hi));
        }
      }
      std::ranges::sort(errors);
      ASSERT_GT(errors.size(), 1000u);
      EXPECT_LT(errors[errors.size() / 2], 1e-7) << static_cast<int>(op) << " t " << t;
      EXPECT_LT(errors[errors.size() * 99 / 100], 2e-3) << static_cast<int>(op) << " t " << t;
    }
  }
}

TEST(Operators, ContinuousBetweenPieces) {
  for (const FieldOperator op : kOperators) {
    const bool bulges = op == FieldOperator::kBulge;
    for (const double t : {0.0, 0.2, 0.43, 0.7, 0.99}) {
      for (const double ratio : {0.8, 1.0}) {
        double before = 0, most = 0;
        for (int i = 0; i <= 20000; ++i) {
          const double f = i / 20000.0, g = Apply(op, ratio * f, f, t).g;
          if (i > 0) most = std::max(most, std::abs(g - before));
          before = g;
        }
        EXPECT_LT(most, bulges ? 2e-3 : 2e-4)
            << static_cast<int>(op) << " t " << t << " ratio " << ratio;
      }
    }
  }
}

TEST(Bulge, ZeroBulgeIsUnion) {
  const BulgeProfile none(Table(0));
  for (int i = 0; i <= 50; ++i) {
    for (int k = 0; k <= i; ++k) {
      EXPECT_NEAR(BulgeFields(k / 50.0, i / 50.0, 0.3, none).g, i / 50.0, 1e-9);
    }
  }
}

TEST(Bulge, SwellsOnlyBesideContact) {
  const BulgeProfile profile(Table(0.7));
  for (const double t : {0.0, 0.3}) {
    EXPECT_NEAR(BulgeFields(0.45, 0.45, t, profile).g, 0.45, 1e-9);
    EXPECT_GT(BulgeFields(0.36, 0.45, t, profile).g, 0.451);
  }
}

}  // namespace
}  // namespace sinew
