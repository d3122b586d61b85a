#include "core/deform/implicit/surface/neighbour_rows.h"

#include <algorithm>
#include <cmath>

namespace sinew {

NeighbourRows::NeighbourRows(std::span<const std::uint32_t> offsets,
                             std::span<const std::uint32_t> neighbours) {
  if (!SetOffsets(offsets, kShift)) SetOffsets(offsets, 0);
  step_.reserve(neighbours.size());
  for (std::size_t p = 0; p + 1 < offsets.size(); ++p) {
    for (std::uint32_t k = offsets[p]; k < offsets[p + 1]; ++k) {
      const std::int64_t step = std::int64_t{neighbours[k]} - static_cast<std::int64_t>(p);
      const bool near = std::abs(step) <= std::numeric_limits<std::int16_t>::max();
      if (!near) {
        far_entry_.push_back(k);
        far_point_.push_back(neighbours[k]);
      }
      step_.push_back(near ? static_cast<std::int16_t>(step) : kFar);
    }
  }
}

// False: an offset does not fit.
bool NeighbourRows::SetOffsets(std::span<const std::uint32_t> offsets, std::uint32_t shift) {
  shift_ = shift;
  base_.clear();
  start_.clear();
  start_.reserve(offsets.size());
  for (std::size_t p = 0; p < offsets.size(); ++p) {
    if (p >> shift == base_.size()) base_.push_back(offsets[p]);
    const std::uint32_t start = offsets[p] - base_.back();
    if (start > std::numeric_limits<std::uint16_t>::max()) return false;
    start_.push_back(static_cast<std::uint16_t>(start));
  }
  return true;
}

std::uint32_t NeighbourRows::Far(std::size_t k) const {
  const auto at = std::ranges::lower_bound(far_entry_, static_cast<std::uint32_t>(k));
  return far_point_[static_cast<std::size_t>(at - far_entry_.begin())];
}

bool NeighbourRows::Fits(std::size_t points) const {
  if (start_.size() != points + 1 || (shift_ != kShift && shift_ != 0) ||
      base_.size() != (points >> shift_) + 1 || far_entry_.size() != far_point_.size() ||
      begin(0) != 0 || begin(points) != size()) {
    return false;
  }
  for (std::size_t p = 0; p < points; ++p) {
    if (begin(p) > end(p)) return false;
  }
  std::size_t far = 0;
  for (std::size_t p = 0; p < points; ++p) {
    for (std::size_t k = begin(p); k < end(p); ++k) {
      if (step_[k] != kFar) {
        if (At(p, k) >= points) return false;
        continue;
      }
      // At() relies on this order, so it is validated first.
      if (far == far_entry_.size() || far_entry_[far] != k || far_point_[far] >= points) {
        return false;
      }
      ++far;
    }
  }
  return far == far_entry_.size();
}

void AddWeights(std::span<const double> row, std::vector<std::uint16_t>& weights) {
  double largest = 0;
  for (const double weight : row) largest = std::max(largest, weight);
  for (const double weight : row) {
    weights.push_back(static_cast<std::uint16_t>(
        largest > 0 ? std::lround(weight / largest * kLargestWeight) : 0));
  }
}

bool AreWeights(const NeighbourRows& rows, std::size_t points,
                std::span<const std::uint16_t> weights) {
  if (weights.size() != rows.size()) return false;
  for (std::size_t p = 0; p < points; ++p) {
    std::uint16_t largest = 0;
    for (std::size_t k = rows.begin(p); k < rows.end(p); ++k) {
      largest = std::max(largest, weights[k]);
    }
    if (largest != kLargestWeight && largest != 0) return false;
  }
  return true;
}

}  // namespace sinew
