#include "core/rig/point_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/disjoint_sets.h"

namespace sinew {
namespace {

constexpr std::size_t kMostRows = 64;  // of a place: each is compared with each

using Row = std::vector<std::pair<std::uint16_t, double>>;  // ascending by binding

Row RowOf(const Influences& influences, std::uint32_t v) {
  Row row;
  for (std::size_t k = 0; k < influences.bindings(v).size(); ++k) {
    row.emplace_back(influences.bindings(v)[k], influences.weights(v)[k]);
  }
  std::ranges::sort(row);
  return row;
}

bool IsEqual(const Influences& influences, std::uint32_t a, std::uint32_t b) {
  return std::ranges::equal(influences.bindings(a), influences.bindings(b)) &&
         std::ranges::equal(influences.weights(a), influences.weights(b));
}

bool IsSame(const Row& a, const Row& b) {
  for (std::size_t i = 0, k = 0; i < a.size() || k < b.size();) {
    const bool in_a = k == b.size() || (i < a.size() && a[i].first <= b[k].first);
    const bool in_b = i == a.size() || (k < b.size() && b[k].first <= a[i].first);
    const double difference = (in_a ? a[i].second : 0) - (in_b ? b[k].second : 0);
    if (std::abs(difference) > kSameWeight) return false;
    i += in_a;
    k += in_b;
  }
  return true;
}

// Sets the row of each of the vertices of one place. Returns whether one of them changes.
bool UniteRows(const Influences& own, std::span<const std::uint32_t> vertices,
               std::vector<std::uint32_t>& row_of) {
  std::vector<std::pair<Row, std::uint32_t>> rows;
  for (const std::uint32_t v : vertices) rows.emplace_back(RowOf(own, v), v);
  std::ranges::sort(rows);
  std::vector<std::size_t> begin;  // of the vertices with the same bits
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i].first != rows[i - 1].first) begin.push_back(i);
  }
  if (begin.size() == 1 || begin.size() > kMostRows) return false;
  DisjointSets sets(begin.size());
  for (std::uint32_t a = 0; a < begin.size(); ++a) {
    for (std::uint32_t b = a + 1; b < begin.size(); ++b) {
      if (IsSame(rows[begin[a]].first, rows[begin[b]].first)) sets.Join(a, b);
    }
  }
  bool changes = false;
  for (std::uint32_t a = 0; a < begin.size(); ++a) {
    const std::uint32_t first = sets.Lowest(a);
    const std::size_t end = a + 1 < begin.size() ? begin[a + 1] : rows.size();
    for (std::size_t i = begin[a]; first != a && i < end; ++i) {
      row_of[rows[i].second] = rows[begin[first]].second;
      changes = true;
    }
  }
  return changes;
}

}  // namespace

std::optional<Influences> PointWeights(const Influences& own, const WeldedPoints& places) {
  // Nearly all points of nearly all meshes have one row. Only the others are gathered.
  std::vector<bool> differs(places.points());
  bool any = false;
  for (std::uint32_t v = 0; v < places.point.size(); ++v) {
    const std::uint32_t p = places.point[v];
    if (differs[p] || IsEqual(own, v, places.first[p])) continue;
    any = differs[p] = true;
  }
  if (!any) return std::nullopt;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> gathered;  // place, vertex
  for (std::uint32_t v = 0; v < places.point.size(); ++v) {
    if (differs[places.point[v]]) gathered.emplace_back(places.point[v], v);
  }
  std::ranges::stable_sort(gathered, {}, [](const auto& entry) { return entry.first; });
  std::vector<std::uint32_t> row_of(own.vertices());
  std::iota(row_of.begin(), row_of.end(), 0u);
  bool changes = false;
  std::vector<std::uint32_t> vertices;
  for (std::size_t i = 0; i < gathered.size(); ++i) {
    vertices.push_back(gathered[i].second);
    if (i + 1 < gathered.size() && gathered[i + 1].first == gathered[i].first) continue;
    changes = UniteRows(own, vertices, row_of) || changes;
    vertices.clear();
  }
  if (!changes) return std::nullopt;
  return own.Pick(row_of);
}

}  // namespace sinew
