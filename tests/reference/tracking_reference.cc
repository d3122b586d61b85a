#include "tests/reference/tracking_reference.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

namespace sinew::reference {
namespace {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Vector3d Of(const Vec3d& v) {
  return {v.x, v.y, v.z};
}
Vec3d Of(const Vector3d& v) {
  return {v[0], v[1], v[2]};
}

// w_ij = half the sum of the cotangents opposite the edge, at least 1e-3 of the mean positive
// weight.
std::vector<std::map<std::uint32_t, double>> Cotangents(const TrackingStep& step) {
  std::vector<std::map<std::uint32_t, double>> rows(step.rest.size());
  for (const auto& t : step.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3], c = t[(k + 2) % 3];
      const Vector3d u = Of(step.rest[b] - step.rest[a]), v = Of(step.rest[c] - step.rest[a]);
      const double half = 0.5 * u.dot(v) / u.cross(v).norm();
      rows[b][c] += half;
      rows[c][b] += half;
    }
  }
  double sum = 0;
  int positive = 0;
  for (const auto& row : rows) {
    for (const auto& [j, w] : row) {
      if (w <= 0) continue;
      sum += w;
      ++positive;
    }
  }
  for (auto& row : rows) {
    for (auto& [j, w] : row) w = std::max(w, 1e-3 * sum / positive);
  }
  return rows;
}

Matrix3d Rotation(const Matrix3d& a) {
  const Eigen::JacobiSVD<Matrix3d> svd(a, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Matrix3d u = svd.matrixU();
  if ((u * svd.matrixV().transpose()).determinant() < 0) u.col(2) *= -1;
  return u * svd.matrixV().transpose();
}

Vector3d Shortened(const Vector3d& v, double longest) {
  return v.norm() > longest ? Vector3d(v * (longest / v.norm())) : v;
}

}  // namespace

std::vector<Vec3d> Track(const TrackingStep& step) {
  const auto weights = Cotangents(step);
  const std::size_t n = step.rest.size();
  std::vector<Vector3d> p(n);
  for (std::size_t i = 0; i < n; ++i) {  // prediction
    Vector3d sum = Vector3d::Zero();
    double total = 0;
    for (std::size_t b = 0; b < step.motion.size(); ++b) {
      const double w = std::pow(step.part_before(b, step.previous[i]), 4);
      sum += w * Of(Apply(step.motion[b], step.previous[i]));
      total += w;
    }
    p[i] = step.iso[i] >= 0 && total > 0 ? Vector3d(sum / total) : Of(step.skinned[i]);
  }
  for (int round = 0; round < step.rounds; ++round) {
    std::vector<Matrix3d> turn(n);
    for (std::size_t i = 0; i < n; ++i) {
      Matrix3d h = Matrix3d::Zero();
      double size = 0;
      for (const auto& [j, w] : weights[i]) {
        const Vector3d edge = Of(step.rest[i] - step.rest[j]);
        h += w * (p[i] - p[j]) * edge.transpose();
        size += w * edge.squaredNorm();
      }
      // If flattened or inverted, the inward direction decides.
      Vector3d inward = Of(step.field(Of(p[i])).second);
      if (step.iso[i] >= 0 && inward.norm() > 0) {
        inward.normalize();
        const double cosine = inward.dot(Of(step.held[i]));
        if (cosine < 0) inward = -inward;
        Matrix3d cofactors;
        for (int r = 0; r < 3; ++r) {
          cofactors.row(r) = h.row((r + 1) % 3).cross(h.row((r + 2) % 3));
        }
        const double area = 4 * inward.dot(cofactors * Of(step.inward[i])) / (size * size);
        const double pressed = std::clamp(1 - area / 0.3, 0.0, 1.0);
        h += pressed * size * cosine * cosine * inward * Of(step.inward[i]).transpose();
      }
      turn[i] = Rotation(h);
    }
    std::vector<Vector3d> next = p;
    for (std::size_t i = 0; i < n; ++i) {
      if (step.iso[i] < 0) continue;
      Vector3d target = Vector3d::Zero();
      double total = 0;
      for (const auto& [j, w] : weights[i]) {
        target += w * (p[j] + 0.5 * (turn[i] + turn[j]) * Of(step.rest[i] - step.rest[j]));
        total += w;
      }
      const Vector3d g = Of(step.field(Of(p[i])).second);
      const Vector3d pull = Of(step.skinned[i]) - p[i];
      const double off = g.norm() > 0 ? std::abs(pull.dot(g.normalized())) : 0;
      const double trust = std::max(0.0, 1 - off / (0.06 * step.unit));
      Vector3d d = 0.5 * (target / total - p[i]) + step.attraction * trust * pull;
      if (g.norm() > 0) d -= d.dot(g) / g.squaredNorm() * g;
      next[i] += Shortened(d, 0.1 * step.unit);
      for (int newton = 0; newton < 2; ++newton) {
        const auto [value, gradient] = step.field(Of(next[i]));
        const Vector3d slope = Of(gradient);
        if (slope.norm() == 0) break;
        const Vector3d s = 0.9 * (step.iso[i] - value) / slope.squaredNorm() * slope;
        next[i] += Shortened(s, 0.1 * step.unit);
      }
    }
    p = next;
  }
  std::vector<Vec3d> result;
  for (const Vector3d& v : p) result.push_back(Of(v));
  return result;
}

}  // namespace sinew::reference
