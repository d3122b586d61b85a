#include "client/import/influences.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/status.h"

namespace sinew::client {
namespace {

// Far below what shows. A larger one is an error of the file, not of its rounding.
constexpr double kLowestWeight = -1e-3F;  // also as float32
constexpr double kRounding = 1e-6;        // of sums of float32 weights

}  // namespace

absl::Status NegativeWeights::Add(double weight, std::size_t vertex) {
  if (!(weight >= kLowestWeight) || !std::isfinite(weight)) {
    return InvalidArgument("vertex ", vertex, " has the weight ", weight,
                           ", need finite weights, none below ", kLowestWeight);
  }
  if (weight < 0) {
    ++count_;
    lowest_ = std::min(lowest_, weight);
  }
  return absl::OkStatus();
}

void NegativeWeights::Report(const std::string& mesh, std::vector<Problem>& problems) const {
  if (count_ == 0) return;
  problems.push_back(
      {Severity::kWarning,
       absl::StrCat(CountedText(count_, "negative weight counts", "negative weights count"),
                    " as 0, the lowest was ", lowest_),
       mesh});
}

void SelectInfluences(std::span<const std::uint32_t> sources, Skin& skin) {
  const std::vector<std::uint32_t> counts = std::exchange(skin.influence_counts, {});
  std::vector<std::size_t> first(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), first.begin(), std::size_t{0});
  std::vector<std::uint32_t> joints;
  std::vector<float> weights;
  for (const std::uint32_t v : sources) {
    skin.influence_counts.push_back(counts[v]);
    for (std::size_t k = first[v]; k < first[v] + counts[v]; ++k) {
      joints.push_back(skin.influence_joints[k]);
      weights.push_back(skin.influence_weights[k]);
    }
  }
  skin.influence_joints = std::move(joints);
  skin.influence_weights = std::move(weights);
}

InfluenceCollector::InfluenceCollector(std::string mesh, Skin& skin)
    : mesh_(std::move(mesh)), skin_(skin) {}

absl::Status InfluenceCollector::Add(std::span<const Influence> influences, std::size_t vertex) {
  merged_.clear();
  const auto is_nan = [](const Influence& influence) { return std::isnan(influence.weight); };
  if (std::ranges::any_of(influences, is_nan) &&
      std::ranges::all_of(influences, [&](const Influence& influence) {
        return influence.weight == 0 || is_nan(influence);
      })) {
    ++nan_vertices_;
    skin_.influence_counts.push_back(0);
    return absl::OkStatus();
  }
  double sum = 0;
  bool repeats = false;
  for (const Influence& influence : influences) {
    if (influence.weight == 0) continue;  // padding: its joint may be anything
    if (const absl::Status good = negative_.Add(influence.weight, vertex); !good.ok()) {
      return InvalidArgument(mesh_, ": ", good.message());
    }
    if (influence.weight < 0) continue;
    if (influence.joint >= skin_.joints.size()) {
      return InvalidArgument(mesh_, ": vertex ", vertex, " names joint ", influence.joint,
                             ", the skin has ", skin_.joints.size());
    }
    sum += influence.weight;
    if (const auto it = std::ranges::find(merged_, influence.joint, &Influence::joint);
        it != merged_.end()) {
      it->weight += influence.weight;
      repeats = true;
    } else {
      merged_.push_back(influence);
    }
  }
  const bool scale = !merged_.empty() && std::abs(sum - 1) > kRounding;
  if (scale) {
    lowest_sum_ = normalised_ == 0 ? sum : std::min(lowest_sum_, sum);
    highest_sum_ = normalised_ == 0 ? sum : std::max(highest_sum_, sum);
    ++normalised_;
  }
  merged_vertices_ += repeats ? 1 : 0;
  skin_.influence_counts.push_back(static_cast<std::uint32_t>(merged_.size()));
  for (const Influence& influence : merged_) {
    skin_.influence_joints.push_back(influence.joint);
    skin_.influence_weights.push_back(
        static_cast<float>(scale ? influence.weight / sum : influence.weight));
  }
  return absl::OkStatus();
}

void InfluenceCollector::Report(std::vector<Problem>& problems) const {
  if (normalised_ > 0) {
    const std::string sums =
        lowest_sum_ == highest_sum_
            ? absl::StrCat("summed to ", lowest_sum_)
            : absl::StrCat("had sums from ", lowest_sum_, " to ", highest_sum_);
    problems.push_back({Severity::kWarning,
                        absl::StrCat("weights of ", CountedText(normalised_, "vertex", "vertices"),
                                     " normalised, which ", sums),
                        mesh_});
  }
  negative_.Report(mesh_, problems);
  if (nan_vertices_ > 0) {
    problems.push_back(
        {Severity::kWarning,
         absl::StrCat("weights of ", CountedText(nan_vertices_, "vertex", "vertices"),
                      " are NaN, as if divided by a sum of 0: counted as none"),
         mesh_, absl::StatusCode::kOk, kNanWeightsReason});
  }
  if (merged_vertices_ > 0) {
    problems.push_back({Severity::kInfo,
                        absl::StrCat(CountedText(merged_vertices_, "vertex names", "vertices name"),
                                     " a joint twice, weights added"),
                        mesh_});
  }
}

}  // namespace sinew::client
