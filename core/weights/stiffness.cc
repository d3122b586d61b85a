#include "core/weights/stiffness.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/weights/skin.h"

namespace sinew::weights {
namespace {

constexpr double kMargin = 1e-5;  // times the mean edge: minimum excess of two sides over the third

// Kahan's formula, accurate for needles.
double Area(double a, double b, double c) {
  if (a < b) std::swap(a, b);
  if (b < c) std::swap(b, c);
  if (a < b) std::swap(a, b);
  return 0.25 * std::sqrt((a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c)));
}

}  // namespace

Stiffness MakeStiffness(std::span<const Vec3d> points, std::span<const Triangle> triangles) {
  Stiffness stiffness;
  stiffness.diagonal.assign(points.size(), 0.0);
  stiffness.mass.assign(points.size(), 0.0);
  std::vector<std::array<double, 3>> sides;  // side opposite each corner
  sides.reserve(triangles.size());
  double sum = 0;
  for (const auto& t : triangles) {
    auto& side = sides.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) {
      side[k] = Length(points[t[(k + 1) % 3]] - points[t[(k + 2) % 3]]);
      sum += side[k];
    }
  }
  const double margin = kMargin * sum / (3.0 * static_cast<double>(triangles.size()));
  for (const auto& [a, b, c] : sides) {
    stiffness.longer = std::max(
        {stiffness.longer, margin - (a + b - c), margin - (b + c - a), margin - (c + a - b)});
  }
  stiffness.edges.reserve(3 * triangles.size());
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    std::array<double, 3> side = sides[i];
    for (double& length : side) length += stiffness.longer;
    const double area = Area(side[0], side[1], side[2]);
    if (!(area > 0)) continue;  // all points of the surface coincide
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = triangles[i][(k + 1) % 3], b = triangles[i][(k + 2) % 3];
      const double u = side[(k + 1) % 3], v = side[(k + 2) % 3];
      const double cotangent = (u * u + v * v - side[k] * side[k]) / (4 * area);
      stiffness.edges.push_back({std::min(a, b), std::max(a, b), 0.5 * cotangent});
      stiffness.mass[triangles[i][k]] += area / 3;
    }
  }
  std::ranges::stable_sort(stiffness.edges, [](const auto& a, const auto& b) {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
  });
  std::size_t kept = 0;
  for (const auto& edge : stiffness.edges) {
    if (kept > 0 && stiffness.edges[kept - 1].low == edge.low &&
        stiffness.edges[kept - 1].high == edge.high) {
      stiffness.edges[kept - 1].weight += edge.weight;
    } else {
      stiffness.edges[kept++] = edge;
    }
  }
  stiffness.edges.resize(kept);
  for (const auto& edge : stiffness.edges) {
    stiffness.diagonal[edge.low] += edge.weight;
    stiffness.diagonal[edge.high] += edge.weight;
  }
  return stiffness;
}

}  // namespace sinew::weights
