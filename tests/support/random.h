// random.h - random numbers that are the same on every machine.
#pragma once

#include <cstdint>

namespace sinew::testing {

class Random {
 public:
  // In [0, 1).
  float Next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<float>(state_ >> 8) * 0x1p-24f;
  }

 private:
  std::uint32_t state_ = 12345;
};

}  // namespace sinew::testing
