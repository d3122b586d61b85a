#include "core/mesh/weld.h"

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/base/disjoint_sets.h"

namespace sinew {
namespace {

// Grid cells of the welding distance; vertices in one cell and class are one point.
struct Cell {
  std::uint32_t row_class = 0;
  std::array<std::int32_t, 3> at{};
  bool operator==(const Cell&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Cell& c) {
    return H::combine(std::move(h), c.row_class, c.at);
  }
};

bool Near(const Vec3f& a, const Vec3f& b, double distance) {
  const Vec3d d = ToDouble(a) - ToDouble(b);
  return Dot(d, d) <= distance * distance;
}

// Joins every cell with those of its 26 neighbours whose leading vertex is close to its own.
void JoinNeighbours(std::span<const Cell> cells, std::span<const Vec3f> leading, double distance,
                    const absl::flat_hash_map<Cell, std::uint32_t>& index, DisjointSets& joined) {
  for (std::uint32_t c = 0; c < cells.size(); ++c) {
    for (int n = 14; n < 27; ++n) {  // half of them; the others are symmetric
      Cell other = cells[c];
      other.at[0] += n / 9 - 1;
      other.at[1] += n / 3 % 3 - 1;
      other.at[2] += n % 3 - 1;
      const auto found = index.find(other);
      if (found == index.end() || !Near(leading[c], leading[found->second], distance)) continue;
      joined.Join(c, found->second);
    }
  }
}

// [V] a number shared by the vertices of one point: close ones of one class.
std::vector<std::uint32_t> GroupsByPosition(const Mesh& mesh,
                                            std::span<const std::uint32_t> classes) {
  const double distance = 1e-6 * mesh.diagonal();
  const double scale = distance > 0 ? 1 / distance : 0;

  absl::flat_hash_map<Cell, std::uint32_t> index;
  index.reserve(mesh.vertices());
  std::vector<Cell> cells;
  std::vector<Vec3f> leading;  // lexicographically first of each cell: independent of the order
  cells.reserve(mesh.vertices());
  leading.reserve(mesh.vertices());
  std::vector<std::uint32_t> group(mesh.vertices());
  for (std::uint32_t v = 0; v < group.size(); ++v) {
    const Vec3f& u = mesh.positions()[v];
    const Vec3d at = scale * (ToDouble(u) - mesh.minimum());
    const Cell cell{
        classes.empty() ? 0 : classes[v],
        {static_cast<std::int32_t>(std::floor(at.x)), static_cast<std::int32_t>(std::floor(at.y)),
         static_cast<std::int32_t>(std::floor(at.z))}};
    const auto [entry, fresh] = index.try_emplace(cell, static_cast<std::uint32_t>(cells.size()));
    group[v] = entry->second;
    if (fresh) {
      cells.push_back(cell);
      leading.push_back(u);
    } else {
      Vec3f& first = leading[group[v]];
      if (std::tie(u.x, u.y, u.z) < std::tie(first.x, first.y, first.z)) first = u;
    }
  }

  DisjointSets joined(cells.size());
  if (distance > 0) JoinNeighbours(cells, leading, distance, index, joined);
  for (std::uint32_t& g : group) g = joined.Lowest(g);
  return group;
}

WeldedPoints Numbered(std::vector<std::uint32_t> group) {
  WeldedPoints welded;
  absl::flat_hash_map<std::uint32_t, std::uint32_t> number;
  number.reserve(group.size());
  for (std::uint32_t v = 0; v < group.size(); ++v) {
    const auto [entry, fresh] =
        number.try_emplace(group[v], static_cast<std::uint32_t>(welded.first.size()));
    if (fresh) welded.first.push_back(v);
    group[v] = entry->second;
  }
  welded.first.shrink_to_fit();
  welded.point = std::move(group);
  return welded;
}

}  // namespace

WeldedPoints Weld(const Mesh& mesh) {
  const std::span<const std::uint32_t> own = mesh.weld();
  if (!own.empty()) return Numbered({own.begin(), own.end()});
  return WeldByPosition(mesh, {});
}

WeldedPoints WeldByPosition(const Mesh& mesh, std::span<const std::uint32_t> classes) {
  return Numbered(GroupsByPosition(mesh, classes));
}

}  // namespace sinew
