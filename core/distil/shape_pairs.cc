#include "core/distil/shape_pairs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr std::size_t kOfJoint = 4;  // shapes of a joint that take part
constexpr std::size_t kPairGrain = 8;
constexpr double kRarely = 0.01;  // mean squared value below which a pair counts less

struct Candidate {
  std::uint32_t first = 0, second = 0;
  double gain = 0;
};

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

absl::StatusOr<std::vector<ShapePair>> FindPairs(std::span<const CorrectiveShape* const> shapes,
                                                 std::span<const std::uint32_t> joints,
                                                 const ShapeValues& given, std::size_t n,
                                                 const PairLimits& limits, FillResiduals residuals,
                                                 Task& task) {
  const std::size_t poses = given.poses(), count = shapes.size();
  const std::size_t stride = std::max<std::size_t>(1, (n + kMostPairPlaces - 1) / kMostPairPlaces);
  const std::size_t places = (n + stride - 1) / stride;
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
  for (std::uint32_t k = 0; k < count; ++k) {
    const CorrectiveShape& shape = *shapes[k];
    const bool takes_part = taken[joints[k]]++ < kOfJoint;
    for (std::size_t i = 0; i < shape.vertices.size(); ++i) {
      if (shape.vertices[i] % stride != 0) continue;
      const auto p = static_cast<std::uint32_t>(shape.vertices[i] / stride);
      fitted[k].vertices.push_back(p);
      fitted[k].offsets.push_back(shape.offsets[i]);
      if (takes_part && Moves(shape, i, limits.least_offset)) moved[k].push_back(p);
    }
    pointers.push_back(&fitted[k]);
  }
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
  std::vector<Candidate> candidates;
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::uint32_t b = a + 1; b < count; ++b) {
      if (joints[a] != joints[b] && !moved[a].empty() && !moved[b].empty()) {
        candidates.push_back({a, b});
      }
    }
  }
  task.For(candidates.size(), kPairGrain, [&](std::size_t begin, std::size_t end) {
    std::vector<double> product(poses);
    std::vector<std::uint32_t> both;
    for (std::size_t c = begin; c < end; ++c) {
      Candidate& candidate = candidates[c];
      both.clear();
      std::ranges::set_intersection(moved[candidate.first], moved[candidate.second],
                                    std::back_inserter(both));
      if (both.empty()) continue;
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
  SINEW_RETURN_IF_ERROR(task.CheckCancelled());
  std::erase_if(candidates, [](const Candidate& candidate) { return !(candidate.gain > 0); });
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::gain);
  candidates.resize(std::min(candidates.size(), limits.pairs));
  std::vector<ShapePair> pairs;
  for (const Candidate& candidate : candidates) {
    pairs.push_back(
        {candidate.first, candidate.second,
         Common(*shapes[candidate.first], *shapes[candidate.second], limits.least_offset)});
  }
  return pairs;
}

}  // namespace sinew
