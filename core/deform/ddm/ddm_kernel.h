// ddm_kernel.h - Direct Delta Mush variant 0, plain and enhanced, 16 points at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// What a pose means for one binding, as the kernel broadcasts it.
struct DdmJoint {
  float affine[12];     // row-major 3x4: takes centred rest points; moves the points themselves
  float linear[9];      // row-major: turns the moments. The affine's linear part, or (enhanced) its
                        // rotation
  float quaternion[4];  // its rotation, unit, w x y z
  float padding[7];
};
static_assert(sizeof(DdmJoint) == 128);

// Fields of a table row. Moments of a neighbourhood about the vertex itself, as far as a binding
// moves it: P (00 01 02 11 12 22), psi (0 1 2), omega; and, with translation weights, w'.
inline constexpr std::size_t kDdmFields = 10;
enum DdmField { kP00, kP01, kP02, kPsi0, kP11, kP12, kPsi1, kP22, kPsi2, kOmega, kTranslation };

// With y_j = affine_j rest, e_j = y_j - y_pivot, pc = sum_j psi_j (in `centroid`):
//   q = sum_j (linear_j psi_j + omega_j e_j)
//   H = sum_j (linear_j P_j + e_j psi_j^T) - q pc^T,   R = nearest rotation of H
//   out = y_pivot + q' - R pc,   q' = (1 - alpha) q + alpha sum_j w'_j (linear_j pc + e_j)
struct DdmKernelArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint16_t* pair_entry;   // [pairs] bindings, pivot first
  const float* table;                // [pairs][fields][16], 64-byte aligned
  std::size_t fields;                // kDdmFields, or one more when alpha > 0
  const float* centroid;             // [B][3][16] pc
  const DdmJoint* joints;            // [E] finite
  const float* rest;                 // [B][3][16] points the table is about
  const float* in;  // [B][3][16] rest points to move by R (in - rest); null: rest itself
  float* out;       // [B][3][16], may be `in`
  float alpha;
  bool guard;  // also leave lanes whose R is more than 60 degrees from the blended quaternion
};

// Blocks [begin, end). left[b - begin] gets the lanes of a block (bit i = lane i) that need more
// than float32: where R is close to ambiguous or, with `guard`, far from the blended rotation.
// Their out is their in (or rest).
void DdmKernel(const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left);

}  // namespace sinew
