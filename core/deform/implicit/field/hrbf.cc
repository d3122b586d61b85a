#include "core/deform/implicit/field/hrbf.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace sinew {
namespace {

constexpr double kMissed = 1e-6;

// Eigen blocks products by the machine's cache sizes, which would change the order of sums.
void FixBlocking() {
  static const bool fixed = (Eigen::setCpuCacheSizes(32 << 10, 512 << 10, 4 << 20), true);
  static_cast<void>(fixed);
}

double MeanSpacing(std::span<const Vec3d> points) {
  double sum = 0;
  for (const Vec3d& p : points) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const Vec3d& q : points) {
      if (&p != &q) nearest = std::min(nearest, Dot(p - q, p - q));
    }
    sum += std::sqrt(nearest);
  }
  const double mean = sum / static_cast<double>(points.size());
  return mean > 0 && std::isfinite(mean) ? mean : 1;
}

// Rows (f, grad f) at offset d from a centre with the unknowns (alpha, -beta); the sign makes the
// matrix symmetric.
Eigen::Matrix4d Block(const Eigen::Vector3d& d) {
  Eigen::Matrix4d block = Eigen::Matrix4d::Zero();
  const double l = d.norm();
  if (l == 0) return block;
  block(0, 0) = l * l * l;
  block.block<3, 1>(1, 0) = 3 * l * d;
  block.block<1, 3>(0, 1) = -3 * l * d.transpose();
  block.block<3, 3>(1, 1) = -3 * (d * d.transpose() / l + l * Eigen::Matrix3d::Identity());
  return block;
}

}  // namespace

HrbfValue Hrbf::At(const Vec3d& x) const {
  HrbfValue sum;
  for (std::size_t j = 0; j < centres.size(); ++j) {
    const Vec3d d = x - centres[j];
    const double s = Dot(d, d), l = std::sqrt(s), q = 3 * Dot(beta[j], d);
    if (l == 0) continue;
    sum.f += l * (alpha[j] * s + q);
    sum.gradient = sum.gradient + (3 * alpha[j] * l + q / l) * d + (3 * l) * beta[j];
  }
  return sum;
}

double Hrbf::Value(const Vec3d& x) const {
  double f = 0;
  for (std::size_t j = 0; j < centres.size(); ++j) {
    const Vec3d d = x - centres[j];
    const double s = Dot(d, d);
    f += std::sqrt(s) * (alpha[j] * s + 3 * Dot(beta[j], d));
  }
  return f;
}

Hrbf FitHrbf(std::span<const Vec3d> points, std::span<const Vec3d> normals) {
  FixBlocking();
  // The condition number depends on units: spacing 1 is best.
  const double spacing = MeanSpacing(points);
  const Vec3d origin = points.front();
  const auto n = static_cast<Eigen::Index>(points.size());
  Eigen::Matrix3Xd at(3, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Vec3d p = (1 / spacing) * (points[static_cast<std::size_t>(i)] - origin);
    at.col(i) << p.x, p.y, p.z;
  }
  Eigen::MatrixXd matrix(4 * n, 4 * n);
  Eigen::VectorXd values(4 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      matrix.block<4, 4>(4 * i, 4 * j) = Block(at.col(i) - at.col(j));
    }
    const Vec3d& normal = normals[static_cast<std::size_t>(i)];
    values.segment<4>(4 * i) << 0, normal.x, normal.y, normal.z;
  }
  const Eigen::PartialPivLU<Eigen::Ref<Eigen::MatrixXd>> lu(matrix);
  const Eigen::VectorXd solved = lu.solve(values);
  Hrbf fit;
  for (Eigen::Index j = 0; j < n; ++j) {
    const auto c = solved.segment<4>(4 * j);
    fit.centres.push_back(points[static_cast<std::size_t>(j)]);
    fit.alpha.push_back(c[0] / (spacing * spacing));
    fit.beta.push_back((-1 / spacing) * Vec3d{c[1], c[2], c[3]});
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const HrbfValue value = fit.At(points[i]);
    const Vec3d off = value.gradient - normals[i];
    if (!(std::abs(value.f) <= kMissed * spacing && Dot(off, off) <= kMissed * kMissed)) return {};
  }
  return fit;
}

}  // namespace sinew
