// limb_figures.h - volumes, overlap, thickness and edges of the canonical cylinder in a pose.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "tests/support/overlap.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/tube.h"

namespace sinew::testing {

// Columns of the bend and twist tables; the canonical cylinder, radius 1.
struct LimbFigures {
  double signed_volume = 0, whole = 0, overlap = 0;  // of the rest mesh
  double bulge = 0, collapse = HUGE_VAL;             // distance from the nearest bone
  double edge_rms = 0, edge_max = 0, edge_min = HUGE_VAL;
};

inline std::vector<std::array<std::uint32_t, 3>> TrianglesOf(const Mesh& mesh) {
  std::vector<std::array<std::uint32_t, 3>> triangles;
  for (std::size_t f = 0; f < mesh.faces(); ++f) {
    const auto c = mesh.face_vertices().subspan(mesh.face_offsets()[f], 3);
    triangles.push_back({c[0], c[1], c[2]});
  }
  return triangles;
}

inline double ToSegment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const Vec3d e = b - a;
  const double t = std::clamp(Dot(p - a, e) / Dot(e, e), 0.0, 1.0);
  return Distance(p, a + t * e);
}

inline LimbFigures MeasureLimb(const Rig& rig, std::span<const AffineD> skin,
                               std::span<const Vec3d> points) {
  LimbFigures figures;
  const auto triangles = TrianglesOf(rig.mesh());
  const OverlapVolumes volumes = MeasureOverlap(triangles, points);
  const double rest = CanonicalVolume();
  figures.signed_volume = volumes.signed_volume / rest;
  figures.whole = volumes.Union() / rest;
  figures.overlap = volumes.overlap / rest;
  const std::array<Vec3d, 4> ends = {Apply(skin[0], {-5, 0, 0}), Apply(skin[0], {0, 0, 0}),
                                     Apply(skin[1], {0, 0, 0}), Apply(skin[1], {5, 0, 0})};
  for (std::size_t v = 0; v + 2 < points.size(); ++v) {  // all but the centres of the caps
    const double d =
        std::min(ToSegment(points[v], ends[0], ends[1]), ToSegment(points[v], ends[2], ends[3]));
    figures.bulge = std::max(figures.bulge, d);
    figures.collapse = std::min(figures.collapse, d);
  }
  double sum = 0;
  std::size_t edges = 0;
  for (const auto& t : triangles) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint32_t a = t[c], b = t[(c + 1) % 3];
      if (a > b) continue;  // closed: every edge occurs twice
      const double rest_length =
          Distance(ToDouble(rig.mesh().positions()[a]), ToDouble(rig.mesh().positions()[b]));
      const double ratio = Distance(points[a], points[b]) / rest_length;
      sum += std::log(ratio) * std::log(ratio);
      ++edges;
      figures.edge_max = std::max(figures.edge_max, ratio);
      figures.edge_min = std::min(figures.edge_min, ratio);
    }
  }
  figures.edge_rms = std::sqrt(sum / static_cast<double>(edges));
  return figures;
}

}  // namespace sinew::testing
