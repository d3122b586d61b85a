#include "core/surface/surface_slopes.h"

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"
#include "core/surface/surface_point.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 256;  // blocks or points per chunk
// Steeper values are rounding, between points that nearly coincide.
constexpr double kSteepest = 1e30;

float Slope(const Vec3d& gradient, const Vec3d& tangent) {
  const double slope = Dot(gradient, tangent);
  return std::abs(slope) < kSteepest ? static_cast<float>(slope) : 0.0f;
}

// [P] in the order of `order`; 0 where faces have no area or cancel.
std::vector<Vec3d> SurfaceNormals(const Mesh& mesh, const PointOrder& order) {
  std::vector<Vec3d> sum(order.point.size());
  std::vector<double> size(order.point.size());
  ForEachTriangle(mesh, 0, mesh.faces(), [&](const auto& t) {
    const Vec3d a = ToDouble(mesh.positions()[t[0]]);
    const Vec3d ab = ToDouble(mesh.positions()[t[1]]) - a;
    const Vec3d ac = ToDouble(mesh.positions()[t[2]]) - a;
    const Vec3d area = Cross(ab, ac);
    for (const std::uint32_t v : t) {
      sum[order.vertex[v]] = sum[order.vertex[v]] + area;
      size[order.vertex[v]] += Dot(ab, ab) + Dot(ac, ac);
    }
  });
  for (std::size_t p = 0; p < sum.size(); ++p) {
    sum[p] = Length(sum[p]) > kSurfaceNoise * size[p] ? Unit(sum[p]) : Vec3d{};
  }
  return sum;
}

// Normal of the plane through the longest edge and the one farthest from its line; of any sign. For
// a point whose faces cancel, such as one of a leaf with two sides.
Vec3d PlaneOf(std::span<const Vec3d> edges) {
  if (edges.empty()) return {};
  const Vec3d longest =
      *std::ranges::max_element(edges, {}, [](const Vec3d& e) { return Dot(e, e); });
  Vec3d area;
  for (const Vec3d& e : edges) {
    const Vec3d other = Cross(longest, e);
    if (Dot(other, other) > Dot(area, area)) area = other;
  }
  return Length(area) > kSurfaceNoise * Dot(longest, longest) ? Unit(area) : Vec3d{};
}

// The weight of a binding in one lane.
double WeightAt(const BlockJoints& joints, std::span<const float> weights, std::size_t lane,
                std::uint16_t binding) {
  const std::size_t block = lane / kLanes;
  for (std::size_t pair = joints.offset[block]; pair < joints.offset[block + 1]; ++pair) {
    if (joints.entry[pair] == binding) return double{weights[pair * kLanes + lane % kLanes]};
  }
  return 0;
}

}  // namespace

SurfaceSlopes SurfaceSlopes::Create(const Rig& rig, const BlockLayout& layout,
                                    const PointOrder& order, const Adjacency& polygons,
                                    const Task& task) {
  const Mesh& mesh = rig.mesh();
  std::vector<Vec3d> normals;
  SurfaceSlopes slopes;
  task.For(2, 1, [&](std::size_t part, std::size_t) {
    if (part == 0) {
      normals = SurfaceNormals(mesh, order);
      return;
    }
    slopes.edges_.offsets = {0};
    for (const std::uint32_t point : order.point) {
      slopes.lane_.push_back(order.lane[point]);
      slopes.edges_.offsets.push_back(slopes.edges_.offsets.back() + polygons.row(point).size());
    }
    slopes.edges_.values.resize(slopes.edges_.offsets.back());
  });
  if (task.cancelled()) return slopes;
  slopes.tangents_.resize(2 * layout.blocks());
  slopes.point_.resize(layout.order.size());
  task.For(layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      const std::uint32_t v = layout.Vertex(i), p = order.vertex[v];
      slopes.point_[i] = p;
      const Vec3d authored = mesh.normals().empty() ? Vec3d{} : Unit(ToDouble(mesh.normals()[v]));
      const Vec3d surface = normals[p] == Vec3d{} ? Vec3d{0, 0, 1} : normals[p];
      const Vec3d n = authored == Vec3d{} ? surface : authored;
      const Vec4f t = mesh.tangents().empty() ? Vec4f{} : mesh.tangents()[v];
      Vec3d first;
      if (!Orthogonal({t.x, t.y, t.z}, n, first)) first = AnyAcross(n);
      slopes.tangents_[i / kLanes * 2].Set(i % kLanes, ToFloat(first));
      slopes.tangents_[i / kLanes * 2 + 1].Set(i % kLanes, ToFloat(Cross(n, first)));
    }
  });
  task.For(order.point.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<Vec3d> along;
    for (std::size_t p = begin; p < end; ++p) {
      const std::span<Edge> row(slopes.edges_.values.data() + slopes.edges_.offsets[p],
                                slopes.edges_.offsets[p + 1] - slopes.edges_.offsets[p]);
      const Vec3d at = ToDouble(mesh.positions()[layout.Vertex(slopes.lane_[p])]);
      along.clear();
      for (std::size_t k = 0; k < row.size(); ++k) {
        Edge& edge = row[k];
        edge.lane = order.lane[polygons.row(order.point[p])[k]];
        along.push_back(ToDouble(mesh.positions()[layout.Vertex(edge.lane)]) - at);
      }
      const Vec3d normal = normals[p] == Vec3d{} ? PlaneOf(along) : normals[p];
      if (normal == Vec3d{}) continue;
      const Vec3d x = AnyAcross(normal), y = Cross(normal, x);
      const PlaneWeights plane = FitPlane(along, x, y);
      for (std::size_t k = 0; k < plane.edges.size(); ++k) {
        const auto [wx, wy] = plane.edges[k];
        row[k].weight = (1 / plane.determinant) * (wx * x + wy * y);
      }
    }
  });
  return slopes;
}

std::size_t SurfaceSlopes::Bytes(const Rig& rig) {
  // At most one partly filled block per binding.
  const std::size_t lanes = rig.vertices() + rig.bindings().size() * kLanes;
  return lanes * (2 * sizeof(Vec3f) + sizeof(std::uint32_t)) + rig.vertices() * 64 +
         2 * rig.mesh().face_vertices().size() * sizeof(Edge);
}

AlignedVector<float> SurfaceSlopes::OfWeights(const BlockLayout& layout, const BlockJoints& joints,
                                              std::span<const float> weights, double least,
                                              const Task& task) const {
  AlignedVector<float> slopes(joints.pairs() * 2 * kLanes);
  task.For(layout.blocks(), kGrain, [&](std::size_t begin, std::size_t end) {
    struct Kept {
      std::size_t pair;
      double weight;
      Vec3d gradient;
    };
    std::vector<Kept> kept;
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      const std::size_t block = i / kLanes, lane = i % kLanes;
      const std::uint32_t point = point_[i];
      double whole = 0;
      Vec3d sum;
      kept.clear();
      for (std::size_t pair = joints.offset[block]; pair < joints.offset[block + 1]; ++pair) {
        if (weights[pair * kLanes + lane] == 0) continue;
        // Values are those of the point: the other side of a seam may differ a little.
        const double here = WeightAt(joints, weights, lane_[point], joints.entry[pair]);
        if (here <= least) continue;
        Kept& one = kept.emplace_back(Kept{pair, here, {}});
        for (const Edge& edge : edges_.row(point)) {
          const double there = WeightAt(joints, weights, edge.lane, joints.entry[pair]);
          one.gradient = one.gradient + (there - here) * edge.weight;
        }
        whole += here;
        sum = sum + one.gradient;
      }
      for (std::size_t k = 0; k < 2; ++k) {
        const Vec3d tangent = ToDouble(tangents_[block * 2 + k].At(lane));
        double pivot = 0;  // minus the sum of all others, as they are rounded
        for (const Kept& one : kept) {
          if (one.pair == joints.offset[block]) continue;
          // The derivative of weight / sum of the kept weights.
          const float slope = Slope(one.gradient - (one.weight / whole) * sum, tangent);
          slopes[(one.pair * 2 + k) * kLanes + lane] = slope;
          pivot -= double{slope};
        }
        slopes[(joints.offset[block] * 2 + k) * kLanes + lane] = static_cast<float>(pivot);
      }
    }
  });
  return slopes;
}

AlignedVector<float> SurfaceSlopes::OfPoints(std::span<const float> points,
                                             const Task& task) const {
  const auto at = [&](std::size_t lane, std::size_t c) {
    return double{points[(lane / kLanes * 3 + c) * kLanes + lane % kLanes]};
  };
  AlignedVector<float> slopes(points.size() * 2);
  task.For(points.size() / (3 * kLanes), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin * kLanes; i < end * kLanes; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        Vec3d gradient;
        for (const Edge& edge : edges_.row(point_[i])) {
          gradient = gradient + (at(edge.lane, c) - at(lane_[point_[i]], c)) * edge.weight;
        }
        for (std::size_t k = 0; k < 2; ++k) {
          const Vec3d tangent = ToDouble(tangents_[i / kLanes * 2 + k].At(i % kLanes));
          slopes[((i / kLanes * 2 + k) * 3 + c) * kLanes + i % kLanes] = Slope(gradient, tangent);
        }
      }
    }
  });
  return slopes;
}

}  // namespace sinew
