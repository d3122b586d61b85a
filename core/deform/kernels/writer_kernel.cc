#include "core/deform/kernels/writer_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/kernels/writer_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/file_order-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

WriterKernelResult WriteBlocks(const WriterKernelArgs& args, std::size_t begin, std::size_t end) {
  const float* first = args.in + begin * 48;
  Pack low[3], high[3];
  for (std::size_t c = 0; c < 3; ++c) low[c] = high[c] = Pack::Load(first + c * 16);
  Pack zero = Pack::Zero();  // stays 0 while every value is finite
  for (std::size_t b = begin; b < end; ++b) {
    const float* in = args.in + b * 48;
    const Pack p[3] = {Pack::Load(in), Pack::Load(in + 16), Pack::Load(in + 32)};
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] = Min(low[c], p[c]);
      high[c] = Max(high[c], p[c]);
      zero = MulAdd(p[c], Pack::Zero(), zero);
    }
    StoreInFileOrder({p[0], p[1], p[2]}, args.order + b * 16, args.out);
  }
  WriterKernelResult result{};
  HWY_ALIGN float lanes[16];
  for (std::size_t c = 0; c < 3; ++c) {
    low[c].Store(lanes);
    result.minimum[c] = lanes[0];
    for (const float v : lanes) result.minimum[c] = v < result.minimum[c] ? v : result.minimum[c];
    high[c].Store(lanes);
    result.maximum[c] = lanes[0];
    for (const float v : lanes) result.maximum[c] = v > result.maximum[c] ? v : result.maximum[c];
  }
  zero.Store(lanes);
  result.finite = true;
  for (const float v : lanes) result.finite = result.finite && v == 0.0f;
  return result;
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(WriterKernelResult, WriterKernel,
             (const WriterKernelArgs& args, std::size_t begin, std::size_t end), WriteBlocks,
             (args, begin, end))
#endif
