#include "core/distil/corrective_shapes.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"
#include "core/solve/dense.h"

namespace sinew {
namespace {

constexpr std::size_t kGrain = 4096;
constexpr double kMost = 0.8;       // value of a sample: between the samples it may be larger
constexpr double kCollapsed = 0.2;  // smallest singular value over `size` from which it is damped

// The places whose residuals are not those of the first sample in all samples.
std::vector<std::uint32_t> Changing(std::span<const std::vector<Vec3f>> residuals) {
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < residuals[0].size(); ++i) {
    const bool changes = std::ranges::any_of(
        residuals, [&](const std::vector<Vec3f>& sample) { return sample[i] != residuals[0][i]; });
    if (changes) places.push_back(i);
  }
  return places;
}

// [S][S] products of the residuals, less those of the first sample; summed in fixed chunks.
Eigen::MatrixXd Products(std::span<const std::vector<Vec3f>> residuals,
                         std::span<const std::uint32_t> places, const Task& task) {
  const std::size_t samples = residuals.size(), n = places.size();
  const auto size = static_cast<Eigen::Index>(samples);
  std::vector<Eigen::MatrixXd> parts((n + kGrain - 1) / kGrain, Eigen::MatrixXd::Zero(size, size));
  task.For(n, kGrain, [&](std::size_t begin, std::size_t end) {
    Eigen::MatrixXd& part = parts[begin / kGrain];
    std::vector<Vec3d> row(samples);
    for (const std::uint32_t i : places.subspan(begin, end - begin)) {
      const Vec3d rest = ToDouble(residuals[0][i]);
      for (std::size_t s = 1; s < samples; ++s) row[s] = ToDouble(residuals[s][i]) - rest;
      for (std::size_t s = 1; s < samples; ++s) {
        for (std::size_t t = 1; t <= s; ++t) {
          part(static_cast<Eigen::Index>(s), static_cast<Eigen::Index>(t)) += Dot(row[s], row[t]);
        }
      }
    }
  });
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(size, size);
  for (const Eigen::MatrixXd& part : parts) sum += part;
  return sum.selfadjointView<Eigen::Lower>();
}

std::vector<double> KernelWeights(std::span<const Vec3d> samples, std::vector<double> values) {
  std::vector<double> distances;
  for (const Vec3d& a : samples) {
    for (const Vec3d& b : samples) distances.push_back(Length(a - b));
  }
  SolveDense(distances, values);
  return values;
}

// The part of a component that is added, where `values` are above 0. The samples need root(energy)
// * value of the unit shape sum(value * residual) / root(energy); scaled so that the one that needs
// most needs kMost.
void AddShape(std::span<const std::vector<Vec3f>> residuals, std::span<const std::uint32_t> places,
              double energy, std::vector<double> values, const ShapeLimits& limits,
              JointShapes& result) {
  const double scale = *std::ranges::max_element(values) / kMost;
  if (!(scale > 0)) return;
  CorrectiveShape shape;
  double farthest = 0;
  for (const std::uint32_t i : places) {
    const Vec3d rest = ToDouble(residuals[0][i]);
    Vec3d offset;
    for (std::size_t s = 1; s < values.size(); ++s) {
      offset = offset + values[s] * (ToDouble(residuals[s][i]) - rest);
    }
    offset = scale * offset;
    const double length = Length(offset);
    farthest = std::max(farthest, length);
    if (length <= limits.least_offset) continue;
    shape.vertices.push_back(i);
    shape.offsets.push_back(ToFloat(offset));
  }
  if (!(farthest > limits.least_shape) || shape.vertices.empty()) return;
  for (double& value : values) {
    shape.energy += energy * std::max(value, 0.0) * std::max(value, 0.0);
    value /= scale;
  }
  shape.kernel_weights = KernelWeights(result.samples, std::move(values));
  result.shapes.push_back(std::move(shape));
}

}  // namespace

Vec3d ToRest(const Mat3d& blend, const Vec3d& displacement, double size) {
  const Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>> b(blend.m.data());
  const Eigen::Vector3d d(displacement.x, displacement.y, displacement.z);
  const double squares = b.squaredNorm(), least = kCollapsed * size;
  if (!(squares > 0)) return {};
  Eigen::Vector3d rest;
  // No singular value is below 2 |det| / (sum of their squares), which mostly decides it.
  if (2 * std::abs(b.determinant()) > 1.001 * least * squares) {
    rest = b.inverse() * d;
  } else {
    const Eigen::Matrix3d square = b * b.transpose();
    Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> values;
    values.computeDirect(square, Eigen::EigenvaluesOnly);
    const bool collapses = !(values.eigenvalues()[0] >= least * least);
    rest = b.transpose() *
           (square + (collapses ? least * least : 0) * Eigen::Matrix3d::Identity()).inverse() * d;
  }
  return {rest[0], rest[1], rest[2]};
}

double JointShapes::Value(std::size_t index, const Vec3d& turn) const {
  double value = 0;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    value += shapes[index].kernel_weights[s] * Length(turn - samples[s]);
  }
  return std::clamp(value, 0.0, 1.0);
}

JointShapes FitJointShapes(std::span<const Vec3d> samples,
                           std::span<const std::vector<Vec3f>> residuals, const ShapeLimits& limits,
                           const Task& task) {
  JointShapes result{.samples = {samples.begin(), samples.end()}, .shapes = {}};
  if (samples.size() < 2) return result;
  const std::vector<std::uint32_t> places = Changing(residuals);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(Products(residuals, places, task));
  for (std::size_t k = 0; k < std::min(limits.components, samples.size() - 1); ++k) {
    const auto column = static_cast<Eigen::Index>(samples.size() - 1 - k);
    const double energy = solver.eigenvalues()[column];
    if (!(energy > 0)) break;
    const Eigen::VectorXd u = solver.eigenvectors().col(column);
    for (const double sign : {1.0, -1.0}) {
      std::vector<double> values(u.data(), u.data() + u.size());
      for (double& value : values) value *= sign;
      values[0] = 0;
      AddShape(residuals, places, energy, std::move(values), limits, result);
    }
  }
  std::ranges::stable_sort(result.shapes, std::ranges::greater{}, &CorrectiveShape::energy);
  return result;
}

}  // namespace sinew
