#include "core/surface/normals.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/status.h"
#include "core/surface/normals_kernel.h"
#include "core/surface/surface_point.h"

namespace sinew {
namespace {

constexpr std::size_t kPackGrain = 1024;  // blocks per chunk
constexpr std::size_t kPointGrain = 4096;
constexpr std::size_t kPointBatch = 256;  // sums that stay in the L1 cache

// cof(A) n / |cof(A) n| for the linear part A of a skin matrix; n if that vanishes.
Vec3f MovedNormal(const Affine& skin, const Vec3f& normal) {
  const auto row = [&](std::size_t r) {
    return Vec3d{skin.m[r * 4], skin.m[r * 4 + 1], skin.m[r * 4 + 2]};
  };
  const Vec3d n = ToDouble(normal), a = row(0), b = row(1), c = row(2);
  const Vec3d moved = {Dot(Cross(b, c), n), Dot(Cross(c, a), n), Dot(Cross(a, b), n)};
  const double length = std::sqrt(Dot(moved, moved));
  const double size = Dot(a, a) + Dot(b, b) + Dot(c, c);
  return length > 1e-9 * size && std::isfinite(length) ? ToFloat((1 / length) * moved) : normal;
}

struct PosedSurface {
  const NormalTables& tables;
  const BlockLayout& layout;
  const PosedRig& rig;
  const float* packed;
  const float* face_normals;
};

// The authored normal of row k in the frame of its point.
Vec3f Shaded(const Vec3f& shading, const SurfaceFrame& frame, const Vec3f& n, float side) {
  const Vec3f &t = frame.tangent, &b = frame.bitangent;
  // A mirror flips the normal but not the tangents, so the tangents are flipped too: -M n'.
  const float st = side * shading.x, sb = side * shading.y, sn = shading.z;
  return {st * t.x + sb * b.x + sn * n.x, st * t.y + sb * b.y + sn * n.y,
          st * t.z + sb * b.z + sn * n.z};
}

// Normals and tangents of all vertices of point p with the face sum `sum`.
void WritePoint(const PosedSurface& posed, std::size_t p, const float* sum, const SurfaceOut& out) {
  const NormalTables& tables = posed.tables;
  const std::uint32_t lane = tables.point_lane[p];
  const std::uint16_t pivot = posed.layout.pivot[lane / kLanes];
  const float side = posed.rig.signs[pivot];
  const Affine& skin = posed.rig.skin[pivot];
  Vec3f n;
  SurfaceFrame frame;
  const bool surface = SurfaceNormal(tables, posed.packed, posed.face_normals, p, sum, n);
  const bool framed =
      surface && !tables.neighbour_lane.empty() && tables.neighbour_lane[p] >= 0 &&
      MakeFrame(posed.packed, lane, static_cast<std::uint32_t>(tables.neighbour_lane[p]), n, frame);
  TangentPoint axes;
  if (surface && !out.tangents.empty()) {
    axes = PoseAxes(tables.tangents, p, posed.packed, lane, n, side);
  }
  for (std::uint32_t k = tables.vertex_offset[p]; k < tables.vertex_offset[p + 1]; ++k) {
    const Vec3f normal = framed    ? Shaded(tables.shading[k], frame, n, side)
                         : surface ? n
                                   : MovedNormal(skin, tables.rest_normals[k]);
    const std::size_t v = tables.vertices[k];
    if (!out.normals.empty()) {
      std::memcpy(out.normals.data() + v * sizeof(Vec3f), &normal, sizeof(Vec3f));
    }
    if (!out.tangents.empty()) {
      const Vec4f tangent = PosedTangent(tables.tangents, k, axes, normal, skin);
      std::memcpy(out.tangents.data() + v * sizeof(Vec4f), &tangent, sizeof(Vec4f));
    }
  }
}

}  // namespace

std::size_t NormalFinisher::scratch_floats() const {
  return std::size_t{tables_.lanes} * 4 + tables_.normal_floats();
}

void NormalFinisher::Run(const BlockLayout& layout, const PosedRig& rig,
                         std::span<const PointBlock> positions, std::span<float> scratch,
                         const SurfaceOut& out, const Task& task) const {
  const std::span<float> packed = scratch.first(std::size_t{tables_.lanes} * 4);
  const std::span<float> face_normals = scratch.subspan(packed.size(), tables_.normal_floats());
  task.For(positions.size(), kPackGrain, [&](std::size_t begin, std::size_t end) {
    PackPointsKernel(positions.front().x, packed.data(), begin, end);
  });
  FillFaceNormals(tables_, packed, face_normals, task);
  const PosedSurface posed = {tables_, layout, rig, packed.data(), face_normals.data()};
  task.For(tables_.points(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    alignas(64) float sums[kPointBatch * 4];
    for (std::size_t batch = begin; batch < end; batch += kPointBatch) {
      const std::size_t batch_end = std::min(end, batch + kPointBatch);
      PointSumsKernel(tables_.face_offset.data(), tables_.faces.data(), face_normals.data(), sums,
                      batch, batch_end);
      for (std::size_t p = batch; p < batch_end; ++p) {
        WritePoint(posed, p, sums + (p - batch) * 4, out);
      }
    }
  });
}

absl::Status NormalFinisher::Check(const BlockLayout& layout) const {
  return CheckFields("normals", *this, layout.Sizes(0));
}

std::size_t NormalFinisher::CostBytes(const Rig& rig) {
  const Mesh& mesh = rig.mesh();
  std::size_t offsets = 0;
  for (const Shape& shape : rig.shapes()) {
    for (const ShapeTarget& target : shape.targets) offsets += target.vertices.size();
  }
  // Kept: 8 bytes per corner, 4 per face, 44 per vertex. Temporary: neighbours, welding and the
  // rest surface; partial blocks add at most one block per binding. Tangents: 12 bytes per
  // neighbour, at most two neighbours per corner, and 32 per vertex.
  const auto corners = mesh.face_offsets();
  std::size_t polygons = 0;
  for (std::size_t f = 0; f < mesh.faces(); ++f) polygons += corners[f + 1] - corners[f] > 4;
  const std::size_t tangents =
      mesh.tangents().empty() ? 0 : mesh.face_vertices().size() * 24 + rig.vertices() * 32;
  return tangents + polygons * sizeof(FaceArea) + mesh.face_vertices().size() * 48 +
         mesh.faces() * 40 + rig.vertices() * 200 + offsets * 32 +
         rig.bindings().size() * kLanes * 28;
}

}  // namespace sinew
