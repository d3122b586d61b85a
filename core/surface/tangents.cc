#include "core/surface/tangents.h"

#include <algorithm>
#include <cmath>

#include "core/surface/normals.h"
#include "core/surface/normals_kernel.h"
#include "core/surface/surface_point.h"

namespace sinew {
namespace {

// Range of squared lengths in which float neither overflows nor loses significant terms, and the
// minimum remaining share after cancellation.
constexpr float kSmallest = 1e-30f, kLargest = 1e34f, kClear = 0.01f;
// A tangent that leaves its surface by less is in it.
constexpr double kInSurface = 1e-6;

Vec3d PackedPoint(const float* packed, std::size_t lane) {
  return {packed[lane * 4], packed[lane * 4 + 1], packed[lane * 4 + 2]};
}

// Weights of the edges around `lane` for the axes x and y, in pairs, the largest of them 1 or -1.
// Empty: the edges are collinear.
std::vector<float> AxisWeights(const float* packed, std::uint32_t lane,
                               std::span<const std::uint32_t> ring, const Vec3d& x,
                               const Vec3d& y) {
  std::vector<Vec3d> edges;
  for (const std::uint32_t neighbour : ring) {
    edges.push_back(PackedPoint(packed, neighbour) - PackedPoint(packed, lane));
  }
  const PlaneWeights exact = FitPlane(edges, x, y);
  double largest = 0;
  for (const auto& weights : exact.edges) {
    for (const double w : weights) largest = std::max(largest, std::abs(w));
  }
  if (!(largest > 0) || !std::isfinite(largest)) return {};
  std::vector<float> scaled;
  for (const auto& weights : exact.edges) {
    for (const double w : weights) scaled.push_back(static_cast<float>(w / largest));
  }
  return scaled;
}

// Authored tangents of the vertices of point p, orthogonal to their authored normals. False: there
// are none.
bool SetRest(const Mesh& mesh, const NormalTables& tables, std::size_t p, TangentTables& out) {
  bool any = false;
  for (std::uint32_t k = tables.vertex_offset[p]; k < tables.vertex_offset[p + 1]; ++k) {
    const Vec4f& given = mesh.tangents()[tables.vertices[k]];
    if (given.x == 0 && given.y == 0 && given.z == 0) continue;
    const Vec3d normal = ToDouble(tables.rest_normals[k]);
    Vec3d unit;
    if (!Orthogonal({given.x, given.y, given.z}, normal, unit)) unit = AnyAcross(normal);
    const Vec3f t = ToFloat(unit);
    out.rest_tangents[k] = {t.x, t.y, t.z, given.w < 0 ? -1.0f : 1.0f};
    any = true;
  }
  return any;
}

float Dot3(const Vec3f& a, const Vec3f& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// The component of v perpendicular to the unit vector n.
Vec3f Across(const Vec3f& v, const Vec3f& n) {
  const float along = Dot3(v, n);
  return {v.x - along * n.x, v.y - along * n.y, v.z - along * n.z};
}

// ExactTangent in float; false where float would lose significant digits.
bool QuickTangent(const Vec3f& c, const TangentPoint& point, const Vec3f& normal, Vec3f& unit) {
  const Vec3f &x = point.x, &y = point.y, &n = point.normal;
  const Vec3f sum = {c.x * x.x + c.y * y.x, c.x * x.y + c.y * y.y, c.x * x.z + c.y * y.z};
  const float size2 = Dot3(sum, sum);
  if (!(size2 > kSmallest && size2 < kLargest)) return false;
  Vec3f along = Across(sum, n);
  float clear2 = size2;  // minimum remaining share
  if (c.z != 0) {
    const float along2 = Dot3(along, along), rest2 = c.x * c.x + c.y * c.y;
    if (!(along2 > kClear * size2 && rest2 > kClear)) return false;
    const float scale = std::sqrt(rest2 / along2);
    along = {scale * along.x + c.z * n.x, scale * along.y + c.z * n.y, scale * along.z + c.z * n.z};
    clear2 = 1;
  }
  const Vec3f t = Across(along, normal);
  const float length2 = Dot3(t, t);
  if (!(length2 > kClear * clear2)) return false;
  const float scale = 1.0f / std::sqrt(length2);
  unit = {t.x * scale, t.y * scale, t.z * scale};
  return true;
}

// The tangent in double, including the component out of the surface. False: the axes have vanished.
bool ExactTangent(const Vec3f& coordinates, const TangentPoint& point, const Vec3d& normal,
                  Vec3d& unit) {
  const Vec3d c = ToDouble(coordinates), n = ToDouble(point.normal);
  const Vec3d sum = c.x * ToDouble(point.x) + c.y * ToDouble(point.y);
  const Vec3d along = sum - Dot(sum, n) * n;
  // Keeps the ratio of in-plane to normal component at rest, however much the surface grew.
  const double length2 = Dot(along, along), rest2 = c.x * c.x + c.y * c.y;
  if (length2 == 0 && rest2 != 0) return false;
  const double scale = length2 > 0 ? std::sqrt(rest2 / length2) : 0;
  return Orthogonal(scale * along + c.z * n, normal, unit);
}

}  // namespace

TangentTables BindTangents(const Mesh& mesh, const NormalTables& tables, const PointRings& rings,
                           const float* packed, std::span<const Vec3f> surface) {
  TangentTables out;
  if (mesh.tangents().empty()) return out;
  out.ring_offset = {0};
  out.coordinates.resize(tables.vertices.size());
  out.rest_tangents.resize(tables.vertices.size());
  for (std::size_t p = 0; p < tables.points(); ++p) {
    std::vector<float> weights;
    const Vec3d n = ToDouble(surface[p]), x = AnyAcross(n), y = Cross(n, x);
    const std::span<const std::uint32_t> ring = rings.row(p);
    if (SetRest(mesh, tables, p, out) && surface[p] != Vec3f{}) {
      weights = AxisWeights(packed, tables.point_lane[p], ring, x, y);
    }
    if (!weights.empty()) {
      out.ring_lane.insert(out.ring_lane.end(), ring.begin(), ring.end());
      out.ring_weight.insert(out.ring_weight.end(), weights.begin(), weights.end());
      for (std::uint32_t k = tables.vertex_offset[p]; k < tables.vertex_offset[p + 1]; ++k) {
        const Vec4f& rest = out.rest_tangents[k];
        const Vec3d t = {rest.x, rest.y, rest.z};
        const double out_of_it = Dot(t, n);
        out.coordinates[k] =
            ToFloat(Vec3d{Dot(t, x), Dot(t, y), std::abs(out_of_it) > kInSurface ? out_of_it : 0});
      }
    }
    out.ring_offset.push_back(static_cast<std::uint32_t>(out.ring_lane.size()));
  }
  return out;
}

TangentPoint PoseAxes(const TangentTables& tables, std::size_t p, const float* packed,
                      std::uint32_t lane, const Vec3f& surface, float side) {
  TangentPoint point;
  const std::uint32_t begin = tables.ring_offset[p];
  const std::size_t size = tables.ring_offset[p + 1] - begin;
  if (size == 0) return point;
  alignas(16) float sums[8];
  EdgeSumsKernel(tables.ring_lane.data() + begin, tables.ring_weight.data() + begin * 2, size,
                 packed, lane, sums);
  point.found = true;
  point.x = {sums[0], sums[1], sums[2]};
  point.y = {sums[4], sums[5], sums[6]};
  point.normal = {side * surface.x, side * surface.y, side * surface.z};
  return point;
}

Vec4f PosedTangent(const TangentTables& tables, std::size_t k, const TangentPoint& point,
                   const Vec3f& normal, const Affine& skin) {
  const Vec4f& rest = tables.rest_tangents[k];
  if (rest.w == 0) return {};
  Vec3f t;
  if (!point.found || !QuickTangent(tables.coordinates[k], point, normal, t)) {
    const Vec3d n = ToDouble(normal);
    Vec3d unit;
    if (!point.found || !ExactTangent(tables.coordinates[k], point, n, unit)) {
      unit = MovedTangent({rest.x, rest.y, rest.z}, skin, n);
    }
    t = ToFloat(unit);
  }
  return {t.x, t.y, t.z, rest.w};
}

Vec3d MovedTangent(const Vec3d& rest, const Affine& skin, const Vec3d& normal) {
  Vec3d unit;
  if (Orthogonal(Multiply(Linear(ToDouble(skin)), rest), normal, unit)) return unit;
  return Orthogonal(rest, normal, unit) ? unit : AnyAcross(normal);
}

}  // namespace sinew
