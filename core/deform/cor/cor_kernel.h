// cor_kernel.h - how alike the weights of 16 vertices are to those of a list of surface samples,
// summed up.
#pragma once

#include <cstddef>

namespace sinew {

// A piece of surface that carries both joints of a pair.
struct CorSample {
  float bj, bk;   // weights of the two joints
  float mass;     // bj * bk * area
  float x, y, z;  // mass * centroid
};

// For each of 16 vertices, over all samples b: e = 2^-(aj bk - ak bj)^2, clamped at 2^-60;
// sums += e (mass, x, y, z). Runs of 128 samples are added up in float32, runs in double.
struct CorKernelArgs {
  const CorSample* samples;  // [n]
  std::size_t count;         // n
  const float* aj;           // [16] weights, scaled so that the exponent above is the wanted one
  const float* ak;           // [16] 64-byte aligned both
  double* sums;              // [4][16] added to
};

void CorKernel(const CorKernelArgs& args);

}  // namespace sinew
