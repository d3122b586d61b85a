#include "client/render/surface.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/str_cat.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/status.h"

namespace sinew::client {
namespace {

using Eigen::Vector3d;
using Eigen::Vector3f;

constexpr float kCreaseCosine = 0.5f;  // edges sharper than 60 degrees stay sharp
constexpr std::size_t kCreaseCorners =
    64;  // more corners than this at one point: all are smoothed together

absl::Status CheckFloats(const char* field, std::span<const float> values, std::size_t size,
                         float low, float high) {
  if (values.size() != size) {
    return absl::InvalidArgumentError(
        absl::StrCat("mesh.", field, ": ", values.size(), " values, need ", size));
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!(values[k] >= low && values[k] <= high)) {
      return absl::InvalidArgumentError(
          absl::StrCat("mesh.", field, "[", k, "]: ", values[k], ", need ", low, " to ", high));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckValues(const MeshView& mesh) {
  const std::size_t values = mesh.positions.size();
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (values == 0 || values % 3 != 0 || values / 3 > 0x7fffffff) {
    return absl::InvalidArgumentError(absl::StrCat(
        "mesh.positions: ", values, " values, need 3 for each of 1 to 2147483647 vertices"));
  }
  SINEW_RETURN_IF_ERROR(CheckFloats("positions", mesh.positions, values, -kLargest, kLargest));
  if (!mesh.normals.empty()) {
    SINEW_RETURN_IF_ERROR(CheckFloats("normals", mesh.normals, values, -kLargest, kLargest));
  }
  if (!mesh.colours.empty()) {
    SINEW_RETURN_IF_ERROR(CheckFloats("colours", mesh.colours, values, 0, 1));
  }
  return absl::OkStatus();
}

Vector3d PointOf(const MeshView& mesh, std::size_t v) {
  return {mesh.positions[v * 3], mesh.positions[v * 3 + 1], mesh.positions[v * 3 + 2]};
}

// Moves the centre of the mesh to the origin, at size 1.
void ChoosePlace(const MeshView& mesh, Surface& surface) {
  Vector3d low = Vector3d::Constant(std::numeric_limits<double>::infinity()), high = -low;
  for (std::size_t v = 0; v < mesh.positions.size() / 3; ++v) {
    low = low.cwiseMin(PointOf(mesh, v));
    high = high.cwiseMax(PointOf(mesh, v));
  }
  surface.centre = (low + high) / 2;
  const double half_diagonal = (high - low).norm() / 2;
  surface.scale = half_diagonal > 0 ? 1 / half_diagonal : 1;
}

// Moves and scales in double: a small mesh far from the origin keeps its shape.
void PlacePoints(const MeshView& mesh, Surface& surface) {
  const std::size_t vertices = mesh.positions.size() / 3;
  surface.points.resize(vertices + 1, Vector3f::Zero());
  for (std::size_t v = 0; v < vertices; ++v) {
    surface.points[v] = ((PointOf(mesh, v) - surface.centre) * surface.scale).cast<float>();
  }
}

absl::Status CutFaces(const MeshView& mesh, Surface& surface) {
  const std::size_t vertices = mesh.positions.size() / 3, corners = mesh.face_vertices.size();
  for (std::size_t k = 0; k < corners; ++k) {
    if (mesh.face_vertices[k] >= vertices) {
      return absl::InvalidArgumentError(absl::StrCat("mesh.face_vertices[", k,
                                                     "]: ", mesh.face_vertices[k],
                                                     ", mesh has vertices 0..", vertices - 1));
    }
  }
  const bool triangles = mesh.face_sizes.empty();
  const std::size_t faces = triangles ? corners / 3 : mesh.face_sizes.size();
  std::size_t first = 0;
  for (std::size_t f = 0; f < faces; ++f) {
    const std::size_t size = triangles ? 3 : mesh.face_sizes[f];
    if (size < 3 || size > corners - first) {
      return absl::InvalidArgumentError(absl::StrCat("mesh.face_sizes[", f, "]: ", size,
                                                     ", need 3 to the ", corners - first,
                                                     " corners left in face_vertices"));
    }
    const auto* face = mesh.face_vertices.data() + first;
    for (std::size_t k = 1; k + 1 < size; ++k) {
      surface.triangles.push_back({face[0], face[k], face[k + 1]});
      const int last_side = k + 2 == size ? 2 : 0, first_side = k == 1 ? 4 : 0;
      surface.edges.push_back(static_cast<std::uint8_t>(1 | last_side | first_side));
    }
    first += size;
  }
  if (faces == 0) return absl::InvalidArgumentError("mesh: got no faces, need at least one");
  if (first != corners) {
    return absl::InvalidArgumentError(
        absl::StrCat("mesh.face_vertices: got ", corners, " corners, need ", first,
                     triangles ? " (3 for each triangle)" : " (sum of face_sizes)"));
  }
  return absl::OkStatus();
}

// For each vertex the first at its position: at a seam of a file several share one.
std::vector<std::uint32_t> WeldPoints(const Surface& surface) {
  std::vector<std::uint32_t> weld(surface.points.size() - 1);
  absl::flat_hash_map<std::array<float, 3>, std::uint32_t> first;
  first.reserve(weld.size());
  for (std::uint32_t v = 0; v < weld.size(); ++v) {
    const Vector3f& p = surface.points[v];
    weld[v] = first.try_emplace({p.x(), p.y(), p.z()}, v).first->second;
  }
  return weld;
}

// Sum over the corners of one point whose faces lie on `own`'s side of any crease.
Vector3f SmoothSide(std::span<const std::uint32_t> around, const Vector3f& own,
                    const std::vector<Vector3f>& face_normal, const std::vector<float>& angle) {
  Vector3f sum = Vector3f::Zero();
  for (std::uint32_t c : around) {
    if (face_normal[c / 3].dot(own) > kCreaseCosine) sum += angle[c] * face_normal[c / 3];
  }
  return sum;
}

// Angle-weighted mean of the faces around each corner's point that lie on its side of any crease.
void SmoothNormals(Surface& surface) {
  const std::vector<std::uint32_t> weld = WeldPoints(surface);
  const std::size_t triangles = surface.triangles.size();
  std::vector<Vector3f> face_normal(triangles);
  std::vector<float> angle(triangles * 3);
  std::vector<std::uint32_t> begin(weld.size() + 1, 0), corners(triangles * 3);
  for (std::size_t t = 0; t < triangles; ++t) {
    const auto& corner = surface.triangles[t];
    std::array<Vector3f, 3> side;  // side[k] leaves corner k
    for (std::size_t k = 0; k < 3; ++k) {
      side[k] =
          (surface.points[corner[(k + 1) % 3]] - surface.points[corner[k]]).stableNormalized();
      ++begin[weld[corner[k]] + 1];
    }
    face_normal[t] = side[0].cross(-side[2]).stableNormalized();
    for (std::size_t k = 0; k < 3; ++k) {
      angle[t * 3 + k] = std::acos(std::clamp(side[k].dot(-side[(k + 2) % 3]), -1.0f, 1.0f));
    }
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t c = 0; c < triangles * 3; ++c) {
    corners[next[weld[surface.triangles[c / 3][c % 3]]]++] = c;
  }
  surface.normals.resize(triangles);
  for (std::size_t point = 0; point < weld.size(); ++point) {
    const std::span around(corners.data() + begin[point], begin[point + 1] - begin[point]);
    // Comparing all pairs at the hub of a huge fan would be quadratic.
    const bool smooth_all = around.size() > kCreaseCorners;
    Vector3f sum = Vector3f::Zero();
    for (std::uint32_t c : around) sum += angle[c] * face_normal[c / 3];
    for (std::uint32_t c : around) {
      const Vector3f& own = face_normal[c / 3];
      if (!smooth_all) sum = SmoothSide(around, own, face_normal, angle);
      const Vector3f unit = sum.stableNormalized();
      surface.normals[c / 3][c % 3] = unit.squaredNorm() > 0.5f ? unit : own;
    }
  }
}

void TakeNormals(const MeshView& mesh, Surface& surface) {
  surface.normals.resize(surface.triangles.size());
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const float* n = mesh.normals.data() + std::size_t{surface.triangles[t][k]} * 3;
      surface.normals[t][k] = Vector3f(n[0], n[1], n[2]).stableNormalized();
    }
  }
}

}  // namespace

float ToLinear(float srgb) {
  return srgb <= 0.04045f ? srgb / 12.92f : std::pow((srgb + 0.055f) / 1.055f, 2.4f);
}

float ToSrgb(float linear) {
  return linear <= 0.0031308f ? linear * 12.92f : 1.055f * std::pow(linear, 1 / 2.4f) - 0.055f;
}

absl::StatusOr<Surface> MakeSurface(const MeshView& mesh, const Surface* beside) {
  SINEW_RETURN_IF_ERROR(CheckValues(mesh));
  Surface surface;
  if (beside == nullptr) {
    ChoosePlace(mesh, surface);
  } else {
    surface.centre = beside->centre;
    surface.scale = beside->scale;
  }
  SINEW_RETURN_IF_ERROR(CutFaces(mesh, surface));
  PlacePoints(mesh, surface);
  if (mesh.normals.empty()) {
    SmoothNormals(surface);
  } else {
    TakeNormals(mesh, surface);
  }
  for (std::size_t k = 0; k < mesh.colours.size(); k += 3) {
    const float* c = mesh.colours.data() + k;
    surface.albedo.emplace_back(ToLinear(c[0]), ToLinear(c[1]), ToLinear(c[2]));
  }
  return surface;
}

}  // namespace sinew::client
