#include "core/metrics/overlap.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "core/base/status.h"

namespace sinew::metrics {
namespace {

constexpr std::size_t kColumns = 440;
constexpr std::size_t kRows = 16;                       // rows that share one triangle search
constexpr std::size_t kMaxInRow = 64 * (kColumns + 2);  // crossings per row: 64 layers on average
constexpr double kMaxCells = 1e8;       // columns within the triangles' bounds, in total,
constexpr double kMaxCellsEach = 1000;  // and per triangle

// The column of cell (i, j) passes through the cell's centre.
struct Grid {
  double x0, y0, step;
  std::size_t nx, ny;
  double X(std::size_t i) const { return x0 + (static_cast<double>(i) + 0.5) * step; }
  double Y(std::size_t j) const { return y0 + (static_cast<double>(j) + 0.5) * step; }
  // The first column at or after x.
  std::size_t ColumnFrom(double x) const {
    const double i = std::ceil((x - x0) / step - 0.5);
    return static_cast<std::size_t>(std::clamp(i, 0.0, static_cast<double>(nx)));
  }
};

struct Bounds {
  double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
  void Add(const Vec3d& p) {
    low[0] = std::min(low[0], p.x);
    low[1] = std::min(low[1], p.y);
    high[0] = std::max(high[0], p.x);
    high[1] = std::max(high[1], p.y);
  }
  double Side(int axis) const { return high[axis] - low[axis]; }
};

Bounds BoundsOf(std::span<const Vec3d> points, const Triangle& t) {
  Bounds bounds;
  for (const std::uint32_t p : t) bounds.Add(points[p]);
  return bounds;
}

struct Crossing {
  double z;
  std::uint32_t column;
  std::int32_t turn;  // +1: the column enters the surface
};

struct PlanePoint {
  double x, z;
};

// Where an edge crosses y. Bitwise equal for both triangles that share the edge.
PlanePoint At(std::span<const Vec3d> points, std::uint32_t a, std::uint32_t b, double y) {
  const auto& [low, high] = std::minmax(a, b);
  const Vec3d& p = points[low];
  const Vec3d& q = points[high];
  const double t = (y - p.y) / (q.y - p.y);
  return {p.x + t * (q.x - p.x), p.z + t * (q.z - p.z)};
}

struct Part : Overlap {
  bool passed = false;  // kMaxInRow exceeded
};

class Caster {
 public:
  Caster(std::span<const Triangle> triangles, std::span<const Vec3d> points, const Grid& grid)
      : triangles_(triangles), points_(points), grid_(grid) {}

  void CastRows(std::size_t from, std::size_t to, const Task& task, Part& part) const {
    std::vector<std::uint32_t> near;
    for (std::uint32_t t = 0; t < triangles_.size(); ++t) {
      const Bounds bounds = BoundsOf(points_, triangles_[t]);
      if (bounds.low[1] <= grid_.Y(to - 1) && bounds.high[1] >= grid_.Y(from)) near.push_back(t);
    }
    std::vector<Crossing> crossings;
    for (std::size_t j = from; j < to && !task.cancelled(); ++j) {
      crossings.clear();
      for (const std::uint32_t t : near) {
        Cast(triangles_[t], grid_.Y(j), crossings);
        part.passed = part.passed || crossings.size() > kMaxInRow;
        if (part.passed) return;
      }
      Add(crossings, part);
    }
  }

 private:
  // Half-open rules: an edge is crossed if one end is at or below y and the other above it, and
  // counts for the columns at or after the crossing. So each column leaves a closed surface as
  // often as it enters it.
  void Cast(const Triangle& t, double y, std::vector<Crossing>& crossings) const {
    PlanePoint up{}, down{};
    bool passed = false;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      const bool below = points_[a].y <= y;
      if (below == (points_[b].y <= y)) continue;
      (below ? up : down) = At(points_, a, b, y);
      passed = true;
    }
    if (!passed) return;
    // Seen from above, an upward-facing triangle has its rising edge on the right.
    const bool looks_up = up.x > down.x;
    const PlanePoint& left = looks_up ? down : up;
    const PlanePoint& right = looks_up ? up : down;
    const std::size_t begin = grid_.ColumnFrom(left.x), end = grid_.ColumnFrom(right.x);
    for (std::size_t i = begin; i < end; ++i) {
      const double u = (grid_.X(i) - left.x) / (right.x - left.x);
      crossings.push_back(
          {left.z + u * (right.z - left.z), static_cast<std::uint32_t>(i), looks_up ? -1 : 1});
    }
  }

  void Add(std::vector<Crossing>& row, Part& part) const {
    std::sort(row.begin(), row.end(), [](const Crossing& a, const Crossing& b) {
      return std::tie(a.column, a.z, a.turn) < std::tie(b.column, b.z, b.turn);
    });
    int winding = 0;  // 0 again after every column
    for (std::size_t k = 0; k + 1 < row.size(); ++k) {
      winding += row[k].turn;
      if (winding == 0) continue;
      const double volume = (row[k + 1].z - row[k].z) * grid_.step * grid_.step;
      if (winding >= 2) part.twice += (winding - 1) * volume;
      if (winding < 0) part.inside_out -= winding * volume;
      if (winding <= -2) part.inside_out_twice -= (winding + 1) * volume;
    }
  }

  const std::span<const Triangle> triangles_;
  const std::span<const Vec3d> points_;
  const Grid& grid_;
};

}  // namespace

std::size_t Overlap::Cost(std::size_t triangles) {
  constexpr std::size_t kThreads = 16;
  const std::size_t crossings = std::min(kMaxInRow, triangles * kColumns);
  return kThreads * (crossings * 2 * sizeof(Crossing) + triangles * sizeof(std::uint32_t));
}

absl::StatusOr<std::optional<Overlap>> MeasureOverlap(std::span<const Triangle> triangles,
                                                      std::span<const Vec3d> points,
                                                      const Task& task) {
  Bounds all;
  for (const Triangle& t : triangles) {
    for (const std::uint32_t p : t) all.Add(points[p]);
  }
  const double longest = std::max(all.Side(0), all.Side(1));
  if (!(all.Side(0) > 0 && all.Side(1) > 0)) return Overlap();
  const double step = longest / static_cast<double>(kColumns);
  const auto cells = [&](int axis) { return static_cast<std::size_t>(all.Side(axis) / step) + 1; };
  const Grid grid{all.low[0], all.low[1], step, cells(0), cells(1)};
  const double in_bounds = SumOver<double>(
      task, triangles.size(),
      [&](std::size_t i, double& part) {
        const Bounds bounds = BoundsOf(points, triangles[i]);
        part += std::ceil(bounds.Side(0) / step) * std::ceil(bounds.Side(1) / step);
      },
      [](double& sum, double part) { sum += part; });
  if (in_bounds > kMaxCells + kMaxCellsEach * static_cast<double>(triangles.size())) {
    return std::nullopt;
  }
  const Caster caster(triangles, points, grid);
  const Part sum = SumOver<Part, 1>(
      task, (grid.ny + kRows - 1) / kRows,
      [&](std::size_t i, Part& part) {
        caster.CastRows(i * kRows, std::min(grid.ny, (i + 1) * kRows), task, part);
      },
      [](Part& total, const Part& part) {
        total.twice += part.twice;
        total.inside_out += part.inside_out;
        total.inside_out_twice += part.inside_out_twice;
        total.passed = total.passed || part.passed;
      });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  if (sum.passed) return std::nullopt;
  return Overlap(sum);
}

}  // namespace sinew::metrics
