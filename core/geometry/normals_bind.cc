#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/aligned.h"
#include "core/geometry/adjacency.h"
#include "core/geometry/normals.h"
#include "core/geometry/normals_kernel.h"
#include "core/geometry/surface_point.h"

namespace sinew {
namespace {

constexpr double kSameNormal = 1e-6;  // authored normals this near the surface's need no frame

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Welded points in the order of their lowest lanes.
struct PointOrder {
  std::vector<std::uint32_t> point;   // [P] welded point
  std::vector<std::uint32_t> number;  // [P] place of a welded point
  std::vector<std::uint32_t> lane;    // [P] of a welded point
};

PointOrder OrderPoints(const WeldedPoints& welded, const BlockLayout& layout) {
  PointOrder order;
  order.lane.assign(welded.points(), static_cast<std::uint32_t>(layout.order.size()));
  for (std::size_t v = 0; v < welded.point.size(); ++v) {
    std::uint32_t& lane = order.lane[welded.point[v]];
    lane = std::min(lane, layout.lane[v]);
  }
  order.point.resize(welded.points());
  order.number.resize(welded.points());
  std::iota(order.point.begin(), order.point.end(), 0u);
  std::ranges::sort(order.point, {}, [&](std::uint32_t p) { return order.lane[p]; });
  for (std::uint32_t i = 0; i < order.point.size(); ++i) order.number[order.point[i]] = i;
  return order;
}

// Rows from (row, value) pairs; values keep their order within a row.
void MakeRows(const Pairs& pairs, std::size_t rows, std::vector<std::uint32_t>& offsets,
              std::vector<std::uint32_t>& values) {
  offsets.assign(rows + 1, 0);
  for (const auto& pair : pairs) ++offsets[pair.first + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  values.resize(pairs.size());
  std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
  for (const auto& [row, value] : pairs) values[next[row]++] = value;
}

std::span<const std::uint32_t> FaceVertices(const Mesh& mesh, std::uint32_t f) {
  const std::uint32_t begin = mesh.face_offsets()[f];
  return mesh.face_vertices().subspan(begin, mesh.face_offsets()[f + 1] - begin);
}

// Faces by the lowest lane of their corners: neighbours on the surface become neighbours in memory.
std::vector<std::uint32_t> OrderFaces(const Mesh& mesh, const BlockLayout& layout) {
  Pairs keys;
  keys.reserve(mesh.faces());
  for (std::uint32_t f = 0; f < mesh.faces(); ++f) {
    auto lowest = static_cast<std::uint32_t>(layout.order.size());
    for (const std::uint32_t v : FaceVertices(mesh, f)) lowest = std::min(lowest, layout.lane[v]);
    keys.emplace_back(lowest, f);
  }
  std::ranges::sort(keys);
  std::vector<std::uint32_t> order;
  order.reserve(keys.size());
  for (const auto& key : keys) order.push_back(key.second);
  return order;
}

void SetFaces(const Mesh& mesh, const BlockLayout& layout, const WeldedPoints& welded,
              const PointOrder& order, NormalTables& tables) {
  tables.polygon_offset = {0};
  const std::vector<std::uint32_t> faces = OrderFaces(mesh, layout);
  Pairs incident;  // point, face
  std::vector<std::uint32_t> around;
  std::uint32_t number = 0;
  for (std::size_t corners = 3; corners <= 5; ++corners) {  // 5 stands for more
    auto& lanes = corners == 3 ? tables.triangles : corners == 4 ? tables.quads : tables.polygons;
    for (const std::uint32_t f : faces) {
      const auto vertices = FaceVertices(mesh, f);
      if (std::min<std::size_t>(vertices.size(), 5) != corners) continue;
      around.clear();
      for (const std::uint32_t v : vertices) {
        lanes.push_back(layout.lane[v]);
        around.push_back(order.number[welded.point[v]]);
      }
      std::ranges::sort(around);
      around.erase(std::unique(around.begin(), around.end()), around.end());
      for (const std::uint32_t point : around) incident.emplace_back(point, number);
      ++number;
      if (corners == 5) tables.polygon_offset.push_back(static_cast<std::uint32_t>(lanes.size()));
    }
  }
  MakeRows(incident, order.point.size(), tables.face_offset, tables.faces);
}

// The positions as uploaded, as a pose would hold them: what the rest pose is compared with.
struct RestSurface {
  AlignedVector<float> packed;
  std::vector<Vec3f> normals;  // [P] unit, or 0 0 0 where the faces say nothing
};

RestSurface MakeRestSurface(const Mesh& mesh, const BlockLayout& layout,
                            const NormalTables& tables) {
  AlignedVector<PointBlock> blocks(layout.blocks());
  for (std::size_t i = 0; i < layout.order.size(); ++i) {
    const Vec3f& p = mesh.positions()[layout.Vertex(i)];
    PointBlock& block = blocks[i / kLanes];
    block.x[i % kLanes] = p.x;
    block.y[i % kLanes] = p.y;
    block.z[i % kLanes] = p.z;
  }
  RestSurface rest;
  rest.packed.resize(std::size_t{tables.lanes} * 4);
  rest.normals.resize(tables.points());
  AlignedVector<float> face_normals(tables.face_count() * 4);
  FillFaceNormals(tables, blocks, rest.packed, face_normals, Task());
  for (std::size_t p = 0; p < tables.points(); ++p) {
    alignas(64) float sum[4];
    PointSumsKernel(tables.face_offset.data(), tables.faces.data(), face_normals.data(), sum, p,
                    p + 1);
    if (!SurfaceNormal(tables, rest.packed.data(), p, sum, rest.normals[p])) rest.normals[p] = {};
  }
  return rest;
}

// Authored normals of unit length, or what the surface says, or 0 0 1. In the order of
// tables.vertices.
void SetRestNormals(const Mesh& mesh, const RestSurface& rest, NormalTables& tables) {
  tables.rest_normals.resize(tables.vertices.size());
  for (std::size_t p = 0; p < tables.points(); ++p) {
    const Vec3f surface = rest.normals[p] == Vec3f{} ? Vec3f{0, 0, 1} : rest.normals[p];
    for (std::uint32_t k = tables.vertex_offset[p]; k < tables.vertex_offset[p + 1]; ++k) {
      const Vec3d n =
          mesh.normals().empty() ? Vec3d{} : ToDouble(mesh.normals()[tables.vertices[k]]);
      const double length = std::sqrt(Dot(n, n));
      tables.rest_normals[k] = length > 0 ? ToFloat((1 / length) * n) : surface;
    }
  }
}

bool NeedsFrame(const NormalTables& tables, std::size_t p, const Vec3f& surface) {
  for (std::uint32_t k = tables.vertex_offset[p]; k < tables.vertex_offset[p + 1]; ++k) {
    const Vec3d d = ToDouble(tables.rest_normals[k]) - ToDouble(surface);
    if (Dot(d, d) > kSameNormal * kSameNormal) return true;
  }
  return false;
}

// The neighbour whose direction along the surface is longest: a lane, or -1.
std::int32_t FrameNeighbour(const float* packed, std::uint32_t lane, const Vec3f& normal,
                            std::span<const std::uint32_t> lanes) {
  const auto at = [&](std::size_t l) {
    return Vec3d{packed[l * 4], packed[l * 4 + 1], packed[l * 4 + 2]};
  };
  double longest = 0;
  std::int32_t best = -1;
  for (const std::uint32_t neighbour : lanes) {
    const Vec3d along = Cross(at(neighbour) - at(lane), ToDouble(normal));
    SurfaceFrame frame;
    // A later neighbour must be clearly longer, so that rounding does not choose.
    if (Dot(along, along) > longest * (1 + 1e-5) &&
        MakeFrame(packed, lane, neighbour, normal, frame)) {
      longest = Dot(along, along);
      best = static_cast<std::int32_t>(neighbour);
    }
  }
  return best;
}

void SetShading(const Mesh& mesh, const WeldedPoints& welded, const PointOrder& order,
                const RestSurface& rest, NormalTables& tables) {
  if (mesh.normals().empty()) return;
  const Adjacency adjacency = PolygonNeighbours(mesh, welded);
  tables.neighbour_lane.assign(tables.points(), -1);
  tables.shading.assign(tables.vertices.size(), {0, 0, 1});
  std::vector<std::uint32_t> lanes;
  for (std::size_t p = 0; p < tables.points(); ++p) {
    const Vec3f& n = rest.normals[p];
    if (n == Vec3f{} || !NeedsFrame(tables, p, n)) continue;
    lanes.clear();
    for (const std::uint32_t q : adjacency.row(order.point[p])) lanes.push_back(order.lane[q]);
    const std::int32_t neighbour =
        FrameNeighbour(rest.packed.data(), tables.point_lane[p], n, lanes);
    SurfaceFrame frame;
    if (neighbour < 0 || !MakeFrame(rest.packed.data(), tables.point_lane[p],
                                    static_cast<std::uint32_t>(neighbour), n, frame)) {
      continue;
    }
    tables.neighbour_lane[p] = neighbour;
    for (std::uint32_t k = tables.vertex_offset[p]; k < tables.vertex_offset[p + 1]; ++k) {
      const Vec3d authored = ToDouble(tables.rest_normals[k]);
      tables.shading[k] =
          ToFloat(Vec3d{Dot(authored, ToDouble(frame.tangent)),
                        Dot(authored, ToDouble(frame.bitangent)), Dot(authored, ToDouble(n))});
    }
  }
}

}  // namespace

absl::StatusOr<NormalFinisher> NormalFinisher::Bind(const Rig& rig, const BlockLayout& layout) {
  const WeldedPoints welded = Weld(rig);
  const PointOrder order = OrderPoints(welded, layout);
  NormalFinisher finisher;
  NormalTables& tables = finisher.tables_;
  tables.lanes = static_cast<std::uint32_t>(layout.order.size());
  Pairs members;  // point, vertex
  for (std::uint32_t v = 0; v < rig.vertices(); ++v) {
    members.emplace_back(order.number[welded.point[v]], v);
  }
  MakeRows(members, order.point.size(), tables.vertex_offset, tables.vertices);
  for (const std::uint32_t point : order.point) tables.point_lane.push_back(order.lane[point]);
  SetFaces(rig.mesh(), layout, welded, order, tables);
  const RestSurface rest = MakeRestSurface(rig.mesh(), layout, tables);
  SetRestNormals(rig.mesh(), rest, tables);
  SetShading(rig.mesh(), welded, order, rest, tables);
  return finisher;
}

}  // namespace sinew
