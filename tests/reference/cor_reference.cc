#include "tests/reference/cor_reference.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "tests/reference/dqs_reference.h"

namespace sinew::reference {
namespace {

using Matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

struct Corner {
  Eigen::Vector3d point;
  Eigen::VectorXd weights;
};

struct Sample {
  Eigen::Vector3d point;
  Eigen::VectorXd weights;
  double area;
};

Eigen::Vector3d ToEigen(const Vec3d& v) {
  return {v.x, v.y, v.z};
}

void AddSamples(const Corner (&c)[3], bool refine, std::vector<Sample>& samples) {
  double side[3], longest = 0;
  for (int s = 0; s < 3; ++s) {
    side[s] = (c[s].weights - c[(s + 1) % 3].weights).norm();
    longest = std::max(longest, side[s]);
  }
  if (!refine || longest <= 0.1 * (1 + 1e-9)) {
    samples.push_back({(c[0].point + c[1].point + c[2].point) / 3,
                       (c[0].weights + c[1].weights + c[2].weights) / 3,
                       (c[1].point - c[0].point).cross(c[2].point - c[0].point).norm() / 2});
    return;
  }
  int s = 0;
  while (side[s] < longest * (1 - 1e-9)) ++s;
  const Corner &a = c[s], &b = c[(s + 1) % 3], &opposite = c[(s + 2) % 3];
  const Corner middle = {(a.point + b.point) / 2, (a.weights + b.weights) / 2};
  AddSamples({a, middle, opposite}, refine, samples);
  AddSamples({middle, b, opposite}, refine, samples);
}

double Similarity(const Eigen::VectorXd& a, const Eigen::VectorXd& b, double sigma) {
  double sum = 0;
  for (Eigen::Index j = 0; j < a.size(); ++j) {
    for (Eigen::Index k = j + 1; k < a.size(); ++k) {
      const double g = a[j] * b[k] - a[k] * b[j];
      sum += a[j] * a[k] * b[j] * b[k] * std::exp(-g * g / (sigma * sigma));
    }
  }
  return sum;
}

std::vector<Corner> Corners(const Rig& rig, const CorReferenceParams& params) {
  std::vector<Corner> corners;
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    Eigen::VectorXd w = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(rig.bindings().size()));
    const auto bindings = rig.influences().bindings(v);
    for (std::size_t k = 0; k < bindings.size(); ++k) {
      if (params.max_influences > 0 && k >= params.max_influences) break;
      w[bindings[k]] = rig.influences().weights(v)[k];
    }
    corners.push_back({ToEigen(ToDouble(rig.mesh().positions()[v])), w / w.sum()});
  }
  return corners;
}

// -1 for the mirror image of a rotation.
double Sign(const AffineD& m) {
  return Determinant(Linear(m)) < 0 ? -1 : 1;
}

}  // namespace

std::vector<Vec3d> CorCentres(const Rig& rig, const CorReferenceParams& params) {
  const std::vector<Corner> corners = Corners(rig, params);
  const Mesh& mesh = rig.mesh();
  std::vector<Sample> samples;
  for (std::size_t f = 0; f < mesh.faces(); ++f) {
    const auto corner = [&](std::uint32_t i) { return corners[mesh.face_vertices()[i]]; };
    const std::uint32_t first = mesh.face_offsets()[f];
    for (std::uint32_t i = first + 2; i < mesh.face_offsets()[f + 1]; ++i) {
      AddSamples({corner(first), corner(i - 1), corner(i)}, params.refine, samples);
    }
  }
  double area = 0;
  for (const Sample& sample : samples) area += sample.area;
  std::vector<Vec3d> centres;
  for (const Corner& vertex : corners) {
    double sum = 1e-12 * area / 16;
    Eigen::Vector3d moment = sum * vertex.point;
    for (const Sample& t : samples) {
      const double s = Similarity(vertex.weights, t.weights, params.sigma) * t.area;
      sum += s;
      moment += s * t.point;
    }
    const Eigen::Vector3d p = sum > 0 ? Eigen::Vector3d(moment / sum) : vertex.point;
    centres.push_back({p.x(), p.y(), p.z()});
  }
  return centres;
}

std::vector<Vec3d> CorPosed(std::span<const Vec3d> points, std::span<const Vec3d> centres,
                            const Influences& influences, std::span<const AffineD> skin) {
  std::vector<Matrix> factors;  // orthogonal
  std::vector<Eigen::Quaterniond> quaternions;
  for (const AffineD& m : skin) {
    factors.emplace_back(Eigen::Map<const Matrix>(OrthogonalBySvd(Linear(m)).m.data()));
    quaternions.emplace_back(Eigen::Matrix3d(Sign(m) * factors.back()));
  }
  std::vector<Vec3d> posed;
  for (std::size_t v = 0; v < points.size(); ++v) {
    const auto bindings = influences.bindings(v);
    const Eigen::Quaterniond& pivot = quaternions[bindings.front()];
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    Eigen::Vector3d linear = Eigen::Vector3d::Zero();
    Eigen::Matrix3d mean = Eigen::Matrix3d::Zero();
    for (std::size_t k = 0; k < bindings.size(); ++k) {
      const std::size_t j = bindings[k];
      const double w = influences.weights(v)[k];
      sum += (quaternions[j].dot(pivot) < 0 ? -w : w) * quaternions[j].coeffs();
      linear += w * ToEigen(Apply(skin[j], points[v]));
      mean += w * factors[j];
    }
    const Eigen::Matrix3d rotation =
        Eigen::Quaterniond(Eigen::Vector4d(sum.normalized())).toRotationMatrix();
    const double sign = Sign(skin[bindings.front()]);
    const Eigen::Vector3d p = linear + (sign * rotation - mean) * ToEigen(points[v] - centres[v]);
    posed.push_back({p.x(), p.y(), p.z()});
  }
  return posed;
}

}  // namespace sinew::reference
