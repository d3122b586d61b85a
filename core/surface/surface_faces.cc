#include "core/surface/surface_faces.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "core/base/rows.h"
#include "core/surface/normals_kernel.h"

namespace sinew {
namespace {

constexpr std::size_t kFaceGrain = 8192;
constexpr std::size_t kWalkedCorners = 8;  // larger faces are walked once per frame

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// By their lowest corner, then by number.
std::vector<std::uint32_t> OrderFaces(const Mesh& mesh, std::span<const std::uint32_t> corner) {
  const std::size_t corners = corner.empty() ? 0 : std::ranges::max(corner) + std::size_t{1};
  return CollectRows<std::uint32_t>(corners,
                                    [&](auto add) {
                                      for (std::uint32_t f = 0; f < mesh.faces(); ++f) {
                                        auto lowest = std::numeric_limits<std::uint32_t>::max();
                                        for (const std::uint32_t v : mesh.face(f))
                                          lowest = std::min(lowest, corner[v]);
                                        add(lowest, f);
                                      }
                                    })
      .values;
}

Vec3d PackedPoint(const float* packed, std::size_t corner) {
  return {packed[corner * 4], packed[corner * 4 + 1], packed[corner * 4 + 2]};
}

}  // namespace

void FaceArea::Walk(std::span<const std::uint32_t> corners, const float* packed) {
  const Vec3d origin = PackedPoint(packed, corners[0]);
  Vec3d last = PackedPoint(packed, corners[1]) - origin;
  for (std::size_t c = 2; c < corners.size(); ++c) {
    const Vec3d next = PackedPoint(packed, corners[c]) - origin;
    sum = sum + Cross(last, next);
    size += Dot(last, last) + Dot(next, next);
    last = next;
  }
}

void MakeRows(std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs, std::size_t rows,
              std::vector<std::uint32_t>& offsets, std::vector<std::uint32_t>& values) {
  offsets.assign(rows + 1, 0);
  for (const auto& pair : pairs) ++offsets[pair.first + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  values.resize(pairs.size());
  std::vector<std::uint32_t> next(offsets.begin(), offsets.end() - 1);
  for (const auto& [row, value] : pairs) values[next[row]++] = value;
}

std::span<const std::uint32_t> SurfaceFaces::Corners(std::size_t face) const {
  const std::size_t t = triangles.size() / 3, q = quads.size() / 4;
  if (face < t) return std::span(triangles).subspan(face * 3, 3);
  face -= t;
  if (face < q) return std::span(quads).subspan(face * 4, 4);
  const std::uint32_t begin = polygon_offset[face - q], end = polygon_offset[face - q + 1];
  return std::span(polygons).subspan(begin, end - begin);
}

SurfaceFaces MakeSurfaceFaces(const Mesh& mesh, std::span<const std::uint32_t> corner,
                              std::span<const std::uint32_t> point, std::size_t points) {
  SurfaceFaces surface;
  surface.polygon_offset = {0};
  const std::vector<std::uint32_t> faces = OrderFaces(mesh, corner);
  Pairs incident;  // point, face
  incident.reserve(mesh.face_vertices().size());
  std::vector<std::uint32_t> around;
  std::uint32_t number = 0;
  for (std::size_t size = 3; size <= 5; ++size) {  // 5 means 5 or more
    auto& corners = size == 3 ? surface.triangles : size == 4 ? surface.quads : surface.polygons;
    for (const std::uint32_t f : faces) {
      const auto vertices = mesh.face(f);
      if (std::min<std::size_t>(vertices.size(), 5) != size) continue;
      around.clear();
      for (const std::uint32_t v : vertices) {
        corners.push_back(corner[v]);
        around.push_back(point[v]);
      }
      std::ranges::sort(around);
      around.erase(std::unique(around.begin(), around.end()), around.end());
      for (const std::uint32_t p : around) incident.emplace_back(p, number);
      ++number;
      if (size == 5) surface.polygon_offset.push_back(static_cast<std::uint32_t>(corners.size()));
    }
  }
  MakeRows(incident, points, surface.face_offset, surface.faces);
  return surface;
}

void FillFaceNormals(const SurfaceFaces& faces, std::span<const float> packed,
                     std::span<float> normals, const Task& task) {
  const std::size_t triangles = faces.triangles.size() / 3, quads = faces.quads.size() / 4;
  task.For(triangles, kFaceGrain, [&](std::size_t begin, std::size_t end) {
    TriangleNormalsKernel(faces.triangles.data(), packed.data(), normals.data(), begin, end);
  });
  task.For(quads, kFaceGrain, [&](std::size_t begin, std::size_t end) {
    QuadNormalsKernel(faces.quads.data(), packed.data(), normals.data() + triangles * 4, begin,
                      end);
  });
  const std::size_t polygons = faces.polygon_offset.size() - 1;
  task.For(polygons, kFaceGrain, [&](std::size_t begin, std::size_t end) {
    PolygonNormalsKernel(faces.polygon_offset.data(), faces.polygons.data(), packed.data(),
                         normals.data() + (triangles + quads) * 4, begin, end);
    for (std::size_t f = triangles + quads + begin; f < triangles + quads + end; ++f) {
      const auto corners = faces.Corners(f);
      if (corners.size() <= kWalkedCorners) continue;
      FaceArea area;
      area.Walk(corners, packed.data());
      std::memcpy(&normals[faces.AreaPlace(f)], &area, sizeof area);
    }
  });
}

void AddFaceArea(const SurfaceFaces& faces, const float* packed, const float* normals,
                 std::size_t face, FaceArea& area) {
  const auto corners = faces.Corners(face);
  if (corners.size() <= kWalkedCorners) {
    area.Walk(corners, packed);
    return;
  }
  FaceArea whole;
  std::memcpy(static_cast<void*>(&whole), normals + faces.AreaPlace(face), sizeof whole);
  area.sum = area.sum + whole.sum;
  area.size += whole.size;
}

}  // namespace sinew
