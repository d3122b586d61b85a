#include "core/examples/simplex_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/solve/dense.h"

namespace sinew {
namespace {

// Relative to the sum of G's diagonal and the largest |g|. The ridge only shortens steps, so it
// biases no result: along directions in which G is singular it keeps them finite.
constexpr double kRidge = 1e-14;
constexpr double kTolerance = 1e-12;
constexpr std::size_t kSwaps = 2;  // indices beyond `most` that are tried

double Scale(std::span<const double> matrix, std::span<const double> values) {
  double scale = 0;
  for (std::size_t i = 0; i < values.size(); ++i) scale += std::abs(matrix[i * values.size() + i]);
  for (const double v : values) scale = std::max(scale, std::abs(v));
  return scale;
}

}  // namespace

double SimplexObjective(std::span<const double> matrix, std::span<const double> values,
                        std::span<const double> weights) {
  const std::size_t k = values.size();
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) {
    double row = -2 * values[i];
    for (std::size_t j = 0; j < k; ++j) row += matrix[i * k + j] * weights[j];
    sum += weights[i] * row;
  }
  return sum;
}

std::size_t SimplexWeights::Step(std::span<const double> matrix, double ridge,
                                 std::span<double> weights) {
  const std::size_t k = weights.size();
  // The largest weight balances the others, so the sum stays 1.
  std::size_t main = k;
  for (std::size_t i = 0; i < k; ++i) {
    if (passive_[i] && (main == k || weights[i] > weights[main])) main = i;
  }
  indices_.clear();
  for (std::size_t i = 0; i < k; ++i) {
    if (passive_[i] && i != main) indices_.push_back(i);
  }
  if (indices_.empty()) return k;
  const std::size_t size = indices_.size();
  system_.resize(size * size);
  step_.resize(size);
  for (std::size_t a = 0; a < size; ++a) {
    const std::size_t i = indices_[a];
    for (std::size_t b = 0; b < size; ++b) {
      const std::size_t j = indices_[b];
      system_[a * size + b] =
          matrix[i * k + j] - matrix[i * k + main] - matrix[main * k + j] + matrix[main * k + main];
    }
    system_[a * size + a] += ridge;
    step_[a] = residual_[i] - residual_[main];
  }
  SolveDense(system_, step_);
  indices_.push_back(main);
  step_.push_back(-std::accumulate(step_.begin(), step_.end(), 0.0));

  double length = 1;
  std::size_t stop = k;
  for (std::size_t a = 0; a <= size; ++a) {
    const double w = weights[indices_[a]];
    if (w + step_[a] < 0 && w / -step_[a] < length) {
      length = w / -step_[a];
      stop = indices_[a];
    }
  }
  for (std::size_t a = 0; a <= size; ++a) {
    double& w = weights[indices_[a]];
    w = std::max(0.0, w + length * step_[a]);
  }
  if (stop < k) {
    weights[stop] = 0;
    passive_[stop] = 0;
  }
  return stop;
}

void SimplexWeights::Minimise(std::span<const double> matrix, std::span<const double> values,
                              std::span<double> weights) {
  const std::size_t k = weights.size();
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) {
    if (!allowed_[i] || !(weights[i] > 0)) weights[i] = 0;
    sum += weights[i];
  }
  if (sum > 0) {
    for (double& w : weights) w /= sum;
  } else {
    std::size_t best = k;
    const auto cost = [&](std::size_t i) { return matrix[i * k + i] - 2 * values[i]; };
    for (std::size_t i = 0; i < k; ++i) {
      if (allowed_[i] && (best == k || cost(i) < cost(best))) best = i;
    }
    weights[best] = 1;
  }
  passive_.resize(k);
  for (std::size_t i = 0; i < k; ++i) passive_[i] = weights[i] > 0;

  const double scale = Scale(matrix, values);
  if (!(scale > 0)) return;
  residual_.resize(k);
  std::size_t added = k;
  for (std::size_t step = 0; step < 10 * k + 10; ++step) {
    double mean = 0;
    for (std::size_t i = 0; i < k; ++i) {
      residual_[i] = values[i];
      for (std::size_t j = 0; j < k; ++j) residual_[i] -= matrix[i * k + j] * weights[j];
      mean += weights[i] * residual_[i];
    }
    double spread = 0;
    std::size_t next = k;
    for (std::size_t i = 0; i < k; ++i) {
      if (passive_[i]) {
        spread = std::max(spread, std::abs(residual_[i] - mean));
      } else if (allowed_[i] && (next == k || residual_[i] > residual_[next])) {
        next = i;
      }
    }
    if (spread <= kTolerance * scale) {
      if (next == k || residual_[next] - mean <= kTolerance * scale) break;
      passive_[next] = 1;
      added = next;
    }
    // An index that cannot rise although its residual says so: only rounding is left.
    if (Step(matrix, kRidge * scale, weights) == added && added < k) break;
  }
  sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& w : weights) w /= sum;
}

void SimplexWeights::Cut(std::span<const double> matrix, std::span<const double> values,
                         std::size_t most, std::span<double> weights) {
  const std::size_t k = weights.size();
  order_.resize(k);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, [&](auto a, auto b) { return weights[a] > weights[b]; });
  allowed_.assign(k, 0);
  for (std::size_t a = 0; a < most; ++a) allowed_[order_[a]] = 1;
  Minimise(matrix, values, weights);

  const double least = kTolerance * Scale(matrix, values);
  for (std::size_t b = most; b < std::min(k, most + kSwaps); ++b) {
    double objective = SimplexObjective(matrix, values, weights);
    std::size_t slot = most;
    for (std::size_t a = 0; a < most; ++a) {
      trial_.assign(weights.begin(), weights.end());
      std::swap(trial_[order_[a]], trial_[order_[b]]);
      allowed_.assign(k, 0);
      for (std::size_t c = 0; c < most; ++c) allowed_[order_[c == a ? b : c]] = 1;
      Minimise(matrix, values, trial_);
      const double lower = SimplexObjective(matrix, values, trial_);
      if (lower < objective - least) {
        objective = lower;
        slot = a;
        best_ = trial_;
      }
    }
    if (slot == most) continue;
    std::ranges::copy(best_, weights.begin());
    std::swap(order_[slot], order_[b]);
  }
}

void SimplexWeights::Solve(std::span<const double> matrix, std::span<const double> values,
                           std::size_t most, std::span<double> weights) {
  allowed_.assign(weights.size(), 1);
  Minimise(matrix, values, weights);
  const auto above = std::ranges::count_if(weights, [](double w) { return w > 0; });
  if (static_cast<std::size_t>(above) > most) Cut(matrix, values, most, weights);
}

}  // namespace sinew
