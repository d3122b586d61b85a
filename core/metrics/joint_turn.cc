#include "core/metrics/joint_turn.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/vectors.h"
#include "core/rig/bones.h"
#include "core/rig/signed_rotation.h"
#include "core/rig/skeleton.h"

namespace sinew::metrics {
namespace {

// Angle of the rotation from a to b. Its sine and cosine together are precise for any angle.
double DegreesBetween(const Mat3d& a, const Mat3d& b) {
  const auto m = Multiply(Transpose(a), b).m;
  const double sine = Length({m[7] - m[5], m[2] - m[6], m[3] - m[1]});
  return std::atan2(sine, m[0] + m[4] + m[8] - 1) * 180 / std::numbers::pi;
}

}  // namespace

double LargestTurn(std::span<const std::uint32_t> parent, std::span<const Affine> from,
                   std::span<const Affine> to) {
  const auto carries = [&](std::uint32_t j) {
    return !Flattens(Linear(ToDouble(from[j]))) && !Flattens(Linear(ToDouble(to[j])));
  };
  double largest = 0;
  for (std::uint32_t j = 1; j < parent.size(); ++j) {
    const std::uint32_t carrier = parent[j] == kNoParent ? 0 : parent[j];
    const bool carried = carries(carrier);
    const auto local = [&](std::span<const Affine> pose) {
      const AffineD joint = ToDouble(pose[j]);
      return Linear(carried ? Compose(Inverse(ToDouble(pose[carrier])), joint) : joint);
    };
    const Mat3d a = local(from), b = local(to);
    const SignedRotation start = Factor(a, SignOf(IsThin(a) ? b : a));
    const SignedRotation end = Factor(b, IsThin(b) ? start.sign : SignOf(b));
    if (!start.unique || !end.unique || start.sign != end.sign) continue;
    largest = std::max(largest, DegreesBetween(start.rotation, end.rotation));
  }
  return largest;
}

}  // namespace sinew::metrics
