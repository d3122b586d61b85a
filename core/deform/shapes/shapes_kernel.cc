#include "core/deform/shapes/shapes_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/shapes/shapes_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

void AddOffsetsBlocks(const AddOffsetsArgs& args, std::size_t begin, std::size_t end) {
  const Pack coefficient = Pack::Set(args.coefficient);
  for (std::size_t p = begin; p < end; ++p) {
    const float* offsets = args.offsets + p * 48;
    float* sum = args.sum + std::size_t{args.block[p] - args.first_block} * 48;
    for (std::size_t i = 0; i < 48; i += 16) {
      MulAdd(coefficient, Pack::Load(offsets + i), Pack::Load(sum + i)).Store(sum + i);
    }
  }
}

void MoveByBlocks(const float* in, const float* sum, float* out, std::size_t blocks) {
  for (std::size_t i = 0; i < blocks * 48; i += 16) {
    const Pack point = Pack::Load(in + i), offset = Pack::Load(sum + i);
    // A select, because -0 + 0 is +0; the condition is written so that NaN offsets are added.
    IfThenElse(Le(Abs(offset), Pack::Zero()), point, point + offset).Store(out + i);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, AddOffsetsKernel,
             (const AddOffsetsArgs& args, std::size_t begin, std::size_t end), AddOffsetsBlocks,
             (args, begin, end))
SINEW_KERNEL(void, MoveByKernel,
             (const float* in, const float* sum, float* out, std::size_t blocks), MoveByBlocks,
             (in, sum, out, blocks))
#endif
