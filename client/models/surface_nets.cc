#include "client/models/surface_nets.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace sinew::client {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr int kSpreadRounds = 12, kProjectionSteps = 3;

// Samples of the field on the corners of the cells.
class Grid {
 public:
  Grid(const Field& field, const Eigen::Vector3d& low, const Eigen::Vector3d& high, double cell)
      : low_(low), cell_(cell) {
    for (int axis = 0; axis < 3; ++axis) {
      size_[static_cast<std::size_t>(axis)] =
          static_cast<std::size_t>(std::ceil((high[axis] - low[axis]) / cell)) + 1;
    }
    values_.reserve(size_[0] * size_[1] * size_[2]);
    for (std::size_t z = 0; z < size_[2]; ++z) {
      for (std::size_t y = 0; y < size_[1]; ++y) {
        for (std::size_t x = 0; x < size_[0]; ++x) values_.push_back(field(Corner({x, y, z})));
      }
    }
  }

  using Index = std::array<std::size_t, 3>;
  const Index& size() const { return size_; }
  std::size_t Flat(const Index& i) const { return (i[2] * size_[1] + i[1]) * size_[0] + i[0]; }
  double Value(const Index& i) const { return values_[Flat(i)]; }
  bool Inside(const Index& i) const { return Value(i) < 0; }
  Eigen::Vector3d Corner(const Index& i) const {
    return low_ + cell_ * Eigen::Vector3d(static_cast<double>(i[0]), static_cast<double>(i[1]),
                                          static_cast<double>(i[2]));
  }

 private:
  Eigen::Vector3d low_;
  double cell_;
  Index size_{};
  std::vector<double> values_;
};

// An edge of a cell: along `axis`, offset by `side` % 2 and `side` / 2 along the next two axes.
constexpr std::size_t EdgeOf(std::size_t axis, std::size_t side) {
  return axis * 4 + side;
}

// The sheets of surface in a cell: which crossed edges belong together, and where the surface
// crosses them.
class CellSheets {
 public:
  CellSheets(const Grid& grid, const Grid::Index& cell) : grid_(grid), cell_(cell) {
    for (std::size_t edge = 0; edge < 12; ++edge) group_[edge] = edge;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (std::size_t side = 0; side < 4; ++side) FindCrossing(axis, side);
    }
    for (std::size_t face = 0; face < 6 && crossed_ > 0; ++face) JoinOnFace(face % 3, face / 3);
  }

  // Appends one vertex per sheet, the mean of its crossings, and says which vertex each edge
  // belongs to.
  std::array<std::uint32_t, 12> AddVertices(std::vector<Eigen::Vector3d>& vertices) const {
    std::array<std::uint32_t, 12> vertex_of_edge;
    vertex_of_edge.fill(kNone);
    for (std::size_t first = 0; first < 12; ++first) {
      if (!is_crossed_[first] || vertex_of_edge[first] != kNone) continue;
      Eigen::Vector3d sum = Eigen::Vector3d::Zero();
      int count = 0;
      for (std::size_t edge = first; edge < 12; ++edge) {
        if (!is_crossed_[edge] || group_[edge] != group_[first]) continue;
        vertex_of_edge[edge] = static_cast<std::uint32_t>(vertices.size());
        sum += crossing_[edge];
        ++count;
      }
      vertices.push_back(sum / count);
    }
    return vertex_of_edge;
  }

  bool empty() const { return crossed_ == 0; }

 private:
  void FindCrossing(std::size_t axis, std::size_t side) {
    Grid::Index a = cell_;
    a[(axis + 1) % 3] += side % 2;
    a[(axis + 2) % 3] += side / 2;
    Grid::Index b = a;
    ++b[axis];
    const std::size_t edge = EdgeOf(axis, side);
    is_crossed_[edge] = grid_.Inside(a) != grid_.Inside(b);
    if (!is_crossed_[edge]) return;
    const double u = grid_.Value(a) / (grid_.Value(a) - grid_.Value(b));
    crossing_[edge] = (1 - u) * grid_.Corner(a) + u * grid_.Corner(b);
    ++crossed_;
  }

  // Joins the edges that the surface connects on one face. Where all four are crossed, inside
  // corners stay apart: both cells at the face decide alike, so the sheets meet and no edge gets
  // four quads.
  void JoinOnFace(std::size_t normal, std::size_t position) {
    const std::size_t u = (normal + 1) % 3, v = (normal + 2) % 3;
    const auto along_u = [&](std::size_t offset) { return EdgeOf(u, offset + 2 * position); };
    const auto along_v = [&](std::size_t offset) { return EdgeOf(v, position + 2 * offset); };
    const std::array<std::size_t, 4> edges = {along_u(0), along_u(1), along_v(0), along_v(1)};
    const auto crossed =
        std::count_if(edges.begin(), edges.end(), [&](std::size_t e) { return is_crossed_[e]; });
    if (crossed == 2) {
      const auto first =
          std::find_if(edges.begin(), edges.end(), [&](std::size_t e) { return is_crossed_[e]; });
      const auto second =
          std::find_if(first + 1, edges.end(), [&](std::size_t e) { return is_crossed_[e]; });
      Join(*first, *second);
    }
    for (std::size_t corner = 0; corner < 4 && crossed == 4; ++corner) {
      Grid::Index at = cell_;
      at[normal] += position;
      at[u] += corner % 2;
      at[v] += corner / 2;
      if (grid_.Inside(at)) Join(along_u(corner / 2), along_v(corner % 2));
    }
  }

  void Join(std::size_t a, std::size_t b) {
    const std::size_t from = group_[b], to = group_[a];
    std::replace(group_.begin(), group_.end(), from, to);
  }

  const Grid& grid_;
  const Grid::Index& cell_;
  std::array<std::size_t, 12> group_{};
  std::array<bool, 12> is_crossed_{};
  std::array<Eigen::Vector3d, 12> crossing_;
  int crossed_ = 0;
};

// Which vertex each edge of a crossed cell belongs to.
struct CellVertices {
  std::vector<std::uint32_t>
      entry_of_cell;  // index into `of_edge`, kNone for cells the surface misses
  std::vector<std::array<std::uint32_t, 12>> of_edge;
};

// The quad around every crossed edge that leaves `corner`.
void AddQuads(const Grid& grid, const Grid::Index& corner, const CellVertices& vertices,
              QuadMesh& mesh) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    if (corner[axis] + 1 >= grid.size()[axis] || corner[u] == 0 || corner[v] == 0) continue;
    Grid::Index end = corner;
    ++end[axis];
    const bool inside = grid.Inside(corner);
    if (inside == grid.Inside(end)) continue;
    std::array<std::uint32_t, 4> quad{};
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t back_u = k == 0 || k == 3 ? 1 : 0,
                        back_v = k < 2 ? 1 : 0;  // counter-clockwise around the axis
      Grid::Index cell = corner;
      cell[u] -= back_u;
      cell[v] -= back_v;
      quad[k] =
          vertices
              .of_edge[vertices.entry_of_cell[grid.Flat(cell)]][EdgeOf(axis, back_u + 2 * back_v)];
    }
    if (!inside) std::swap(quad[1], quad[3]);
    mesh.quads.push_back(quad);
  }
}

Eigen::Vector3d Gradient(const Field& field, const Eigen::Vector3d& p, double step) {
  Eigen::Vector3d g;
  for (int axis = 0; axis < 3; ++axis) {
    const Eigen::Vector3d d = step * Eigen::Vector3d::Unit(axis);
    g[axis] = (field(p + d) - field(p - d)) / (2 * step);
  }
  return g;
}

// Newton steps along the gradient, no longer than a cell.
Eigen::Vector3d Project(const Field& field, Eigen::Vector3d p, double cell) {
  for (int i = 0; i < kProjectionSteps; ++i) {
    const Eigen::Vector3d g = Gradient(field, p, 0.01 * cell);
    const double length_sq = g.squaredNorm();
    if (length_sq < 1e-6) break;
    const Eigen::Vector3d move = -field(p) / length_sq * g;
    p += move.norm() > cell ? Eigen::Vector3d(move * (cell / move.norm())) : move;
  }
  return p;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> Neighbours(const QuadMesh& mesh) {
  std::vector<std::vector<std::uint32_t>> out(mesh.vertices.size());
  for (const auto& quad : mesh.quads) {
    for (std::size_t k = 0; k < 4; ++k) {
      out[quad[k]].push_back(quad[(k + 1) % 4]);
      out[quad[k]].push_back(quad[(k + 3) % 4]);
    }
  }
  for (auto& list : out) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return out;
}

QuadMesh SurfaceNets(const Field& field, const Eigen::Vector3d& low, const Eigen::Vector3d& high,
                     double cell) {
  const Grid grid(field, low, high, cell);
  const Grid::Index& size = grid.size();
  CellVertices vertices;
  vertices.entry_of_cell.assign(size[0] * size[1] * size[2], kNone);
  QuadMesh mesh;
  for (std::size_t z = 0; z + 1 < size[2]; ++z) {
    for (std::size_t y = 0; y + 1 < size[1]; ++y) {
      for (std::size_t x = 0; x + 1 < size[0]; ++x) {
        const Grid::Index index = {x, y, z};
        const CellSheets sheets(grid, index);
        if (sheets.empty()) continue;
        vertices.entry_of_cell[grid.Flat(index)] =
            static_cast<std::uint32_t>(vertices.of_edge.size());
        vertices.of_edge.push_back(sheets.AddVertices(mesh.vertices));
      }
    }
  }
  for (std::size_t z = 0; z < size[2]; ++z) {
    for (std::size_t y = 0; y < size[1]; ++y) {
      for (std::size_t x = 0; x < size[0]; ++x) AddQuads(grid, {x, y, z}, vertices, mesh);
    }
  }
  const auto neighbours = Neighbours(mesh);
  std::vector<Eigen::Vector3d> next(mesh.vertices.size());
  for (int round = 0; round < kSpreadRounds; ++round) {
    for (std::size_t v = 0; v < next.size(); ++v) {
      Eigen::Vector3d mean = Eigen::Vector3d::Zero();
      for (const std::uint32_t n : neighbours[v]) mean += mesh.vertices[n];
      mean /= static_cast<double>(neighbours[v].size());
      next[v] = Project(field, 0.5 * (mesh.vertices[v] + mean), cell);
    }
    mesh.vertices.swap(next);
  }
  return mesh;
}

}  // namespace sinew::client
