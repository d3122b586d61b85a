#include "core/rig/pose_path.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/rig/bones.h"
#include "core/rig/signed_rotation.h"
#include "core/rig/skeleton.h"

namespace sinew {
namespace {

// Then a chord covers at most 1/8 of 180 degrees and is uniform to 1e-3.
constexpr int kHalvings = 3;

using Quaternion = std::array<double, 4>;

Quaternion Unit(const Quaternion& q) {
  const double n = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  return {q[0] / n, q[1] / n, q[2] / n, q[3] / n};
}

double Dot4(const Quaternion& a, const Quaternion& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

Quaternion Mix(const Quaternion& a, const Quaternion& b, double t) {
  Quaternion q;
  for (std::size_t i = 0; i < 4; ++i) q[i] = a[i] + t * (b[i] - a[i]);
  return Unit(q);
}

Mat3d ToMatrix(const Quaternion& q) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  return {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
           1 - 2 * (x * x + z * z), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
           1 - 2 * (x * x + y * y)}};
}

// The sign is chosen so that the largest component is positive.
Quaternion ToQuaternion(const Mat3d& r) {
  const auto& m = r.m;
  const double trace = m[0] + m[4] + m[8];
  const double size[4] = {trace, 2 * m[0] - trace, 2 * m[4] - trace, 2 * m[8] - trace};
  const auto largest = static_cast<std::size_t>(std::max_element(size, size + 4) - size);
  const double s = 1 + size[largest];
  const double yz = m[7] - m[5], zx = m[2] - m[6], xy = m[3] - m[1];
  switch (largest) {
    case 0:
      return Unit({s, yz, zx, xy});
    case 1:
      return Unit({yz, s, m[1] + m[3], m[2] + m[6]});
    case 2:
      return Unit({zx, m[1] + m[3], s, m[5] + m[7]});
    default:
      return Unit({xy, m[2] + m[6], m[5] + m[7], s});
  }
}

// Shortest-path slerp at t by repeated bisection: chords of the remaining arc are close enough to
// it.
Quaternion Turn(Quaternion a, Quaternion b, double t) {
  if (Dot4(a, b) < 0) {
    for (double& v : b) v = -v;
  }
  for (int halving = 0; halving < kHalvings; ++halving) {
    const Quaternion middle = Mix(a, b, 0.5);
    t *= 2;
    if (t < 1) {
      b = middle;
    } else {
      a = middle;
      t -= 1;
    }
  }
  return Mix(a, b, t);
}

double Degrees(const Quaternion& a, const Quaternion& b) {
  const double c = std::min(1.0, std::abs(Dot4(a, b)));
  return 2 * std::atan2(std::sqrt(1 - c * c), c) * 180 / std::numbers::pi;
}

}  // namespace

PosePath::End PosePath::Split(const AffineD& local, const Mat3d* rotation) {
  End end;
  end.translation = Translation(local);
  end.stretch = Linear(local);
  if (rotation == nullptr) return end;
  end.rotation = ToQuaternion(*rotation);
  end.stretch = Multiply(Transpose(ToMatrix(end.rotation)), end.stretch);
  return end;
}

PosePath::PosePath(std::span<const std::uint32_t> parent, const Pose& from, const Pose& to)
    : from_(from), to_(to) {
  joints_.reserve(parent.size());
  std::vector<AffineD> from_inverse(parent.size()), to_inverse(parent.size());
  std::vector<bool> carries(parent.size());
  for (std::uint32_t j = 0; j < parent.size(); ++j) {
    const AffineD a = ToDouble(from.joints[j]), b = ToDouble(to.joints[j]);
    carries[j] = !Flattens(Linear(a)) && !Flattens(Linear(b));
    if (carries[j]) {
      from_inverse[j] = Inverse(a);
      to_inverse[j] = Inverse(b);
    }
    std::uint32_t carrier = parent[j] == kNoParent && j > 0 ? 0 : parent[j];
    if (carrier != kNoParent && !carries[carrier]) carrier = kNoParent;
    const AffineD la = carrier == kNoParent ? a : Compose(from_inverse[carrier], a);
    const AffineD lb = carrier == kNoParent ? b : Compose(to_inverse[carrier], b);
    const Mat3d ma = Linear(la), mb = Linear(lb);
    const SignedRotation fa = Factor(ma, SignOf(IsThin(ma) ? mb : ma));
    const SignedRotation fb = Factor(mb, IsThin(mb) ? fa.sign : SignOf(mb));
    const bool rotates = fa.unique && fb.unique && fa.sign == fb.sign;
    joints_.push_back({carrier, Split(la, rotates ? &fa.rotation : nullptr),
                       Split(lb, rotates ? &fb.rotation : nullptr)});
  }
}

PoseDistance PosePath::Distance() const {
  PoseDistance distance;
  for (std::size_t j = 1; j < joints_.size(); ++j) {
    const Joint& joint = joints_[j];
    distance.degrees = std::max(distance.degrees, Degrees(joint.from.rotation, joint.to.rotation));
    const Vec3d moved = joint.to.translation - joint.from.translation;
    double scale = 1;  // translations are in the carrier's units
    if (joint.carrier != kNoParent) {
      const Mat3d m = Linear(ToDouble(to_.joints[joint.carrier]));
      scale = std::cbrt(std::abs(Determinant(m)));
    }
    distance.length = std::max(distance.length, scale * std::sqrt(Dot(moved, moved)));
    for (std::size_t i = 0; i < 9; ++i) {
      const double change = std::abs(joint.to.stretch.m[i] - joint.from.stretch.m[i]);
      distance.stretch = std::max(distance.stretch, change);
    }
  }
  return distance;
}

void PosePath::At(double t, std::vector<Affine>& joints, std::vector<float>& controls) const {
  controls.resize(to_.controls.size());
  joints.resize(joints_.size());
  if (t >= 1) {
    std::ranges::copy(to_.joints, joints.begin());
    std::ranges::copy(to_.controls, controls.begin());
    return;
  }
  for (std::size_t k = 0; k < controls.size(); ++k) {
    const double a = from_.controls[k], b = to_.controls[k];
    controls[k] = static_cast<float>(a + t * (b - a));
  }
  std::vector<AffineD> model(joints_.size());
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    const Joint& joint = joints_[j];
    Mat3d stretch;
    for (std::size_t i = 0; i < 9; ++i) {
      const double a = joint.from.stretch.m[i], b = joint.to.stretch.m[i];
      stretch.m[i] = a + t * (b - a);
    }
    const Mat3d m = Multiply(ToMatrix(Turn(joint.from.rotation, joint.to.rotation, t)), stretch);
    const Vec3d at = joint.from.translation + t * (joint.to.translation - joint.from.translation);
    const AffineD local = {
        {m.m[0], m.m[1], m.m[2], at.x, m.m[3], m.m[4], m.m[5], at.y, m.m[6], m.m[7], m.m[8], at.z}};
    model[j] = joint.carrier == kNoParent ? local : Compose(model[joint.carrier], local);
    joints[j] = ToFloat(model[j]);
  }
}

}  // namespace sinew
