// neighbour_rows.h - compact one-ring lists with weights, 16 bits each.
//
// Neighbouring points mostly have close indices, so rows store differences; those that do not fit
// are in a separate list. Weights are integers relative to the largest of their row (65535), which
// keeps equal ones equal; users divide by the row's sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/table_schema.h"

namespace sinew {

inline constexpr std::uint16_t kLargestWeight = 65535;

class NeighbourRows {
 public:
  NeighbourRows() = default;
  // offsets: [P + 1] into neighbours; neighbours: point indices
  NeighbourRows(std::span<const std::uint32_t> offsets, std::span<const std::uint32_t> neighbours);
  // Validates sizes and ranges for `points` points.
  bool Fits(std::size_t points) const;

  std::size_t begin(std::size_t point) const { return base_[point >> shift_] + start_[point]; }
  std::size_t end(std::size_t point) const { return begin(point + 1); }
  std::size_t RowSize(std::size_t point) const { return end(point) - begin(point); }
  std::size_t size() const { return step_.size(); }
  // Entry k, which belongs to the row of `point`.
  std::uint32_t At(std::size_t point, std::size_t k) const {
    const std::int16_t step = step_[k];
    if (step == kFar) [[unlikely]] {
      return Far(k);
    }
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(point) + step);
  }

  template <class Self, class Visit>
  static void Fields(Self& self, Visit&& visit) {
    // Packed: Fits checks them as a whole.
    visit("row_shift", self.shift_, rule::Any());
    visit("row_base", self.base_, rule::Any());
    visit("row_start", self.start_, rule::Any());
    visit("row_step", self.step_, rule::Any());
    visit("row_far_entry", self.far_entry_, rule::Any());
    visit("row_far_point", self.far_point_, rule::Any());
  }

 private:
  static constexpr std::int16_t kFar = std::numeric_limits<std::int16_t>::min();
  static constexpr std::uint32_t kShift = 5;
  bool SetOffsets(std::span<const std::uint32_t> offsets, std::uint32_t shift);
  std::uint32_t Far(std::size_t k) const;

  // 2^shift points share a base: 32, or 1 if 32 have too many neighbours for 16 bits.
  std::uint32_t shift_ = kShift;
  std::vector<std::uint32_t> base_;       // offset into step_
  std::vector<std::uint16_t> start_;      // [P + 1] of rows, relative to their base
  std::vector<std::int16_t> step_;        // neighbour - point, or kFar
  std::vector<std::uint32_t> far_entry_;  // ascending: entries that are kFar, and
  std::vector<std::uint32_t> far_point_;  // their neighbours
};

// Appends a row of weights: non-negative, and not all 0 unless the row is unused.
void AddWeights(std::span<const double> row, std::vector<std::uint16_t>& weights);
// Whether the largest weight of every row is kLargestWeight or 0.
bool AreWeights(const NeighbourRows& rows, std::size_t points,
                std::span<const std::uint16_t> weights);

}  // namespace sinew
