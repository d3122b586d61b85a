#include "core/surface/normals.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/status.h"
#include "core/surface/normals_kernel.h"
#include "core/surface/surface_point.h"
#include "core/surface/unit_normals_kernel.h"

namespace sinew {
namespace {

constexpr std::size_t kPackGrain = 1024;  // blocks per chunk
constexpr std::size_t kPointGrain = 4096;
constexpr std::size_t kPointBatch = 256;  // sums that stay in the L1 cache

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

// Normals and tangents of all vertices of point p, whose surface normal is `n`. surface: false if
// it is undefined.
void WritePoint(const PosedSurface& posed, std::size_t p, const Vec3f& n, bool surface,
                const SurfaceOut& out) {
  const NormalTables& tables = posed.tables;
  const std::uint32_t lane = tables.point_lane[p];
  const std::uint16_t pivot = posed.layout.pivot[lane / kLanes];
  const float side = posed.rig.signs[pivot];
  const Affine& skin = posed.rig.skin[pivot];
  SurfaceFrame frame;
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

// Points [begin, end), at most kPointBatch.
void WriteBatch(const PosedSurface& posed, std::size_t begin, std::size_t end,
                const SurfaceOut& out) {
  const NormalTables& tables = posed.tables;
  alignas(64) float sums[kPointBatch * 4];
  std::uint16_t unclear[kPointBatch / 16];
  PointSumsKernel(tables.face_offset.data(), tables.faces.data(), posed.face_normals, sums, begin,
                  end);
  const std::size_t packs = (end - begin + 15) / 16;
  std::fill(sums + (end - begin) * 4, sums + packs * 64, 0.0f);
  UnitNormalsKernel(
      sums, packs,
      {.smallest = kSurfaceSmallest, .largest = kSurfaceLargest, .noise = kSurfaceNoise}, unclear);
  for (std::size_t p = begin; p < end; ++p) {
    const std::size_t i = p - begin;
    Vec3f n = {sums[i * 4], sums[i * 4 + 1], sums[i * 4 + 2]};
    bool surface = (unclear[i / 16] >> (i % 16) & 1) == 0;
    const bool framed = !tables.neighbour_lane.empty() && tables.neighbour_lane[p] >= 0;
    if (surface && !framed && out.tangents.empty()) {
      for (std::uint32_t k = tables.vertex_offset[p]; k < tables.vertex_offset[p + 1]; ++k) {
        std::memcpy(out.normals.data() + std::size_t{tables.vertices[k]} * sizeof n, &n, sizeof n);
      }
      continue;
    }
    if (!surface) surface = ExactNormal(tables, posed.packed, posed.face_normals, p, n);
    WritePoint(posed, p, n, surface, out);
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
    for (std::size_t batch = begin; batch < end; batch += kPointBatch) {
      WriteBatch(posed, batch, std::min(end, batch + kPointBatch), out);
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
