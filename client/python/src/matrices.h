// matrices.h - joint matrices as 12 floats, row by row, and in double.
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace sinew::python {

template <class T>
using RowMatrix = Eigen::Matrix<T, 3, 4, Eigen::RowMajor>;

template <class T>
Eigen::Affine3d ToAffine(const T* rows) {
  Eigen::Affine3d matrix = Eigen::Affine3d::Identity();
  matrix.matrix().topRows<3>() = Eigen::Map<const RowMatrix<T>>(rows).template cast<double>();
  return matrix;
}

inline void Append(const Eigen::Affine3d& matrix, std::vector<float>& out) {
  const RowMatrix<float> rows = matrix.matrix().topRows<3>().cast<float>();
  out.insert(out.end(), rows.data(), rows.data() + rows.size());
}

}  // namespace sinew::python
