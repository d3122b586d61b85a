#include "tests/reference/dqs_reference.h"

#include <Eigen/Geometry>
#include <Eigen/SVD>

#include "core/rig/skeleton.h"

namespace sinew::reference {
namespace {

using Matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

Eigen::Vector3d ToEigen(const Vec3d& v) {
  return {v.x, v.y, v.z};
}

// The dual part 0.5 (0, t) r.
Eigen::Quaterniond DualPart(const Eigen::Quaterniond& r, const Eigen::Vector3d& t) {
  const Eigen::Quaterniond product = Eigen::Quaterniond(0, t.x(), t.y(), t.z()) * r;
  return Eigen::Quaterniond(0.5 * product.coeffs());
}

// Transforms v by the normalised dual quaternion (real, dual).
Eigen::Vector3d Move(const Eigen::Vector4d& real, const Eigen::Vector4d& dual,
                     const Eigen::Vector3d& v) {
  const double length = real.norm();
  const Eigen::Vector3d d0 = real.head<3>() / length, de = dual.head<3>() / length;
  const double a0 = real.w() / length, ae = dual.w() / length;
  return v + 2 * d0.cross(d0.cross(v) + a0 * v) + 2 * (a0 * de - ae * d0 + d0.cross(de));
}

struct Blended {
  Eigen::Vector4d real = Eigen::Vector4d::Zero(), dual = Eigen::Vector4d::Zero();
};

struct Joints {
  explicit Joints(std::span<const AffineD> matrices) : skin(matrices) {
    for (const AffineD& m : skin) {
      rotations.emplace_back(Eigen::Map<const Matrix>(RotationBySvd(Linear(m)).m.data()));
      reals.emplace_back(Eigen::Matrix3d(rotations.back()));
    }
  }

  // Signs of all joints for one vertex.
  std::vector<double> TowardsStrongest(const Influences& influences, std::size_t v) const {
    std::vector<double> signs;
    for (const Eigen::Quaterniond& real : reals) {
      signs.push_back(real.dot(reals[influences.bindings(v).front()]) < 0 ? -1 : 1);
    }
    return signs;
  }

  Blended Sum(const Vec3d& rest, const Influences& influences, std::size_t v,
              std::span<const double> signs) const {
    Blended sum;
    for (std::size_t k = 0; k < influences.bindings(v).size(); ++k) {
      const std::size_t j = influences.bindings(v)[k];
      const double w = signs[j] * influences.weights(v)[k];
      const Eigen::Vector3d t = ToEigen(Apply(skin[j], rest)) - rotations[j] * ToEigen(rest);
      sum.real += w * reals[j].coeffs();
      sum.dual += w * DualPart(reals[j], t).coeffs();
    }
    return sum;
  }

  std::span<const AffineD> skin;
  std::vector<Matrix> rotations;
  std::vector<Eigen::Quaterniond> reals;
};

Vec3d Posed(const Blended& sum, const Vec3d& rest) {
  const Eigen::Vector3d p = Move(sum.real, sum.dual, ToEigen(rest));
  return {p.x(), p.y(), p.z()};
}

}  // namespace

Mat3d OrthogonalBySvd(const Mat3d& a) {
  const Eigen::Matrix3d m = Eigen::Map<const Matrix>(a.m.data());
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const bool mirrors = m.determinant() < 0;
  const bool factors = (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0;
  Mat3d orthogonal;
  Eigen::Map<Matrix>(orthogonal.m.data()) =
      svd.matrixU() * Eigen::Vector3d(1, 1, mirrors == factors ? 1 : -1).asDiagonal() *
      svd.matrixV().transpose();
  return orthogonal;
}

Mat3d RotationBySvd(const Mat3d& a) {
  Mat3d rotation = OrthogonalBySvd(a);
  const double sign = Determinant(rotation) < 0 ? -1 : 1;
  for (double& v : rotation.m) v *= sign;
  return rotation;
}

std::vector<Vec3d> Dqs(std::span<const Vec3d> rest, const Influences& influences,
                       std::span<const AffineD> skin) {
  const Joints joints(skin);
  std::vector<Vec3d> posed;
  for (std::size_t v = 0; v < rest.size(); ++v) {
    posed.push_back(
        Posed(joints.Sum(rest[v], influences, v, joints.TowardsStrongest(influences, v)), rest[v]));
  }
  return posed;
}

std::vector<Vec3d> DqsByParent(std::span<const Vec3d> rest, const Influences& influences,
                               std::span<const AffineD> skin,
                               std::span<const std::uint32_t> parent) {
  const Joints joints(skin);
  std::vector<double> signs;
  for (std::size_t e = 0; e < skin.size(); ++e) {
    if (parent[e] == kNoParent) {
      signs.push_back(1);
    } else {
      const bool apart = joints.reals[e].dot(joints.reals[parent[e]]) < 0;
      signs.push_back(apart ? -signs[parent[e]] : signs[parent[e]]);
    }
  }
  std::vector<Vec3d> posed;
  for (std::size_t v = 0; v < rest.size(); ++v) {
    Blended sum = joints.Sum(rest[v], influences, v, signs);
    if (sum.real.norm() < 0.1) {
      sum = joints.Sum(rest[v], influences, v, joints.TowardsStrongest(influences, v));
    }
    posed.push_back(Posed(sum, rest[v]));
  }
  return posed;
}

}  // namespace sinew::reference
