// ddm_kernel.h - Direct Delta Mush variants 0 to 3, plain and enhanced, for 16 points at a time.
// Variants 4 and 5 use shared kernels.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew {

// Per-frame values of one binding.
struct DdmJoint {
  float affine[12];     // row-major 3x4, for centred rest points
  float linear[9];      // row-major, for moments: the affine's linear part or (enhanced) s R of it
  float quaternion[4];  // R, unit, w x y z
  float sign;           // s of signed_rotation.h
  float padding[6];
};
static_assert(sizeof(DdmJoint) == 128);

// Rows of fields per (block, binding) pair: moments and weights of neighbourhoods, about the
// vertices themselves.
struct DdmTable {
  const float* values;  // [pairs][fields][16], 64-byte aligned
  std::size_t fields;
};

// Fields of a table row: the binding's part of the moments of a neighbourhood about its vertex, P
// (00 01 02 11 12 22), psi (0 1 2), omega; and, with translation weights, w'.
inline constexpr std::size_t kDdmFields = 10;
enum DdmField { kP00, kP01, kP02, kPsi0, kP11, kP12, kPsi1, kP22, kPsi2, kOmega, kTranslation };

// Per block: second moments about the centroid over their determinant, for a neighbourhood scaled
// to trace 1 (00 01 02 11 12 22), and 1 / trace: negative where float is too coarse, 0 where flat.
inline constexpr std::size_t kDdmFitFields = 7;

// With y_j = affine_j rest, e_j = y_j - y_pivot, pc = sum_j psi_j (in `centroid`):
//   q = sum_j (linear_j psi_j + omega_j e_j)
//   H = sum_j (linear_j P_j + e_j psi_j^T) - q pc^T
//   R = s * nearest rotation of s H, s the pivot's sign; or, with `fit`, s cof(H) fit, and s *
//       blended rotation where flat
//   out = y_pivot + q' - R pc,   q' = (1 - alpha) q + alpha sum_j w'_j (linear_j pc + e_j)
struct DdmKernelArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint16_t* pair_entry;   // [pairs] bindings, pivot first
  DdmTable table;                    // kDdmFields fields, or one more when alpha > 0
  const float* centroid;             // [B][3][16] pc
  const float* fit;                  // [B][kDdmFitFields][16] of variant 1; null: variant 0
  const DdmJoint* joints;            // [E] finite
  const float* rest;                 // [B][3][16] points the table is about
  const float* in;  // [B][3][16] points; `in` - rest is also rotated by R; null: rest
  float* out;
  float alpha;
  bool guard;  // also leave lanes whose s R is more than 60 degrees from the blended quaternion
};

// Blocks [begin, end). left[b - begin] gets the lanes of a block (bit i = lane i) that need more
// than float32: where R is close to ambiguous, with `guard` far from the blended rotation, with
// `fit` from second moments too thin for it. Their out is their in (or rest).
void DdmKernel(const DdmKernelArgs& args, std::size_t begin, std::size_t end, std::uint16_t* left);

// Fields of a table row: psi (0 1 2) and omega of the translation, and w of the rotation if it
// differs from omega.
inline constexpr std::size_t kDdmBlendFields = 4;
enum DdmBlendField { kBlendPsi0, kBlendPsi1, kBlendPsi2, kBlendOmega, kBlendTurn };

// With y_j, e_j and pc of DdmKernelArgs: out = y_pivot + sum_j (linear_j psi_j + omega_j e_j) - R
// pc, R the pivot's sign times the rotation of sum_j w_j s_j quaternion_j (s = sign of its product
// with the pivot's), or with `matrices` sum_j w_j linear_j as it is.
struct DdmBlendKernelArgs {
  const std::uint32_t* pair_offset;  // [B + 1]
  const std::uint16_t* pair_entry;   // [pairs] bindings, pivot first
  DdmTable table;                    // kDdmBlendFields fields, or one more when alpha > 0
  const float* centroid;             // [B][3][16] pc
  const DdmJoint* joints;            // [E] finite
  const float* rest;                 // [B][3][16] points the table is about
  const float* in;                   // [B][3][16] points the table refers to
  float* out;
  bool matrices;
};

void DdmBlendKernel(const DdmBlendKernelArgs& args, std::size_t begin, std::size_t end);

}  // namespace sinew
