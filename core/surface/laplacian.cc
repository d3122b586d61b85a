#include "core/surface/laplacian.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/surface/part_triangles.h"

namespace sinew {
namespace {

constexpr double kClampFraction = 1e-3;  // of the mean positive weight
constexpr double kCoincident = 1e-9;     // of the diagonal
// |cross| over the longest edge squared. Below, the height of a triangle is rounding of its float
// positions, as with collinear corners of a polygon; one such cotangent would outweigh all others.
constexpr double kFlatTriangle = 1e-6;

// Normalises rows; rows without a positive sum become isolated.
NeighbourWeights Normalise(const Adjacency& adjacency, const std::vector<double>& edge_weights) {
  NeighbourWeights n;
  const std::size_t points = adjacency.points();
  n.offsets.reserve(points + 1);
  n.neighbours.reserve(adjacency.neighbours.size());
  n.weights.reserve(adjacency.neighbours.size());
  n.degree.reserve(points);
  n.offsets.push_back(0);
  for (std::size_t p = 0; p < points; ++p) {
    const auto begin = edge_weights.begin() + static_cast<std::ptrdiff_t>(adjacency.offsets[p]);
    const auto end = edge_weights.begin() + static_cast<std::ptrdiff_t>(adjacency.offsets[p + 1]);
    double degree = 0;
    for (auto w = begin; w != end; ++w) degree += *w;
    if (degree > 0) {
      const auto row = adjacency.row(p);
      n.neighbours.insert(n.neighbours.end(), row.begin(), row.end());
      for (auto w = begin; w != end; ++w) n.weights.push_back(*w / degree);
    } else {
      degree = 1;
      n.neighbours.push_back(static_cast<std::uint32_t>(p));
      n.weights.push_back(1);
    }
    n.degree.push_back(degree);
    n.offsets.push_back(n.neighbours.size());
  }
  return n;
}

void AddEdge(const Adjacency& adjacency, std::uint32_t a, std::uint32_t b, double value,
             std::vector<double>& weights) {
  for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
    const auto row = adjacency.row(from);
    const auto at = std::lower_bound(row.begin(), row.end(), to) - row.begin();
    weights[adjacency.offsets[from] + static_cast<std::size_t>(at)] += value;
  }
}

void AddTriangle(const Mesh& mesh, const WeldedPoints& welded, const Adjacency& adjacency,
                 const Triangle& corner, std::vector<double>& weights) {
  Vec3d u[3];
  for (std::size_t i = 0; i < 3; ++i) u[i] = ToDouble(mesh.positions()[welded.first[corner[i]]]);
  const Vec3d edge[3] = {u[2] - u[1], u[0] - u[2], u[1] - u[0]};  // opposite corner i
  const Vec3d cross = Cross(edge[1], edge[2]);
  const double area = std::sqrt(Dot(cross, cross));
  const double longest =
      std::max({Dot(edge[0], edge[0]), Dot(edge[1], edge[1]), Dot(edge[2], edge[2])});
  if (!(area > kFlatTriangle * longest)) return;
  for (std::size_t i = 0; i < 3; ++i) {
    const double cotangent = -Dot(edge[(i + 1) % 3], edge[(i + 2) % 3]) / area;
    AddEdge(adjacency, corner[(i + 1) % 3], corner[(i + 2) % 3], 0.5 * cotangent, weights);
  }
}

void ClampWeights(std::vector<double>& weights) {
  double sum = 0;
  std::size_t positive = 0;
  for (const double w : weights) {
    if (w > 0) {
      sum += w;
      ++positive;
    }
  }
  const double least = positive == 0 ? 1 : kClampFraction * sum / static_cast<double>(positive);
  for (double& w : weights) w = std::max(w, least);
}

}  // namespace

NeighbourWeights UniformWeights(const Adjacency& polygon_neighbours) {
  NeighbourWeights n =
      Normalise(polygon_neighbours, std::vector<double>(polygon_neighbours.neighbours.size(), 1.0));
  n.even = true;
  return n;
}

NeighbourWeights InverseDistanceWeights(const Mesh& mesh, const WeldedPoints& welded,
                                        const Adjacency& polygon_neighbours) {
  // If the mesh is a single point, all neighbours count the same.
  const double least = mesh.diagonal() > 0 ? kCoincident * mesh.diagonal() : 1;
  std::vector<double> weights;
  weights.reserve(polygon_neighbours.neighbours.size());
  for (std::size_t p = 0; p < polygon_neighbours.points(); ++p) {
    const Vec3d u = ToDouble(mesh.positions()[welded.first[p]]);
    for (const std::uint32_t n : polygon_neighbours.row(p)) {
      const Vec3d edge = ToDouble(mesh.positions()[welded.first[n]]) - u;
      weights.push_back(1 / std::max(std::sqrt(Dot(edge, edge)), least));
    }
  }
  return Normalise(polygon_neighbours, weights);
}

NeighbourWeights CotangentWeights(const Mesh& mesh, const WeldedPoints& welded,
                                  const Adjacency& triangle_neighbours, NegativeWeights negative) {
  std::vector<double> weights(triangle_neighbours.neighbours.size(), 0.0);
  ForEachTriangle(mesh, welded, [&](const Triangle& triangle, std::uint32_t) {
    AddTriangle(mesh, welded, triangle_neighbours, triangle, weights);
  });
  if (negative == NegativeWeights::kClamp) ClampWeights(weights);
  return Normalise(triangle_neighbours, weights);
}

}  // namespace sinew
