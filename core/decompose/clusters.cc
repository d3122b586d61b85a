#include "core/decompose/clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <tuple>

#include "core/base/status.h"
#include "core/base/vectors.h"

namespace sinew::decompose {
namespace {

constexpr std::size_t kErrorGrain = 64;  // points
constexpr std::size_t kLeastPoints = 3;  // of a cluster
constexpr int kMovesOfBorders = 10;
constexpr int kMostRounds = 64;
constexpr double kWorthSplitting = 0.01;  // of the mean error of clusters
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void FitClusters(const Sequence& sequence, std::size_t count, const Task& task,
                 Clusters& clusters) {
  clusters.bones = {.frames = sequence.frames,
                    .motions = std::vector<AffineD>(count * sequence.frames)};
  FitBones(sequence, LabelRows(clusters.label), 1, task, clusters.bones);
}

// [P] under the point's own bone; infinity without one.
std::vector<double> OwnErrors(const Sequence& sequence, const Clusters& clusters,
                              const Task& task) {
  std::vector<double> errors(sequence.points(), kInfinity);
  task.For(errors.size(), kErrorGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t p = begin; p < end; ++p) {
      if (clusters.label[p] == kNone) continue;
      errors[p] = BoneError(sequence, clusters.bones.row(clusters.label[p]), p);
    }
  });
  return errors;
}

// Whole components without a seed follow the bone that moves them best.
void LabelComponents(const Sequence& sequence, const std::vector<std::uint32_t>& left,
                     const Task& task, Clusters& clusters) {
  const std::size_t count = clusters.bones.count();
  std::vector<double> errors(left.size() * count);
  task.For(left.size(), kErrorGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      for (std::size_t j = 0; j < count; ++j) {
        errors[k * count + j] = BoneError(sequence, clusters.bones.row(j), left[k]);
      }
    }
  });
  std::map<std::uint32_t, std::vector<double>> sums;  // by component
  for (std::size_t k = 0; k < left.size(); ++k) {
    std::vector<double>& sum = sums[sequence.components[left[k]]];
    sum.resize(count);
    for (std::size_t j = 0; j < count; ++j) sum[j] += errors[k * count + j];
  }
  for (const std::uint32_t p : left) {
    const std::vector<double>& sum = sums[sequence.components[p]];
    clusters.label[p] = static_cast<std::uint32_t>(std::ranges::min_element(sum) - sum.begin());
  }
}

// Grows every cluster from its best point along edges, the smallest error first.
void Relabel(const Sequence& sequence, const Task& task, Clusters& clusters) {
  using Entry = std::tuple<double, std::uint32_t, std::uint32_t>;  // error, bone, point
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const std::vector<double> errors = OwnErrors(sequence, clusters, task);
  std::vector<std::uint32_t> seeds(clusters.bones.count(), kNone);
  for (std::uint32_t p = 0; p < sequence.points(); ++p) {
    if (clusters.label[p] == kNone) continue;
    std::uint32_t& seed = seeds[clusters.label[p]];
    if (seed == kNone || errors[p] < errors[seed]) seed = p;
  }
  for (std::uint32_t j = 0; j < seeds.size(); ++j) {
    if (seeds[j] != kNone) queue.emplace(errors[seeds[j]], j, seeds[j]);
  }
  std::vector<std::uint8_t> done(sequence.points(), 0);
  while (!queue.empty() && !task.cancelled()) {
    const auto [error, bone, point] = queue.top();
    queue.pop();
    if (done[point] != 0) continue;
    done[point] = 1;
    clusters.label[point] = bone;
    for (const std::uint32_t next : sequence.neighbours.row(point)) {
      if (done[next] != 0) continue;
      queue.emplace(clusters.label[next] == bone
                        ? errors[next]
                        : BoneError(sequence, clusters.bones.row(bone), next),
                    bone, next);
    }
  }
  std::vector<std::uint32_t> left;
  for (std::uint32_t p = 0; p < sequence.points(); ++p) {
    if (done[p] == 0) left.push_back(p);
  }
  LabelComponents(sequence, left, task, clusters);
}

// Points of bones that are dropped have no label then.
void Keep(const std::vector<bool>& kept, Clusters& clusters) {
  const std::vector<std::uint32_t> number = KeepBones(kept, clusters.bones);
  for (std::uint32_t& label : clusters.label) label = number[label];
}

std::vector<std::size_t> Sizes(const Clusters& clusters) {
  std::vector<std::size_t> sizes(clusters.bones.count());
  for (const std::uint32_t label : clusters.label) ++sizes[label];
  return sizes;
}

// Drops clusters of few points.
void Prune(const Sequence& sequence, const Task& task, Clusters& clusters) {
  std::vector<bool> kept;
  for (const std::size_t size : Sizes(clusters)) kept.push_back(size >= kLeastPoints);
  if (std::ranges::count(kept, true) == 0 || std::ranges::count(kept, false) == 0) return;
  Keep(kept, clusters);
  Relabel(sequence, task, clusters);
}

// Joins clusters whose points are exact under one bone.
void Merge(const Sequence& sequence, Clusters& clusters) {
  const std::size_t count = clusters.bones.count();
  std::vector<std::vector<std::uint32_t>> members(count);
  for (std::uint32_t p = 0; p < sequence.points(); ++p) members[clusters.label[p]].push_back(p);
  std::vector<bool> kept(count, true);
  for (std::uint32_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; kept[a] && b < count; ++b) {
      const auto exact = [&](std::uint32_t p) {
        return BoneError(sequence, clusters.bones.row(a), p) <= sequence.exact();
      };
      if (!kept[b] || !std::ranges::all_of(members[a], exact) ||
          !std::ranges::all_of(members[b], exact)) {
        continue;
      }
      for (const std::uint32_t p : members[b]) clusters.label[p] = a;
      kept[b] = false;
    }
  }
  Keep(kept, clusters);
}

// Splits clusters, the worst first: a point far from the centre with a large error and its
// neighbours begin a new one.
void Split(const Sequence& sequence, std::size_t most, const Task& task, Clusters& clusters) {
  const std::size_t count = clusters.bones.count();
  const std::vector<std::size_t> sizes = Sizes(clusters);
  const std::vector<double> errors = OwnErrors(sequence, clusters, task);
  std::vector<Vec3d> centre(count);
  for (std::size_t p = 0; p < sequence.points(); ++p) {
    const std::uint32_t j = clusters.label[p];
    centre[j] = centre[j] + (1 / static_cast<double>(sizes[j])) * ToDouble(sequence.rest[p]);
  }
  const auto distance = [&](std::size_t p) {
    return Length(ToDouble(sequence.rest[p]) - centre[clusters.label[p]]);
  };
  struct Facts {
    double least_error = kInfinity, least_distance = kInfinity, largest_error = 0, sum = 0;
    double score = -1;
    std::uint32_t seed = kNone;
  };
  std::vector<Facts> facts(count);
  double mean = 0;
  for (std::size_t p = 0; p < sequence.points(); ++p) {
    Facts& own = facts[clusters.label[p]];
    own.least_error = std::min(own.least_error, std::sqrt(errors[p]));
    own.least_distance = std::min(own.least_distance, distance(p));
    own.largest_error = std::max(own.largest_error, errors[p]);
    own.sum += std::sqrt(errors[p]);
    mean += std::sqrt(errors[p]) / static_cast<double>(count);
  }
  for (std::uint32_t p = 0; p < sequence.points(); ++p) {
    Facts& own = facts[clusters.label[p]];
    const double score =
        (std::sqrt(errors[p]) - own.least_error) * (distance(p) - own.least_distance);
    if (score <= own.score) continue;
    own.score = score;
    own.seed = p;
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t j = 0; j < count; ++j) {
    if (sizes[j] > 2 * kLeastPoints && facts[j].sum > kWorthSplitting * mean &&
        facts[j].largest_error > sequence.exact()) {
      order.push_back(j);
    }
  }
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return facts[a].sum > facts[b].sum; });
  order.resize(std::min(order.size(), most - count));
  auto next = static_cast<std::uint32_t>(count);
  for (const std::uint32_t j : order) {
    clusters.label[facts[j].seed] = next;
    for (const std::uint32_t q : sequence.neighbours.row(facts[j].seed)) clusters.label[q] = next;
    ++next;
  }
  FitClusters(sequence, next, task, clusters);
}

}  // namespace

absl::StatusOr<Clusters> MakeClusters(const Sequence& sequence, std::size_t most,
                                      const Task& task) {
  Clusters clusters;
  clusters.label.assign(sequence.points(), 0);
  FitClusters(sequence, 1, task, clusters);
  for (int round = 0; round < kMostRounds; ++round) {
    const std::size_t before = clusters.bones.count();
    Split(sequence, most, task, clusters);
    for (int k = 0; k < kMovesOfBorders; ++k) {
      Relabel(sequence, task, clusters);
      Prune(sequence, task, clusters);
      FitClusters(sequence, clusters.bones.count(), task, clusters);
      SINEW_RETURN_IF_ERROR(task.CheckCancelled());
    }
    Merge(sequence, clusters);
    if (clusters.bones.count() >= most || clusters.bones.count() <= before) break;
  }
  return clusters;
}

}  // namespace sinew::decompose
