#include "core/fit/body.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/disjoint_sets.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/fit/distance_grid.h"
#include "core/mesh/weld.h"
#include "core/surface/part_triangles.h"
#include "core/weights/voxels.h"

namespace sinew::fit {
namespace {

// Two directions to the skin belong to different sides beyond this angle: 120 degrees.
constexpr double kOpposite = -0.5;
// Medial points nearer to the skin, in cells, are noise of the grid.
constexpr double kLeastDepth = 1.1;

// Memory for each cell of the grid, at most: what this file and distance_grid.cc hold at a time.
constexpr std::size_t kCellBytes = 48;
constexpr std::size_t kVoxelBytes = 28;  // of weights::Voxels, for each cell inside

// Parts of the body that are at most this many cells apart, such as a head on a collar, are joined.
constexpr std::size_t kBridge = 3;

// A body whose longest side is a smaller part of that of the mesh gets a grid of its own.
constexpr double kSmall = 0.75;

struct Box {
  static constexpr double kFar = std::numeric_limits<double>::infinity();
  Vec3d low = {kFar, kFar, kFar}, high = {-kFar, -kFar, -kFar};

  void Add(const Vec3d& p) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  bool Holds(const Vec3d& p) const {
    return low.x <= p.x && p.x <= high.x && low.y <= p.y && p.y <= high.y && low.z <= p.z &&
           p.z <= high.z;
  }
  double LongestSide() const { return std::max({high.x - low.x, high.y - low.y, high.z - low.z}); }
};

Box BoxOf(std::span<const Vec3d> places, std::span<const Triangle> triangles) {
  Box box;
  for (const Triangle& t : triangles) {
    for (const std::uint32_t p : t) box.Add(places[p]);
  }
  return box;
}

// [cells] the number of the connected part that a cell belongs to, or kOutside.
using Parts = std::vector<std::uint32_t>;
constexpr std::uint32_t kOutside = 0xffffffff;

Parts PartsOf(const weights::Voxels& voxels) {
  DisjointSets sets(voxels.count());
  for (std::uint32_t v = 0; v < voxels.count(); ++v) {
    for (const std::int32_t other : voxels.neighbour[v]) {
      if (other != weights::kNoVoxel) sets.Join(v, static_cast<std::uint32_t>(other));
    }
  }
  Parts parts(voxels.number.size(), kOutside);
  for (std::uint32_t v = 0; v < voxels.count(); ++v) parts[voxels.cell[v]] = sets.Lowest(v);
  return parts;
}

// Fills narrow gaps between parts along the axes, and joins them.
void Bridge(const std::array<std::int32_t, 3>& cells, Parts& parts) {
  const Parts before = parts;
  DisjointSets sets(parts.size());
  std::size_t step = 1;
  for (const std::int32_t count : cells) {
    const auto size = static_cast<std::size_t>(count);
    for (std::size_t c = 0; c < before.size(); ++c) {
      if (before[c] == kOutside) continue;
      // The next inside cell along the axis.
      const std::size_t last = std::min(kBridge + 1, size - 1 - c / step % size);
      std::size_t gap = 1;
      while (gap <= last && before[c + gap * step] == kOutside) ++gap;
      if (gap > last || before[c + gap * step] == before[c]) continue;
      sets.Join(before[c], before[c + gap * step]);
      for (std::size_t k = 1; k < gap; ++k) parts[c + k * step] = before[c];
    }
    step *= size;
  }
  for (std::uint32_t& part : parts) {
    if (part != kOutside) part = sets.Lowest(part);
  }
}

// 1 for the cells of the largest part; `share` of all inside cells.
std::vector<std::uint8_t> LargestPart(const Parts& parts, double& share) {
  std::vector<std::uint32_t> count(parts.size(), 0);
  std::size_t all = 0;
  for (const std::uint32_t part : parts) {
    if (part == kOutside) continue;
    ++count[part];
    ++all;
  }
  const auto largest = static_cast<std::uint32_t>(std::ranges::max_element(count) - count.begin());
  std::vector<std::uint8_t> inside(parts.size());
  std::ranges::transform(parts, inside.begin(), [&](std::uint32_t part) {
    return static_cast<std::uint8_t>(part == largest);
  });
  share = static_cast<double>(count[largest]) / static_cast<double>(all);
  return inside;
}

}  // namespace

Vec3d Body::Middle(std::size_t cell) const {
  const auto nx = static_cast<std::size_t>(cells_[0]), ny = static_cast<std::size_t>(cells_[1]);
  return origin_ + size_ * Vec3d{static_cast<double>(cell % nx),
                                 static_cast<double>(cell / nx % ny),
                                 static_cast<double>(cell / nx / ny)};
}

std::size_t Body::CellOf(const Vec3d& p) const {
  const Vec3d at = (1 / size_) * (p - origin_);
  const double place[] = {at.x, at.y, at.z};
  std::size_t cell = 0, step = 1;
  for (std::size_t k = 0; k < 3; ++k) {
    const double x = std::clamp(std::round(place[k]), 0.0, static_cast<double>(cells_[k] - 1));
    cell += step * static_cast<std::size_t>(x);
    step *= static_cast<std::size_t>(cells_[k]);
  }
  return cell;
}

double Body::Sample(const std::vector<float>& grid, const Vec3d& p) const {
  const Vec3d at = (1 / size_) * (p - origin_);
  std::array<std::size_t, 3> low{};
  std::array<double, 3> part{};
  const double place[] = {at.x, at.y, at.z};
  for (std::size_t k = 0; k < 3; ++k) {
    const double x = std::clamp(place[k], 0.0, static_cast<double>(cells_[k] - 1));
    const double floor = std::min(std::floor(x), static_cast<double>(cells_[k] - 2));
    low[k] = static_cast<std::size_t>(floor);
    part[k] = x - floor;
  }
  const auto nx = static_cast<std::size_t>(cells_[0]), ny = static_cast<std::size_t>(cells_[1]);
  double sum = 0;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const std::size_t i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
    const double weight =
        (i ? part[0] : 1 - part[0]) * (j ? part[1] : 1 - part[1]) * (k ? part[2] : 1 - part[2]);
    sum += weight * grid[low[0] + i + nx * (low[1] + j + ny * (low[2] + k))];
  }
  return sum;
}

absl::StatusOr<std::vector<std::uint8_t>> Body::FindInside(std::span<const Vec3d> places,
                                                           std::span<const Triangle> triangles,
                                                           std::uint32_t resolution,
                                                           const Task& task) {
  const Box box = BoxOf(places, triangles);
  centre_ = 0.5 * (box.low + box.high);
  scale_ = kLongestSide / box.LongestSide();
  // Points that no face uses are put to one that is used, so that they do not widen the grid.
  std::vector<Vec3d> points(places.size(), ToUnit(places[triangles[0][0]]));
  for (const Triangle& t : triangles) {
    for (const std::uint32_t p : t) points[p] = ToUnit(places[p]);
  }
  SINEW_ASSIGN_OR_RETURN(const weights::Voxels voxels,
                         weights::MakeVoxels(points, triangles, resolution, 0, task));
  if (voxels.count() == 0)
    return absl::InvalidArgumentError("mesh: encloses no space, need a body");
  origin_ = voxels.origin;
  size_ = voxels.size;
  cells_ = voxels.cells;
  SINEW_RETURN_IF_ERROR(
      task.CheckMemory(kCellBytes * voxels.number.size() + kVoxelBytes * voxels.count()));
  Parts parts = PartsOf(voxels);
  Bridge(cells_, parts);
  std::vector<std::uint8_t> largest = LargestPart(parts, connected_);
  longest_left_out_ = 0;
  std::map<std::uint32_t, Box> left_out;
  for (std::size_t c = 0; c < parts.size(); ++c) {
    if (parts[c] != kOutside && !largest[c]) left_out[parts[c]].Add(Middle(c));
  }
  for (const auto& [part, extent] : left_out) {
    longest_left_out_ = std::max(longest_left_out_, extent.LongestSide() + size_);
  }
  return largest;
}

absl::StatusOr<Body> Body::Create(const Mesh& mesh, std::uint32_t resolution, const Task& task) {
  if (Length(mesh.maximum() - mesh.minimum()) == 0)
    return absl::InvalidArgumentError("mesh: all vertices are at one place, need a body");
  Body body;
  const WeldedPoints welded = Weld(mesh, task);
  std::vector<Vec3d> places;
  places.reserve(welded.points());
  for (const std::uint32_t v : welded.first) places.push_back(ToDouble(mesh.positions()[v]));
  std::vector<Triangle> triangles;
  ForEachTriangle(mesh, welded, [&](const Triangle& t, std::uint32_t) { triangles.push_back(t); });
  if (triangles.empty()) return absl::InvalidArgumentError("mesh: encloses no space, need a body");
  SINEW_ASSIGN_OR_RETURN(std::vector<std::uint8_t> inside,
                         body.FindInside(places, triangles, resolution, task));
  Box kept;
  for (std::size_t c = 0; c < inside.size(); ++c) {
    if (inside[c]) kept.Add(body.Middle(c));
  }
  if (kept.LongestSide() < kSmall * kLongestSide) {
    // A floor or another body takes most of the grid: what leaves the box of the body is left out.
    const Vec3d margin = kBridge * body.size_ * Vec3d{1, 1, 1};
    kept = {kept.low - margin, kept.high + margin};
    std::erase_if(triangles, [&](const Triangle& t) {
      return std::ranges::any_of(
          t, [&](std::uint32_t p) { return !kept.Holds(body.ToUnit(places[p])); });
    });
    if (triangles.empty())
      return absl::InvalidArgumentError("mesh: encloses no space, need a body");
    const double connected = body.connected_, left_out = body.longest_left_out_ / body.scale_;
    SINEW_ASSIGN_OR_RETURN(inside, body.FindInside(places, triangles, resolution, task));
    body.connected_ *= connected;
    body.longest_left_out_ = std::max(body.longest_left_out_, left_out * body.scale_);
  }

  Box box;
  for (std::size_t c = 0; c < inside.size(); ++c) {
    if (inside[c]) box.Add(body.Middle(c));
  }
  body.extent_ = box.high - box.low + body.size_ * Vec3d{1, 1, 1};

  const NearestCells within = FindNearest(body.cells_, inside, task);
  std::vector<std::uint8_t> outside(inside.size());
  std::ranges::transform(inside, outside.begin(),
                         [](std::uint8_t in) { return static_cast<std::uint8_t>(1 - in); });
  const NearestCells skin = FindNearest(body.cells_, outside, task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  body.depth_.resize(inside.size());
  for (std::size_t c = 0; c < inside.size(); ++c) {
    // The skin lies midway between the last cell inside and the first one outside.
    const double cells = inside[c] ? skin.distance[c] - 0.5 : 0.5 - within.distance[c];
    body.depth_[c] = static_cast<float>(body.size_ * cells);
  }

  std::vector<std::uint8_t> is_medial(inside.size(), 0);
  const auto nx = static_cast<std::size_t>(body.cells_[0]),
             ny = static_cast<std::size_t>(body.cells_[1]);
  // Half of the 26 neighbours: across an axis that lies between cells, the opposite one is
  // diagonal.
  std::vector<std::size_t> steps;
  for (std::size_t dz = 0; dz <= 1; ++dz) {
    for (std::size_t dy = 0; dy <= 2; ++dy) {
      for (std::size_t dx = 0; dx <= 2; ++dx) {
        const std::size_t ahead = dx + nx * dy + nx * ny * dz, centre = 1 + nx;
        if (ahead > centre) steps.push_back(ahead - centre);
      }
    }
  }
  for (std::size_t c = 0; c < inside.size(); ++c) {
    if (!inside[c] || skin.distance[c] <= kLeastDepth) continue;
    const Vec3d here = Unit(body.Middle(c) - body.Middle(skin.source[c]));
    for (const std::size_t step : steps) {
      const std::size_t d = c + step;  // the grid has an empty border
      if (!inside[d] || skin.distance[d] <= kLeastDepth) continue;
      const Vec3d there = Unit(body.Middle(d) - body.Middle(skin.source[d]));
      if (Dot(here, there) <= kOpposite)
        is_medial[skin.distance[c] >= skin.distance[d] ? c : d] = 1;
    }
  }
  for (std::size_t c = 0; c < inside.size(); ++c) {
    if (is_medial[c]) body.medial_.push_back({body.Middle(c), body.depth_[c]});
  }
  if (body.medial_.empty())
    return absl::InvalidArgumentError("mesh: too thin everywhere, need a higher resolution");
  // Cells are visited in order, so points of equal depth keep a fixed one.
  std::ranges::stable_sort(body.medial_, std::greater<>(), &MedialPoint::radius);
  const NearestCells medial = FindNearest(body.cells_, is_medial, task);
  body.to_medial_.resize(inside.size());
  for (std::size_t c = 0; c < inside.size(); ++c)
    body.to_medial_[c] = static_cast<float>(body.size_) * medial.distance[c];
  return body;
}

}  // namespace sinew::fit
