#include "tests/reference/dqs_reference.h"

#include <Eigen/Geometry>
#include <Eigen/SVD>

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

// Moves v by the normalised dual quaternion (real, dual).
Eigen::Vector3d Move(const Eigen::Vector4d& real, const Eigen::Vector4d& dual,
                     const Eigen::Vector3d& v) {
  const double length = real.norm();
  const Eigen::Vector3d d0 = real.head<3>() / length, de = dual.head<3>() / length;
  const double a0 = real.w() / length, ae = dual.w() / length;
  return v + 2 * d0.cross(d0.cross(v) + a0 * v) + 2 * (a0 * de - ae * d0 + d0.cross(de));
}

}  // namespace

Mat3d RotationBySvd(const Mat3d& a) {
  Eigen::Matrix3d m = Eigen::Map<const Matrix>(a.m.data());
  if (m.determinant() < 0) m.col(0) = -m.col(0);
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(m, Eigen::ComputeFullU | Eigen::ComputeFullV);
  const double side = (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0 ? -1 : 1;
  Mat3d rotation;
  Eigen::Map<Matrix>(rotation.m.data()) =
      svd.matrixU() * Eigen::Vector3d(1, 1, side).asDiagonal() * svd.matrixV().transpose();
  return rotation;
}

std::vector<Vec3d> Dqs(std::span<const Vec3d> rest, const Influences& influences,
                       std::span<const AffineD> skin) {
  std::vector<Matrix> rotations;
  std::vector<Eigen::Quaterniond> reals;
  for (const AffineD& m : skin) {
    rotations.emplace_back(Eigen::Map<const Matrix>(RotationBySvd(Linear(m)).m.data()));
    reals.emplace_back(Eigen::Matrix3d(rotations.back()));
  }
  std::vector<Vec3d> posed;
  for (std::size_t v = 0; v < rest.size(); ++v) {
    const auto bindings = influences.bindings(v);
    const Eigen::Vector3d u = ToEigen(rest[v]);
    const Eigen::Quaterniond& pivot = reals[bindings.front()];
    Eigen::Vector4d real = Eigen::Vector4d::Zero(), dual = Eigen::Vector4d::Zero();
    for (std::size_t k = 0; k < bindings.size(); ++k) {
      const std::size_t j = bindings[k];
      const double w = (reals[j].dot(pivot) < 0 ? -1 : 1) * influences.weights(v)[k];
      const Eigen::Vector3d t = ToEigen(Apply(skin[j], rest[v])) - rotations[j] * u;
      real += w * reals[j].coeffs();
      dual += w * DualPart(reals[j], t).coeffs();
    }
    const Eigen::Vector3d p = Move(real, dual, u);
    posed.push_back({p.x(), p.y(), p.z()});
  }
  return posed;
}

}  // namespace sinew::reference
