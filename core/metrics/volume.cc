#include "core/metrics/volume.h"

#include <algorithm>
#include <numbers>
#include <utility>

#include "core/base/disjoint_sets.h"

namespace sinew::metrics {
namespace {

constexpr double kFlat = 1e-9;        // 36 pi V^2 / A^3 of a closed component
constexpr double kFlatOpen = 1e-3;    // of one with borders
constexpr double kLargestFans = 0.5;  // of the component's own area

double SixVolumes(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  return Dot(a, Cross(b, c));
}

// One use of an edge by a triangle.
struct EdgeUse {
  std::uint32_t low, high;
  int direction;  // +1: from the lower to the higher index, else -1
  auto operator<=>(const EdgeUse&) const = default;
};

struct Shape {
  double six_volumes = 0, twice_area = 0, twice_fans = 0;
  bool open = false;

  bool Encloses() const {
    const double volume = six_volumes / 6, area = (twice_area + twice_fans) / 2;
    const double roundness = 36 * std::numbers::pi * volume * volume / (area * area * area);
    if (!open) return roundness > kFlat;  // also rejects NaN
    return roundness > kFlatOpen && twice_fans <= kLargestFans * twice_area;
  }
};

}  // namespace

std::vector<EnclosedVolume::Border> EnclosedVolume::FindBorders(const Surface& surface) {
  std::vector<EdgeUse> uses;
  uses.reserve(surface.triangles.size() * 3);
  for (const Triangle& t : surface.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      uses.push_back(a < b ? EdgeUse{a, b, 1} : EdgeUse{b, a, -1});
    }
  }
  std::ranges::sort(uses);
  // Edges that remain after opposite uses cancel form the border. It is therefore always closed.
  std::vector<std::array<std::uint32_t, 2>> edges;
  DisjointSets joined(surface.rest.size());
  for (std::size_t i = 0, end = 0; i < uses.size(); i = end) {
    int net = 0;
    for (end = i;
         end < uses.size() && uses[end].low == uses[i].low && uses[end].high == uses[i].high;
         ++end) {
      net += uses[end].direction;
    }
    for (int k = 0; k < std::abs(net); ++k) {
      net > 0 ? edges.push_back({uses[i].high, uses[i].low})
              : edges.push_back({uses[i].low, uses[i].high});
    }
    if (net != 0) joined.Join(uses[i].low, uses[i].high);
  }
  std::sort(edges.begin(), edges.end(), [&](const auto& a, const auto& b) {
    return std::tuple(joined.Lowest(a[0]), a[0], a[1]) <
           std::tuple(joined.Lowest(b[0]), b[0], b[1]);
  });
  std::vector<Border> borders;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i == 0 || joined.Lowest(edges[i][0]) != joined.Lowest(edges[i - 1][0]))
      borders.emplace_back();
    Border& border = borders.back();
    border.edges.push_back(edges[i]);
    if (border.points.empty() || border.points.back() != edges[i][0]) {
      border.points.push_back(edges[i][0]);  // every point of a closed border starts an edge
    }
  }
  return borders;
}

Vec3d EnclosedVolume::Mean(const Border& border, std::span<const Vec3d> points) {
  Vec3d sum;
  for (const std::uint32_t p : border.points) sum = sum + points[p];
  return (1.0 / static_cast<double>(border.points.size())) * sum;
}

EnclosedVolume::EnclosedVolume(const Surface& surface) {
  DisjointSets components(surface.rest.size());
  for (const Triangle& t : surface.triangles) {
    components.Join(t[0], t[1]);
    components.Join(t[1], t[2]);
  }
  std::vector<Shape> shapes(surface.rest.size());  // indexed by each component's lowest point
  // Relative to a point of the component: no cancellation for characters far from the origin.
  const auto at = [&](std::uint32_t root, const Vec3d& p) { return p - surface.rest[root]; };
  for (const Triangle& t : surface.triangles) {
    const std::uint32_t root = components.Lowest(t[0]);
    Shape& shape = shapes[root];
    shape.six_volumes += SixVolumes(at(root, surface.rest[t[0]]), at(root, surface.rest[t[1]]),
                                    at(root, surface.rest[t[2]]));
    shape.twice_area += Length(AreaVector(surface.rest, t));
  }
  std::vector<Border> borders = FindBorders(surface);
  for (const Border& border : borders) {
    const std::uint32_t root = components.Lowest(border.points[0]);
    Shape& shape = shapes[root];
    shape.open = true;
    const Vec3d mean = Mean(border, surface.rest);
    for (const auto& [a, b] : border.edges) {
      const Vec3d& pa = surface.rest[a];
      const Vec3d& pb = surface.rest[b];
      shape.six_volumes += SixVolumes(at(root, pa), at(root, pb), at(root, mean));
      shape.twice_fans += Length(Cross(pb - pa, mean - pa));
    }
  }
  for (Triangle t : surface.triangles) {
    const Shape& shape = shapes[components.Lowest(t[0])];
    if (!shape.Encloses()) continue;
    if (shape.six_volumes < 0) std::swap(t[1], t[2]);
    triangles_.push_back(t);
  }
  for (Border& border : borders) {
    const Shape& shape = shapes[components.Lowest(border.points[0])];
    if (!shape.Encloses()) continue;
    const auto middle = static_cast<std::uint32_t>(surface.rest.size() + borders_.size());
    for (auto [a, b] : border.edges) {
      if (shape.six_volumes < 0) std::swap(a, b);
      triangles_.push_back({a, b, middle});
    }
    borders_.push_back(std::move(border));
  }
  if (triangles_.empty()) return;
  rest_ = Volume(Closed(surface.rest), Task({.parallel = false}));
}

std::vector<Vec3d> EnclosedVolume::Closed(std::span<const Vec3d> points) const {
  std::vector<Vec3d> closed(points.begin(), points.end());
  for (const Border& border : borders_) closed.push_back(Mean(border, points));
  return closed;
}

double EnclosedVolume::Volume(std::span<const Vec3d> closed, const Task& task) const {
  const Vec3d origin = closed[triangles_[0][0]];
  const auto at = [&](std::uint32_t p) { return closed[p] - origin; };
  const double sum = SumOver<double>(
      task, triangles_.size(),
      [&](std::size_t i, double& part) {
        const Triangle& t = triangles_[i];
        part += SixVolumes(at(t[0]), at(t[1]), at(t[2]));
      },
      [](double& total, double part) { total += part; });
  return sum / 6;
}

std::optional<double> EnclosedVolume::Ratio(std::span<const Vec3d> closed, const Task& task) const {
  if (!rest_) return std::nullopt;
  return Volume(closed, task) / *rest_;
}

}  // namespace sinew::metrics
