// distance_meter.h - how far a mesh is from another over many frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinew {

// How far vertices are from where they should be, over frames; in the unit of the vertices.
struct Distances {
  double rms = 0, largest = 0;
  double p99 = 0;                     // 99 % are not larger; at most 0.8 % too large
  std::size_t frame = 0, vertex = 0;  // of the largest; of equal ones the first added
};

// Needs half a megabyte for any number of distances.
class DistanceMeter {
 public:
  // Distances of the vertices `first`, `first` + 1, ... in a frame, at least one, finite. Returns
  // their root mean square.
  double Add(std::size_t frame, std::span<const float> distances, std::size_t first = 0);
  // Zeros if none were added.
  Distances Result() const;

 private:
  // Distances whose leading 17 bits agree.
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(std::size_t{1} << 16);
  std::uint64_t count_ = 0;
  double squares_ = 0, largest_ = -1;
  std::size_t frame_ = 0, vertex_ = 0;  // of the largest
};

}  // namespace sinew
