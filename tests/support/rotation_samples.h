// rotation_samples.h - random matrices of every kind that rotations are fitted to, and the solution
// by SVD.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <random>

#include "core/base/types.h"

namespace sinew::testing {

using Matrix = Eigen::Matrix3d;
using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

inline Mat3d FromEigen(const Matrix& a) {
  Mat3d m;
  RowMajor::Map(m.m.data()) = a;
  return m;
}
inline Matrix ToEigen(const Mat3d& m) {
  return RowMajor::Map(m.m.data());
}
struct Truth {
  Matrix rotation;
  double distinct;  // (s2 + sign(det) s3) / |h|
};
inline Truth BySvd(const Matrix& h) {
  const Eigen::JacobiSVD<Matrix> svd(h, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Matrix u = svd.matrixU();
  const double sign = (u * svd.matrixV().transpose()).determinant() < 0 ? -1 : 1;
  u.col(2) *= sign;
  const auto s = svd.singularValues();
  return {u * svd.matrixV().transpose(), (s[1] + sign * s[2]) / s.norm()};
}

inline double Angle(const Matrix& a, const Matrix& b) {
  return (a - b).norm() / std::sqrt(2.0);
}

class Sampler {
 public:
  explicit Sampler(unsigned seed) : random_(seed) {}
  Matrix Gaussian() {
    Matrix m;
    for (int i = 0; i < 9; ++i) m(i / 3, i % 3) = normal_(random_);
    return m;
  }
  Matrix Rotation() { return BySvd(Gaussian()).rotation; }
  Matrix WithSingularValues(double a, double b, double c) {
    return Rotation() * Eigen::Vector3d(a, b, c).asDiagonal() * Rotation();
  }
  // A neighbourhood whose parts are rotated by up to 120 degrees relative to each other.
  Matrix Neighbourhood() {
    Matrix h = Matrix::Zero();
    const Matrix common = Rotation();
    for (int k = 0; k < 3; ++k) {
      const Matrix g = Gaussian();
      const Eigen::Vector3d axis =
          Eigen::Vector3d(normal_(random_), normal_(random_), normal_(random_)).normalized();
      const double angle = std::uniform_real_distribution<double>(0, M_PI / 3)(random_);
      h += common * Eigen::AngleAxisd(angle, axis).toRotationMatrix() * (g * g.transpose());
    }
    return h;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace sinew::testing
