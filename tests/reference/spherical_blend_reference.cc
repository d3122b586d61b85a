#include "tests/reference/spherical_blend_reference.h"

#include <Eigen/Geometry>
#include <Eigen/QR>
#include <cmath>

#include "tests/reference/dqs_reference.h"

namespace sinew::reference {
namespace {

using Matrix = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

constexpr double kTau = 1e-2;

Eigen::Vector3d ToEigen(const Vec3d& v) {
  return {v.x, v.y, v.z};
}
Vec3d FromEigen(const Eigen::Vector3d& v) {
  return {v.x(), v.y(), v.z()};
}

Matrix RotationOf(const AffineD& m) {
  return Eigen::Map<const Matrix>(RotationBySvd(Linear(m)).m.data());
}

Matrix OrthogonalOf(const AffineD& m) {
  return Eigen::Map<const Matrix>(OrthogonalBySvd(Linear(m)).m.data());
}

Vec3d Origin(const Rig& rig, std::size_t binding) {
  return Translation(Inverse(rig.bindings()[binding].inverse_bind));
}

// A joint followed by its ancestors.
std::vector<std::uint32_t> Path(const Rig& rig, std::size_t binding) {
  std::vector<std::uint32_t> path = {rig.bindings()[binding].joint};
  while (rig.skeleton().joint(path.back()).parent != kNoParent) {
    path.push_back(rig.skeleton().joint(path.back()).parent);
  }
  return path;
}

bool Holds(std::span<const std::uint32_t> path, std::uint32_t joint) {
  for (const std::uint32_t j : path) {
    if (j == joint) return true;
  }
  return false;
}

}  // namespace

Vec3d ExpectedCentre(const Rig& rig, std::span<const CentreTerm> terms) {
  Vec3d below, all;
  int count = 0;
  for (const CentreTerm& term : terms) {
    const auto path = Path(rig, term.binding);
    bool descends = false;
    for (const CentreTerm& other : terms) {
      descends = descends || Holds(std::span(path).subspan(1), rig.bindings()[other.binding].joint);
    }
    all = all + Origin(rig, term.binding);
    if (descends) {
      below = below + Origin(rig, term.binding);
      ++count;
    }
  }
  if (count > 0) return (1.0 / count) * below;
  for (const std::uint32_t joint : Path(rig, terms.front().binding)) {
    bool common = true;
    for (const CentreTerm& term : terms) common = common && Holds(Path(rig, term.binding), joint);
    if (!common) continue;
    for (std::size_t e = 0; e < rig.bindings().size(); ++e) {
      if (rig.bindings()[e].joint == joint) return Origin(rig, e);
    }
  }
  return (1.0 / static_cast<double>(terms.size())) * all;
}

Vec3d RotationCentre(const Rig& rig, std::span<const AffineD> skin,
                     std::span<const CentreTerm> terms, const Vec3d& expected) {
  const std::size_t pairs = terms.size() * (terms.size() - 1) / 2;
  if (pairs == 0) return expected;
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(6 * pairs), 3);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(rows.rows());
  const auto translation = [&](std::size_t e) {
    const Vec3d c = Origin(rig, e);
    return Eigen::Vector3d(ToEigen(Apply(skin[e], c)) - OrthogonalOf(skin[e]) * ToEigen(c));
  };
  Eigen::Index row = 0;
  for (std::size_t a = 0; a < terms.size(); ++a) {
    for (std::size_t b = a + 1; b < terms.size(); ++b, row += 6) {
      const double weight = std::sqrt(terms[a].weight * terms[b].weight);
      const std::size_t i = terms[a].binding, j = terms[b].binding;
      const Matrix turn = OrthogonalOf(skin[i]) - OrthogonalOf(skin[j]);
      rows.middleRows(row, 3) = weight * turn;
      right.segment(row, 3) = weight * (translation(j) - translation(i) - turn * ToEigen(expected));
      rows.middleRows(row + 3, 3) = weight * kTau * Matrix::Identity();
    }
  }
  return expected + FromEigen(rows.colPivHouseholderQr().solve(right));
}

std::vector<Vec3d> SphericalBlend(const Rig& rig, std::span<const AffineD> skin,
                                  std::span<const Vec3d> points, bool per_set) {
  std::vector<Vec3d> posed;
  for (std::size_t v = 0; v < points.size(); ++v) {
    std::vector<CentreTerm> terms, fit;
    for (std::size_t k = 0; k < rig.influences().bindings(v).size(); ++k) {
      terms.push_back({rig.influences().bindings(v)[k], rig.influences().weights(v)[k]});
      fit.push_back({terms.back().binding, per_set ? 1 : terms.back().weight});
    }
    const Vec3d r = RotationCentre(rig, skin, fit, ExpectedCentre(rig, fit));
    const Eigen::Quaterniond pivot(Eigen::Matrix3d(RotationOf(skin[terms.front().binding])));
    Eigen::Vector4d blended = Eigen::Vector4d::Zero();
    Eigen::Matrix3d rotations = Eigen::Matrix3d::Zero();
    Vec3d linear;
    for (const CentreTerm& term : terms) {
      const Eigen::Matrix3d rotation = RotationOf(skin[term.binding]);
      const Eigen::Quaterniond q(rotation);
      blended += (q.dot(pivot) < 0 ? -1 : 1) * term.weight * q.coeffs();
      rotations += term.weight * OrthogonalOf(skin[term.binding]);
      linear = linear + term.weight * Apply(skin[term.binding], points[v]);
    }
    const double sign = Determinant(Linear(skin[terms.front().binding])) < 0 ? -1 : 1;
    const Eigen::Matrix3d rotation =
        sign * Eigen::Quaterniond(Eigen::Vector4d(blended.normalized())).toRotationMatrix();
    posed.push_back(linear + FromEigen((rotation - rotations) * ToEigen(points[v] - r)));
  }
  return posed;
}

}  // namespace sinew::reference
