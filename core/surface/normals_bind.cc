#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/aligned.h"
#include "core/base/status.h"
#include "core/surface/adjacency.h"
#include "core/surface/normals.h"
#include "core/surface/normals_kernel.h"
#include "core/surface/surface_point.h"

namespace sinew {
namespace {

constexpr std::size_t kPointGrain = 4096;
constexpr double kSameNormal = 1e-6;  // authored normals closer to the surface's need no frame

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// The uploaded positions in the layout of a pose, to compute rest values.
struct RestSurface {
  AlignedVector<float> packed;
  std::vector<Vec3f> normals;  // [P] unit, or 0 0 0 if undefined
};

RestSurface MakeRestSurface(const Mesh& mesh, const BlockLayout& layout, const NormalTables& tables,
                            const Task& task) {
  AlignedVector<PointBlock> blocks(layout.blocks());
  for (std::size_t i = 0; i < layout.order.size(); ++i) {
    blocks[i / kLanes].Set(i % kLanes, mesh.positions()[layout.Vertex(i)]);
  }
  RestSurface rest;
  rest.packed.resize(std::size_t{tables.lanes} * 4);
  rest.normals.resize(tables.points());
  PackPointsKernel(blocks.front().x, rest.packed.data(), 0, blocks.size());
  AlignedVector<float> face_normals(tables.normal_floats());
  FillFaceNormals(tables, rest.packed, face_normals, task);
  task.For(tables.points(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      alignas(64) float sum[4];
      PointSumsKernel(tables.face_offset.data(), tables.faces.data(), face_normals.data(), sum, p,
                      p + 1);
      if (!SurfaceNormal(tables, rest.packed.data(), face_normals.data(), p, sum,
                         rest.normals[p])) {
        rest.normals[p] = {};
      }
    }
  });
  return rest;
}

// Unit authored normals, else the surface's, else 0 0 1. In the order of tables.vertices.
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

// The neighbour with the longest edge along the surface: a lane, or -1.
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
    // A later neighbour must be clearly longer, so that rounding does not decide.
    if (Dot(along, along) > longest * (1 + 1e-5) &&
        MakeFrame(packed, lane, neighbour, normal, frame)) {
      longest = Dot(along, along);
      best = static_cast<std::int32_t>(neighbour);
    }
  }
  return best;
}

// The lanes of every point's neighbours.
PointRings MakeRings(const Adjacency& adjacency, const PointOrder& order) {
  PointRings rings;
  rings.offset = {0};
  for (const std::uint32_t point : order.point) {
    for (const std::uint32_t q : adjacency.row(point)) rings.lane.push_back(order.lane[q]);
    rings.offset.push_back(static_cast<std::uint32_t>(rings.lane.size()));
  }
  return rings;
}

void SetShading(const Mesh& mesh, const PointRings& rings, const RestSurface& rest,
                NormalTables& tables) {
  if (mesh.normals().empty()) return;
  tables.neighbour_lane.assign(tables.points(), -1);
  tables.shading.assign(tables.vertices.size(), {0, 0, 1});
  for (std::size_t p = 0; p < tables.points(); ++p) {
    const Vec3f& n = rest.normals[p];
    if (n == Vec3f{} || !NeedsFrame(tables, p, n)) continue;
    const std::int32_t neighbour =
        FrameNeighbour(rest.packed.data(), tables.point_lane[p], n, rings.row(p));
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

absl::StatusOr<NormalFinisher> NormalFinisher::Bind(const RigSurface& surface, const Task& task) {
  const Rig& rig = surface.rig();
  const BlockLayout& layout = surface.layout();
  const PointOrder& order = surface.order();
  NormalFinisher finisher;
  NormalTables& tables = finisher.tables_;
  tables.lanes = static_cast<std::uint32_t>(layout.order.size());
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  Pairs members;  // point, vertex
  for (std::uint32_t v = 0; v < rig.vertices(); ++v) {
    members.emplace_back(order.vertex[v], v);
  }
  MakeRows(members, order.point.size(), tables.vertex_offset, tables.vertices);
  for (const std::uint32_t point : order.point) tables.point_lane.push_back(order.lane[point]);
  static_cast<SurfaceFaces&>(tables) =
      MakeSurfaceFaces(rig.mesh(), layout.lane, order.vertex, order.point.size());
  const RestSurface rest = MakeRestSurface(rig.mesh(), layout, tables, task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SetRestNormals(rig.mesh(), rest, tables);
  if (rig.mesh().normals().empty() && rig.mesh().tangents().empty()) return finisher;
  const PointRings rings = MakeRings(surface.polygons(), order);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  SetShading(rig.mesh(), rings, rest, tables);
  tables.tangents = BindTangents(rig.mesh(), tables, rings, rest.packed.data(), rest.normals);
  return finisher;
}

}  // namespace sinew
