#include "core/surface/mean_value.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/rows.h"
#include "core/base/vectors.h"
#include "core/surface/part_triangles.h"

namespace sinew {
namespace {

// |vector area| over the squared lengths it came from: undefined below.
constexpr double kNoNormal = 1e-5;

constexpr std::size_t kGrain = 1024;  // points

// The edge of a triangle opposite the point, in winding direction.
struct RingEdge {
  std::uint32_t from, to;
  auto operator<=>(const RingEdge&) const = default;
};

// Ring edges of each point.
Rows<RingEdge> CollectRings(const Mesh& mesh, const WeldedPoints& welded) {
  return CollectRows<RingEdge>(welded.points(), [&](auto add) {
    ForEachTriangle(mesh, welded, [&](const Triangle& t, std::uint32_t) {
      const auto& [a, b, c] = t;
      add(a, RingEdge{b, c});
      add(b, RingEdge{c, a});
      add(c, RingEdge{a, b});
    });
  });
}

// Unit normal of a closed fan, area-weighted; 0 0 0 if undefined.
Vec3d FanNormal(std::span<const RingEdge> ring, const Vec3d& at, std::span<const Vec3d> rest) {
  Vec3d area;
  double size = 0;
  for (const RingEdge& edge : ring) {
    const Vec3d a = rest[edge.from] - at, b = rest[edge.to] - at;
    area = area + Cross(a, b);
    size += Dot(a, a) + Dot(b, b);
  }
  const double length = Length(area);
  return length > kNoNormal * size ? (1 / length) * area : Vec3d{};
}

// Sorts ring edges into walking order; false: they are not one closed fan.
bool WalkOnce(std::span<const RingEdge> ring, std::vector<RingEdge>& walk) {
  walk.clear();
  if (ring.size() < 3) return false;
  walk.push_back(ring.front());
  while (walk.size() < ring.size()) {
    const auto next = std::ranges::lower_bound(ring, walk.back().to, {}, &RingEdge::from);
    if (next == ring.begin() || next == ring.end() || next->from != walk.back().to) return false;
    walk.push_back(*next);
  }
  // The walk used every edge once and returns to the first only now.
  return walk.back().to == walk.front().from;
}

// Weights of the neighbours ring[k].from; false if one is not positive and finite, as at reflex or
// degenerate corners: then they are no averaging weights.
bool WeighRing(std::span<const RingEdge> ring, const Vec3d& at, const Vec3d& normal,
               std::span<const Vec3d> rest, std::vector<double>& weights) {
  const std::size_t n = ring.size();
  std::vector<Vec3d> edge(n);
  for (std::size_t k = 0; k < n; ++k) {
    const Vec3d e = rest[ring[k].from] - at;
    edge[k] = e - Dot(e, normal) * normal;
  }
  std::vector<double> half_tangent(n);  // of the angle between edges k and k + 1
  for (std::size_t k = 0; k < n; ++k) {
    const Vec3d &a = edge[k], &b = edge[(k + 1) % n];
    half_tangent[k] = std::tan(0.5 * std::atan2(Dot(normal, Cross(a, b)), Dot(a, b)));
  }
  weights.resize(n);
  double sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    weights[k] = (half_tangent[(k + n - 1) % n] + half_tangent[k]) / Length(edge[k]);
    if (!(weights[k] > 0 && std::isfinite(weights[k]))) return false;
    sum += weights[k];
  }
  if (!std::isfinite(sum)) return false;
  for (double& w : weights) w /= sum;
  return true;
}

}  // namespace

std::vector<double> MeanValueWeights(const Mesh& mesh, const WeldedPoints& welded,
                                     const Adjacency& triangle_neighbours, const Task& task) {
  std::vector<double> result(triangle_neighbours.neighbours.size(), 0.0);
  Rows<RingEdge> rings = CollectRings(mesh, welded);
  std::vector<Vec3d> rest(welded.points());
  for (std::size_t p = 0; p < rest.size(); ++p) {
    rest[p] = ToDouble(mesh.positions()[welded.first[p]]);
  }
  task.For(rest.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<RingEdge> walk;
    std::vector<double> weights;
    for (std::size_t p = begin; p < end; ++p) {
      std::span<RingEdge> ring =
          std::span(rings.values)
              .subspan(rings.offsets[p], rings.offsets[p + 1] - rings.offsets[p]);
      std::ranges::sort(ring);
      ring = ring.first(
          static_cast<std::size_t>(std::unique(ring.begin(), ring.end()) - ring.begin()));
      const auto row = triangle_neighbours.row(p);
      // A ring with a repeated neighbour has fewer neighbours than edges.
      if (ring.size() != row.size() || !WalkOnce(ring, walk)) continue;
      const Vec3d normal = FanNormal(walk, rest[p], rest);
      if (normal == Vec3d{} || !WeighRing(walk, rest[p], normal, rest, weights)) continue;
      for (std::size_t k = 0; k < walk.size(); ++k) {
        const auto at = std::lower_bound(row.begin(), row.end(), walk[k].from) - row.begin();
        result[triangle_neighbours.offsets[p] + static_cast<std::size_t>(at)] = weights[k];
      }
    }
  });
  return result;
}

std::vector<std::uint32_t> NextAround(const Mesh& mesh, const WeldedPoints& welded,
                                      const Adjacency& triangle_neighbours) {
  std::vector<std::uint32_t> next(triangle_neighbours.neighbours.size(), 0);
  const Rows<RingEdge> rings = CollectRings(mesh, welded);
  for (std::size_t p = 0; p < welded.points(); ++p) {
    const auto row = triangle_neighbours.row(p);
    const auto place = [&](std::uint32_t q) {
      return static_cast<std::uint32_t>(std::ranges::lower_bound(row, q) - row.begin());
    };
    for (std::size_t k = rings.offsets[p]; k < rings.offsets[p + 1]; ++k) {
      const RingEdge& edge = rings.values[k];
      next[triangle_neighbours.offsets[p] + place(edge.from)] = place(edge.to);
    }
  }
  return next;
}

}  // namespace sinew
