#include "core/base/distance_meter.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sinew {
namespace {

constexpr int kDropped = 15;  // bits of a float that a count does not tell apart

}  // namespace

double DistanceMeter::Add(std::size_t frame, std::span<const float> distances, std::size_t first) {
  double squares = 0;
  for (std::size_t k = 0; k < distances.size(); ++k) {
    const double distance = double{distances[k]};
    ++counts_[std::bit_cast<std::uint32_t>(std::abs(distances[k])) >> kDropped];
    squares += distance * distance;
    if (distance <= largest_) continue;
    largest_ = distance;
    frame_ = frame;
    vertex_ = first + k;
  }
  count_ += distances.size();
  squares_ += squares;
  return std::sqrt(squares / static_cast<double>(distances.size()));
}

Distances DistanceMeter::Result() const {
  if (count_ == 0) return {};
  Distances result{.rms = std::sqrt(squares_ / static_cast<double>(count_)),
                   .largest = largest_,
                   .p99 = largest_,
                   .frame = frame_,
                   .vertex = vertex_};
  const std::uint64_t rank = count_ - count_ / 100;
  std::uint64_t below = 0;
  for (std::uint32_t bin = 0; bin < counts_.size(); ++bin) {
    below += counts_[bin];
    if (below < rank) continue;
    result.p99 = std::min<double>(std::bit_cast<float>((bin + 1) << kDropped), largest_);
    break;
  }
  return result;
}

}  // namespace sinew
