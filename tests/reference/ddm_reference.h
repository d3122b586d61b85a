// ddm_reference.h - Direct Delta Mush in double, directly from the formulas: every joint at every
// vertex, sparse solves.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/deform/engine/params.h"
#include "core/rig/rig.h"

namespace sinew::reference {

// Coincident vertices with equal weights are one point.
struct DdmMesh {
  std::vector<Vec3d> rest;                        // [V]
  std::vector<std::vector<std::uint32_t>> faces;  // corners
  Eigen::MatrixXd weights;                        // [V x E] rows sum to 1
};
DdmMesh MeshOf(const Rig& rig);

// Treatment of negative cotangents.
enum class Cotangents { kClamped, kRaw };

// DdmParams in double.
struct DdmReferenceParams {
  DdmReferenceParams() = default;
  explicit DdmReferenceParams(const DdmParams& params);
  Laplacian laplacian = Laplacian::kUniform;
  Smoothing smoothing = Smoothing::kImplicit;
  std::uint32_t variant = 0;
  std::uint32_t iterations = 4;
  double lambda = 4, kappa = 4.0 / 3, alpha = 0, keep_area = 0;
  Cotangents cotangents = Cotangents::kClamped;
};

// The repeated smoothing step, explicit or implicit.
class DdmSmoother {
 public:
  DdmSmoother(const DdmMesh& mesh, const DdmReferenceParams& params);
  // params' steps with `lambda` (implicit), or the equivalent number of explicit steps of
  // params.lambda.
  //
  //    columns  [V x n];  returns B columns
  Eigen::MatrixXd Apply(const Eigen::MatrixXd& columns, double lambda) const;

 private:
  Eigen::MatrixXd Solve(Eigen::MatrixXd points, double lambda) const;
  Eigen::MatrixXd Averages(const Eigen::MatrixXd& points) const;  // N points
  void LimitSmoothing(const DdmMesh& mesh);
  DdmReferenceParams params_;
  std::vector<Eigen::Index> point_;  // [V]
  Eigen::SparseMatrix<double> adjacency_;
  Eigen::VectorXd degree_;
  Eigen::VectorXd held_;  // [P] share of the steps applied to a point
};

// All variants without truncation and guard. 0 <= alpha <= 1, below 1 for variants 0 and 1.
class DdmReference {
 public:
  DdmReference(const DdmMesh& mesh, const DdmReferenceParams& params);

  // enhanced: moments use the joints' rotations, points their full transforms (Kalentchouk and
  // Hutchinson 2021, eq. 1).
  std::vector<Vec3d> Evaluate(std::span<const AffineD> skin, bool enhanced) const;
  // The rotation R of x = R (u - p) + q at each vertex.
  std::vector<Mat3d> Rotations(std::span<const AffineD> skin) const;
  // (s2 + sign(det) s3) / |H| at each vertex: small where the rotation of variant 0 is ambiguous.
  std::vector<double> Distinctness(std::span<const AffineD> skin) const;
  // det / trace^3 of each neighbourhood: small where variant 1 uses the blended rotation.
  std::vector<double> Shapes() const;
  const DdmSmoother& smoother() const { return smoother_; }
  // omega, the weights of the translation.
  Eigen::MatrixXd Weights() const { return (1 - alpha_) * psi_[9] + alpha_ * translation_; }
  const std::vector<Eigen::Vector3d>& smoothed() const { return p_; }

 private:
  using Transform = Eigen::Matrix<double, 3, 4>;
  struct Fit {
    Eigen::Matrix3d h;
    Eigen::Vector3d q;
  };
  std::vector<Transform> Transforms(std::size_t v, std::span<const AffineD> skin,
                                    bool enhanced) const;
  Eigen::Matrix4d Omega(std::size_t v, Eigen::Index joint) const;
  Eigen::Matrix3d Covariance(std::size_t v) const;
  Fit FitVertex(std::size_t v, const std::vector<Transform>& transforms) const;
  Eigen::Matrix3d Blended(std::size_t v, std::span<const AffineD> skin) const;
  // -1 where the strongest joint mirrors, else 1.
  double SignOf(std::size_t v, std::span<const AffineD> skin) const;
  Eigen::Matrix3d Affine(std::size_t v, const Eigen::Matrix3d& h,
                         std::span<const AffineD> skin) const;
  Eigen::Vector3d EvaluateVertex(std::size_t v, std::span<const AffineD> skin, bool enhanced) const;

  DdmMesh mesh_;
  DdmSmoother smoother_;
  std::uint32_t variant_;
  double alpha_;
  std::vector<Eigen::MatrixXd> psi_;  // [10][V x E], order 00 01 02 03 11 12 13 22 23 33
  Eigen::MatrixXd translation_;       // [V x E] w'
  std::vector<Eigen::Vector3d> p_;    // [V] smoothed rest points
};

}  // namespace sinew::reference
