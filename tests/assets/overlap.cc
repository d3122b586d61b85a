#include "tests/assets/overlap.h"

#include <algorithm>
#include <cmath>

namespace sinew::testing {
namespace {

struct Crossing {
  double z;
  int turn;  // +1: the column enters
};

struct Columns {
  double x0, y0, step;
  std::size_t nx, ny;
  std::vector<std::vector<Crossing>> crossings;
};

void Cast(const Vec3d& a, const Vec3d& b, const Vec3d& c, Columns& columns) {
  const double area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
  if (area == 0) return;
  const auto first = [&](double value, double origin) {
    return static_cast<std::ptrdiff_t>(std::ceil((value - origin) / columns.step - 0.5));
  };
  const auto last = [&](double value, double origin) {
    return static_cast<std::ptrdiff_t>(std::floor((value - origin) / columns.step - 0.5));
  };
  const auto i0 = first(std::min({a.x, b.x, c.x}), columns.x0);
  const auto i1 = last(std::max({a.x, b.x, c.x}), columns.x0);
  const auto j0 = first(std::min({a.y, b.y, c.y}), columns.y0);
  const auto j1 = last(std::max({a.y, b.y, c.y}), columns.y0);
  for (auto j = j0; j <= j1; ++j) {
    const double y = columns.y0 + (static_cast<double>(j) + 0.5) * columns.step;
    for (auto i = i0; i <= i1; ++i) {
      const double x = columns.x0 + (static_cast<double>(i) + 0.5) * columns.step;
      const double u = ((x - a.x) * (c.y - a.y) - (y - a.y) * (c.x - a.x)) / area;
      const double v = ((b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x)) / area;
      if (u < 0 || v < 0 || u + v > 1) continue;
      const double z = a.z + u * (b.z - a.z) + v * (c.z - a.z);
      // Outward faces that look down are where the column enters.
      const std::size_t at = static_cast<std::size_t>(j) * columns.nx + static_cast<std::size_t>(i);
      columns.crossings[at].push_back({z, area < 0 ? 1 : -1});
    }
  }
}

}  // namespace

OverlapVolumes MeasureOverlap(std::span<const std::array<std::uint32_t, 3>> triangles,
                              std::span<const Vec3d> points, int count) {
  OverlapVolumes volumes;
  Vec3d low = points[0], high = points[0];
  for (const Vec3d& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), 0};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), 0};
  }
  // An odd number, so that few columns pass through a vertex of a symmetric mesh.
  const double step = std::max(high.x - low.x, high.y - low.y) / (count + 0.377);
  const auto cells = [&](double size) { return static_cast<std::size_t>(size / step) + 2; };
  Columns columns = {low.x - 0.31 * step,       low.y - 0.43 * step,       step,
                     cells(high.x - low.x) + 1, cells(high.y - low.y) + 1, {}};
  columns.crossings.resize(columns.nx * columns.ny);
  for (const auto& t : triangles) {
    volumes.signed_volume += Dot(points[t[0]], Cross(points[t[1]], points[t[2]])) / 6;
    Cast(points[t[0]], points[t[1]], points[t[2]], columns);
  }
  for (auto& column : columns.crossings) {
    std::ranges::sort(column, {}, &Crossing::z);
    int winding = 0, total = 0;
    for (const Crossing& crossing : column) total += crossing.turn;
    if (total != 0) continue;  // through an edge
    for (std::size_t k = 0; k + 1 < column.size(); ++k) {
      winding += column[k].turn;
      const double length = (column[k + 1].z - column[k].z) * step * step;
      if (winding >= 2) volumes.overlap += (winding - 1) * length;
      if (winding < 0) volumes.inverted -= winding * length;
    }
  }
  return volumes;
}

}  // namespace sinew::testing
