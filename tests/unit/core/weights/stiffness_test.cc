// Cotangents and masses: known values, linear precision, degenerate surfaces.
#include "core/weights/stiffness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <random>

#include "core/weights/skin.h"
#include "tests/support/bodies.h"
#include "tests/support/tube.h"

namespace sinew::weights {
namespace {

using Triangles = std::vector<std::array<std::uint32_t, 3>>;

std::map<std::pair<std::uint32_t, std::uint32_t>, double> EdgeWeights(const Stiffness& s) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> weights;
  for (const auto& e : s.edges) weights[{e.low, e.high}] = e.weight;
  return weights;
}

// sum over neighbours of w_ij (p_j - p_i) = -(K p)_i.
std::vector<Vec3d> Laplacian(const Stiffness& s, const std::vector<Vec3d>& p) {
  std::vector<Vec3d> sums(p.size());
  for (const auto& e : s.edges) {
    sums[e.low] = sums[e.low] + e.weight * (p[e.high] - p[e.low]);
    sums[e.high] = sums[e.high] + e.weight * (p[e.low] - p[e.high]);
  }
  return sums;
}

TEST(Stiffness, RightIsoscelesGridHasZeroDiagonals) {
  const std::vector<Vec3d> p = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const Stiffness s = MakeStiffness(p, Triangles{{0, 1, 2}, {0, 2, 3}});
  const auto w = EdgeWeights(s);
  EXPECT_NEAR(w.at({0, 2}), 0, 1e-15);
  EXPECT_NEAR(w.at({0, 1}), 0.5, 1e-15);
  EXPECT_NEAR(s.mass[0], 1.0 / 3, 1e-15);
  EXPECT_NEAR(s.mass[1], 1.0 / 6, 1e-15);
  EXPECT_EQ(s.longer, 0);
}

TEST(Stiffness, HexagonWeightsAreOneOverRootThree) {
  std::vector<Vec3d> p = {{0, 0, 0}};
  Triangles triangles;
  for (std::uint32_t k = 0; k < 6; ++k) {
    const double angle = k * std::numbers::pi / 3;
    p.push_back({std::cos(angle), std::sin(angle), 0});
    triangles.push_back({0, k + 1, (k + 1) % 6 + 1});
  }
  const Stiffness s = MakeStiffness(p, triangles);
  for (std::uint32_t k = 1; k <= 6; ++k) {
    EXPECT_NEAR(EdgeWeights(s).at({0, k}), 1 / std::numbers::sqrt3, 1e-14);
  }
}

TEST(Stiffness, LinearFunctionsMapToZeroInPlane) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> jitter(-0.3, 0.3);
  std::vector<Vec3d> p;
  Triangles triangles;
  for (std::uint32_t j = 0; j < 9; ++j) {
    for (std::uint32_t i = 0; i < 9; ++i) p.push_back({i + jitter(random), j + jitter(random), 0});
  }
  for (std::uint32_t j = 0; j < 8; ++j) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      const std::uint32_t a = 9 * j + i;
      triangles.push_back({a, a + 1, a + 10});
      triangles.push_back({a, a + 10, a + 9});
    }
  }
  const auto sums = Laplacian(MakeStiffness(p, triangles), p);
  for (std::uint32_t j = 1; j < 8; ++j) {
    for (std::uint32_t i = 1; i < 8; ++i) EXPECT_LT(Length(sums[9 * j + i]), 1e-12);
  }
}

TEST(Stiffness, InvariantToRigidMotion) {
  const testing::Body body = testing::Cylinder(-1, 1, 1, 9, 12);
  const AffineD motion = testing::RigidMotion({1, 2, 3}, 50, {0.3, -0.2, 0.5});
  Triangles triangles;
  for (const auto& f : body.faces) triangles.push_back({f[0], f[1], f[2]});
  std::vector<Vec3d> moved;
  for (const Vec3d& p : body.points) moved.push_back(Apply(motion, p));
  const Stiffness a = MakeStiffness(body.points, triangles), b = MakeStiffness(moved, triangles);
  ASSERT_EQ(a.edges.size(), b.edges.size());
  for (std::size_t k = 0; k < a.edges.size(); ++k) {
    EXPECT_NEAR(a.edges[k].weight, b.edges[k].weight, 1e-12);
  }
}

TEST(Stiffness, UnitSphereMeanCurvatureIsMinusTwo) {
  // x . laplace(x) = -2 on average over the area.
  testing::Body body = testing::Cylinder(-1, 1, 1, 41, 64);
  for (Vec3d& p : body.points) {
    const double ring = std::hypot(p.y, p.z);
    if (ring == 0) continue;
    const double angle = 0.5 * std::numbers::pi * p.x * 0.975;
    p = {std::sin(angle), std::cos(angle) * p.y / ring, std::cos(angle) * p.z / ring};
  }
  Triangles triangles;
  for (const auto& f : body.faces) triangles.push_back({f[0], f[1], f[2]});
  const Stiffness s = MakeStiffness(body.points, triangles);
  const auto sums = Laplacian(s, body.points);
  double total = 0, area = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    total += Dot(body.points[i], sums[i]);
    area += s.mass[i];
  }
  EXPECT_NEAR(total / area, -2, 0.01);
  EXPECT_NEAR(area, 4 * std::numbers::pi, 0.02);
}

TEST(Stiffness, DegenerateTrianglesGetArea) {
  // A collinear triangle beside a proper one.
  const std::vector<Vec3d> p = {{0, 0, 0}, {2, 0, 0}, {1, 0, 0}, {1, 1, 0}};
  const Stiffness s = MakeStiffness(p, Triangles{{0, 1, 2}, {0, 1, 3}});
  EXPECT_GT(s.longer, 0);
  EXPECT_LT(s.longer, 2e-5);
  for (const auto& e : s.edges) EXPECT_TRUE(std::isfinite(e.weight));
  for (const double m : s.mass) EXPECT_GT(m, 0);
}

}  // namespace
}  // namespace sinew::weights
