#include "core/deform/spherical_blend/rotation_centre.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <array>

namespace sinew {
namespace {

using Matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Eigen::Map<const Matrix> View(const Mat3d& m) {
  return Eigen::Map<const Matrix>(m.m.data());
}

// s R of signed_rotation.h.
Mat3d Rotation(const PosedRig& posed, std::size_t binding) {
  Mat3d r;
  for (std::size_t i = 0; i < 9; ++i) {
    r.m[i] = double{posed.signs[binding]} * double{posed.rotations[binding].m[i]};
  }
  return r;
}

// conj(p) q in the hemisphere w >= 0.
std::array<double, 4> Relative(const DualQuat& pivot, const DualQuat& joint) {
  const double pw = pivot.real[0], px = pivot.real[1], py = pivot.real[2], pz = pivot.real[3];
  const double qw = joint.real[0], qx = joint.real[1], qy = joint.real[2], qz = joint.real[3];
  const double w = pw * qw + px * qx + py * qy + pz * qz, s = w < 0 ? -1 : 1;
  return {s * w, s * (pw * qx - px * qw - py * qz + pz * qy),
          s * (pw * qy - py * qw - pz * qx + px * qz), s * (pw * qz - pz * qw - px * qy + py * qx)};
}

// The rotation of q minus the identity.
Mat3d TurnOf(const std::array<double, 4>& q) {
  const auto& [w, x, y, z] = q;
  const double s = 2 / (w * w + x * x + y * y + z * z);
  return {{-s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),  //
           s * (x * y + w * z), -s * (x * x + z * z), s * (y * z - w * x),  //
           s * (x * z - w * y), s * (y * z + w * x), -s * (x * x + y * y)}};
}

Vec3d PosedOrigin(const PosedRig& posed, std::size_t binding, const Vec3d& origin) {
  return Apply(ToDouble(posed.skin[binding]), origin);
}

}  // namespace

RigidPart RigidPartOf(const PosedRig& posed, std::size_t binding, const Vec3d& origin) {
  const Mat3d rotation = Rotation(posed, binding);
  return {rotation, PosedOrigin(posed, binding, origin) - Multiply(rotation, origin)};
}

Vec3d CentreOf(std::span<const RigidPart> motions, const Vec3d& expected) {
  if (motions.size() < 2) return expected;
  // Sums over pairs from sums over joints, relative to the first joint: as accurate as summing the
  // pairs.
  const Eigen::Vector3d at(expected.x, expected.y, expected.z);
  const RigidPart& base = motions.front();
  Matrix turns = Matrix::Zero(), normal = Matrix::Zero();
  Eigen::Vector3d gaps = Eigen::Vector3d::Zero(), pull = Eigen::Vector3d::Zero();
  for (const RigidPart& motion : motions.subspan(1)) {
    const Vec3d t = motion.translation - base.translation;
    const Matrix turn = View(motion.rotation) - View(base.rotation);
    const Eigen::Vector3d gap = turn * at + Eigen::Vector3d(t.x, t.y, t.z);
    turns += turn;
    gaps += gap;
    normal += turn.transpose() * turn;
    pull += turn.transpose() * gap;
  }
  const auto k = static_cast<double>(motions.size());
  normal = k * normal - turns.transpose() * turns;
  pull = k * pull - turns.transpose() * gaps;
  normal.diagonal().array() += kCentreFade * kCentreFade * k * (k - 1) / 2;
  const Eigen::Vector3d r = at - normal.llt().solve(pull);
  return {r.x(), r.y(), r.z()};
}

void FillRelation(const PosedRig& posed, std::size_t pivot, const Vec3d& pivot_origin,
                  std::size_t joint, const Vec3d& joint_origin, std::span<float> relation) {
  const auto q = Relative(posed.dual_quats[pivot], posed.dual_quats[joint]);
  const Mat3d turn = TurnOf(q);
  const Vec3d moved =
      PosedOrigin(posed, joint, joint_origin) - PosedOrigin(posed, pivot, pivot_origin);
  const Vec3d gap = Multiply(Transpose(Rotation(posed, pivot)), moved) -
                    Multiply(turn, joint_origin) - joint_origin + pivot_origin;
  for (std::size_t i = 0; i < 9; ++i) relation[i] = static_cast<float>(turn.m[i]);
  relation[9] = static_cast<float>(gap.x);
  relation[10] = static_cast<float>(gap.y);
  relation[11] = static_cast<float>(gap.z);
  for (std::size_t i = 0; i < 4; ++i) relation[12 + i] = static_cast<float>(q[i]);
  const Vec3d pull = Multiply(Transpose(turn), gap);
  relation[16] = static_cast<float>(pull.x);
  relation[17] = static_cast<float>(pull.y);
  relation[18] = static_cast<float>(pull.z);
  relation[19] = 0;
}

}  // namespace sinew
