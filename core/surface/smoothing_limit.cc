#include "core/surface/smoothing_limit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/surface/part_triangles.h"

namespace sinew {
namespace {

constexpr double kMinFactor = 0.01;  // keeps the product in LimitSmoothing finite
constexpr int kBlurs = 3;            // each averages a factor with its neighbours'

double TwiceArea(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d cross = Cross(b - a, c - a);
  return std::sqrt(Dot(cross, cross));
}

// [P] area of the triangles around a point after smoothing over that at rest; 1 without area.
std::vector<double> AreaKept(const Mesh& mesh, const WeldedPoints& welded,
                             std::span<const Vec3d> smoothed) {
  std::vector<double> rest(welded.points(), 0.0), after(welded.points(), 0.0);
  ForEachTriangle(mesh, welded, [&](const Triangle& t, std::uint32_t) {
    const auto at = [&](std::size_t i) { return ToDouble(mesh.positions()[welded.first[t[i]]]); };
    const double before = TwiceArea(at(0), at(1), at(2));
    const double now = TwiceArea(smoothed[t[0]], smoothed[t[1]], smoothed[t[2]]);
    for (const std::uint32_t p : t) {
      rest[p] += before;
      after[p] += now;
    }
  });
  for (std::size_t p = 0; p < rest.size(); ++p) after[p] = rest[p] > 0 ? after[p] / rest[p] : 1;
  return after;
}

}  // namespace

std::vector<double> MaxSmoothingSteps(const Mesh& mesh, const WeldedPoints& welded,
                                      const NeighbourWeights& n, std::span<const Vec3d> smoothed,
                                      double keep) {
  std::vector<double> factors = AreaKept(mesh, welded, smoothed), blurred(factors.size());
  for (double& factor : factors) {
    const double kept = std::min(factor / keep, 1.0);
    factor = std::max(kept * kept, kMinFactor);
  }
  for (int blur = 0; blur < kBlurs; ++blur) {
    for (std::size_t p = 0; p < factors.size(); ++p) {
      double more = 0;  // sum of the differences, so that factors of 1 stay exactly 1
      for (std::uint64_t k = n.offsets[p]; k < n.offsets[p + 1]; ++k) {
        more += n.weights[k] * (factors[n.neighbours[k]] - factors[p]);
      }
      blurred[p] = std::clamp(factors[p] + 0.5 * more, kMinFactor, 1.0);
    }
    factors.swap(blurred);
  }
  return factors;
}

NeighbourWeights LimitSmoothing(const NeighbourWeights& n, std::span<const double> factors) {
  if (std::ranges::all_of(factors, [](double factor) { return factor == 1; })) return n;
  NeighbourWeights held;
  held.offsets = {0};
  held.offsets.reserve(n.offsets.size());
  held.neighbours.reserve(n.neighbours.size() + n.points());
  held.weights.reserve(n.neighbours.size() + n.points());
  held.degree = n.degree;
  for (std::uint32_t p = 0; p < factors.size(); ++p) {
    bool stays = false;  // the point is among its own neighbours
    const auto add = [&](std::uint32_t q, double weight) {
      held.neighbours.push_back(q);
      held.weights.push_back(weight);
    };
    for (std::uint64_t k = n.offsets[p]; k < n.offsets[p + 1]; ++k) {
      const std::uint32_t q = n.neighbours[k];
      if (!stays && q >= p) {
        add(p, 1 - factors[p] + (q == p ? factors[p] * n.weights[k] : 0));
        stays = true;
      }
      if (q != p) add(q, factors[p] * n.weights[k]);
    }
    if (!stays) add(p, 1 - factors[p]);
    held.degree[p] /= factors[p];
    held.offsets.push_back(held.neighbours.size());
  }
  return held;
}

}  // namespace sinew
