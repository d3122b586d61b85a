// simplex_weights.h - the best non-negative weights with sum 1, at most a given number of them.
//
// The quadratic problem of skin weights fitted to examples: for each vertex, columns that say where
// each joint alone would take it, and the place where it should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinew {

// w' G w - 2 g' w.
//
//    matrix   [k][k] G by rows, symmetric
//    values   [k] g
//    weights  [k]
double SimplexObjective(std::span<const double> matrix, std::span<const double> values,
                        std::span<const double> weights);

// Reuse the object: it keeps its storage. One thread at a time.
class SimplexWeights {
 public:
  // Replaces `weights` by those that minimise w' G w - 2 g' w for w >= 0 and sum 1, with at most
  // `most` >= 1 above zero. Arguments as for SimplexObjective; G must be positive semidefinite, and
  // all numbers finite. On entry, weights are the start; values that are not positive count as
  // zero, and without a positive one it starts at the best single weight.
  //
  // By active sets. The result is exact up to rounding when at most `most` weights are above zero
  // without that limit. Otherwise the `most` largest are solved for again, and of the next two each
  // replaces one of them where that lowers the objective. Where G is singular, of the best weights
  // it returns those it comes to first from the start. Ties go to the lower index. O(k^3) for each
  // of usually fewer than k steps.
  void Solve(std::span<const double> matrix, std::span<const double> values, std::size_t most,
             std::span<double> weights);

 private:
  // Minimises over the indices with `allowed_`.
  void Minimise(std::span<const double> matrix, std::span<const double> values,
                std::span<double> weights);
  // Moves the weights of `passive_` towards their minimum, as far as none becomes negative, and
  // removes the one that stops them. Returns that index, or k.
  std::size_t Step(std::span<const double> matrix, double ridge, std::span<double> weights);
  void Cut(std::span<const double> matrix, std::span<const double> values, std::size_t most,
           std::span<double> weights);

  std::vector<std::uint8_t> allowed_, passive_;  // [k]
  std::vector<double> residual_;                 // [k] g - G w
  std::vector<std::size_t> indices_;             // of the step
  std::vector<double> system_, step_;
  std::vector<std::size_t> order_;
  std::vector<double> trial_, best_;
};

}  // namespace sinew
