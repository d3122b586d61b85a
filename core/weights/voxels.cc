#include "core/weights/voxels.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "core/base/status.h"

namespace sinew::weights {
namespace {

// Cells around the bounding box; not a whole number, so that cell centres avoid faces.
constexpr double kPad = 1.37;
constexpr double kNoGap = 1e-9;        // cells
constexpr double kMaxTests = 4e9;      // tests of a cell centre against a triangle
constexpr std::int32_t kInside = 4;    // votes
constexpr std::int32_t kVotes = 0xff;  // bits of the votes; above them one bit per blocked axis
constexpr int kBlockedBit = 8;
constexpr double kTestsBetweenChecks = 1 << 20;  // between cancellation checks
constexpr std::size_t kCheckEvery = 1 << 20;     // cells between cancellation checks
constexpr std::size_t kUsualCrossings = 2;       // expected per column

using Point = std::array<double, 3>;  // in cells; centres have integer coordinates

// Where the line through the cell centres of a column meets the surface.
struct Crossing {
  std::int32_t column;  // within its row of columns
  std::int32_t sign;
  double at;
};

// Whether q is left of the directed edge. The two triangles at an edge get opposite answers, even
// for a point on it.
bool IsLeft(const Point& a, std::uint32_t id_a, const Point& b, std::uint32_t id_b, std::size_t u,
            std::size_t v, double qu, double qv, double& area) {
  const bool turned = id_a > id_b;
  const Point &from = turned ? b : a, &to = turned ? a : b;
  const double side = (to[u] - from[u]) * (qv - from[v]) - (to[v] - from[v]) * (qu - from[u]);
  area = turned ? -side : side;
  return (side >= 0) != turned;
}

class Voxeliser {
 public:
  Voxeliser(std::span<const Vec3d> points, std::span<const Triangle> triangles, Voxels& voxels,
            std::size_t held, const Task& task)
      : triangles_(triangles), voxels_(voxels), held_(held), task_(task) {
    points_.reserve(points.size());
    for (const Vec3d& p : points) {
      const Vec3d at = (1 / voxels.size) * (p - voxels.origin);
      points_.push_back({at.x, at.y, at.z});
    }
  }

  // Adds the votes and the blocked bits of one axis to voxels.number.
  absl::Status Vote(std::size_t axis) {
    SINEW_RETURN_IF_ERROR(FindCrossings(axis));
    std::array<std::int32_t, 3> at{};
    std::int32_t& row = at[(axis + 2) % 3];
    for (std::vector<Crossing>& crossings : rows_) {
      SINEW_RETURN_IF_ERROR(task_.CheckCancelled());
      std::ranges::sort(crossings, [](const Crossing& a, const Crossing& b) {
        return std::tie(a.column, a.at, a.sign) < std::tie(b.column, b.at, b.sign);
      });
      for (auto begin = crossings.begin(); begin != crossings.end();) {
        at[(axis + 1) % 3] = begin->column;
        const auto end = std::find_if(begin, crossings.end(),
                                      [&](const Crossing& c) { return c.column != begin->column; });
        VoteColumn(axis, at, {begin, end});
        begin = end;
      }
      ++row;
    }
    return absl::OkStatus();
  }

 private:
  absl::Status FindCrossings(std::size_t axis) {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    rows_ = std::vector<std::vector<Crossing>>(static_cast<std::size_t>(voxels_.cells[v]));
    const std::size_t columns = rows_.size() * static_cast<std::size_t>(voxels_.cells[u]);
    std::size_t found = 0, allowed = 0;  // crossings
    double unchecked = kTestsBetweenChecks;
    const auto first = [](double x) { return static_cast<std::int32_t>(std::ceil(x)); };
    const auto last = [](double x) { return static_cast<std::int32_t>(std::floor(x)); };
    for (std::size_t t = 0; t < triangles_.size(); ++t) {
      const auto& id = triangles_[t];
      const Point &a = points_[id[0]], &b = points_[id[1]], &c = points_[id[2]];
      const std::int32_t low_u = first(std::min({a[u], b[u], c[u]})),
                         high_u = last(std::max({a[u], b[u], c[u]})),
                         low_v = first(std::min({a[v], b[v], c[v]})),
                         high_v = last(std::max({a[v], b[v], c[v]}));
      if (low_u > high_u || low_v > high_v) continue;
      const double tests = static_cast<double>(high_u - low_u + 1) * (high_v - low_v + 1);
      tests_ += tests;
      if (tests_ > kMaxTests) {
        return absl::ResourceExhaustedError(
            "resolution: too many tests for the mesh's large faces, need a lower resolution");
      }
      unchecked += tests;
      if (unchecked > kTestsBetweenChecks) {
        SINEW_RETURN_IF_ERROR(task_.CheckCancelled());
        unchecked = 0;
      }
      const std::size_t most = found + static_cast<std::size_t>(tests);
      if (most > allowed) {
        allowed = std::max({most, 2 * allowed, kUsualCrossings * columns});
        // A vector that grows holds its old and its doubled buffer.
        SINEW_RETURN_IF_ERROR(task_.CheckMemory(held_ + rows_.size() * sizeof rows_[0] +
                                                3 * allowed * sizeof(Crossing)));
      }
      for (std::int32_t j = low_v; j <= high_v; ++j) {
        std::vector<Crossing>& row = rows_[static_cast<std::size_t>(j)];
        for (std::int32_t i = low_u; i <= high_u; ++i) {
          double ab = 0, bc = 0, ca = 0;
          const bool left = IsLeft(a, id[0], b, id[1], u, v, i, j, ab);
          if (left != IsLeft(b, id[1], c, id[2], u, v, i, j, bc) ||
              left != IsLeft(c, id[2], a, id[0], u, v, i, j, ca)) {
            continue;
          }
          const double at = (bc * a[axis] + ca * b[axis] + ab * c[axis]) / (ab + bc + ca);
          row.push_back({i, left ? 1 : -1, at});
          ++found;
        }
      }
    }
    return absl::OkStatus();
  }

  // Votes of the column through `at`.
  void VoteColumn(std::size_t axis, std::array<std::int32_t, 3> at,
                  std::span<const Crossing> crossings) {
    std::int32_t total = 0;
    for (const Crossing& crossing : crossings) total += crossing.sign;
    std::int32_t before = 0;
    std::size_t next = 0;
    for (at[axis] = 0; at[axis] < voxels_.cells[axis]; ++at[axis]) {
      const bool was_inside = before != 0;
      bool gap = false;
      for (; next < crossings.size() && crossings[next].at < at[axis]; ++next) {
        gap = gap ||
              (before == 0 && next > 0 && crossings[next].at - crossings[next - 1].at > kNoGap);
        before += crossings[next].sign;
      }
      std::int32_t& cell = voxels_.number[Index(at)];
      if (before != 0) ++cell;
      if (total - before != 0) ++cell;
      if (total == 0 && was_inside && before != 0 && gap) {
        cell |= 1 << (kBlockedBit + static_cast<int>(axis));
      }
    }
  }

  std::size_t Index(const std::array<std::int32_t, 3>& at) const {
    const auto [nx, ny, nz] = voxels_.cells;
    return static_cast<std::size_t>(at[0] + nx * (at[1] + ny * at[2]));
  }

  std::span<const Triangle> triangles_;
  Voxels& voxels_;
  const std::size_t held_;
  const Task& task_;
  std::vector<Point> points_;
  std::vector<std::vector<Crossing>> rows_;  // of columns: by the second of the other two axes
  double tests_ = 0;
};

// Numbers the inside cells and links neighbours that are not blocked.
absl::Status Join(Voxels& voxels, std::size_t held, const Task& task) {
  const auto inside = [](std::int32_t cell) { return (cell & kVotes) >= kInside; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(voxels.number, inside));
  SINEW_RETURN_IF_ERROR(task.CheckMemory(
      held + count * (sizeof voxels.cell[0] + sizeof voxels.neighbour[0] + sizeof(std::uint8_t))));
  voxels.cell.reserve(count);
  std::vector<std::uint8_t> blocked;
  blocked.reserve(count);
  for (std::size_t c = 0; c < voxels.number.size(); ++c) {
    if (c % kCheckEvery == 0) SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    std::int32_t& cell = voxels.number[c];
    if (!inside(cell)) {
      cell = kNoVoxel;
      continue;
    }
    blocked.push_back(static_cast<std::uint8_t>(cell >> kBlockedBit));
    cell = static_cast<std::int32_t>(voxels.cell.size());
    voxels.cell.push_back(static_cast<std::uint32_t>(c));
  }
  std::array<std::int32_t, 6> alone{};
  alone.fill(kNoVoxel);
  voxels.neighbour.assign(count, alone);
  const auto nx = static_cast<std::uint32_t>(voxels.cells[0]);
  const std::array<std::uint32_t, 3> step = {1, nx,
                                             nx * static_cast<std::uint32_t>(voxels.cells[1])};
  for (std::size_t k = 0; k < count; ++k) {
    if (k % kCheckEvery == 0) SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      // The grid has an empty border, so every voxel has a cell before it.
      const std::int32_t other = voxels.number[voxels.cell[k] - step[axis]];
      if (other == kNoVoxel || (blocked[k] >> axis & 1) != 0) continue;
      voxels.neighbour[k][2 * axis] = other;
      voxels.neighbour[static_cast<std::size_t>(other)][2 * axis + 1] =
          static_cast<std::int32_t>(k);
    }
  }
  return absl::OkStatus();
}

}  // namespace

Vec3d Voxels::Middle(std::size_t voxel) const {
  const auto c = static_cast<std::int32_t>(cell[voxel]);
  const Vec3d at = {static_cast<double>(c % cells[0]), static_cast<double>(c / cells[0] % cells[1]),
                    static_cast<double>(c / cells[0] / cells[1])};
  return origin + size * at;
}

std::array<std::int32_t, 3> Voxels::CellOf(const Vec3d& p) const {
  const Vec3d at = (1 / size) * (p - origin);
  // Clamped: outside the grid the distance does not matter.
  const auto whole = [](double x) {
    return static_cast<std::int32_t>(std::floor(std::clamp(x, -8.0, 1024.0) + 0.5));
  };
  return {whole(at.x), whole(at.y), whole(at.z)};
}

std::int32_t Voxels::At(const std::array<std::int32_t, 3>& at) const {
  for (std::size_t k = 0; k < 3; ++k) {
    if (at[k] < 0 || at[k] >= cells[k]) return kNoVoxel;
  }
  return number[static_cast<std::size_t>(at[0] + cells[0] * (at[1] + cells[1] * at[2]))];
}

absl::StatusOr<Voxels> MakeVoxels(std::span<const Vec3d> points,
                                  std::span<const Triangle> triangles, std::uint32_t resolution,
                                  std::size_t held, const Task& task) {
  Vec3d low = points[0], high = low;
  for (const Vec3d& p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const Vec3d extent = high - low;
  Voxels voxels;
  voxels.size = std::max({extent.x, extent.y, extent.z}) / resolution;
  voxels.origin = low - kPad * voxels.size * Vec3d{1, 1, 1};
  const auto cells = [&](double length) {
    return static_cast<std::int32_t>(std::ceil(length / voxels.size + 2 * kPad)) + 1;
  };
  voxels.cells = {cells(extent.x), cells(extent.y), cells(extent.z)};
  std::size_t all = 1;
  for (const std::int32_t n : voxels.cells) all *= static_cast<std::size_t>(n);
  held += all * sizeof(std::int32_t) + points.size() * sizeof(Point);
  SINEW_RETURN_IF_ERROR(task.CheckMemory(held));
  voxels.number.assign(all, 0);
  {
    Voxeliser voxeliser(points, triangles, voxels, held, task);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      SINEW_RETURN_IF_ERROR(voxeliser.Vote(axis));
    }
  }
  SINEW_RETURN_IF_ERROR(Join(voxels, held, task));
  return voxels;
}

}  // namespace sinew::weights
