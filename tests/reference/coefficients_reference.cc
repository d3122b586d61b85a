#include "tests/reference/coefficients_reference.h"

#include <Eigen/Dense>

namespace sinew::reference {
namespace {

using Matrix = Eigen::Matrix<double, 3, 4, Eigen::RowMajor>;

Eigen::Affine3d ToEigen(const AffineD& a) {
  Eigen::Affine3d matrix = Eigen::Affine3d::Identity();
  matrix.affine() = Eigen::Map<const Matrix>(a.m.data());
  return matrix;
}

// The paper's p: weight * (u, 1) and the offset.
Eigen::Vector4d Homogeneous(const Eigen::Vector3d& u, const double* values) {
  Eigen::Vector4d p;
  p << values[3] * u + Eigen::Map<const Eigen::Vector3d>(values), values[3];
  return p;
}

}  // namespace

Vec3d AnimationSpace(const Vec3d& rest, std::span<const Influence> influences,
                     std::span<const AffineD> matrices) {
  const Eigen::Vector3d u(rest.x, rest.y, rest.z);
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const auto& [matrix, values] : influences) {
    sum += ToEigen(matrices[matrix]).affine() * Homogeneous(u, values.data());
  }
  return {sum.x(), sum.y(), sum.z()};
}

Vec3d MultiWeight(const Vec3d& rest, std::span<const Influence> influences,
                  std::span<const AffineD> matrices) {
  const Eigen::Vector3d u(rest.x, rest.y, rest.z);
  const Eigen::Affine3d main = ToEigen(matrices[influences.front().matrix]);
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const auto& [matrix, values] : influences) {
    const Matrix seen = (main.inverse() * ToEigen(matrices[matrix])).affine();
    for (int r = 0; r < 3; ++r) sum[r] += seen.row(r) * Homogeneous(u, values.data() + 4 * r);
  }
  const Eigen::Vector3d moved = main * sum;
  return {moved.x(), moved.y(), moved.z()};
}

std::vector<Vec3d> WithCoefficients(const Rig& rig, std::span<const AffineD> skin) {
  const JointCoefficients& all = rig.coefficients();
  std::vector<Vec3d> points;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    std::vector<Influence> influences;
    const auto values = all.row_values(v);
    for (std::size_t k = 0; k < all.row(v).size(); ++k) {
      const auto own = values.subspan(k * all.columns, all.columns);
      influences.push_back({all.row(v)[k], {own.begin(), own.end()}});
    }
    if (influences.empty()) {  // by its weights
      for (std::size_t k = 0; k < rig.influences().bindings(v).size(); ++k) {
        std::vector<double> own(all.columns);
        for (std::size_t c = 3; c < own.size(); c += 4) own[c] = rig.influences().weights(v)[k];
        influences.push_back({rig.influences().bindings(v)[k], own});
      }
    }
    points.push_back((all.columns == 4 ? AnimationSpace : MultiWeight)(
        ToDouble(rig.mesh().positions()[v]), influences, skin));
  }
  return points;
}

}  // namespace sinew::reference
