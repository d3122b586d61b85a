#include "tests/reference/ddm_reference.h"

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace sinew::reference {
namespace {

using Edge = std::pair<Eigen::Index, Eigen::Index>;

Eigen::Vector3d ToEigen(const Vec3d& v) {
  return {v.x, v.y, v.z};
}

std::vector<Eigen::Index> WeldPoints(const DdmMesh& mesh, Eigen::Index& count) {
  std::map<std::vector<double>, Eigen::Index> seen;
  std::vector<Eigen::Index> point;
  for (std::size_t v = 0; v < mesh.rest.size(); ++v) {
    std::vector<double> key = {mesh.rest[v].x, mesh.rest[v].y, mesh.rest[v].z};
    const Eigen::RowVectorXd row = mesh.weights.row(static_cast<Eigen::Index>(v));
    key.insert(key.end(), row.begin(), row.end());
    point.push_back(seen.try_emplace(key, static_cast<Eigen::Index>(seen.size())).first->second);
  }
  count = static_cast<Eigen::Index>(seen.size());
  return point;
}

std::map<Edge, double> UniformEdges(const DdmMesh& mesh, const std::vector<Eigen::Index>& point) {
  std::map<Edge, double> edges;
  for (const auto& face : mesh.faces) {
    for (std::size_t k = 0; k < face.size(); ++k) {
      const Eigen::Index a = point[face[k]], b = point[face[(k + 1) % face.size()]];
      if (a != b) edges[std::minmax(a, b)] = 1;
    }
  }
  return edges;
}

std::map<Edge, double> CotangentEdges(const DdmMesh& mesh, const std::vector<Eigen::Index>& point,
                                      Cotangents cotangents) {
  std::map<Edge, double> edges;
  for (const auto& face : mesh.faces) {
    for (std::size_t k = 2; k < face.size(); ++k) {
      const std::uint32_t t[3] = {face[0], face[k - 1], face[k]};
      if (std::set{point[t[0]], point[t[1]], point[t[2]]}.size() < 3) continue;
      for (int i = 0; i < 3; ++i) {
        const std::uint32_t apex = t[i], a = t[(i + 1) % 3], b = t[(i + 2) % 3];
        const Eigen::Vector3d e1 = ToEigen(mesh.rest[a] - mesh.rest[apex]);
        const Eigen::Vector3d e2 = ToEigen(mesh.rest[b] - mesh.rest[apex]);
        const double area = e1.cross(e2).norm();
        const double longest =
            std::max({e1.squaredNorm(), e2.squaredNorm(), (e1 - e2).squaredNorm()});
        edges[std::minmax(point[a], point[b])] +=
            area > 1e-14 * longest ? 0.5 * e1.dot(e2) / area : 0;
      }
    }
  }
  if (cotangents == Cotangents::kRaw) return edges;
  double sum = 0, count = 0;
  for (const auto& [edge, w] : edges) {
    sum += std::max(w, 0.0);
    count += w > 0;
  }
  for (auto& [edge, w] : edges) w = std::max(w, count > 0 ? 1e-3 * sum / count : 1);
  return edges;
}

Eigen::Matrix3d RotationOf(const Eigen::Matrix3d& h) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(h, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3d u = svd.matrixU();
  if ((u * svd.matrixV().transpose()).determinant() < 0) u.col(2) *= -1;
  return u * svd.matrixV().transpose();
}

Eigen::Matrix3d LinearOf(const AffineD& m) {
  return Eigen::Map<const Eigen::Matrix<double, 3, 4, Eigen::RowMajor>>(m.m.data()).leftCols<3>();
}

double Sign(const Eigen::Matrix3d& m) {
  return m.determinant() < 0 ? -1 : 1;
}

}  // namespace

DdmMesh MeshOf(const Rig& rig) {
  DdmMesh mesh;
  for (const Vec3f& p : rig.mesh().positions()) mesh.rest.push_back(ToDouble(p));
  for (std::size_t f = 0; f < rig.mesh().faces(); ++f) {
    const auto begin = rig.mesh().face_vertices().begin();
    mesh.faces.emplace_back(begin + rig.mesh().face_offsets()[f],
                            begin + rig.mesh().face_offsets()[f + 1]);
  }
  mesh.weights = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(rig.vertices()),
                                       static_cast<Eigen::Index>(rig.bindings().size()));
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    for (std::size_t k = 0; k < rig.influences().bindings(v).size(); ++k) {
      mesh.weights(static_cast<Eigen::Index>(v), rig.influences().bindings(v)[k]) =
          rig.influences().weights(v)[k];
    }
  }
  return mesh;
}

DdmReferenceParams::DdmReferenceParams(const DdmParams& params)
    : laplacian(params.laplacian),
      smoothing(params.smoothing),
      variant(params.variant),
      iterations(params.iterations),
      lambda(double{params.lambda}),
      kappa(params.kappa.has_value() ? double{*params.kappa} : lambda / 3),
      alpha(double{params.alpha}),
      keep_area(double{params.keep_area}) {}

DdmSmoother::DdmSmoother(const DdmMesh& mesh, const DdmReferenceParams& params) : params_(params) {
  Eigen::Index points = 0;
  point_ = WeldPoints(mesh, points);
  const auto edges = params.laplacian == Laplacian::kUniform
                         ? UniformEdges(mesh, point_)
                         : CotangentEdges(mesh, point_, params.cotangents);
  degree_ = Eigen::VectorXd::Zero(points);
  std::vector<Eigen::Triplet<double>> entries;
  for (const auto& [edge, w] : edges) {
    entries.emplace_back(edge.first, edge.second, w);
    entries.emplace_back(edge.second, edge.first, w);
    degree_[edge.first] += w;
    degree_[edge.second] += w;
  }
  for (Eigen::Index p = 0; p < points; ++p) {
    if (degree_[p] > 0) continue;
    degree_[p] = 1;
    entries.emplace_back(p, p, 1);
  }
  adjacency_.resize(points, points);
  adjacency_.setFromTriplets(entries.begin(), entries.end());
  held_ = Eigen::VectorXd::Ones(points);
  if (params.keep_area > 0) LimitSmoothing(mesh);
}

Eigen::MatrixXd DdmSmoother::Averages(const Eigen::MatrixXd& points) const {
  return degree_.cwiseInverse().asDiagonal() * (adjacency_ * points);
}

// (area around the rest point once smoothed / before / keep_area)^2, at least 0.01 and at most 1,
// after three rounds of F <- (F + N F) / 2.
void DdmSmoother::LimitSmoothing(const DdmMesh& mesh) {
  Eigen::MatrixXd rest(degree_.size(), 3);
  for (std::size_t v = 0; v < point_.size(); ++v) {
    rest.row(point_[v]) = ToEigen(mesh.rest[v]).transpose();
  }
  const Eigen::MatrixXd smoothed = Solve(rest, params_.lambda);
  Eigen::VectorXd before = Eigen::VectorXd::Zero(degree_.size()), after = before;
  for (const auto& face : mesh.faces) {
    for (std::size_t k = 2; k < face.size(); ++k) {
      const Eigen::Index t[3] = {point_[face[0]], point_[face[k - 1]], point_[face[k]]};
      const auto area = [&](const Eigen::MatrixXd& at) {
        const Eigen::Vector3d a = at.row(t[1]) - at.row(t[0]), b = at.row(t[2]) - at.row(t[0]);
        return a.cross(b).norm();
      };
      for (const Eigen::Index p : t) {
        before[p] += area(rest);
        after[p] += area(smoothed);
      }
    }
  }
  for (Eigen::Index p = 0; p < held_.size(); ++p) {
    if (!(before[p] > 0)) continue;
    held_[p] = std::clamp(std::pow(after[p] / before[p] / params_.keep_area, 2), 0.01, 1.0);
  }
  for (int blur = 0; blur < 3; ++blur) held_ = (0.5 * (held_ + Averages(held_))).eval();
}

Eigen::MatrixXd DdmSmoother::Solve(Eigen::MatrixXd x, double lambda) const {
  if (params_.smoothing == Smoothing::kExplicit) {
    const double h = params_.lambda;
    const double steps = lambda > 0 ? std::round(params_.iterations * lambda / h) : 0;
    for (double k = 0; k < steps; ++k) {
      x += h * (held_.asDiagonal() * (Averages(x) - x));
    }
    return x;
  }
  // (D / F + lambda (D - G)) x_next = D / F x, F = diag(held): symmetric and positive definite.
  const Eigen::VectorXd mass = degree_.cwiseQuotient(held_);
  Eigen::SparseMatrix<double> system = -lambda * adjacency_;
  for (Eigen::Index p = 0; p < degree_.size(); ++p)
    system.coeffRef(p, p) += mass[p] + lambda * degree_[p];
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(system);
  for (std::uint32_t k = 0; k < params_.iterations; ++k) {
    x = factor.solve(Eigen::MatrixXd(mass.asDiagonal() * x));
  }
  return x;
}

Eigen::MatrixXd DdmSmoother::Apply(const Eigen::MatrixXd& columns, double lambda) const {
  Eigen::MatrixXd x(degree_.size(), columns.cols());
  for (std::size_t v = 0; v < point_.size(); ++v) {
    x.row(point_[v]) = columns.row(static_cast<Eigen::Index>(v));
  }
  x = Solve(std::move(x), lambda);
  Eigen::MatrixXd result(columns.rows(), columns.cols());
  for (std::size_t v = 0; v < point_.size(); ++v) {
    result.row(static_cast<Eigen::Index>(v)) = x.row(point_[v]);
  }
  return result;
}

DdmReference::DdmReference(const DdmMesh& mesh, const DdmReferenceParams& params)
    : mesh_(mesh), smoother_(mesh, params), variant_(params.variant), alpha_(params.alpha) {
  const auto vertices = static_cast<Eigen::Index>(mesh.rest.size());
  for (int r = 0; r < 4; ++r) {
    for (int c = r; c < 4; ++c) {
      Eigen::VectorXd product(vertices);
      for (Eigen::Index v = 0; v < vertices; ++v) {
        const Eigen::Vector4d u = ToEigen(mesh.rest[static_cast<std::size_t>(v)]).homogeneous();
        product[v] = u[r] * u[c];
      }
      psi_.push_back(smoother_.Apply(product.asDiagonal() * mesh.weights, params.lambda));
    }
  }
  translation_ = smoother_.Apply(mesh.weights, params.kappa);
  for (Eigen::Index v = 0; v < vertices; ++v) {
    p_.emplace_back(
        Eigen::Vector3d(psi_[3].row(v).sum(), psi_[6].row(v).sum(), psi_[8].row(v).sum()) /
        psi_[9].row(v).sum());
  }
}

std::vector<DdmReference::Transform> DdmReference::Transforms(std::size_t vertex,
                                                              std::span<const AffineD> skin,
                                                              bool enhanced) const {
  const Eigen::Vector3d u = ToEigen(mesh_.rest[vertex]);
  const Eigen::Vector3d pivot(0.3, -0.2, 0.7);  // arbitrary
  std::vector<Transform> transforms;
  for (const AffineD& matrix : skin) {
    Transform m = Eigen::Map<const Eigen::Matrix<double, 3, 4, Eigen::RowMajor>>(matrix.m.data());
    if (enhanced) {
      // M = Mr Ms with Mr rigid, or its mirror image, and Ms the scale and shear about the pivot; D
      // moves by Ms u - u.
      const double sign = Sign(m.leftCols<3>());
      const Eigen::Matrix3d r = sign * RotationOf(sign * m.leftCols<3>());
      const Eigen::Vector3d t = m * pivot.homogeneous() - r * pivot;
      const Eigen::Vector3d scaled = r.transpose() * (m * u.homogeneous() - t);
      m.leftCols<3>() = r;
      m.col(3) = r * (scaled - u) + t;
    }
    transforms.push_back(m);
  }
  return transforms;
}

Eigen::Matrix4d DdmReference::Omega(std::size_t vertex, Eigen::Index j) const {
  const auto v = static_cast<Eigen::Index>(vertex);
  const auto at = [&](std::size_t k) { return psi_[k](v, j); };
  const Eigen::Vector4d p = p_[vertex].homogeneous();
  Eigen::Matrix4d psi;
  psi << at(0), at(1), at(2), at(3), at(1), at(4), at(5), at(6), at(2), at(5), at(7), at(8), at(3),
      at(6), at(8), at(9);
  return (1 - alpha_) * psi + alpha_ * translation_(v, j) * (p * p.transpose());
}

DdmReference::Fit DdmReference::FitVertex(std::size_t v,
                                          const std::vector<Transform>& transforms) const {
  Transform sum = Transform::Zero();
  for (Eigen::Index j = 0; j < mesh_.weights.cols(); ++j) {
    sum += transforms[static_cast<std::size_t>(j)] * Omega(v, j);
  }
  return {sum.leftCols<3>() - sum.col(3) * p_[v].transpose(), sum.col(3)};
}

Eigen::Matrix3d DdmReference::Covariance(std::size_t v) const {
  Eigen::Matrix3d second = Eigen::Matrix3d::Zero();
  for (Eigen::Index j = 0; j < mesh_.weights.cols(); ++j) {
    second += Omega(v, j).topLeftCorner<3, 3>();
  }
  return second - p_[v] * p_[v].transpose();
}

Eigen::Matrix3d DdmReference::Blended(std::size_t vertex, std::span<const AffineD> skin) const {
  const auto v = static_cast<Eigen::Index>(vertex);
  const auto rotation = [&](Eigen::Index j) {
    const Eigen::Matrix3d linear = LinearOf(skin[static_cast<std::size_t>(j)]);
    return Eigen::Quaterniond(RotationOf(Sign(linear) * linear));
  };
  Eigen::Index strongest = 0;
  mesh_.weights.row(v).maxCoeff(&strongest);
  const Eigen::Vector4d pivot = rotation(strongest).coeffs();
  Eigen::Vector4d sum = Eigen::Vector4d::Zero();
  for (Eigen::Index j = 0; j < mesh_.weights.cols(); ++j) {
    const Eigen::Vector4d q = rotation(j).coeffs();
    sum += psi_[9](v, j) * (q.dot(pivot) < 0 ? -1.0 : 1.0) * q;
  }
  return SignOf(vertex, skin) * Eigen::Quaterniond(sum.normalized()).toRotationMatrix();
}

double DdmReference::SignOf(std::size_t vertex, std::span<const AffineD> skin) const {
  Eigen::Index strongest = 0;
  mesh_.weights.row(static_cast<Eigen::Index>(vertex)).maxCoeff(&strongest);
  return Sign(LinearOf(skin[static_cast<std::size_t>(strongest)]));
}

// The inverse transpose of the affine fit, its determinant normalised: cof(h) K.
Eigen::Matrix3d DdmReference::Affine(std::size_t v, const Eigen::Matrix3d& h,
                                     std::span<const AffineD> skin) const {
  const Eigen::Matrix3d covariance = Covariance(v), scaled = covariance / covariance.trace();
  if (scaled.determinant() < 1e-6) return Blended(v, skin);
  const Eigen::Matrix3d a = h / covariance.trace();
  Eigen::Matrix3d cofactor;
  for (int r = 0; r < 3; ++r) {
    cofactor.row(r) = a.row((r + 1) % 3).cross(a.row((r + 2) % 3));
  }
  return SignOf(v, skin) * cofactor * scaled / scaled.determinant();
}

Eigen::Vector3d DdmReference::EvaluateVertex(std::size_t v, std::span<const AffineD> skin,
                                             bool enhanced) const {
  const std::vector<Transform> transforms = Transforms(v, skin, enhanced);
  const std::vector<Transform> full = Transforms(v, skin, false);
  const Eigen::Vector3d u = ToEigen(mesh_.rest[v]), d = u - p_[v];
  const Fit fit = FitVertex(v, transforms);
  const double sign = SignOf(v, skin);
  if (variant_ == 0) return sign * (RotationOf(sign * fit.h) * d) + fit.q;
  if (variant_ == 1) return Affine(v, fit.h, skin) * d + fit.q;
  if (variant_ == 2) return Blended(v, skin) * d + fit.q;
  Eigen::Matrix3d turned = Eigen::Matrix3d::Zero(), carried = turned;
  Eigen::Vector3d blend = Eigen::Vector3d::Zero();
  for (Eigen::Index j = 0; j < mesh_.weights.cols(); ++j) {
    const auto k = static_cast<std::size_t>(j);
    const double turn = psi_[9](static_cast<Eigen::Index>(v), j), omega = Omega(v, j)(3, 3);
    turned += turn * transforms[k].leftCols<3>();
    carried += omega * transforms[k].leftCols<3>();
    blend += omega * (full[k] * u.homogeneous());
  }
  if (variant_ == 3) return turned * d + fit.q;
  return variant_ == 4 ? blend + (Blended(v, skin) - carried) * d : blend;
}

std::vector<Vec3d> DdmReference::Evaluate(std::span<const AffineD> skin, bool enhanced) const {
  std::vector<Vec3d> posed;
  for (std::size_t v = 0; v < mesh_.rest.size(); ++v) {
    const Eigen::Vector3d x = EvaluateVertex(v, skin, enhanced);
    posed.push_back({x[0], x[1], x[2]});
  }
  return posed;
}

std::vector<Mat3d> DdmReference::Rotations(std::span<const AffineD> skin) const {
  std::vector<Mat3d> rotations(mesh_.rest.size());
  for (std::size_t v = 0; v < rotations.size(); ++v) {
    Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(rotations[v].m.data()) =
        RotationOf(FitVertex(v, Transforms(v, skin, false)).h);
  }
  return rotations;
}

std::vector<double> DdmReference::Distinctness(std::span<const AffineD> skin) const {
  std::vector<double> ratios;
  for (std::size_t v = 0; v < mesh_.rest.size(); ++v) {
    const Fit fit = FitVertex(v, Transforms(v, skin, false));
    const Eigen::Vector3d s = fit.h.jacobiSvd().singularValues();
    const double side = SignOf(v, skin) * fit.h.determinant() < 0 ? -1 : 1;
    ratios.push_back((s[1] + side * s[2]) / s.norm());
  }
  return ratios;
}

std::vector<double> DdmReference::Shapes() const {
  std::vector<double> shapes;
  for (std::size_t v = 0; v < mesh_.rest.size(); ++v) {
    const Eigen::Matrix3d covariance = Covariance(v);
    shapes.push_back(covariance.determinant() / std::pow(covariance.trace(), 3));
  }
  return shapes;
}

}  // namespace sinew::reference
