#include "core/surface/adjacency.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/rows.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 4096;  // points

// A shape target's offset of one vertex.
struct ShapeOffset {
  std::uint32_t target = 0;  // counted over all shapes
  Vec3f offset, normal_offset;
  bool operator==(const ShapeOffset&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const ShapeOffset& s) {
    const Vec3f& a = s.offset;
    const Vec3f& b = s.normal_offset;
    return H::combine(std::move(h), s.target, a.x, a.y, a.z, b.x, b.y, b.z);
  }
};

using ShapeRows = Rows<ShapeOffset>;  // non-zero offsets of each vertex

template <class Visit>
void VisitShapeOffsets(const Rig& rig, Visit visit) {
  std::uint32_t index = 0;
  for (const Shape& shape : rig.shapes()) {
    for (const ShapeTarget& target : shape.targets) {
      for (std::size_t k = 0; k < target.vertices.size(); ++k) {
        const Vec3f normal = target.normal_offsets.empty() ? Vec3f{} : target.normal_offsets[k];
        if (target.offsets[k] == Vec3f{} && normal == Vec3f{}) continue;
        visit(target.vertices[k], ShapeOffset{index, target.offsets[k], normal});
      }
      ++index;
    }
  }
}

// Compares vertices by their weights and shape offsets.
struct RowHash {
  const Rig* rig;
  const ShapeRows* shapes;
  std::size_t operator()(std::uint32_t v) const {
    const Influences& influences = rig->influences();
    return absl::HashOf(
        absl::MakeConstSpan(influences.bindings(v).data(), influences.bindings(v).size()),
        absl::MakeConstSpan(influences.weights(v).data(), influences.weights(v).size()),
        absl::MakeConstSpan(shapes->row(v).data(), shapes->row(v).size()));
  }
};
struct RowEqual {
  const Rig* rig;
  const ShapeRows* shapes;
  bool operator()(std::uint32_t a, std::uint32_t b) const {
    const Influences& influences = rig->influences();
    return std::ranges::equal(influences.bindings(a), influences.bindings(b)) &&
           std::ranges::equal(influences.weights(a), influences.weights(b)) &&
           std::ranges::equal(shapes->row(a), shapes->row(b));
  }
};

// The first of the vertices with the same weights and shape offsets, for each.
std::vector<std::uint32_t> RowClasses(const Rig& rig, std::span<const std::uint32_t> vertices) {
  const auto shapes =
      CollectRows<ShapeOffset>(rig.vertices(), [&](auto add) { VisitShapeOffsets(rig, add); });
  absl::flat_hash_set<std::uint32_t, RowHash, RowEqual> seen(0, RowHash{&rig, &shapes},
                                                             RowEqual{&rig, &shapes});
  std::vector<std::uint32_t> classes;
  classes.reserve(vertices.size());
  for (const std::uint32_t v : vertices) classes.push_back(*seen.insert(v).first);
  return classes;
}

// Calls visit(a, b, face) for every side of every face whose ends are two points.
template <class Visit>
void VisitSides(const Mesh& mesh, const WeldedPoints& welded, Visit visit) {
  for (std::uint32_t f = 0; f < mesh.faces(); ++f) {
    std::uint32_t a = welded.point[mesh.face(f).back()];
    for (const std::uint32_t v : mesh.face(f)) {
      const std::uint32_t b = welded.point[v];
      if (a != b) visit(a, b, f);
      a = b;
    }
  }
}

// Rows of the directed edges passed to `visit`, in any order and with duplicates.
template <class VisitEdges>
Adjacency FromEdges(std::size_t points, const Task& task, VisitEdges visit) {
  auto [offsets, raw] = CollectRows<std::uint32_t>(points, [&](auto add) {
    visit([&](std::uint32_t a, std::uint32_t b) {
      add(a, b);
      add(b, a);
    });
  });
  const auto at = [&](std::uint64_t k) { return raw.begin() + static_cast<std::ptrdiff_t>(k); };
  Adjacency adjacency;
  adjacency.offsets.assign(points + 1, 0);
  task.For(points, kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      std::sort(at(offsets[p]), at(offsets[p + 1]));
      adjacency.offsets[p + 1] = static_cast<std::uint64_t>(
          std::unique(at(offsets[p]), at(offsets[p + 1])) - at(offsets[p]));
    }
  });
  // Rows move together in place, behind the read position.
  for (std::size_t p = 0; p < points; ++p) {
    const std::uint64_t size = adjacency.offsets[p + 1], end = adjacency.offsets[p];
    std::copy(at(offsets[p]), at(offsets[p] + size), at(end));
    adjacency.offsets[p + 1] = end + size;
  }
  raw.resize(adjacency.offsets.back());
  raw.shrink_to_fit();
  adjacency.neighbours = std::move(raw);
  return adjacency;
}

}  // namespace

WeldedPoints Weld(const Rig& rig, const Task& task) {
  if (!rig.mesh().weld().empty()) return Weld(rig.mesh(), task);
  return WeldByPosition(
      rig.mesh(),
      [&](std::span<const std::uint32_t> vertices) { return RowClasses(rig, vertices); }, task);
}

std::size_t ShapeWeldBytes(const Rig& rig) {
  std::size_t offsets = 0;
  for (const Shape& shape : rig.shapes()) {
    for (const ShapeTarget& target : shape.targets) offsets += target.vertices.size();
  }
  return offsets * 40;
}

PointOrder OrderPoints(const WeldedPoints& welded, const BlockLayout& layout) {
  PointOrder order;
  order.lane.assign(welded.points(), static_cast<std::uint32_t>(layout.order.size()));
  for (std::size_t v = 0; v < welded.point.size(); ++v) {
    std::uint32_t& lane = order.lane[welded.point[v]];
    lane = std::min(lane, layout.lane[v]);
  }
  order.point.resize(welded.points());
  order.number.resize(welded.points());
  std::iota(order.point.begin(), order.point.end(), 0u);
  std::ranges::sort(order.point, {}, [&](std::uint32_t p) { return order.lane[p]; });
  for (std::uint32_t i = 0; i < order.point.size(); ++i) order.number[order.point[i]] = i;
  order.vertex.reserve(welded.point.size());
  for (const std::uint32_t p : welded.point) order.vertex.push_back(order.number[p]);
  return order;
}

Adjacency PolygonNeighbours(const Mesh& mesh, const WeldedPoints& welded, const Task& task) {
  return FromEdges(welded.points(), task, [&](auto edge) {
    VisitSides(mesh, welded, [&](std::uint32_t a, std::uint32_t b, std::uint32_t) { edge(a, b); });
  });
}

Adjacency TriangleNeighbours(const Mesh& mesh, const WeldedPoints& welded, const Task& task) {
  return FromEdges(welded.points(), task, [&](auto edge) {
    for (std::size_t f = 0; f < mesh.faces(); ++f) {
      const std::uint32_t a = welded.point[mesh.face(f).front()];
      std::uint32_t b = a;
      for (const std::uint32_t v : mesh.face(f).subspan(1)) {
        const std::uint32_t c = welded.point[v];
        if (b != c) edge(b, c);
        if (a != c) edge(a, c);
        b = c;
      }
    }
  });
}

std::vector<std::uint8_t> BorderPoints(const Mesh& mesh, const WeldedPoints& welded) {
  struct FaceEdge {
    std::uint32_t high, face;
    auto operator<=>(const FaceEdge&) const = default;
  };
  Rows<FaceEdge> edges = CollectRows<FaceEdge>(welded.points(), [&](auto add) {  // by lower end
    VisitSides(mesh, welded, [&](std::uint32_t a, std::uint32_t b, std::uint32_t f) {
      add(std::min(a, b), FaceEdge{std::max(a, b), f});
    });
  });
  std::vector<std::uint8_t> border(welded.points(), 0);
  for (std::size_t low = 0; low < border.size(); ++low) {
    const auto row = edges.values.begin();
    const auto begin = row + static_cast<std::ptrdiff_t>(edges.offsets[low]);
    auto end = row + static_cast<std::ptrdiff_t>(edges.offsets[low + 1]);
    std::sort(begin, end);
    end = std::unique(begin, end);
    for (auto at = begin, next = at; at != end; at = next) {
      while (next != end && next->high == at->high) ++next;
      if (next - at == 1) border[low] = border[at->high] = 1;
    }
  }
  return border;
}

double RmsEdge(const Mesh& mesh, const WeldedPoints& welded, const Adjacency& adjacency) {
  double sum = 0;
  for (std::size_t p = 0; p < adjacency.points(); ++p) {
    const Vec3d u = ToDouble(mesh.positions()[welded.first[p]]);
    for (const std::uint32_t n : adjacency.row(p)) {
      const Vec3d edge = ToDouble(mesh.positions()[welded.first[n]]) - u;
      sum += Dot(edge, edge);
    }
  }
  const std::size_t directed = adjacency.neighbours.size();
  return directed == 0 ? 0 : std::sqrt(sum / static_cast<double>(directed));
}

}  // namespace sinew
