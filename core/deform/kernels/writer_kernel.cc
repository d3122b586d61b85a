#include "core/deform/kernels/writer_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/kernels/writer_kernel.cc"
#include <hwy/foreach_target.h>

#include <cstring>

#include "core/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// 16 consecutive vertices.
HWY_INLINE bool IsRun(const std::int32_t* order) {
  const auto first = static_cast<std::uint32_t>(order[0]);
  std::uint32_t differs = 0;
  for (std::uint32_t i = 1; i < 16; ++i) {
    differs |= static_cast<std::uint32_t>(order[i]) ^ (first + i);
  }
  return differs == 0;
}

WriterKernelResult WriteBlocks(const WriterKernelArgs& args, std::size_t begin, std::size_t end) {
  const float* first = args.in + begin * 48;
  Pack low[3], high[3];
  for (std::size_t c = 0; c < 3; ++c) low[c] = high[c] = Pack::Load(first + c * 16);
  Pack zero = Pack::Zero();  // stays 0 while every value is finite
  HWY_ALIGN float packed[48];
  for (std::size_t b = begin; b < end; ++b) {
    const float* in = args.in + b * 48;
    const Pack p[3] = {Pack::Load(in), Pack::Load(in + 16), Pack::Load(in + 32)};
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] = Min(low[c], p[c]);
      high[c] = Max(high[c], p[c]);
      zero = MulAdd(p[c], Pack::Zero(), zero);
    }
    StoreInterleaved(p[0], p[1], p[2], packed);
    const std::int32_t* order = args.order + b * 16;
    if (IsRun(order)) {  // the usual case
      std::memcpy(args.out + static_cast<std::size_t>(order[0]) * 12, packed, sizeof packed);
      continue;
    }
    for (std::size_t i = 0; i < 16 && order[i] >= 0; ++i) {
      std::memcpy(args.out + static_cast<std::size_t>(order[i]) * 12, packed + i * 3, 12);
    }
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
