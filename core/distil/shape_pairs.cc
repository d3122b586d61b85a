#include "core/distil/shape_pairs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/rows.h"
#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr std::size_t kOfJoint = 4;  // shapes of a joint that take part
constexpr std::size_t kPairGrain = 8, kShapeGrain = 8;
constexpr std::size_t kMostPlaces = 1024, kMostCandidates = 16384;
constexpr double kRarely = 0.01;  // mean squared value below which a pair counts less

struct Candidate {
  std::uint32_t first = 0, second = 0;
  double gain = 0;
};

struct Mover {
  std::uint32_t shape = 0;
  double distance = 0;
};

std::size_t Stride(std::size_t n) {
  return std::max<std::size_t>(1, (n + kMostPlaces - 1) / kMostPlaces);
}

// Keeps those with most gain, the best first; of equal ones, the first.
void KeepBest(std::vector<Candidate>& candidates, std::size_t most) {
  std::erase_if(candidates, [](const Candidate& candidate) { return !(candidate.gain > 0); });
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::gain);
  candidates.resize(std::min(candidates.size(), most));
}

// Pairs of shapes of different joints that move the same places. Gain: the sum there of the product
// of the distances by which both move it.
std::vector<Candidate> PairsOf(const Rows<Mover>& movers,
                               const std::vector<std::vector<std::uint32_t>>& moved,
                               std::span<const std::uint32_t> joints, const Task& task) {
  const std::size_t count = joints.size();
  std::vector<std::vector<Candidate>> of_shape(count);
  task.For(count, kShapeGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<double> sums(count);
    for (std::size_t a = begin; a < end; ++a) {
      std::ranges::fill(sums, 0);
      for (const std::uint32_t p : moved[a]) {
        const auto row = movers.row(p);
        const auto own = std::ranges::find(row, a, &Mover::shape);
        for (auto other = own + 1; other < row.end(); ++other) {
          sums[other->shape] += own->distance * other->distance;
        }
      }
      for (std::size_t b = a + 1; b < count; ++b) {
        if (sums[b] > 0 && joints[a] != joints[b]) {
          of_shape[a].push_back(
              {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), sums[b]});
        }
      }
      KeepBest(of_shape[a], kMostCandidates);
    }
  });
  std::vector<Candidate> all;
  for (std::vector<Candidate>& candidates : of_shape) {
    all.insert(all.end(), candidates.begin(), candidates.end());
    candidates = {};
    if (all.size() > 2 * kMostCandidates) KeepBest(all, kMostCandidates);
  }
  KeepBest(all, kMostCandidates);
  return all;
}

bool Moves(const CorrectiveShape& shape, std::size_t row, double least) {
  return Length(ToDouble(shape.offsets[row])) > least;
}

CorrectiveShape Common(const CorrectiveShape& a, const CorrectiveShape& b, double least) {
  CorrectiveShape common;
  for (std::size_t i = 0, k = 0; i < a.vertices.size() && k < b.vertices.size();) {
    if (a.vertices[i] < b.vertices[k]) {
      ++i;
    } else if (b.vertices[k] < a.vertices[i]) {
      ++k;
    } else {
      if (Moves(a, i, least) && Moves(b, k, least)) common.vertices.push_back(a.vertices[i]);
      ++i;
      ++k;
    }
  }
  common.offsets.resize(common.vertices.size());
  return common;
}

}  // namespace

std::size_t PairPlaces(std::size_t n) {
  return (n + Stride(n) - 1) / Stride(n);
}

absl::StatusOr<std::vector<ShapePair>> FindPairs(std::span<const CorrectiveShape* const> shapes,
                                                 std::span<const std::uint32_t> joints,
                                                 const ShapeValues& given, std::size_t n,
                                                 const PairLimits& limits, FillResiduals residuals,
                                                 Task& task) {
  const std::size_t poses = given.poses(), count = shapes.size();
  const std::size_t stride = Stride(n), places = PairPlaces(n);
  std::vector<Vec3f> lacking(places * poses);
  for (std::size_t p = 0; p < places; ++p) {
    SINEW_RETURN_IF_ERROR(
        residuals(p * stride, p * stride + 1, std::span(lacking).subspan(p * poses, poses)));
    SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  }
  // What the shapes leave at these places, when they act together.
  std::vector<CorrectiveShape> fitted(count);
  std::vector<CorrectiveShape*> pointers;
  std::vector<std::vector<std::uint32_t>> moved(count);  // places that each shape moves
  std::map<std::uint32_t, std::size_t> taken;            // shapes of each joint
  std::vector<bool> takes_part;
  for (std::uint32_t k = 0; k < count; ++k) {
    const CorrectiveShape& shape = *shapes[k];
    takes_part.push_back(taken[joints[k]]++ < kOfJoint);
    for (std::size_t i = 0; i < shape.vertices.size(); ++i) {
      if (shape.vertices[i] % stride != 0) continue;
      const auto p = static_cast<std::uint32_t>(shape.vertices[i] / stride);
      fitted[k].vertices.push_back(p);
      fitted[k].offsets.push_back(shape.offsets[i]);
      if (takes_part[k] && Moves(shape, i, limits.least_offset)) moved[k].push_back(p);
    }
    pointers.push_back(&fitted[k]);
  }
  const Rows<Mover> movers = CollectRows<Mover>(places, [&](const auto& add) {
    for (std::uint32_t k = 0; k < count; ++k) {
      if (!takes_part[k]) continue;
      for (std::size_t i = 0; i < fitted[k].vertices.size(); ++i) {
        const double distance = Length(ToDouble(fitted[k].offsets[i]));
        if (distance > limits.least_offset) add(fitted[k].vertices[i], {k, distance});
      }
    }
  });
  std::vector<Candidate> candidates = PairsOf(movers, moved, joints, task);
  const auto fill = [&](std::size_t begin, std::size_t end, std::span<Vec3f> out) {
    std::ranges::copy(std::span(lacking).subspan(begin * poses, (end - begin) * poses),
                      out.begin());
    return absl::OkStatus();
  };
  SINEW_RETURN_IF_ERROR(RefitShapes(pointers, given, places, fill, task));
  std::vector<Vec3d> left;
  for (const Vec3f& residual : lacking) left.push_back(ToDouble(residual));
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < fitted[k].vertices.size(); ++i) {
      Vec3d* const of_place = &left[fitted[k].vertices[i] * poses];
      const Vec3d offset = ToDouble(fitted[k].offsets[i]);
      for (std::size_t f = 0; f < poses; ++f) {
        of_place[f] = of_place[f] - given.values[f * count + k] * offset;
      }
    }
  }
  double weight = 0;
  for (std::size_t f = 0; f < poses; ++f) weight += given.weights[f];
  // Candidates of equal gain are ranked by the order of their shapes.
  std::ranges::sort(candidates, {},
                    [](const Candidate& c) { return std::pair(c.first, c.second); });
  task.For(candidates.size(), kPairGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<double> product(poses);
    std::vector<std::uint32_t> both;
    for (std::size_t c = begin; c < end; ++c) {
      Candidate& candidate = candidates[c];
      candidate.gain = 0;
      both.clear();
      std::ranges::set_intersection(moved[candidate.first], moved[candidate.second],
                                    std::back_inserter(both));
      double squares = 0;
      for (std::size_t f = 0; f < poses; ++f) {
        const double* const values = &given.values[f * count];
        const double value = values[candidate.first] * values[candidate.second];
        product[f] = given.weights[f] * value;
        squares += product[f] * value;
      }
      for (const std::uint32_t p : both) {
        Vec3d sum;
        for (std::size_t f = 0; f < poses; ++f) sum = sum + product[f] * left[p * poses + f];
        candidate.gain += Dot(sum, sum);
      }
      candidate.gain /= squares + kRarely * weight;
    }
    task.Advance(static_cast<double>(places * (end - begin)) /
                 static_cast<double>(candidates.size()));
  });
  if (candidates.empty()) task.Advance(static_cast<double>(places));
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  KeepBest(candidates, limits.pairs);
  std::vector<ShapePair> pairs;
  for (const Candidate& candidate : candidates) {
    pairs.push_back(
        {candidate.first, candidate.second,
         Common(*shapes[candidate.first], *shapes[candidate.second], limits.least_offset)});
  }
  return pairs;
}

}  // namespace sinew
