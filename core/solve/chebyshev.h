// chebyshev.h - powers of a smoothing step applied to many columns at once, without a linear solve.
//
// p implicit steps (I + lambda (I - N))^-p, or p explicit steps ((1 - h) I + h N)^p, are smooth
// functions f of the neighbour weights N, whose spectrum lies in [-1, 1]. With f(x) = sum_k c_k
// T_k(x), the product f(N) X is a three-term recurrence: Y_0 = X, Y_1 = N X, Y_k+1 = 2 N Y_k -
// Y_k-1. T_k(N) reaches exactly k rings, so points more than d rings away from the non-zero rows of
// X receive less than sum_{k > d} c_k, and only that neighbourhood is computed.
//
// Uses only additions, multiplications, divisions and square roots: the same bits on every machine.
#pragma once

#include <absl/functional/function_ref.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/aligned.h"
#include "core/solve/neighbour_weights.h"

namespace sinew {

// Highest degree of a series; enough for smoothing over about 1,000 edge lengths.
inline constexpr std::size_t kMaxDegree = 8192;

// Coefficients c_0, c_1, ... of f(x) = (1 + lambda (1 - x))^-steps, lambda >= 0, truncated where
// the remainder sums to at most `tail`. All are positive; the full series sums to 1. Empty: more
// than kMaxDegree would be needed.
std::vector<double> ImplicitSeries(double lambda, std::uint32_t steps, double tail);

// The series of f(x) = (1 - step + step x)^steps, step in [0, 1].
std::vector<double> ExplicitSeries(double step, std::uint32_t steps, double tail);

// Smallest d such that the coefficients after c_d, plus the truncated remainder, sum to at most
// `tail`.
std::size_t RingsWithin(std::span<const double> series, double tail);

// Columns of X processed together.
inline constexpr std::size_t kFilterLanes = 12;
using FilterRow = std::array<double, kFilterLanes>;

// Coefficients per column, and how far from the seeds results are needed.
struct ChebyshevFilter {
  std::vector<FilterRow> coefficients;  // [degree + 1]
  std::size_t rings = 0;

  std::size_t degree() const { return coefficients.size() - 1; }
};

// The points within a number of rings around a set of seeds, and the edges among them. Reuse the
// object: it keeps its storage.
class RingGraph {
 public:
  // Grows `rings` rings around `seeds` (distinct, any order). The seeds come first, in rising
  // order. Cost O(reached edges); the first call for a graph also clears an array over all its
  // points.
  void Grow(const NeighbourWeights& n, std::span<const std::uint32_t> seeds, std::size_t rings);
  // Fills in the neighbours of every reached point. Neighbours outside are left out.
  void Connect(const NeighbourWeights& n);

  // Point of each row, ring by ring, rising within a ring.
  std::span<const std::uint32_t> points() const { return points_; }
  // Rows within k rings.
  std::size_t within(std::size_t k) const { return ring_end_[std::min(k, ring_end_.size() - 1)]; }

 private:
  friend class FilterWorkspace;
  std::vector<std::uint32_t> points_;
  std::vector<std::size_t> ring_end_;
  std::vector<std::uint32_t> local_;  // [P] row of a point, or none
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> neighbours_;
  std::vector<double> weights_;  // per neighbour; if all weights of a row are equal, per row
};

// Runs filters, one at a time. Reuse the object: it keeps its storage.
class FilterWorkspace {
 public:
  // Grows the neighbourhood of `seeds` (rising) and zeroes all rows. The caller then writes X of
  // seeds[i] to seed_row(i).
  void Start(const NeighbourWeights& n, std::span<const std::uint32_t> seeds, std::size_t rings);
  FilterRow& seed_row(std::size_t i) { return previous_[i]; }

  // Applies the filter. `proceed(rows)` is called after each step with the number of rows it
  // processed; returning false stops. Returns whether the filter ran to the end.
  bool Run(const ChebyshevFilter& filter, absl::FunctionRef<bool(std::size_t)> proceed);

  const RingGraph& graph() const { return graph_; }
  // [graph().points()] f(N) X.
  std::span<const FilterRow> result() const { return sum_; }

  // Bytes held for a neighbourhood of `rows` rows and `edges` directed edges in a graph of `points`
  // points.
  static std::size_t CostBytes(std::size_t points, std::size_t rows, std::size_t edges);

 private:
  RingGraph graph_;
  bool even_ = false;
  AlignedVector<FilterRow> previous_, current_, sum_;
};

// Columns of X processed together where all points are rows.
using FilterPoint = std::array<double, 4>;

// f(N) X for rows at all points, with the coefficients of the filter's first columns. `loop(rows,
// part)` is called for each step: it calls part(begin, end) for chunks of all rows, on any threads,
// and returns whether to go on. Empty: stopped.
AlignedVector<FilterPoint> FilterAll(
    const NeighbourWeights& n, const ChebyshevFilter& filter, AlignedVector<FilterPoint> x,
    absl::FunctionRef<bool(std::size_t, absl::FunctionRef<void(std::size_t, std::size_t)>)> loop);
// Bytes that FilterAll holds, x among them.
std::size_t FilterAllBytes(std::size_t points);

}  // namespace sinew
