#include "core/deform/cor/cor_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/deform/cor/cor_kernel.cc"
#include <hwy/foreach_target.h>

#include "core/simd/pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

// 2^-q for q >= 0, relative error 2e-7; constant 2^-60 beyond 60.
HWY_INLINE Pack PowerBelowOne(const Pack& q) {
  const Pack bias = Pack::Set(kPowerBias), capped = Min(q, Pack::Set(60.0f));
  const Pack whole = bias - capped;
  const Pack f = (bias - whole) - capped;  // the remaining exponent, -1/2 to 1/2
  // 2^f, coefficients of the Cephes library.
  Pack p = MulAdd(f, Pack::Set(1.535336188319500e-4f), Pack::Set(1.339887440266574e-3f));
  p = MulAdd(f, p, Pack::Set(9.618437357674640e-3f));
  p = MulAdd(f, p, Pack::Set(5.550332471162809e-2f));
  p = MulAdd(f, p, Pack::Set(2.402264791363012e-1f));
  p = MulAdd(f, p, Pack::Set(6.931472028550421e-1f));
  return PowerOfTwo(whole) * MulAdd(f, p, Pack::Set(1.0f));
}

void CorSums(const CorKernelArgs& args) {
  constexpr std::size_t kRun = 128;
  const Pack aj = Pack::Load(args.aj), ak = Pack::Load(args.ak);
  for (std::size_t begin = 0; begin < args.count; begin += kRun) {
    const std::size_t end = begin + kRun < args.count ? begin + kRun : args.count;
    Pack mass = Pack::Zero(), x = Pack::Zero(), y = Pack::Zero(), z = Pack::Zero();
    for (std::size_t i = begin; i < end; ++i) {
      const CorSample& b = args.samples[i];
      const Pack g = NegMulAdd(ak, Pack::Set(b.bj), aj * Pack::Set(b.bk));
      const Pack e = PowerBelowOne(g * g);
      mass = MulAdd(e, Pack::Set(b.mass), mass);
      x = MulAdd(e, Pack::Set(b.x), x);
      y = MulAdd(e, Pack::Set(b.y), y);
      z = MulAdd(e, Pack::Set(b.z), z);
    }
    alignas(64) float run[64];
    mass.Store(run);
    x.Store(run + 16);
    y.Store(run + 32);
    z.Store(run + 48);
    for (std::size_t i = 0; i < 64; ++i) args.sums[i] += static_cast<double>(run[i]);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, CorKernel, (const CorKernelArgs& args), CorSums, (args))
#endif
