// line_rate.h - whether frames come over a slow line, from when they arrive.
//
// Bookkeeping only, without clock, lock or socket.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace sinew::client {

// Below it, compressing takes less time than it saves.
inline constexpr double kSlowLine = 125e6;  // bytes a second, 1 Gbit/s

class LineRate {
 public:
  // A frame of so many bytes has arrived, which waited to be sent from `ready` on; seconds of one
  // clock, in order of arrival. Frames below 64 kB say little of the line and are left out.
  void Add(double ready, double arrived, std::size_t bytes) {
    // Until the frame before had arrived, the line was busy with that one.
    const double seconds = arrived - std::max(ready, last_arrival_);
    last_arrival_ = arrived;
    if (bytes < kLeast || seconds <= 0) return;
    rates_[frames_++ % kFrames] = static_cast<double>(bytes) / seconds;
  }

  // At most a quarter of the last 16 frames was faster than kSlowLine. False before so many. What
  // delays single frames, here or on the way, does not count.
  bool slow() const {
    const auto fast = std::ranges::count_if(rates_, [](double rate) { return rate > kSlowLine; });
    return frames_ >= kFrames && fast <= std::ptrdiff_t{kFrames / 4};
  }

 private:
  static constexpr std::size_t kFrames = 16, kLeast = 64 << 10;
  std::array<double, kFrames> rates_{};  // of the last frames, in any order
  std::size_t frames_ = 0;
  double last_arrival_ = 0;
};

}  // namespace sinew::client
