#include "core/rig/signed_rotation.h"

#include <cmath>

#include "core/rig/bones.h"
#include "core/solve/rotation.h"

namespace sinew {
namespace {

// |det| / |A|_F^3 of a cube flattened to 3e-4 of its width.
constexpr double kThin = 1e-4;

}  // namespace

double SignOf(const Mat3d& a) {
  return Determinant(a) < 0 && !Flattens(a) ? -1 : 1;
}

bool IsThin(const Mat3d& a) {
  double sum = 0;
  for (const double v : a.m) sum += v * v;
  return !(std::abs(Determinant(a)) > kThin * sum * std::sqrt(sum));
}

SignedRotation Factor(const Mat3d& a, double sign) {
  Mat3d turned = a;
  for (double& v : turned.m) v *= sign;
  const NearestRotationResult nearest = NearestRotation(turned);
  return {sign, nearest.rotation, nearest.unique};
}

}  // namespace sinew
