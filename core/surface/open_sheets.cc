#include "core/surface/open_sheets.h"

#include "core/base/disjoint_sets.h"
#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr double kSheet = 0.5;

}  // namespace

std::vector<bool> InOpenSheets(std::span<const Triangle> triangles, std::span<const Vec3d> points) {
  DisjointSets joined(points.size());
  for (const auto& [a, b, c] : triangles) {
    joined.Join(a, b);
    joined.Join(a, c);
  }
  std::vector<Vec3d> areas(points.size());  // as vectors, of a part by its lowest point
  std::vector<double> sizes(points.size(), 0);
  for (const auto& [a, b, c] : triangles) {
    const Vec3d area = Cross(points[b] - points[a], points[c] - points[a]);
    const std::uint32_t part = joined.Lowest(a);
    areas[part] = areas[part] + area;
    sizes[part] += Length(area);
  }
  std::vector<bool> in_sheet;
  in_sheet.reserve(triangles.size());
  for (const Triangle& t : triangles) {
    const std::uint32_t part = joined.Lowest(t[0]);
    in_sheet.push_back(Length(areas[part]) > kSheet * sizes[part]);
  }
  return in_sheet;
}

}  // namespace sinew
