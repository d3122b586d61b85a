// cor_kernel.h - sums of surface samples, weighted by the similarity of their weights to those of
// 16 vertices.
#pragma once

#include <cstddef>

namespace sinew {

// A piece of surface influenced by both joints of a pair.
struct CorSample {
  float bj, bk;   // weights of the two joints
  float mass;     // bj * bk * area
  float x, y, z;  // mass * centroid
};

// For each of 16 vertices, over all samples b: e = 2^-(aj bk - ak bj)^2, at least 2^-60; sums += e
// (mass, x, y, z). Runs of 128 samples are summed in float, runs in double.
struct CorKernelArgs {
  const CorSample* samples;  // [n]
  std::size_t count;         // n
  const float* aj;           // [16] weights, scaled for the exponent above
  const float* ak;           // [16] 64-byte aligned both
  double* sums;              // [4][16] added to
};

void CorKernel(const CorKernelArgs& args);

}  // namespace sinew
