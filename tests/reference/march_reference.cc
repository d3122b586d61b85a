#include "tests/reference/march_reference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "tests/reference/delta_mush_reference.h"

namespace sinew::reference {
namespace {

constexpr double kAtLevel = 1e-4, kLeastGradient = 1e-5;
constexpr int kHalvings = 60;

double Length(const Vec3d& v) {
  return std::sqrt(Dot(v, v));
}

using Field = LimbDistances::Field;

// The nearest of all parts whose support x is in.
std::optional<FieldValue> Union(const Field& field, const LimbDistances& limbs, const Vec3d& x) {
  std::optional<FieldValue> least;
  for (std::size_t b = 0; b < limbs.reach.size(); ++b) {
    const FieldValue f = field(b, x);
    if (f.value < limbs.reach[b] && (!least || f.value < least->value)) least = f;
  }
  return least;
}

bool IsFlat(const std::optional<FieldValue>& f) {
  return !f || Length(f->gradient) <= kLeastGradient;
}

// The largest t up to `end` such that `before` holds from 0 to t, if it changes once.
template <class Before>
double LastBefore(double end, const Before& before) {
  double low = 0;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + end);
    (before(middle) ? low : end) = middle;
  }
  return low;
}

struct End {
  Vec3d at;
  VertexStatus status;
};

End MarchOne(const LimbDistances& limbs, const MarchRules& rules, Vec3d x, double level) {
  const auto at = [&](const Vec3d& y) { return Union(limbs.posed, limbs, y); };
  const double step = double{rules.step_length} * limbs.unit;
  std::optional<FieldValue> f = at(x);
  if (IsFlat(f)) return {x, VertexStatus::kZeroGradient};
  if (std::abs(f->value - level) < kAtLevel) return {x, VertexStatus::kNotDisplaced};
  for (std::uint32_t k = 0; k < rules.max_iterations; ++k) {
    const bool outside = f->value > level;
    const Vec3d g = (1 / Length(f->gradient)) * f->gradient;
    const Vec3d along = (outside ? -1.0 : 1.0) * g;
    const auto turned = [&](const FieldValue& to) {
      return Dot(g, to.gradient) < double{rules.gradient_threshold} * Length(to.gradient);
    };
    const std::optional<FieldValue> next = at(x + step * along);
    if (next && (outside ? next->value <= level : next->value >= level)) {
      const double t = LastBefore(step, [&](double s) {
        const auto there = at(x + s * along);
        return !there || (outside ? there->value > level : there->value < level);
      });
      return {x + t * along, VertexStatus::kFitted};
    }
    if (IsFlat(next)) return {x, VertexStatus::kZeroGradient};
    if (turned(*next)) {
      const double t = LastBefore(step, [&](double s) {
        const auto there = at(x + s * along);
        return !IsFlat(there) && !turned(*there);
      });
      return {x + t * along, VertexStatus::kGradientDivergence};
    }
    if (rules.potential_pit && std::abs(next->value - level) > std::abs(f->value - level)) {
      return {x, VertexStatus::kPotentialPit};
    }
    x = x + step * along;
    f = next;
  }
  return {x, VertexStatus::kIterationLimit};
}

// Row-stochastic cotangent weights of the rest mesh; edge weights below a thousandth of the mean
// positive one are raised to it.
std::vector<std::map<std::size_t, double>> CotangentRows(const MushMesh& mesh) {
  std::vector<std::map<std::size_t, double>> rows(mesh.points());
  for (const auto& face : mesh.faces) {
    for (std::size_t k = 2; k < face.size(); ++k) {
      const std::size_t t[3] = {face[0], face[k - 1], face[k]};
      if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t a = t[(i + 1) % 3], b = t[(i + 2) % 3];
        const Vec3d u = mesh.rest[a] - mesh.rest[t[i]], v = mesh.rest[b] - mesh.rest[t[i]];
        const double half = 0.5 * Dot(u, v) / Length(Cross(u, v));
        rows[a][b] += half;
        rows[b][a] += half;
      }
    }
  }
  double sum = 0, count = 0;
  for (const auto& row : rows) {
    for (const auto& [q, w] : row) {
      sum += std::max(w, 0.0);
      count += w > 0 ? 1 : 0;
    }
  }
  for (auto& row : rows) {
    double total = 0;
    for (auto& [q, w] : row) total += w = std::max(w, 1e-3 * sum / count);
    for (auto& [q, w] : row) w /= total;
  }
  return rows;
}

void Smooth(const MushMesh& mesh, std::uint32_t passes, const std::vector<bool>& marched,
            std::vector<double> flag, Points& points) {
  const auto rows = CotangentRows(mesh);
  for (int k = 0; k < 6; ++k) {
    const std::vector<double> before = flag;
    for (std::size_t p = 0; p < flag.size(); ++p) {
      double mean = 0;
      for (const auto& [q, w] : rows[p]) mean += w * before[q];
      flag[p] = marched[p] ? 0.5 * (before[p] + mean) : 0;
    }
  }
  for (std::uint32_t k = 0; k < passes; ++k) {
    const Points before = points;
    for (std::size_t p = 0; p < flag.size(); ++p) {
      Vec3d mean;
      for (const auto& [q, w] : rows[p]) mean = mean + w * before[q];
      if (!rows[p].empty()) points[p] = before[p] + flag[p] * (mean - before[p]);
    }
  }
}

}  // namespace

Marched MarchToRest(const Rig& rig, const LimbDistances& limbs, const MarchRules& rules,
                    std::span<const Vec3d> posed, const std::vector<bool>& skin) {
  const MushMesh mesh(rig, true);
  Points points = mesh.OfPoints(posed);
  std::vector<VertexStatus> status(mesh.points(), VertexStatus::kExcluded);
  std::vector<bool> marched(mesh.points(), false);
  std::vector<double> flag(mesh.points(), 0);
  for (std::size_t p = 0; p < mesh.points(); ++p) {
    const auto rest = Union(limbs.bind, limbs, mesh.rest[p]);
    if (!skin[mesh.first[p]] || !rest || Length(rest->gradient) == 0) continue;
    marched[p] = true;
    const End end = MarchOne(limbs, rules, points[p], rest->value);
    points[p] = end.at;
    status[p] = end.status;
    const bool meets = end.status == VertexStatus::kGradientDivergence ||
                       end.status == VertexStatus::kPotentialPit;
    flag[p] = meets ? 1 : 0;
  }
  Smooth(mesh, rules.smoothing, marched, flag, points);
  Marched result{.points = mesh.OfVertices(points), .status = {}};
  for (const std::size_t p : mesh.point) result.status.push_back(status[p]);
  return result;
}

}  // namespace sinew::reference
