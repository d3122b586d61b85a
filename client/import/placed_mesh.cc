#include "client/import/placed_mesh.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/vectors.h"

namespace sinew::client {
namespace {

Vec3d VectorAt(const std::vector<float>& values, std::size_t i) {
  return {values[i], values[i + 1], values[i + 2]};
}

// Every `stride` numbers begin with a vector.
template <class Map>
void MapVectors(std::vector<float>& values, std::size_t stride, const Map& map) {
  for (std::size_t i = 0; i + 2 < values.size(); i += stride) {
    const Vec3f v = ToFloat(map(VectorAt(values, i)));
    values[i] = v.x;
    values[i + 1] = v.y;
    values[i + 2] = v.z;
  }
}

// Normals have unit length before and after, so their offsets are scaled with them.
void TurnNormalOffsets(const Mat3d& turn, const std::vector<float>& normals, ShapeTarget& target) {
  if (normals.empty()) target.normal_offsets.clear();
  std::size_t i = 0;
  MapVectors(target.normal_offsets, 3, [&](const Vec3d& offset) {
    const std::size_t vertex = target.vertices.empty() ? i : target.vertices[i];
    ++i;
    const double length = Length(Multiply(turn, VectorAt(normals, vertex * 3)));
    return (length > 0 ? 1 / length : 1) * Multiply(turn, offset);
  });
}

}  // namespace

void PlaceMesh(const AffineD& world, Mesh& mesh, std::span<float> corner_uvs) {
  if (world.m == AffineD().m) return;
  const Mat3d linear = Linear(world);
  const double determinant = Determinant(linear);
  if (determinant == 0) {
    mesh.normals.clear();
    mesh.tangents.clear();
  }
  const Mat3d turn = determinant == 0 ? Mat3d() : Transpose(Linear(Inverse(world)));
  const auto direction = [&](const Vec3d& v) { return Multiply(linear, v); };
  for (Shape& shape : mesh.shapes) {
    for (ShapeTarget& target : shape.targets) {
      MapVectors(target.offsets, 3, direction);
      TurnNormalOffsets(turn, mesh.normals, target);
    }
  }
  MapVectors(mesh.positions, 3, [&](const Vec3d& p) { return Apply(world, p); });
  MapVectors(mesh.normals, 3, [&](const Vec3d& n) { return Unit(Multiply(turn, n)); });
  MapVectors(mesh.tangents, 4, [&](const Vec3d& t) { return Unit(direction(t)); });
  if (determinant < 0) TurnFacesOver(mesh, corner_uvs);
}

void TurnFacesOver(Mesh& mesh, std::span<float> corner_uvs) {
  std::size_t first = 0;
  const std::size_t faces =
      mesh.face_sizes.empty() ? mesh.face_vertices.size() / 3 : mesh.face_sizes.size();
  for (std::size_t f = 0; f < faces; ++f) {
    const std::size_t size = mesh.face_sizes.empty() ? 3 : mesh.face_sizes[f];
    for (std::size_t a = first + 1, end = first + size; a + 1 < end; ++a) {
      const std::size_t b = --end;
      std::swap(mesh.face_vertices[a], mesh.face_vertices[b]);
      for (std::size_t c = 0; c < 2 && !corner_uvs.empty(); ++c) {
        std::swap(corner_uvs[a * 2 + c], corner_uvs[b * 2 + c]);
      }
    }
    first += size;
  }
  for (std::size_t i = 3; i < mesh.tangents.size(); i += 4) mesh.tangents[i] = -mesh.tangents[i];
}

}  // namespace sinew::client
