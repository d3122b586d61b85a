#include "core/rig/influences.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status.h"

namespace sinew {
namespace {

constexpr double kSumTolerance = 1e-3;
constexpr double kDropped = 1e-6;  // smaller weights change no float32 result

// The first vertex with one kind of error, and their number.
struct Fault {
  std::size_t first = 0, count = 0;
  double value = 0;
  void Note(std::size_t v, double found) {
    if (count++ == 0) {
      first = v;
      value = found;
    }
  }
};

}  // namespace

absl::StatusOr<Influences> Influences::Create(InfluenceSource source, std::size_t bindings) {
  if (source.offsets.empty() || source.offsets.front() != 0 ||
      source.offsets.back() != source.bindings.size() ||
      source.bindings.size() != source.weights.size()) {
    return InvalidArgument("rig.meshes.skin.influence_counts: add up to ",
                           source.offsets.empty() ? 0 : source.offsets.back(), ", but there are ",
                           source.bindings.size(), " joints and ", source.weights.size(),
                           " weights");
  }
  const std::size_t vertices = source.offsets.size() - 1;
  if (!std::is_sorted(source.offsets.begin(), source.offsets.end())) {
    return InvalidArgument("rig.meshes.skin.influence_counts: offsets decrease");
  }
  if (!source.fallback.empty() && source.fallback.size() != vertices) {
    return InvalidArgument("rig.meshes.skin.fallback_joint: got ", source.fallback.size(),
                           " rows, need ", vertices, " or none");
  }
  for (const std::int32_t binding : source.fallback) {
    if (binding >= static_cast<std::int64_t>(bindings)) {
      return InvalidArgument("rig.meshes.skin.fallback_joint: got ", binding, ", need less than ",
                             bindings);
    }
  }
  Influences result;
  result.offsets_.reserve(vertices + 1);
  result.bindings_.reserve(source.bindings.size());
  result.weights_.reserve(source.bindings.size());
  result.offsets_.push_back(0);
  Fault sums;
  std::vector<std::pair<std::uint16_t, double>> row;
  for (std::size_t v = 0; v < vertices; ++v) {
    row.clear();
    double sum = 0;
    for (std::uint64_t k = source.offsets[v]; k < source.offsets[v + 1]; ++k) {
      const float weight = source.weights[k];
      if (!std::isfinite(weight) || weight < 0) {
        return InvalidArgument("rig.meshes.skin.influence_weights: vertex ", v, " has ", weight,
                               ", need finite weights of 0 or more");
      }
      if (source.bindings[k] >= bindings) {
        return InvalidArgument("rig.meshes.skin.influence_joints: vertex ", v, " names ",
                               source.bindings[k], ", need less than ", bindings);
      }
      sum += weight;
      row.emplace_back(static_cast<std::uint16_t>(source.bindings[k]), weight);
    }
    if (sum <= kDropped && !source.fallback.empty() && source.fallback[v] >= 0) {
      row.assign(1, {static_cast<std::uint16_t>(source.fallback[v]), 1.0});
      sum = 1;
    }
    if (std::abs(sum - 1) > kSumTolerance) {
      sums.Note(v, sum);
      result.offsets_.push_back(result.bindings_.size());
      continue;
    }
    std::sort(row.begin(), row.end());
    std::size_t kept = 0;
    for (const auto& [binding, weight] : row) {
      if (kept > 0 && row[kept - 1].first == binding) {
        row[kept - 1].second += weight;
      } else {
        row[kept++] = {binding, weight};
      }
    }
    row.resize(kept);
    std::erase_if(row, [](const auto& entry) { return entry.second < kDropped; });
    std::stable_sort(row.begin(), row.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    sum = 0;
    for (const auto& entry : row) sum += entry.second;
    for (const auto& [binding, weight] : row) {
      result.bindings_.push_back(binding);
      result.weights_.push_back(weight / sum);
    }
    if (row.size() > kMaxInfluences) {
      return InvalidArgument("rig.meshes.skin.influence_counts: vertex ", v, " has ", row.size(),
                             " bindings, need ", kMaxInfluences, " or fewer");
    }
    result.max_ = std::max(result.max_, row.size());
    result.offsets_.push_back(result.bindings_.size());
  }
  if (sums.count > 0) {
    return InvalidArgument("rig.meshes.skin.influence_weights: vertex ", sums.first, " sums to ",
                           sums.value, ", need 1 +- ", kSumTolerance,
                           sums.value <= kDropped ? " or a fallback_joint" : "", " (", sums.count,
                           sums.count == 1 ? " vertex)" : " vertices)");
  }
  return result;
}

Influences Influences::Pick(std::span<const std::uint32_t> rows) const {
  Influences picked;
  picked.offsets_.reserve(rows.size() + 1);
  picked.offsets_.push_back(0);
  picked.bindings_.reserve(size());
  picked.weights_.reserve(size());
  for (const std::uint32_t v : rows) {
    picked.bindings_.insert(picked.bindings_.end(), bindings(v).begin(), bindings(v).end());
    picked.weights_.insert(picked.weights_.end(), weights(v).begin(), weights(v).end());
    picked.offsets_.push_back(picked.bindings_.size());
    picked.max_ = std::max(picked.max_, bindings(v).size());
  }
  return picked;
}

}  // namespace sinew
