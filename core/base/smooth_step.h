// smooth_step.h - cubic interpolation from 0 to 1 with zero slope at both ends.
#pragma once

#include <algorithm>

namespace sinew {

// 0 for x <= 0, 1 for x >= 1.
inline double SmoothStep(double x) {
  const double t = std::clamp(x, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}
// 0 for x <= low, 1 for x >= high.
inline double SmoothStep(double low, double high, double x) {
  return SmoothStep((x - low) / (high - low));
}

}  // namespace sinew
