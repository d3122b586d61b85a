#include "core/deform/multi_weight/multi_weight_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/multi_weight/multi_weight_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/point-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

HWY_INLINE Pack AddCoordinate(const float* values, const float* row, const PackPoint& u,
                              const Pack& sum) {
  const Pack w = Pack::Load(values + 48);
  return AddRow(row, AddScaled(w, u, LoadPoint(values)), w, sum);
}

void MultiWeightBlocks(const MultiWeightArgs& given, std::size_t begin, std::size_t end) {
  const MultiWeightArgs args = given;  // a copy, so that stores cannot alias it
  for (std::size_t b = begin; b < end; ++b) {
    const PackPoint u = LoadPoint(args.in + b * 48);
    PackPoint sum = {Pack::Zero(), Pack::Zero(), Pack::Zero()};
    for (std::uint32_t k = args.pair_offset[b]; k < args.pair_offset[b + 1]; ++k) {
      const float* const values = args.values + std::size_t{k} * 192;
      const float* const m = args.relative + std::size_t{args.pair_entry[k]} * 12;
      sum = {AddCoordinate(values, m, u, sum.x), AddCoordinate(values + 64, m + 4, u, sum.y),
             AddCoordinate(values + 128, m + 8, u, sum.z)};
    }
    StorePoint(sum, args.out + b * 48);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, MultiWeightKernel,
             (const MultiWeightArgs& args, std::size_t begin, std::size_t end), MultiWeightBlocks,
             (args, begin, end))
#endif
