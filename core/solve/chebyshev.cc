#include "core/solve/chebyshev.h"

#include <algorithm>
#include <cmath>

#include "core/solve/chebyshev_kernel.h"

namespace sinew {
namespace {

constexpr std::uint32_t kNone = 0xffffffffu;
constexpr std::size_t kFirstSamples = 4096;

double Power(double base, std::uint32_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return result;
}

// cos(pi i / (2 n)) for i in [0, 4 n), n a power of 2, by halving angles. std::cos is not used: its
// last bit depends on the C library.
std::vector<double> CosineTable(std::size_t n) {
  std::vector<double> table(4 * n);
  table[0] = 1;
  table[n] = 0;
  double half_cosine = std::sqrt(0.5);  // for half the angle between known entries
  for (std::size_t step = n; step > 1; step /= 2) {
    for (std::size_t i = 0; i < n; i += step) {
      table[i + step / 2] = (table[i] + table[i + step]) / (2 * half_cosine);
    }
    half_cosine = std::sqrt(0.5 * (1 + half_cosine));
  }
  for (std::size_t i = 1; i < n; ++i) table[2 * n - i] = -table[i];
  table[2 * n] = -1;
  for (std::size_t i = 1; i < 2 * n; ++i) table[4 * n - i] = table[i];
  return table;
}

// Chebyshev coefficients by cosine quadrature with `samples` points, cut once they sum to 1 within
// `tail`. Empty if `samples` is too small: the quadrature aliases beyond half as many terms.
std::vector<double> Expand(absl::FunctionRef<double(double)> f, double tail, std::size_t samples) {
  const std::vector<double> cosine = CosineTable(samples);
  std::vector<double> value(samples);
  for (std::size_t m = 0; m < samples; ++m) value[m] = f(cosine[2 * m + 1]);
  const std::size_t mask = 4 * samples - 1;
  std::vector<double> series;
  double left = 1;
  for (std::size_t k = 0; k <= samples / 2; ++k) {
    double sum = 0;
    std::size_t angle = k;
    for (std::size_t m = 0; m < samples; ++m, angle += 2 * k)
      sum += value[m] * cosine[angle & mask];
    series.push_back(std::max(0.0, sum * (k == 0 ? 1.0 : 2.0) / static_cast<double>(samples)));
    left -= series.back();
    if (left <= tail) return series;
  }
  return {};
}

std::vector<double> ExpandUntilFine(absl::FunctionRef<double(double)> f, double tail) {
  std::vector<double> series;
  for (std::size_t samples = kFirstSamples; series.empty() && samples <= 2 * kMaxDegree;
       samples *= 2) {
    series = Expand(f, tail, samples);
  }
  return series;
}

}  // namespace

std::vector<double> ImplicitSeries(double lambda, std::uint32_t steps, double tail) {
  return ExpandUntilFine([&](double x) { return Power(1 / (1 + lambda * (1 - x)), steps); }, tail);
}

std::vector<double> ExplicitSeries(double step, std::uint32_t steps, double tail) {
  if (!(step >= 0 && step <= 1)) return {};  // would amplify instead of smooth
  return ExpandUntilFine([&](double x) { return Power(1 - step * (1 - x), steps); }, tail);
}

std::size_t RingsWithin(std::span<const double> series, double tail) {
  double left = 1;
  for (std::size_t k = 0; k < series.size(); ++k) {
    left -= series[k];
    if (left <= tail) return k;
  }
  return series.size() - 1;
}

void RingGraph::Grow(const NeighbourWeights& n, std::span<const std::uint32_t> seeds,
                     std::size_t rings) {
  if (local_.size() != n.points()) {
    local_.assign(n.points(), kNone);
  } else {
    for (const std::uint32_t p : points_) local_[p] = kNone;
  }
  points_.assign(seeds.begin(), seeds.end());
  std::sort(points_.begin(), points_.end());
  ring_end_.assign(1, points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i)
    local_[points_[i]] = static_cast<std::uint32_t>(i);
  std::size_t begin = 0;
  for (std::size_t ring = 1; ring <= rings; ++ring) {
    const std::size_t end = points_.size();
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t p = points_[i];
      for (std::uint64_t k = n.offsets[p]; k < n.offsets[p + 1]; ++k) {
        const std::uint32_t q = n.neighbours[k];
        if (local_[q] != kNone) continue;
        local_[q] = 0;  // marks the point as reached; numbered once the ring is sorted
        points_.push_back(q);
      }
    }
    if (points_.size() == end) break;
    std::sort(points_.begin() + static_cast<std::ptrdiff_t>(end), points_.end());
    for (std::size_t i = end; i < points_.size(); ++i) {
      local_[points_[i]] = static_cast<std::uint32_t>(i);
    }
    ring_end_.push_back(points_.size());
    begin = end;
  }
}

void RingGraph::Connect(const NeighbourWeights& n) {
  offsets_.assign(1, 0);
  neighbours_.clear();
  weights_.clear();
  for (const std::uint32_t p : points_) {
    for (std::uint64_t k = n.offsets[p]; k < n.offsets[p + 1]; ++k) {
      if (local_[n.neighbours[k]] == kNone) continue;
      neighbours_.push_back(local_[n.neighbours[k]]);
      if (!n.even) weights_.push_back(n.weights[k]);
    }
    if (n.even) weights_.push_back(n.weights[n.offsets[p]]);
    offsets_.push_back(neighbours_.size());
  }
}

void FilterWorkspace::Start(const NeighbourWeights& n, std::span<const std::uint32_t> seeds,
                            std::size_t rings) {
  graph_.Grow(n, seeds, rings);
  graph_.Connect(n);
  even_ = n.even;
  const std::size_t rows = graph_.points_.size();
  previous_.assign(rows, FilterRow{});
  current_.assign(rows, FilterRow{});
  sum_.assign(rows, FilterRow{});
}

namespace {

// Multiplies the rows of current, Y_0, by c_0 and calls run(step, k) for all others; false stops.
// Every third step adds the terms of three: a pass over all sums takes as long as half a step.
template <class Run>
bool RunSteps(const ChebyshevFilter& filter, ChebyshevStep step, std::size_t rows, const Run& run) {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t l = i * step.columns, c = 0; c < step.columns; ++c, ++l) {
      step.sum[l] = filter.coefficients[0][c] * step.current[l];
    }
  }
  constexpr FilterRow kNothing{};
  std::size_t added = 0;
  for (std::size_t k = 1; k <= filter.degree(); ++k) {
    const bool adds = k == added + 3 || k == filter.degree();
    for (std::size_t t = 0; t < 3; ++t) {
      const FilterRow& c = k + t > added + 2 ? filter.coefficients[k + t - 2] : kNothing;
      step.c[t] = adds ? c.data() : nullptr;
    }
    if (adds) added = k;
    if (!run(step, k)) return false;
    std::swap(step.previous, step.current);
    step.a = 2;
    step.b = 1;
  }
  return true;
}

}  // namespace

bool FilterWorkspace::Run(const ChebyshevFilter& filter,
                          absl::FunctionRef<bool(std::size_t)> proceed) {
  // previous_ holds Y_0. The row that Y_1 overwrites is 0, and so is its factor.
  const ChebyshevStep first = {.offsets = graph_.offsets_.data(),
                               .neighbours = graph_.neighbours_.data(),
                               .weights = graph_.weights_.data(),
                               .even = even_,
                               .columns = kFilterLanes,
                               .current = previous_.front().data(),
                               .previous = current_.front().data(),
                               .sum = sum_.front().data()};
  return RunSteps(filter, first, graph_.within(0), [&](const ChebyshevStep& step, std::size_t k) {
    ChebyshevKernel(step, 0, graph_.within(k));
    return proceed(graph_.within(k));
  });
}

AlignedVector<FilterPoint> FilterAll(
    const NeighbourWeights& n, const ChebyshevFilter& filter, AlignedVector<FilterPoint> x,
    absl::FunctionRef<bool(std::size_t, absl::FunctionRef<void(std::size_t, std::size_t)>)> loop) {
  const std::size_t rows = n.points();
  AlignedVector<FilterPoint> next(rows), sum(rows);
  std::vector<double> row_weights;
  for (std::size_t p = 0; n.even && p < rows; ++p) row_weights.push_back(n.weights[n.offsets[p]]);
  const ChebyshevStep first = {.offsets = n.offsets.data(),
                               .neighbours = n.neighbours.data(),
                               .weights = n.even ? row_weights.data() : n.weights.data(),
                               .even = n.even,
                               .columns = FilterPoint().size(),
                               .current = x.front().data(),
                               .previous = next.front().data(),
                               .sum = sum.front().data()};
  const bool finished = RunSteps(filter, first, rows, [&](const ChebyshevStep& step, std::size_t) {
    return loop(rows,
                [&](std::size_t begin, std::size_t end) { ChebyshevKernel(step, begin, end); });
  });
  if (!finished) sum.clear();
  return sum;
}

std::size_t FilterAllBytes(std::size_t points) {
  return points * (3 * sizeof(FilterPoint) + 2 * sizeof(double));
}

std::size_t FilterWorkspace::CostBytes(std::size_t points, std::size_t rows, std::size_t edges) {
  // Vectors grown by push_back may have twice the capacity they need.
  return points * sizeof(std::uint32_t) + rows * (3 * sizeof(FilterRow) + 2 * 8 + 2 * 16) +
         2 * edges * (sizeof(std::uint32_t) + sizeof(double));
}

}  // namespace sinew
