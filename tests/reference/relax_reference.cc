#include "tests/reference/relax_reference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "core/base/vectors.h"
#include "tests/reference/implicit_reference.h"

namespace sinew::reference {
namespace {

// The previous and next corner of a point in a triangle.
std::pair<Vec3d, Vec3d> EdgesAt(const std::vector<std::size_t>& face, std::size_t p,
                                const Points& at) {
  const auto k = static_cast<std::size_t>(std::find(face.begin(), face.end(), p) - face.begin());
  return {at[face[(k + 1) % 3]] - at[p], at[face[(k + 2) % 3]] - at[p]};
}

// The share of its shift by which a point moves: 0 at corners, 1 on smooth surface.
double Smoothness(const MushMesh& mesh, std::size_t p) {
  Vec3d sum;
  double size = 0;
  for (const auto& face : mesh.faces) {
    if (std::ranges::count(face, p) == 0) continue;
    const auto [a, b] = EdgesAt(face, p, mesh.rest);
    const double angle = std::acos(Dot(Unit(a), Unit(b)));
    sum = sum + angle * Unit(Cross(a, b));
    size += angle;
  }
  const double t = std::clamp((Length(sum) / size - 0.6) / 0.35, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

// Height along the normal of the flattest face below a point's shift; less for steep faces.
double FaceBelow(const MushMesh& mesh, std::size_t p, const Points& at, const Vec3d& n,
                 const Vec3d& shift) {
  double flattest = 0, height = 0;
  for (const auto& face : mesh.faces) {
    if (std::ranges::count(face, p) == 0) continue;
    const auto [a, b] = EdgesAt(face, p, at);
    const double area = Dot(Cross(a, b), n), cosine = area / Length(Cross(a, b));
    const double u = Dot(Cross(shift, b), n) / area, v = Dot(Cross(a, shift), n) / area;
    if (!(area > 0 && u >= 0 && v >= 0 && cosine > flattest)) continue;
    flattest = cosine;
    height = std::clamp(u * Dot(a, n) + v * Dot(b, n), -Length(shift), 0.0);
  }
  return std::min(1.0, flattest * flattest / 0.1) * height;
}

}  // namespace

std::vector<Vec3d> Relaxed(const Rig& rig, const RelaxParams& params,
                           std::span<const Vec3d> posed) {
  const MushMesh mesh(rig, true);
  const auto rows = MeanValueRows(mesh);
  Points at = mesh.OfPoints(posed);
  for (std::uint32_t pass = 0; pass < params.iterations; ++pass) {
    Points normal(at.size());
    std::vector<double> size(at.size());  // sum of the squared edges of a closed ring
    for (const auto& face : mesh.faces) {
      const Vec3d area = Cross(at[face[1]] - at[face[0]], at[face[2]] - at[face[0]]);
      for (std::size_t k = 0; k < 3; ++k) {
        const Vec3d edge = at[face[(k + 1) % 3]] - at[face[k]];
        normal[face[k]] = normal[face[k]] + area;
        size[face[k]] += Dot(edge, edge);
      }
    }
    Points next = at;
    for (std::size_t p = 0; p < at.size(); ++p) {
      if (rows[p].empty() || rows[p].size() > 16) continue;  // poles stay
      Vec3d shift;
      for (const auto& [q, w] : rows[p]) shift = shift + w * (at[q] - at[p]);
      const Vec3d n = Unit(normal[p]);
      const double open = std::clamp(Length(normal[p]) / size[p] / 0.005 - 1, 0.0, 1.0);
      shift = open * double{params.strength} * Smoothness(mesh, p) * (shift - Dot(shift, n) * n);
      next[p] = at[p] + shift + FaceBelow(mesh, p, at, n, shift) * n;
    }
    at = next;
  }
  return mesh.OfVertices(at);
}

}  // namespace sinew::reference
