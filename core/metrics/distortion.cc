#include "core/metrics/distortion.h"

#include <algorithm>

namespace sinew::metrics {
namespace {

constexpr double kNoArea = 1e-9;  // of the diagonal's square
constexpr double kLargestRatio = 1e6;

double LogRatio(double posed, double rest) {
  return std::log(std::clamp(posed / rest, 1 / kLargestRatio, kLargestRatio));
}

// Share of its area below which a face counts as folded by linear blending.
constexpr double kCreased = 0.5;

// det(A) A^-T scaled to Frobenius norm sqrt(3), like a rotation; 0 if A has rank 1 or less.
// Transforms normals correctly even where A mirrors or flattens.
struct ScaledCofactor {
  Mat3d unit;
  double size = 0;  // Frobenius norm of det(A) A^-T over sqrt(3)
};
ScaledCofactor CofactorOf(const Mat3d& a) {
  ScaledCofactor cofactor{.unit = Cofactor(a)};
  double squared = 0;
  for (std::size_t r = 0; r < 9; r += 3) {
    const auto& m = cofactor.unit.m;
    squared += m[r] * m[r] + m[r + 1] * m[r + 1] + m[r + 2] * m[r + 2];
  }
  const double scale = squared > 0 ? std::sqrt(3 / squared) : 0;
  for (double& value : cofactor.unit.m) value *= scale;
  cofactor.size = std::sqrt(squared / 3);
  return cofactor;
}

}  // namespace

Distortion::Distortion(const Rig& rig, const Surface& surface) : rig_(rig), surface_(surface) {
  for (const Triangle& t : surface.triangles) {
    const Vec3d area = AreaVector(surface.rest, t);
    const bool counts = Length(area) > kNoArea * surface.diagonal * surface.diagonal;
    area_.push_back(counts ? area : Vec3d{});
    total_ += Length(area_.back());
  }
}

std::optional<Distortion::Edges> Distortion::MeasureEdges(std::span<const Vec3d> points,
                                                          const Task& task) const {
  const std::vector<Surface::Edge>& edges = surface_.edges;
  if (edges.empty()) return std::nullopt;
  struct Part {
    double squares = 0, worst = 0;
  };
  const Part all = SumOver<Part>(
      task, edges.size(),
      [&](std::size_t i, Part& part) {
        const Surface::Edge& edge = edges[i];
        const double q = LogRatio(Length(points[edge.b] - points[edge.a]), edge.length);
        part.squares += q * q;
        part.worst = std::max(part.worst, std::abs(q));
      },
      [](Part& sum, const Part& part) {
        sum.squares += part.squares;
        sum.worst = std::max(sum.worst, part.worst);
      });
  return Edges{std::sqrt(all.squares / static_cast<double>(edges.size())), all.worst};
}

std::vector<Distortion::BlendedPoint> Distortion::BlendedPoints(std::span<const AffineD> skin,
                                                                const Task& task) const {
  std::vector<ScaledCofactor> cofactors;
  for (const AffineD& matrix : skin) cofactors.push_back(CofactorOf(Linear(matrix)));
  std::vector<BlendedPoint> blended(surface_.welded.points());
  constexpr std::size_t kGrain = 1024;
  task.For(blended.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const std::uint32_t v = surface_.welded.first[p];
      const auto bindings = rig_.influences().bindings(v);
      const auto weights = rig_.influences().weights(v);
      BlendedPoint& sum = blended[p];
      sum.turn.m.fill(0);
      for (std::size_t k = 0; k < bindings.size(); ++k) {
        const auto& [unit, size] = cofactors[bindings[k]];
        for (std::size_t i = 0; i < 9; ++i) sum.turn.m[i] += weights[k] * unit.m[i];
        sum.growth += weights[k] * size;
        sum.linear = sum.linear + weights[k] * Apply(skin[bindings[k]], surface_.rest[p]);
      }
    }
  });
  return blended;
}

std::optional<Distortion::Areas> Distortion::MeasureAreas(std::span<const Vec3d> points,
                                                          std::span<const AffineD> skin,
                                                          const Task& task) const {
  if (total_ == 0) return std::nullopt;
  const std::vector<BlendedPoint> blended = BlendedPoints(skin, task);
  const auto creased = [&](const Triangle& t, double rest, const Vec3d& turned) {
    const Vec3d& a = blended[t[0]].linear;
    const Vec3d linear = Cross(blended[t[1]].linear - a, blended[t[2]].linear - a);
    const double growth = (blended[t[0]].growth + blended[t[1]].growth + blended[t[2]].growth) / 3;
    return Dot(linear, turned) < 0 || Length(linear) < kCreased * growth * rest;
  };
  struct Part {
    double squares = 0, flipped = 0, outside = 0;
  };
  const Part all = SumOver<Part>(
      task, area_.size(),
      [&](std::size_t i, Part& part) {
        const double rest = Length(area_[i]);
        if (rest == 0) return;
        const Triangle& t = surface_.triangles[i];
        const Vec3d posed = AreaVector(points, t);
        const double q = LogRatio(Length(posed), rest);
        part.squares += rest * q * q;
        Vec3d turned;
        for (const std::uint32_t p : t) turned = turned + Multiply(blended[p].turn, area_[i]);
        if (!(Dot(posed, turned) < 0)) return;
        part.flipped += rest;
        if (!creased(t, rest, turned)) part.outside += rest;
      },
      [](Part& sum, const Part& part) {
        sum.squares += part.squares;
        sum.flipped += part.flipped;
        sum.outside += part.outside;
      });
  return Areas{std::sqrt(all.squares / total_), all.flipped / total_, all.outside / total_};
}

}  // namespace sinew::metrics
