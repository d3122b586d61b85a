#include "core/mesh/weld.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/base/disjoint_sets.h"
#include "core/base/rows.h"

namespace sinew {
namespace {

// Grid cells of the welding distance, and cubes of cells.
using Place = std::array<std::int32_t, 3>;
constexpr int kCubeBits = 7;

// Vertices in one cell and class are one point.
struct Cell {
  std::uint32_t row_class = 0;
  Place at{};
  bool operator==(const Cell&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Cell& c) {
    return H::combine(std::move(h), c.row_class, c.at);
  }
};

// The cells of a mesh's vertices.
class Grid {
 public:
  explicit Grid(const Mesh& mesh) : mesh_(mesh), distance_(1e-6 * mesh.diagonal()) {}
  double distance() const { return distance_; }
  Place At(std::size_t v) const {
    const double scale = distance_ > 0 ? 1 / distance_ : 0;
    const Vec3d at = scale * (ToDouble(mesh_.positions()[v]) - mesh_.minimum());
    return {static_cast<std::int32_t>(std::floor(at.x)),
            static_cast<std::int32_t>(std::floor(at.y)),
            static_cast<std::int32_t>(std::floor(at.z))};
  }

 private:
  const Mesh& mesh_;
  double distance_;
};

bool AtSideOfCube(const Place& at) {
  constexpr std::int32_t kLast = (1 << kCubeBits) - 1;
  return std::ranges::any_of(
      at, [](std::int32_t i) { return (i & kLast) == 0 || (i & kLast) == kLast; });
}

// [V] 1 for vertices that share a cube, or lie at a side of theirs; cubes are shifted by so many
// cells. All others are alone in their cell and the 26 around it.
std::vector<std::uint8_t> CrowdedInCubes(const Mesh& mesh, const Grid& grid, std::int32_t shift,
                                         const Task& task) {
  constexpr std::size_t kParts = 64, kGrain = 16384;  // small tables stay in the cache
  constexpr std::uint32_t kMarked = ~0u;
  std::vector<Place> cubes(mesh.vertices());
  std::vector<std::uint8_t> crowded(mesh.vertices());
  task.For(cubes.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      cubes[v] = grid.At(v);
      for (std::int32_t& i : cubes[v]) i += shift;
      crowded[v] = AtSideOfCube(cubes[v]);
      for (std::int32_t& i : cubes[v]) i >>= kCubeBits;
    }
  });
  const auto parts = CollectRows<std::uint32_t>(kParts, [&](auto add) {
    for (std::uint32_t v = 0; v < cubes.size(); ++v) {
      const auto [x, y, z] = cubes[v];
      add(static_cast<std::uint32_t>(x + 7 * y + 31 * z) % kParts, v);
    }
  });
  task.For(kParts, 1, [&](std::size_t part, std::size_t) {
    absl::flat_hash_map<Place, std::uint32_t> seen;  // the only vertex of a cube, or kMarked
    seen.reserve(parts.row(part).size());
    for (const std::uint32_t v : parts.row(part)) {
      const auto [entry, fresh] = seen.try_emplace(cubes[v], v);
      if (fresh) continue;
      crowded[v] = 1;
      if (entry->second != kMarked) crowded[std::exchange(entry->second, kMarked)] = 1;
    }
  });
  return crowded;
}

// The vertices that may have others in their cell or the 26 around it, rising: of most meshes few.
// One at a side of its cube is in the middle of a cube that is shifted by half.
std::vector<std::uint32_t> CrowdedVertices(const Mesh& mesh, const Grid& grid, const Task& task) {
  const std::vector<std::uint8_t> crowded = CrowdedInCubes(mesh, grid, 0, task);
  const std::vector<std::uint8_t> shifted = CrowdedInCubes(mesh, grid, 1 << (kCubeBits - 1), task);
  const auto both = [&](std::size_t v) { return crowded[v] != 0 && shifted[v] != 0; };
  std::size_t count = 0;
  for (std::size_t v = 0; v < crowded.size(); ++v) count += both(v) ? 1 : 0;
  std::vector<std::uint32_t> vertices;
  vertices.reserve(count);
  for (std::uint32_t v = 0; v < crowded.size(); ++v) {
    if (both(v)) vertices.push_back(v);
  }
  return vertices;
}

bool Near(const Vec3f& a, const Vec3f& b, double distance) {
  const Vec3d d = ToDouble(a) - ToDouble(b);
  return Dot(d, d) <= distance * distance;
}

// Joins every cell with those of its 26 neighbours whose leading vertex is close to its own.
void JoinNeighbours(std::span<const Vec3f> positions, std::span<const Cell> cells,
                    std::span<const std::uint32_t> leading, double distance,
                    const absl::flat_hash_map<Cell, std::uint32_t>& index, DisjointSets& joined) {
  for (std::uint32_t c = 0; c < cells.size(); ++c) {
    for (int n = 14; n < 27; ++n) {  // half of them; the others are symmetric
      Cell other = cells[c];
      other.at[0] += n / 9 - 1;
      other.at[1] += n / 3 % 3 - 1;
      other.at[2] += n % 3 - 1;
      const auto found = index.find(other);
      if (found == index.end()) continue;
      const Vec3f& a = positions[leading[c]];
      if (Near(a, positions[leading[found->second]], distance)) joined.Join(c, found->second);
    }
  }
}

// Sets group[v] of some vertices, rising, to the lowest vertex of their point.
void GroupByPosition(const Mesh& mesh, const Grid& grid, std::span<const std::uint32_t> vertices,
                     std::span<const std::uint32_t> classes, std::span<std::uint32_t> group) {
  absl::flat_hash_map<Cell, std::uint32_t> index;
  index.reserve(vertices.size());
  std::vector<Cell> cells;
  // Vertices of each cell; the leading one comes first by its coordinates, whatever the order.
  std::vector<std::uint32_t> leading, lowest;
  cells.reserve(vertices.size());
  leading.reserve(vertices.size());
  lowest.reserve(vertices.size());
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const Vec3f& u = mesh.positions()[vertices[k]];
    const Cell cell{classes.empty() ? 0 : classes[k], grid.At(vertices[k])};
    const auto [entry, fresh] = index.try_emplace(cell, static_cast<std::uint32_t>(cells.size()));
    group[vertices[k]] = entry->second;  // until cells are joined
    if (fresh) {
      cells.push_back(cell);
      leading.push_back(vertices[k]);
      lowest.push_back(vertices[k]);
    } else {
      const Vec3f& first = mesh.positions()[leading[entry->second]];
      if (std::tie(u.x, u.y, u.z) < std::tie(first.x, first.y, first.z)) {
        leading[entry->second] = vertices[k];
      }
    }
  }
  DisjointSets joined(cells.size());
  if (grid.distance() > 0) {
    JoinNeighbours(mesh.positions(), cells, leading, grid.distance(), index, joined);
  }
  for (const std::uint32_t v : vertices) group[v] = lowest[joined.Lowest(group[v])];
}

// Points of groups with numbers below the number of vertices.
WeldedPoints Numbered(std::vector<std::uint32_t> group) {
  constexpr std::uint32_t kNone = ~0u;
  WeldedPoints welded;
  std::vector<std::uint32_t> number(group.size(), kNone);
  for (std::uint32_t v = 0; v < group.size(); ++v) {
    std::uint32_t& point = number[group[v]];
    if (point == kNone) {
      point = static_cast<std::uint32_t>(welded.first.size());
      welded.first.push_back(v);
    }
    group[v] = point;
  }
  welded.first.shrink_to_fit();
  welded.point = std::move(group);
  return welded;
}

}  // namespace

WeldedPoints Weld(const Mesh& mesh, const Task& task) {
  const std::span<const std::uint32_t> own = mesh.weld();
  if (own.empty())
    return WeldByPosition(
        mesh, [](auto) { return std::vector<std::uint32_t>(); }, task);
  absl::flat_hash_map<std::uint32_t, std::uint32_t> lowest;
  std::vector<std::uint32_t> group;
  group.reserve(own.size());
  for (std::uint32_t v = 0; v < own.size(); ++v) {
    group.push_back(lowest.try_emplace(own[v], v).first->second);
  }
  return Numbered(std::move(group));
}

WeldedPoints WeldByPosition(const Mesh& mesh, VertexClasses classes, const Task& task) {
  std::vector<std::uint32_t> group(mesh.vertices());
  std::iota(group.begin(), group.end(), 0u);
  const Grid grid(mesh);
  const std::vector<std::uint32_t> crowded = CrowdedVertices(mesh, grid, task);
  GroupByPosition(mesh, grid, crowded, classes(crowded), group);
  return Numbered(std::move(group));
}

WeldedPoints SplitPoints(
    const WeldedPoints& welded,
    absl::FunctionRef<bool(std::uint32_t first, std::uint32_t vertex)> together, const Task& task) {
  constexpr std::size_t kVerticesBetweenChecks = 256;
  std::vector<std::vector<std::uint32_t>> parts(welded.points());  // numbers of the new points
  WeldedPoints split;
  for (std::uint32_t v = 0; v < welded.point.size(); ++v) {
    // Many vertices that lie at one place and part are compared in pairs.
    if (v % kVerticesBetweenChecks == 0 && task.cancelled()) break;
    std::vector<std::uint32_t>& own = parts[welded.point[v]];
    const auto found = std::ranges::find_if(
        own, [&](std::uint32_t part) { return together(split.first[part], v); });
    if (found != own.end()) {
      split.point.push_back(*found);
      continue;
    }
    own.push_back(static_cast<std::uint32_t>(split.points()));
    split.point.push_back(own.back());
    split.first.push_back(v);
  }
  return split;
}

}  // namespace sinew
