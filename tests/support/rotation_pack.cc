#include "tests/support/rotation_pack.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/support/rotation_pack.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"
#include "core/simd/rotation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void RotationBlock(const float* h, float* r, float* den) {
  Pack matrix[9], rotation[9];
  for (int i = 0; i < 9; ++i) matrix[i] = Pack::Load(h + 16 * i);
  NearestRotation16(matrix, rotation).Store(den);
  for (int i = 0; i < 9; ++i) rotation[i].Store(r + 16 * i);
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinew {

HWY_EXPORT(RotationBlock);

namespace testing {
void NearestRotations(const float* h, float* r, float* den) {
  HWY_DYNAMIC_DISPATCH(RotationBlock)(h, r, den);
}
}  // namespace testing

}  // namespace sinew
#endif
