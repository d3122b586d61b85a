#include "tests/reference/smooth_tube.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace sinew::reference {
namespace {

constexpr double kStep = 1e-5;

Vec3d Unit(const Vec3d& v) {
  return (1 / std::sqrt(Dot(v, v))) * v;
}

double Weight(double x) {
  const double t = std::clamp(x + 0.5, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

double WeightSlope(double x) {
  const double t = std::clamp(x + 0.5, 0.0, 1.0);
  return 6 * t * (1 - t);
}

Vec3d RestNormal(double angle) {
  return {0, std::cos(angle), std::sin(angle)};
}

Vec3d Cofactored(const Mat3d& a, const Vec3d& n) {
  const auto row = [&](std::size_t r) { return Vec3d{a.m[r * 3], a.m[r * 3 + 1], a.m[r * 3 + 2]}; };
  return {Dot(Cross(row(1), row(2)), n), Dot(Cross(row(2), row(0)), n),
          Dot(Cross(row(0), row(1)), n)};
}

struct RigidPart {
  Eigen::Quaterniond real, dual;
};

RigidPart ToDual(const AffineD& m) {
  Eigen::Matrix3d linear;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) linear(r, c) = m.m[static_cast<std::size_t>(r * 4 + c)];
  }
  const Eigen::Quaterniond real(linear);
  const Eigen::Quaterniond product = Eigen::Quaterniond(0, m.m[3], m.m[7], m.m[11]) * real;
  return {real, Eigen::Quaterniond(0.5 * product.coeffs())};
}

// The two joints' dual quaternions blended: a rigid motion.
AffineD BlendedMotion(const AffineD* skin, double w) {
  const RigidPart a = ToDual(skin[0]), b = ToDual(skin[1]);
  const double side = a.real.dot(b.real) < 0 ? -1 : 1;
  Eigen::Quaterniond real((1 - w) * a.real.coeffs() + side * w * b.real.coeffs());
  Eigen::Quaterniond dual((1 - w) * a.dual.coeffs() + side * w * b.dual.coeffs());
  const double length = real.norm();
  real.coeffs() /= length;
  dual.coeffs() /= length;
  const Eigen::Matrix3d linear = real.toRotationMatrix();
  const Eigen::Vector3d moved = 2 * (dual * real.conjugate()).vec();
  AffineD motion;
  for (int r = 0; r < 3; ++r) {
    const auto at = static_cast<std::size_t>(r) * 4;
    for (int c = 0; c < 3; ++c) motion.m[at + static_cast<std::size_t>(c)] = linear(r, c);
    motion.m[at + 3] = moved[r];
  }
  return motion;
}

// Derivative at `at` of the polynomial through values at 0, 1, ... by Lagrange's formula.
Vec3d Slope(std::span<const Vec3d> values, std::size_t at) {
  const std::size_t n = values.size();
  Vec3d slope;
  for (std::size_t j = 0; j < n; ++j) {
    double weight = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == j) continue;
      double product = 1 / (static_cast<double>(j) - static_cast<double>(i));
      for (std::size_t m = 0; m < n; ++m) {
        if (m == i || m == j) continue;
        product *= (static_cast<double>(at) - static_cast<double>(m)) /
                   (static_cast<double>(j) - static_cast<double>(m));
      }
      weight += product;
    }
    slope = slope + weight * values[j];
  }
  return slope;
}

}  // namespace

SmoothTube::SmoothTube(SmoothMethod method, std::span<const AffineD> skin, double radius)
    : method_(method), skin_{skin[0], skin[1]}, radius_(radius) {}

Vec3d SmoothTube::Point(double x, double angle) const {
  const Vec3d p = {x, radius_ * std::cos(angle), radius_ * std::sin(angle)};
  const double w = Weight(x);
  if (method_ == SmoothMethod::kDqs) return Apply(BlendedMotion(skin_, w), p);
  return (1 - w) * Apply(skin_[0], p) + w * Apply(skin_[1], p);
}

Vec3d SmoothTube::Normal(double x, double angle) const {
  const Vec3d along = Point(x + kStep, angle) - Point(x - kStep, angle);
  const Vec3d around = Point(x, angle + kStep) - Point(x, angle - kStep);
  return Unit(Cross(around, along));
}

Mat3d SmoothTube::BlendedLinear(double x) const {
  const double w = Weight(x);
  if (method_ == SmoothMethod::kDqs) return Linear(BlendedMotion(skin_, w));
  Mat3d blended;
  for (std::size_t i = 0; i < 9; ++i) {
    blended.m[i] = (1 - w) * Linear(skin_[0]).m[i] + w * Linear(skin_[1]).m[i];
  }
  return blended;
}

Vec3d SmoothTube::Rotated(double x, double angle) const {
  return Unit(Multiply(BlendedLinear(x), RestNormal(angle)));
}

Vec3d SmoothTube::Cofactor(double x, double angle) const {
  return Unit(Cofactored(BlendedLinear(x), RestNormal(angle)));
}

Vec3d SmoothTube::GradientCorrected(double x, double angle) const {
  const Vec3d p = {x, radius_ * std::cos(angle), radius_ * std::sin(angle)};
  const Mat3d a = BlendedLinear(x);
  // Weights vary along the tube only: with the slope for the second joint, and its negative for the
  // first.
  const Vec3d along =
      Multiply(a, Vec3d{1, 0, 0}) + WeightSlope(x) * (Apply(skin_[1], p) - Apply(skin_[0], p));
  const Vec3d around = Multiply(a, Vec3d{0, -std::sin(angle), std::cos(angle)});
  return Unit(Cross(around, along));
}

std::vector<Vec3d> GridNormals(std::span<const Vec3d> points, std::size_t rings,
                               std::size_t around) {
  constexpr std::size_t kStencil = 9;
  std::vector<Vec3d> normals;
  std::vector<Vec3d> row(kStencil);
  for (std::size_t i = 0; i < rings; ++i) {
    const std::size_t first = std::min(i < kStencil / 2 ? 0 : i - kStencil / 2, rings - kStencil);
    for (std::size_t k = 0; k < around; ++k) {
      for (std::size_t s = 0; s < kStencil; ++s) row[s] = points[(first + s) * around + k];
      const Vec3d along = Slope(row, i - first);
      for (std::size_t s = 0; s < kStencil; ++s) {
        row[s] = points[i * around + (k + around + s - kStencil / 2) % around];
      }
      normals.push_back(Unit(Cross(Slope(row, kStencil / 2), along)));
    }
  }
  return normals;
}

double Degrees(const Vec3d& a, const Vec3d& b) {
  const Vec3d c = Cross(a, b);
  return std::atan2(std::sqrt(Dot(c, c)), Dot(a, b)) * 180 / std::numbers::pi;
}

}  // namespace sinew::reference
