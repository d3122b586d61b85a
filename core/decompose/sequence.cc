#include "core/decompose/sequence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/disjoint_sets.h"
#include "core/base/status.h"
#include "core/base/vectors.h"
#include "core/mesh/weld.h"

namespace sinew::decompose {
namespace {

constexpr std::size_t kPointGrain = 64;
constexpr double kLeastRounding = 1e-6;  // of the diagonal
constexpr double kMovesTogether = 1e-5;  // of the diagonal

// Splits points whose vertices part in some frame.
WeldedPoints SplitByMotion(const WeldedPoints& welded, std::span<const Vec3f> places,
                           std::size_t frames, double tolerance, const Task& task) {
  const std::size_t vertices = welded.point.size();
  const auto together = [&](std::uint32_t a, std::uint32_t b) {
    for (std::size_t f = 0; f < frames; ++f) {
      const Vec3d apart = ToDouble(places[f * vertices + a]) - ToDouble(places[f * vertices + b]);
      if (Dot(apart, apart) > tolerance * tolerance) return false;
    }
    return true;
  };
  return SplitPoints(welded, together, task);
}

// An edge that keeps its length binds its ends, one that stretches does not: closeness is 1 over
// the root mean square change of its length, as in dem-bones.
void FillCloseness(Sequence& sequence, const Task& task) {
  sequence.closeness.resize(sequence.neighbours.neighbours.size());
  task.For(sequence.points(), kPointGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      const auto row = sequence.neighbours.row(p);
      const std::span<double> closeness =
          std::span(sequence.closeness).subspan(sequence.neighbours.offsets[p], row.size());
      double sum = 0;
      for (std::size_t k = 0; k < row.size(); ++k) {
        const std::uint32_t q = row[k];
        const double length = Length(ToDouble(sequence.rest[p]) - ToDouble(sequence.rest[q]));
        double squares = 0;
        for (std::size_t f = 0; f < sequence.frames; ++f) {
          const double change =
              Length(ToDouble(sequence.row(p)[f]) - ToDouble(sequence.row(q)[f])) - length;
          squares += change * change;
        }
        closeness[k] =
            1 / (std::sqrt(squares / static_cast<double>(sequence.frames)) + sequence.rounding);
        sum += closeness[k];
      }
      for (double& part : closeness) part /= sum;
    }
  });
}

}  // namespace

std::size_t Sequence::Bytes(std::size_t vertices, std::size_t frames) {
  constexpr std::size_t kPerVertex = 400;  // of neighbours, closeness and welding
  return vertices * (frames * sizeof(Vec3f) + kPerVertex);
}

absl::StatusOr<Sequence> Sequence::Create(const Mesh& rest, std::span<const Vec3f> places,
                                          std::size_t frames, const Task& task) {
  SINEW_RETURN_IF_ERROR(task.CheckMemory(Bytes(rest.vertices(), frames)));
  Sequence sequence;
  sequence.frames = frames;
  sequence.centre = rest.centre();
  sequence.diagonal = rest.diagonal();
  float largest = 0;
  for (const std::span<const Vec3f> some : {rest.positions(), places}) {
    for (const Vec3f& p : some) {
      largest = std::max({largest, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
    }
  }
  sequence.rounding = std::max(kLeastRounding * sequence.diagonal,
                               4.0 * std::numeric_limits<float>::epsilon() * largest);
  const WeldedPoints welded =
      SplitByMotion(Weld(rest, task), places, frames,
                    std::max(kMovesTogether * sequence.diagonal, sequence.rounding), task);
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());

  const std::size_t points = welded.points();
  sequence.point = welded.point;
  sequence.rest.resize(points);
  sequence.targets.resize(points * frames);
  task.For(points, kPointGrain, [&](std::size_t begin, std::size_t end) {
    const auto centred = [&](const Vec3f& p) { return ToFloat(ToDouble(p) - sequence.centre); };
    for (std::size_t p = begin; p < end; ++p) {
      sequence.rest[p] = centred(rest.positions()[welded.first[p]]);
    }
    for (std::size_t f = 0; f < frames; ++f) {
      for (std::size_t p = begin; p < end; ++p) {
        sequence.targets[p * frames + f] = centred(places[f * rest.vertices() + welded.first[p]]);
      }
    }
  });
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  sequence.neighbours = PolygonNeighbours(rest, welded, task);
  FillCloseness(sequence, task);
  DisjointSets sets(points);
  for (std::uint32_t p = 0; p < points; ++p) {
    for (const std::uint32_t q : sequence.neighbours.row(p)) sets.Join(p, q);
  }
  for (std::uint32_t p = 0; p < points; ++p) sequence.components.push_back(sets.Lowest(p));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  return sequence;
}

}  // namespace sinew::decompose
