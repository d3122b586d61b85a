#include "tests/reference/weights_reference.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace sinew::testing {
namespace {

double Norm(const Vec3d& v) {
  return std::sqrt(Dot(v, v));
}

Vec3d NearestOn(const Bone& bone, const Vec3d& p) {
  const Vec3d axis = bone.tip - bone.root;
  const double squared = Dot(axis, axis);
  if (squared == 0) return bone.root;
  return bone.root + std::clamp(Dot(p - bone.root, axis) / squared, 0.0, 1.0) * axis;
}

// Whether the segment from point i to `to` hits the front of a triangle that does not contain i.
bool Blocked(std::span<const Vec3d> points, const Triangles& triangles, std::uint32_t i,
             const Vec3d& to) {
  const Vec3d from = points[i], way = to - from;
  for (const auto& [a, b, c] : triangles) {
    if (a == i || b == i || c == i) continue;
    const Vec3d u = points[b] - points[a], v = points[c] - points[a], n = Cross(u, v);
    const double facing = Dot(n, way);
    if (!(facing < 0)) continue;
    const double t = Dot(n, points[a] - from) / facing;
    if (t < 1e-5 || t > 1 - 1e-5) continue;
    const Vec3d hit = from + t * way;
    const auto left = [&](const Vec3d& p, const Vec3d& q) {
      return Dot(n, Cross(q - p, hit - p)) >= 0;
    };
    if (left(points[a], points[b]) && left(points[b], points[c]) && left(points[c], points[a])) {
      return true;
    }
  }
  return false;
}

double Angle(const Vec3d& u, const Vec3d& v) {
  return std::acos(std::clamp(Dot(u, v) / (Norm(u) * Norm(v)), -1.0, 1.0));
}

std::vector<Vec3d> Normals(std::span<const Vec3d> points, const Triangles& triangles) {
  std::vector<Vec3d> normals(points.size());
  for (const auto& t : triangles) {
    const Vec3d n = Cross(points[t[1]] - points[t[0]], points[t[2]] - points[t[0]]);
    for (std::size_t k = 0; k < 3; ++k) {
      const double angle =
          Angle(points[t[(k + 1) % 3]] - points[t[k]], points[t[(k + 2) % 3]] - points[t[k]]);
      normals[t[k]] = normals[t[k]] + (angle / Norm(n)) * n;
    }
  }
  for (Vec3d& n : normals) n = (1 / Norm(n)) * n;
  return normals;
}

}  // namespace

DenseWeights CapsuleReference(std::span<const Vec3d> points, std::span<const Bone> bones,
                              double inner, double outer, double power) {
  DenseWeights rows;
  for (const Vec3d& p : points) {
    auto& row = rows.emplace_back();
    double sum = 0, nearest = std::numeric_limits<double>::infinity();
    std::size_t own = 0;
    for (const Bone& bone : bones) {
      const double d = Norm(p - NearestOn(bone, p));
      if (d < nearest) {
        nearest = d;
        own = row.size();
      }
      const double s = std::clamp((d - inner) / (outer - inner), 0.0, 1.0);
      row.push_back((1 - s * s * (3 - 2 * s)) / std::pow(std::max(d, inner / 20), power));
      sum += row.back();
    }
    for (double& w : row) w = sum > 1e-9 ? w / sum : 0;
    if (!(sum > 1e-9)) row[own] = 1;
  }
  return rows;
}

DenseWeights HeatReference(std::span<const Vec3d> points, const Triangles& triangles,
                           std::span<const Bone> bones, std::size_t joints, double c, bool facing) {
  const auto n = static_cast<Eigen::Index>(points.size());
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd mass = Eigen::VectorXd::Zero(n);
  for (const auto& t : triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3d u = points[t[(k + 1) % 3]] - points[t[k]],
                  v = points[t[(k + 2) % 3]] - points[t[k]];
      const double area = Norm(Cross(u, v)), half = 0.5 * Dot(u, v) / area;
      const auto i = static_cast<Eigen::Index>(t[(k + 1) % 3]),
                 j = static_cast<Eigen::Index>(t[(k + 2) % 3]);
      system(i, j) -= half;
      system(j, i) -= half;
      system(i, i) += half;
      system(j, j) += half;
      mass[static_cast<Eigen::Index>(t[k])] += area / 6;
    }
  }
  const std::vector<Vec3d> normals = Normals(points, triangles);
  std::vector<std::vector<double>> near(points.size());
  std::vector<double> least;
  for (std::size_t i = 0; i < points.size(); ++i) {
    near[i].assign(joints, std::numeric_limits<double>::infinity());
    for (const Bone& bone : bones) {
      const Vec3d way = points[i] - NearestOn(bone, points[i]);
      double d = Norm(way);
      if (facing && d > 0) d /= 0.5 * (Dot(normals[i], way) / d + 1.001);
      near[i][bone.joint] = std::min(near[i][bone.joint], d);
    }
    least.push_back(*std::ranges::min_element(near[i]));
  }
  std::vector<double> sorted = least;
  std::ranges::sort(sorted);
  const double floor = 1e-3 * sorted[sorted.size() / 2];
  Eigen::MatrixXd given = Eigen::MatrixXd::Zero(n, static_cast<Eigen::Index>(joints));
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    std::vector<std::uint32_t> seen;
    for (std::uint32_t j = 0; j < joints; ++j) {
      if (near[i][j] > least[i] * (1 + 1e-4)) continue;
      for (const Bone& bone : bones) {
        const Vec3d at = NearestOn(bone, points[i]);
        double d = Norm(points[i] - at);
        if (facing && d > 0) d /= 0.5 * (Dot(normals[i], points[i] - at) / d + 1.001);
        if (bone.joint != j || d > near[i][j]) continue;
        if (!Blocked(points, triangles, i, at)) seen.push_back(j);
        break;
      }
    }
    const double d = std::max(least[i], floor);
    const auto row = static_cast<Eigen::Index>(i);
    for (const std::uint32_t j : seen) {
      const double source = mass[row] * c / (d * d);
      system(row, row) += source;
      given(row, static_cast<Eigen::Index>(j)) = source;
    }
  }
  const Eigen::MatrixXd solved = system.ldlt().solve(given);
  DenseWeights rows;
  for (Eigen::Index i = 0; i < n; ++i) {
    auto& row = rows.emplace_back();
    for (Eigen::Index j = 0; j < solved.cols(); ++j) row.push_back(solved(i, j));
  }
  return rows;
}

}  // namespace sinew::testing
