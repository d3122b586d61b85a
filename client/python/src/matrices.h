// matrices.h - joint matrices as 12 floats, row by row, and in double.
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace sinew::python {

using RowMatrix = Eigen::Matrix<float, 3, 4, Eigen::RowMajor>;

inline Eigen::Affine3d ToAffine(const float* rows) {
  Eigen::Affine3d matrix = Eigen::Affine3d::Identity();
  matrix.matrix().topRows<3>() = Eigen::Map<const RowMatrix>(rows).cast<double>();
  return matrix;
}

inline void Append(const Eigen::Affine3d& matrix, std::vector<float>& out) {
  const RowMatrix rows = matrix.matrix().topRows<3>().cast<float>();
  out.insert(out.end(), rows.data(), rows.data() + rows.size());
}

}  // namespace sinew::python
