// random.h - random numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace sinew::testing {

class Random {
 public:
  explicit Random(std::uint32_t seed = 12345) : state_(seed) {}

  // In [0, 1).
  float Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(state_ >> 8) * 0x1p-24f;
  }

  // In [0, count), for counts up to 2^24.
  std::uint32_t Below(std::uint32_t count) {
    return static_cast<std::uint32_t>(Next() * static_cast<float>(count)) % count;
  }

 private:
  std::uint32_t state_;
};

}  // namespace sinew::testing
