#include "tests/reference/implicit_reference.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sinew::reference {
namespace {

constexpr double kEps = 1e-4, kNoise = 1e-3, kCosine = 0.5736, kNoGradient = 1e-5;

double Length(const Vec3d& v) {
  return std::sqrt(Dot(v, v));
}

// Half the cotangents opposite each edge of triangles, as rows that sum to 1; weak edges are raised
// to 1e-3 of the mean positive weight.
std::vector<WeightRow> CotangentRows(const MushMesh& mesh) {
  std::vector<std::map<std::size_t, double>> weights(mesh.points());
  for (const auto& face : mesh.faces) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t a = face[c], b = face[(c + 1) % 3], o = face[(c + 2) % 3];
      const Vec3d u = mesh.rest[a] - mesh.rest[o], v = mesh.rest[b] - mesh.rest[o];
      const double cotangent = Dot(u, v) / Length(Cross(u, v));
      weights[a][b] += 0.5 * cotangent;
      weights[b][a] += 0.5 * cotangent;
    }
  }
  double sum = 0, positive = 0;
  for (const auto& row : weights) {
    for (const auto& [q, w] : row) {
      if (w <= 0) continue;
      sum += w;
      ++positive;
    }
  }
  std::vector<WeightRow> rows(mesh.points());
  for (std::size_t p = 0; p < rows.size(); ++p) {
    double total = 0;
    for (auto& [q, w] : weights[p]) total += w = std::max(w, 1e-3 * sum / positive);
    for (const auto& [q, w] : weights[p]) rows[p].emplace_back(q, w / total);
  }
  return rows;
}

class Schedule {
 public:
  Schedule(const Rig& rig, const Field& rest, const Field& field, const ProjectionRules& rules)
      : mesh_(rig, true), field_(field), rules_(rules) {
    cotangent_ = CotangentRows(mesh_);
    mean_value_ = MeanValueRows(mesh_);
    for (const Vec3d& u : mesh_.rest) {
      const double level = rest(u).value;
      level_.push_back(level);
      out_.push_back(level < 1e-5 || level > 1 - 1e-5);
    }
  }

  ProjectionResult Run(std::span<const Vec3d> posed) {
    at_ = mesh_.OfPoints(posed);
    state_.assign(at_.size(), VertexStatus::kExcluded);
    std::vector<std::size_t> all;
    for (std::size_t p = 0; p < at_.size(); ++p) {
      if (!out_[p]) all.push_back(p);
    }
    ProjectionResult result;
    Fit(all, rules_.iterations, rules_.relax);
    for (const VertexStatus s : state_) ++result.first[static_cast<std::size_t>(s)];
    const auto first = state_;
    const bool contacts = std::ranges::any_of(state_, &Schedule::IsContact);
    if (rules_.contact && rules_.smoothing > 0 && contacts) {
      const std::vector<double> flag = Diffused(6);
      for (int k = 0; k < rules_.smoothing; ++k) Smooth(flag);
      Fit(all, rules_.fit_iterations, false);
      const std::vector<double> last = Diffused(3);
      Smooth(last);
      for (std::size_t p = 0; p < at_.size(); ++p) {
        if (state_[p] == VertexStatus::kNotDisplaced) state_[p] = first[p];
      }
    }
    result.points = mesh_.OfVertices(at_);
    for (const std::size_t p : mesh_.point) result.vertex_status.push_back(state_[p]);
    result.evaluations = evaluations_;
    return result;
  }

 private:
  struct Known {
    double d;
    Vec3d gradient;
  };
  Known At(std::size_t p, const Vec3d& x) {
    ++evaluations_;
    const FieldValue f = field_(x);
    return {level_[p] - f.value, f.gradient};
  }
  static bool IsContact(VertexStatus s) {
    return s == VertexStatus::kGradientDivergence || s == VertexStatus::kPotentialPit;
  }

  // One step of p with known field `now`; true: it stopped.
  bool Step(std::size_t p, Known& now) {
    const double length = Length(now.gradient);
    const Vec3d u = (1 / length) * now.gradient;
    const double s =
        std::clamp(rules_.sigma * now.d / length, -0.25 * rules_.unit, 0.25 * rules_.unit);
    const Vec3d start = at_[p], end = start + s * u;
    const Known next = At(p, end);
    const auto stop = [&](VertexStatus state) {
      state_[p] = state;
      return true;
    };
    const auto diverges = [&](const Vec3d& g) { return Dot(u, g) < kCosine * Length(g); };
    if (now.d * next.d <= 0) {
      at_[p] = end;
      double low = 0, high = s, d = next.d;
      Known there = next;
      for (int k = 0; k < 20 && std::abs(d) >= kEps; ++k) {
        const double middle = 0.5 * (low + high);
        at_[p] = start + middle * u;
        there = At(p, at_[p]);
        d = there.d;
        (now.d * d > 0 ? low : high) = middle;
      }
      return Arrive(p, there);
    }
    if (Length(next.gradient) < kNoGradient / rules_.unit) return stop(VertexStatus::kZeroGradient);
    if (rules_.contact && diverges(next.gradient)) {
      double low = 0, high = s;
      for (int k = 0; k < 14; ++k) {
        const double middle = 0.5 * (low + high);
        (diverges(At(p, start + middle * u).gradient) ? high : low) = middle;
      }
      at_[p] = start + low * u;
      return stop(VertexStatus::kGradientDivergence);
    }
    if (std::abs(next.d) > std::abs(now.d)) return stop(VertexStatus::kPotentialPit);
    at_[p] = end;
    now = next;
    return std::abs(now.d) < kEps ? Arrive(p, now) : false;
  }

  // Adds the remaining distance at once if it is short.
  bool Arrive(std::size_t p, const Known& known) {
    const double longest = 0.25 * rules_.unit;
    const double square = Dot(known.gradient, known.gradient);
    if (std::abs(known.d) / std::sqrt(square) <= 0.05 * longest) {
      at_[p] = at_[p] + (known.d / square) * known.gradient;
    }
    state_[p] = VertexStatus::kFitted;
    return true;
  }

  void Fit(std::vector<std::size_t> moving, int iterations, bool relax) {
    std::vector<Known> known(at_.size());
    for (int k = 0; k < iterations; ++k) {
      std::vector<std::size_t> left;
      for (const std::size_t p : moving) {
        if (k == 0 || relax) known[p] = At(p, at_[p]);
        state_[p] = k == 0 ? VertexStatus::kNotDisplaced : VertexStatus::kFitted;
        if (Length(known[p].gradient) < kNoGradient / rules_.unit) {
          state_[p] = VertexStatus::kZeroGradient;
        } else if (std::abs(known[p].d) < (k == 0 ? kNoise : kEps)) {
          if (k > 0) Arrive(p, known[p]);
        } else if (!Step(p, known[p])) {
          left.push_back(p);
        }
      }
      moving = left;
      if (!relax || k + 1 == iterations) continue;
      Points next = at_;
      for (const std::size_t p : moving) {
        if (mean_value_[p].empty()) continue;
        Vec3d shift;
        for (const auto& [q, w] : mean_value_[p]) shift = shift + w * (at_[q] - at_[p]);
        const Vec3d n = (1 / Length(known[p].gradient)) * known[p].gradient;
        const double mu = std::max(0.0, 1 - std::pow(std::abs(known[p].d) - 1, 4));
        next[p] = at_[p] + mu * (shift - Dot(shift, n) * n);
      }
      at_ = next;
    }
    for (const std::size_t p : moving) state_[p] = VertexStatus::kIterationLimit;
  }

  std::vector<double> Diffused(int times) const {
    std::vector<double> flag;
    for (const VertexStatus s : state_) flag.push_back(IsContact(s) ? 1 : 0);
    for (int k = 0; k < times; ++k) {
      std::vector<double> next(flag.size(), 0.0);
      for (std::size_t p = 0; p < flag.size(); ++p) {
        for (const std::size_t q : mesh_.ring[p]) {
          next[p] += flag[q] / static_cast<double>(mesh_.ring[p].size());
        }
      }
      flag = next;
    }
    return flag;
  }

  void Smooth(const std::vector<double>& flag) {
    Points next = at_;
    for (std::size_t p = 0; p < at_.size(); ++p) {
      if (out_[p] || cotangent_[p].size() <= 3) continue;
      Vec3d shift;
      for (const auto& [q, w] : cotangent_[p]) shift = shift + w * (at_[q] - at_[p]);
      next[p] = at_[p] + flag[p] * shift;
    }
    at_ = next;
  }

  const MushMesh mesh_;
  const Field& field_;
  const ProjectionRules& rules_;
  std::vector<WeightRow> cotangent_, mean_value_;
  std::vector<double> level_;
  std::vector<bool> out_;
  Points at_;
  std::vector<VertexStatus> state_;
  std::size_t evaluations_ = 0;
};

}  // namespace

std::vector<WeightRow> MeanValueRows(const MushMesh& mesh) {
  std::vector<std::map<std::size_t, std::size_t>> after(mesh.points());  // next neighbour around p
  std::vector<Vec3d> normal(mesh.points());
  for (const auto& face : mesh.faces) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t a = face[c], b = face[(c + 1) % 3], d = face[(c + 2) % 3];
      after[a][b] = d;
      normal[a] = normal[a] + Cross(mesh.rest[b] - mesh.rest[a], mesh.rest[d] - mesh.rest[a]);
    }
  }
  std::vector<WeightRow> rows(mesh.points());
  for (std::size_t p = 0; p < rows.size(); ++p) {
    const auto& ring = after[p];
    const bool closed =
        std::ranges::all_of(ring, [&](const auto& edge) { return ring.contains(edge.second); });
    if (!closed || ring.empty()) continue;
    const Vec3d n = (1 / Length(normal[p])) * normal[p];
    const auto along = [&](std::size_t q) {
      const Vec3d e = mesh.rest[q] - mesh.rest[p];
      return e - Dot(e, n) * n;
    };
    std::map<std::size_t, double> weight;
    for (const auto& [a, b] : ring) {
      const Vec3d x = along(a), y = along(b);
      const double half = std::tan(0.5 * std::atan2(Dot(n, Cross(x, y)), Dot(x, y)));
      weight[a] += half / Length(x);
      weight[b] += half / Length(y);
    }
    double sum = 0;
    for (const auto& [q, w] : weight) sum += w;
    for (const auto& [q, w] : weight) rows[p].emplace_back(q, w / sum);
  }
  return rows;
}

ProjectionResult Project(const Rig& rig, const Field& rest, const Field& field,
                         std::span<const Vec3d> posed, const ProjectionRules& rules) {
  return Schedule(rig, rest, field, rules).Run(posed);
}

}  // namespace sinew::reference
