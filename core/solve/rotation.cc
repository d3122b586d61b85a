#include "core/solve/rotation.h"

#include <Eigen/Core>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

namespace sinew {
namespace {

constexpr int kNewtonSteps = 24;
constexpr double kCloseToAmbiguous = 1e-4;  // closed-form den below which digits are lost
constexpr double kAmbiguous = 1e-9;

NearestRotationResult FromSvd(const Mat3d& h) {
  using Matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
  const Eigen::JacobiSVD<Matrix> svd(Eigen::Map<const Matrix>(h.m.data()),
                                     Eigen::ComputeFullU | Eigen::ComputeFullV);
  Matrix u = svd.matrixU();
  const double sign = (u * svd.matrixV().transpose()).determinant() < 0 ? -1.0 : 1.0;
  const Eigen::Vector3d s = svd.singularValues();
  NearestRotationResult result;
  if (!(s[1] + sign * s[2] >= kAmbiguous * s.norm()) || !(s[0] > 0)) return result;
  u.col(2) *= sign;
  Eigen::Map<Matrix>(result.rotation.m.data()) = u * svd.matrixV().transpose();
  result.unique = true;
  return result;
}

double SquaredNorm(const Mat3d& a) {
  double sum = 0;
  for (const double v : a.m) sum += v * v;
  return sum;
}

}  // namespace

NearestRotationResult NearestRotation(const Mat3d& matrix) {
  double largest = 0;
  for (const double v : matrix.m) largest = std::max(largest, std::abs(v));
  if (!(largest > 0)) return {};
  Mat3d h;
  for (std::size_t i = 0; i < 9; ++i) h.m[i] = matrix.m[i] / largest;
  const double scale = 1 / std::sqrt(SquaredNorm(h));
  for (double& v : h.m) v *= scale;

  const Mat3d cofactor = Cofactor(h);
  const double a = SquaredNorm(cofactor);
  const double c = h.m[0] * cofactor.m[0] + h.m[1] * cofactor.m[1] + h.m[2] * cofactor.m[2];
  double f = std::sqrt(3.0);
  for (int step = 0; step < kNewtonSteps; ++step) {
    const double slope = 4 * (f * (f * f - 1) - 2 * c);
    if (!(slope > 0)) break;
    f -= (f * f * (f * f - 2) - 8 * c * f + (1 - 4 * a)) / slope;
  }
  const double den = f * (f * f - 1) - 2 * c;
  if (!(den >= kCloseToAmbiguous)) return FromSvd(h);

  const Mat3d gram = Multiply(Transpose(h), h);
  const Mat3d cubic = Multiply(h, gram);
  NearestRotationResult result;
  for (std::size_t i = 0; i < 9; ++i) {
    result.rotation.m[i] = ((f * f + 1) * h.m[i] + 2 * f * cofactor.m[i] - 2 * cubic.m[i]) / den;
  }
  result.unique = true;
  return result;
}

}  // namespace sinew
