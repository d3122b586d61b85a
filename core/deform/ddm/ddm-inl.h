// ddm-inl.h - shared by the Direct Delta Mush kernels: table rows and point transforms.
//
// A Pack holds the same number for 16 points. Point blocks are [3][16]; matrices are row-major and
// shared by all lanes. Sums have a fixed order, so the bits do not depend on the instruction set.
#if defined(SINEW_CORE_DEFORM_DDM_DDM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINEW_CORE_DEFORM_DDM_DDM_INL_H_
#undef SINEW_CORE_DEFORM_DDM_DDM_INL_H_
#else
#define SINEW_CORE_DEFORM_DDM_DDM_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "core/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// The fields of one (block, binding) pair of a DdmTable, by field number.
struct TableRow {
  const float* values;
  template <class Table>
  HWY_INLINE TableRow(const Table& table, std::size_t pair)
      : values(table.values + pair * table.fields * 16) {}
  HWY_INLINE Pack operator[](int f) const { return Pack::Load(values + 16 * f); }
};

HWY_INLINE void Load3(const float* block, Pack* p) {
  for (int i = 0; i < 3; ++i) p[i] = Pack::Load(block + 16 * i);
}

HWY_INLINE Pack Row(const float* row, const Pack* v) {
  return MulAdd(Pack::Set(row[0]), v[0], MulAdd(Pack::Set(row[1]), v[1], Pack::Set(row[2]) * v[2]));
}

// y = A u + t, of a 3x4 affine (A t).
HWY_INLINE void Move(const float* affine, const Pack* u, Pack* y) {
  for (int r = 0; r < 3; ++r) {
    const float* m = affine + 4 * r;
    y[r] = MulAdd(Pack::Set(m[0]), u[0],
                  MulAdd(Pack::Set(m[1]), u[1], MulAdd(Pack::Set(m[2]), u[2], Pack::Set(m[3]))));
  }
}

// The vector to rotate: (in - rest) - pc, with pc as in ddm_kernel.h.
HWY_INLINE void LoadArm(const float* in, const Pack* rest, const Pack* pc, Pack* arm) {
  Load3(in, arm);
  for (int i = 0; i < 3; ++i) arm[i] = (arm[i] - rest[i]) - pc[i];
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
