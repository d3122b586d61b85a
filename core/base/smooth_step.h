// smooth_step.h - from 0 to 1 without a kink.
#pragma once

#include <algorithm>

namespace sinew {

// 0 up to x = 0, 1 from x = 1 on.
inline double SmoothStep(double x) {
  const double t = std::clamp(x, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}
// 0 up to low, 1 from high on.
inline double SmoothStep(double low, double high, double x) {
  return SmoothStep((x - low) / (high - low));
}

}  // namespace sinew
