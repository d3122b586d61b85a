// capsule.h - a tapered capsule, the shape of limbs, and the blend of several.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace sinew::client {

struct Capsule {
  Eigen::Vector3d from, to;
  double radius_from = 0, radius_to = 0;

  double length() const { return (to - from).norm(); }
  // Where p projects on the line: 0 at `from`, 1 at `to`, not clamped.
  double Along(const Eigen::Vector3d& p) const {
    const Eigen::Vector3d axis = to - from;
    return (p - from).dot(axis) / axis.squaredNorm();
  }
  // About the distance from p, negative inside.
  double Distance(const Eigen::Vector3d& p) const {
    const double t = std::clamp(Along(p), 0.0, 1.0);
    return (p - (from + t * (to - from))).norm() - (radius_from + t * (radius_to - radius_from));
  }
};

// The smaller of two distances, with a fillet about k wide. Source: Quilez, polynomial smooth
// minimum.
inline double SmoothMin(double a, double b, double k) {
  const double h = std::max(k - std::abs(a - b), 0.0) / k;
  return std::min(a, b) - 0.25 * h * h * k;
}

inline double SmoothStep(double low, double high, double x) {
  const double u = std::clamp((x - low) / (high - low), 0.0, 1.0);
  return u * u * (3 - 2 * u);
}

}  // namespace sinew::client
