#include "core/surface/unit_normals_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/surface/unit_normals_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void UnitNormals(float* sums, std::size_t packs, const UnitNormalsLimits& limits,
                 std::uint16_t* unclear) {
  const Pack one = Pack::Set(1.0f);
  for (std::size_t k = 0; k < packs; ++k) {
    float* const rows = sums + k * 64;
    Pack size;
    const PackPoint sum = LoadPackedRows(rows, size);
    const Pack length2 = sum.x * sum.x + sum.y * sum.y + sum.z * sum.z;
    const Pack noise = Pack::Set(limits.noise) * size;
    const std::uint32_t clear = MaskBits(Gt(length2, Pack::Set(limits.smallest))) &
                                MaskBits(Lt(length2, Pack::Set(limits.largest))) &
                                MaskBits(Gt(length2, noise * noise));
    unclear[k] = static_cast<std::uint16_t>(~clear);
    StoreRows(Scaled(one / Sqrt(length2), sum), rows);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, UnitNormalsKernel,
             (float* sums, std::size_t packs, const UnitNormalsLimits& limits,
              std::uint16_t* unclear),
             UnitNormals, (sums, packs, limits, unclear))
#endif
