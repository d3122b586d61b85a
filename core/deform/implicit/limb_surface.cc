#include "core/deform/implicit/limb_surface.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/vectors.h"
#include "core/rig/bind_pose.h"
#include "core/surface/part_triangles.h"
#include "core/surface/surface_faces.h"

namespace sinew {
namespace {

float WeightOf(const Rig& rig, std::uint32_t v, std::uint32_t joint) {
  double sum = 0;
  const auto bindings = rig.influences().bindings(v);
  for (std::size_t k = 0; k < bindings.size(); ++k) {
    if (rig.bindings()[bindings[k]].joint == joint) sum += rig.influences().weights(v)[k];
  }
  return static_cast<float>(sum);
}

double Diagonal(std::span<const Vec3d> points) {
  Vec3d least = points.front(), largest = points.front();
  for (const Vec3d& p : points) {
    least = {std::min(least.x, p.x), std::min(least.y, p.y), std::min(least.z, p.z)};
    largest = {std::max(largest.x, p.x), std::max(largest.y, p.y), std::max(largest.z, p.z)};
  }
  return Length(largest - least);
}

void AddSkin(const Rig& rig, LimbSurface& surface) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> touched;
  touched.reserve(3 * surface.triangles.size());
  for (std::uint32_t i = 0; i < surface.triangles.size(); ++i) {
    for (const std::uint32_t v : surface.triangles[i]) touched.emplace_back(surface.joint[v], i);
  }
  std::ranges::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  surface.skin_offset.assign(rig.joints() + 1, 0);
  surface.skin.reserve(touched.size());
  for (const auto& [joint, i] : touched) {
    ++surface.skin_offset[joint + 1];
    LimbSurface::Skin skin{.triangle = i};
    for (std::size_t k = 0; k < 3; ++k) {
      skin.weight[k] = WeightOf(rig, surface.triangles[i][k], joint);
    }
    surface.skin.push_back(skin);
  }
  std::partial_sum(surface.skin_offset.begin(), surface.skin_offset.end(),
                   surface.skin_offset.begin());
}

}  // namespace

LimbSurface MakeLimbSurface(const Rig& rig, const WeldedPoints& welded) {
  LimbSurface surface;
  const Mesh& mesh = rig.mesh();
  surface.pose = BindPose(rig);
  const std::vector<AffineD> to_pose = ToBindPose(rig, surface.pose);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> owned;
  owned.reserve(rig.vertices());
  for (std::uint32_t v = 0; v < rig.vertices(); ++v) {
    const std::uint16_t binding = StrongestBinding(rig, v);
    surface.joint.push_back(rig.bindings()[binding].joint);
    surface.points.push_back(Apply(to_pose[binding], ToDouble(mesh.positions()[v])));
    if (welded.first[welded.point[v]] == v) owned.emplace_back(surface.joint.back(), v);
  }
  MakeRows(owned, rig.joints(), surface.vertex_offset, surface.vertices);

  const std::vector<Vec3d> normals = OutwardNormals(mesh, welded, surface.points);
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    surface.normals.push_back(normals[welded.point[v]]);
  }
  const std::size_t triangles = mesh.face_vertices().size() - 2 * mesh.faces();
  surface.triangles.reserve(triangles);
  surface.number.reserve(triangles);
  for (const MeshPart& part : mesh.parts()) {
    std::uint32_t number = 0;
    ForEachTriangle(mesh, part, [&](const Corners& t) {
      surface.triangles.push_back(t);
      surface.number.push_back(number++);
    });
  }
  surface.diagonal = Diagonal(surface.points);
  AddSkin(rig, surface);
  return surface;
}

std::size_t LimbSurfaceBytes(const Rig& rig) {
  const std::size_t corners = rig.mesh().face_vertices().size();
  // Points, normals, sums, joints, rows and pairs, welding tables; triangles, with at most one pair
  // and one row entry per corner.
  return rig.vertices() * (3 * sizeof(Vec3d) + 160) +
         corners * (16 + 3 * (8 + 4 + sizeof(LimbSurface::Skin))) +
         rig.joints() * (24 + 2 * sizeof(AffineD)) + rig.bindings().size() * sizeof(AffineD) +
         rig.influences().size() * 16;
}

}  // namespace sinew
