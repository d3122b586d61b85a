#include "tests/reference/delta_mush_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace sinew::reference {
namespace {

double Length(const Vec3d& v) {
  return std::sqrt(Dot(v, v));
}

Vec3d Unit(const Vec3d& v) {
  return Length(v) > 0 ? (1 / Length(v)) * v : Vec3d{};
}

using Edges = std::map<std::pair<std::size_t, std::size_t>, std::set<std::size_t>>;

// The faces of every edge, lower corner first.
Edges EdgesOf(const std::vector<std::vector<std::size_t>>& faces) {
  Edges edges;
  for (std::size_t f = 0; f < faces.size(); ++f) {
    for (std::size_t c = 0; c < faces[f].size(); ++c) {
      const std::size_t a = faces[f][c], b = faces[f][(c + 1) % faces[f].size()];
      if (a != b) edges[std::minmax(a, b)].insert(f);
    }
  }
  return edges;
}

std::vector<bool> Borders(const std::vector<std::vector<std::size_t>>& faces, std::size_t points) {
  std::vector<bool> border(points, false);
  for (const auto& [edge, around] : EdgesOf(faces)) {
    if (around.size() == 1) border[edge.first] = border[edge.second] = true;
  }
  return border;
}

// Half the cotangents opposite edge (a, b) in the fans of all faces.
double CotangentOf(const MushMesh& mesh, std::size_t a, std::size_t b) {
  double sum = 0;
  for (const auto& face : mesh.faces) {
    for (std::size_t k = 2; k < face.size(); ++k) {
      const std::size_t t[3] = {face[0], face[k - 1], face[k]};
      if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
      for (int i = 0; i < 3; ++i) {
        const std::size_t p = t[(i + 1) % 3], q = t[(i + 2) % 3];
        if (std::minmax(p, q) != std::minmax(a, b)) continue;
        const Vec3d x = mesh.rest[p] - mesh.rest[t[i]], y = mesh.rest[q] - mesh.rest[t[i]];
        const Vec3d z = mesh.rest[p] - mesh.rest[q];
        const double area = Length(Cross(x, y));
        if (area > 1e-14 * std::max({Dot(x, x), Dot(y, y), Dot(z, z)})) {
          sum += 0.5 * Dot(x, y) / area;
        }
      }
    }
  }
  return sum;
}

using Rows = std::vector<std::vector<std::pair<std::size_t, double>>>;

// Unnormalised edge weights of every point's one-ring.
Rows EdgeWeights(const MushMesh& mesh, MushLaplacian laplacian, double diagonal) {
  Rows rows(mesh.points());
  double sum = 0, positive = 0;
  for (std::size_t p = 0; p < mesh.points(); ++p) {
    for (const std::size_t q : mesh.ring[p]) {
      double w = 1;
      if (laplacian == MushLaplacian::kCotangent) w = CotangentOf(mesh, p, q);
      if (laplacian == MushLaplacian::kInverseDistance) {
        w = 1 / std::max(Length(mesh.rest[q] - mesh.rest[p]), 1e-9 * diagonal);
      }
      rows[p].emplace_back(q, w);
      if (w > 0) {
        sum += w;
        ++positive;
      }
    }
  }
  if (laplacian != MushLaplacian::kCotangent) return rows;
  for (auto& row : rows) {
    for (auto& [q, w] : row) w = std::max(w, positive > 0 ? 1e-3 * sum / positive : 1.0);
  }
  return rows;
}

struct Frame {
  bool exists = false;
  Vec3d t, b, n;
};

// Area-weighted normals for the point positions `at`.
Points NormalsAt(const MushMesh& mesh, const Points& at) {
  Points normals(mesh.points());
  std::vector<double> size(mesh.points(), 0.0);
  for (const auto& face : mesh.faces) {
    Vec3d area;
    double squares = 0;
    for (std::size_t k = 2; k < face.size(); ++k) {
      const Vec3d x = at[face[k - 1]] - at[face[0]], y = at[face[k]] - at[face[0]];
      area = area + Cross(x, y);
      squares += Dot(x, x) + Dot(y, y);
    }
    for (const std::size_t p : std::set<std::size_t>(face.begin(), face.end())) {
      normals[p] = normals[p] + area;
      size[p] += squares;
    }
  }
  for (std::size_t p = 0; p < normals.size(); ++p) {
    normals[p] = Length(normals[p]) > 1e-5 * size[p] ? Unit(normals[p]) : Vec3d{};
  }
  return normals;
}

Frame FrameAt(const Points& at, const Vec3d& normal, std::size_t p, std::size_t neighbour) {
  const Vec3d e = at[neighbour] - at[p];
  const Vec3d t = Unit(e - Dot(e, normal) * normal);
  return {true, t, Cross(normal, t), normal};
}

// The neighbour that defines the frame of p; p itself if there is none.
std::size_t FrameNeighbour(const MushMesh& mesh, const Points& at, const Vec3d& n, std::size_t p) {
  const auto along = [&](std::size_t q) {
    const Vec3d e = at[q] - at[p];
    const double length = Length(e - Dot(e, n) * n);
    return length * length > 1e-7 * Dot(e, e) ? length : 0;
  };
  double longest = 0;
  for (const std::size_t q : mesh.ring[p]) longest = std::max(longest, along(q));
  for (const std::size_t q : mesh.ring[p]) {
    if (longest > 0 && along(q) >= longest * (1 - 1e-5)) return q;
  }
  return p;
}

}  // namespace

MushMesh::MushMesh(const Rig& rig, bool cut_into_triangles) {
  std::map<std::vector<double>, std::size_t> seen;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    const Vec3d u = ToDouble(rig.mesh().positions()[v]);
    std::vector<double> key = {u.x, u.y, u.z};
    const auto bindings = rig.influences().bindings(v);
    for (std::size_t k = 0; k < bindings.size(); ++k) {
      key.push_back(bindings[k]);
      key.push_back(rig.influences().weights(v)[k]);
    }
    const auto [entry, fresh] = seen.try_emplace(key, rest.size());
    if (fresh) {
      rest.push_back(u);
      first.push_back(v);
    }
    point.push_back(entry->second);
  }
  ring.resize(rest.size());
  const auto join = [&](std::size_t a, std::size_t b) {
    if (a == b) return;
    ring[a].insert(b);
    ring[b].insert(a);
  };
  for (std::size_t f = 0; f < rig.mesh().faces(); ++f) {
    std::vector<std::size_t>& face = faces.emplace_back();
    for (std::uint32_t c = rig.mesh().face_offsets()[f]; c < rig.mesh().face_offsets()[f + 1];
         ++c) {
      face.push_back(point[rig.mesh().face_vertices()[c]]);
    }
    for (std::size_t c = 0; c < face.size(); ++c) join(face[c], face[(c + 1) % face.size()]);
    for (std::size_t c = 2; cut_into_triangles && c < face.size(); ++c) join(face[0], face[c]);
  }
}

Points MushMesh::OfPoints(std::span<const Vec3d> vertices) const {
  Points points;
  for (const std::size_t v : first) points.push_back(vertices[v]);
  return points;
}

Points MushMesh::OfVertices(std::span<const Vec3d> points) const {
  Points vertices;
  for (const std::size_t p : point) vertices.push_back(points[p]);
  return vertices;
}

namespace {

// The steps of explicit smoothing.
struct Steps {
  Rows rows;
  std::vector<double> h;  // [P]
  std::uint32_t count = 0;
};

template <class T>
std::vector<T> Averaged(const Rows& rows, const std::vector<double>& h, std::vector<T> at) {
  const std::vector<T> from = at;
  for (std::size_t p = 0; p < at.size(); ++p) {
    double degree = 0;
    for (const auto& [q, w] : rows[p]) degree += w;
    for (const auto& [q, w] : rows[p]) at[p] = at[p] + (h[p] * w / degree) * (from[q] - from[p]);
  }
  return at;
}

Points Smoothed(const Steps& steps, Points at) {
  for (std::uint32_t step = 0; step < steps.count; ++step) at = Averaged(steps.rows, steps.h, at);
  return at;
}

void LimitSmoothing(const MushMesh& mesh, double keep, Steps& steps) {
  const Points smoothed = Smoothed(steps, mesh.rest);
  std::vector<double> before(mesh.points(), 0.0), after(mesh.points(), 0.0);
  for (const auto& face : mesh.faces) {
    for (std::size_t k = 2; k < face.size(); ++k) {
      const auto area = [&](const Points& at) {
        return Length(Cross(at[face[k - 1]] - at[face[0]], at[face[k]] - at[face[0]]));
      };
      for (const std::size_t p : {face[0], face[k - 1], face[k]}) {
        before[p] += area(mesh.rest);
        after[p] += area(smoothed);
      }
    }
  }
  std::vector<double> factors(mesh.points(), 1.0);
  for (std::size_t p = 0; p < factors.size(); ++p) {
    if (before[p] > 0) {
      factors[p] = std::clamp(std::pow(after[p] / before[p] / keep, 2), 0.01, 1.0);
    }
  }
  const std::vector<double> half(mesh.points(), 0.5);
  for (int blur = 0; blur < 3; ++blur) factors = Averaged(steps.rows, half, factors);
  for (std::size_t p = 0; p < factors.size(); ++p) steps.h[p] *= factors[p];
}

}  // namespace

Points SmoothExplicitly(const Rig& rig, const DeltaMushParams& params, std::span<const float> map,
                        const Points& vertices) {
  const MushMesh mesh(rig, params.laplacian == MushLaplacian::kCotangent);
  const std::vector<bool> border = Borders(mesh.faces, mesh.points());
  Steps steps = {EdgeWeights(mesh, params.laplacian, rig.mesh().diagonal()), {}, params.iterations};
  for (std::size_t p = 0; p < mesh.points(); ++p) {
    double h = params.pin_borders && border[p] ? 0 : double{params.step};
    if (!map.empty()) h *= std::clamp(double{map[mesh.first[p]]}, 0.0, 1.0);
    steps.h.push_back(h);
  }
  if (params.keep_area > 0) LimitSmoothing(mesh, double{params.keep_area}, steps);
  return mesh.OfVertices(Smoothed(steps, mesh.OfPoints(vertices)));
}

Points DeltaMush(const Rig& rig, bool cut_into_triangles, const Smoother& smooth,
                 double displacement, std::span<const Vec3d> posed, std::span<const Mat3d> turn) {
  const MushMesh mesh(rig, cut_into_triangles);
  Points rest_vertices;
  for (const Vec3f& u : rig.mesh().positions()) rest_vertices.push_back(ToDouble(u));
  const Points x0 = mesh.OfPoints(smooth(rest_vertices));
  const Points x = mesh.OfPoints(smooth(Points(posed.begin(), posed.end())));
  const Points n0 = NormalsAt(mesh, x0), n = NormalsAt(mesh, x);
  Points result;
  for (std::size_t v = 0; v < posed.size(); ++v) {
    const std::size_t p = mesh.point[v];
    const Vec3d detail = displacement * (rest_vertices[v] - x0[p]);
    const std::size_t q = n0[p] == Vec3d{} ? p : FrameNeighbour(mesh, x0, n0[p], p);
    if (q == p || n[p] == Vec3d{}) {
      result.push_back(x[p] + Multiply(turn[v], detail));
      continue;
    }
    const Frame f0 = FrameAt(x0, n0[p], p, q), f = FrameAt(x, n[p], p, q);
    result.push_back(x[p] + Dot(detail, f0.t) * f.t + Dot(detail, f0.b) * f.b +
                     Dot(detail, f0.n) * f.n);
  }
  return result;
}

namespace {

struct Corner {
  Frame frame;
  double angle = 0;  // rotation of the outline
};

Corner CornerAt(const Vec3d& before, const Vec3d& at, const Vec3d& after) {
  const Vec3d a = Unit(before - at), b = Unit(at - after);
  const Vec3d z = Unit(Cross(a, b)), x = Unit(a + b);
  if (z == Vec3d{} || x == Vec3d{}) return {};
  return {{true, x, Cross(z, x), z}, std::acos(std::clamp(Dot(a, b), -1.0, 1.0))};
}

Points BlenderSmooth(const std::vector<std::vector<std::size_t>>& faces, Points at,
                     const CorrectiveSmoothOptions& options) {
  const Edges edges = EdgesOf(faces);
  const std::vector<bool> border = Borders(faces, at.size());
  for (int i = 0; i < options.iterations; ++i) {
    Points sum(at.size());
    std::vector<double> weight(at.size(), 0.0), valence(at.size(), 0.0);
    for (const auto& [edge, around] : edges) {
      const auto [a, b] = edge;
      const Vec3d e = at[b] - at[a];
      const double w = options.length_weighted ? Length(e) : 1;
      sum[a] = sum[a] + w * e;
      sum[b] = sum[b] - w * e;
      for (const std::size_t v : {a, b}) {
        weight[v] += w;
        ++valence[v];
      }
    }
    for (std::size_t v = 0; v < at.size(); ++v) {
      if (valence[v] == 0 || weight[v] == 0 || (options.pin && border[v])) continue;
      const double factor =
          options.length_weighted ? 2 * options.factor / valence[v] : options.factor;
      at[v] = at[v] + (factor / weight[v]) * sum[v];
    }
  }
  return at;
}

}  // namespace

Points CorrectiveSmooth(const std::vector<std::vector<std::size_t>>& faces, const Points& rest,
                        const Points& posed, const CorrectiveSmoothOptions& options) {
  const Points x0 = BlenderSmooth(faces, rest, options), x = BlenderSmooth(faces, posed, options);
  if (options.only_smooth) return x;
  Points detail(posed.size());
  std::vector<double> angles(posed.size(), 0.0);
  for (const auto& face : faces) {
    for (std::size_t c = 0; c < face.size(); ++c) {
      const std::size_t v = face[c], before = face[(c + face.size() - 1) % face.size()];
      const std::size_t after = face[(c + 1) % face.size()];
      const Corner f0 = CornerAt(x0[before], x0[v], x0[after]);
      const Corner f = CornerAt(x[before], x[v], x[after]);
      if (!f0.frame.exists || !f.frame.exists) continue;
      const Vec3d d = rest[v] - x0[v];
      detail[v] =
          detail[v] + f.angle * (Dot(d, f0.frame.t) * f.frame.t + Dot(d, f0.frame.b) * f.frame.b +
                                 Dot(d, f0.frame.n) * f.frame.n);
      angles[v] += f.angle;
    }
  }
  Points result = x;
  for (std::size_t v = 0; v < result.size(); ++v) {
    if (angles[v] > 0) result[v] = x[v] + (options.scale / angles[v]) * detail[v];
  }
  return result;
}

}  // namespace sinew::reference
