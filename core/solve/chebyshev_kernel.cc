#include "core/solve/chebyshev_kernel.h"

#include "core/simd/levels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/solve/chebyshev_kernel.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sinew::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t kColumns, bool kEven, bool kSum>
void ChebyshevRows(const ChebyshevStep& given, std::size_t begin, std::size_t end) {
  const ChebyshevStep s = given;  // a copy, so that stores cannot alias it
  const hn::CappedTag<double, 4> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d), kParts = kColumns / kLanes;
  const auto b = hn::Set(d, s.b);
  for (std::size_t i = begin; i < end; ++i) {
    hn::Vec<decltype(d)> total[kParts];
    for (std::size_t l = 0; l < kParts; ++l) total[l] = hn::Zero(d);
    for (std::uint64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      const double* const row = s.current + std::size_t{s.neighbours[k]} * kColumns;
      for (std::size_t l = 0; l < kParts; ++l) {
        const auto value = hn::Load(d, row + l * kLanes);
        if constexpr (kEven) {
          total[l] = hn::Add(total[l], value);
        } else {
          total[l] = hn::Add(total[l], hn::Mul(hn::Set(d, s.weights[k]), value));
        }
      }
    }
    const auto scale = hn::Set(d, kEven ? s.a * s.weights[i] : s.a);
    for (std::size_t l = 0; l < kParts; ++l) {
      double* const at = s.previous + i * kColumns + l * kLanes;
      double* const sum = s.sum + i * kColumns + l * kLanes;
      const auto previous = hn::Load(d, at);
      const auto next = hn::Sub(hn::Mul(scale, total[l]), hn::Mul(b, previous));
      hn::Store(next, d, at);
      if constexpr (!kSum) continue;
      const auto current = hn::Load(d, s.current + i * kColumns + l * kLanes);
      const auto term = [&](std::size_t t, const auto& value)
                            HWY_ATTR { return hn::Mul(hn::LoadU(d, s.c[t] + l * kLanes), value); };
      hn::Store(hn::Add(hn::Add(hn::Add(hn::Load(d, sum), term(0, previous)), term(1, current)),
                        term(2, next)),
                d, sum);
    }
  }
}

template <std::size_t kColumns, bool kEven>
void ChebyshevOf(const ChebyshevStep& s, std::size_t begin, std::size_t end) {
  s.c[0] == nullptr ? ChebyshevRows<kColumns, kEven, false>(s, begin, end)
                    : ChebyshevRows<kColumns, kEven, true>(s, begin, end);
}

void ChebyshevStepRows(const ChebyshevStep& s, std::size_t begin, std::size_t end) {
  if (s.columns == 4) {
    s.even ? ChebyshevOf<4, true>(s, begin, end) : ChebyshevOf<4, false>(s, begin, end);
  } else {
    s.even ? ChebyshevOf<12, true>(s, begin, end) : ChebyshevOf<12, false>(s, begin, end);
  }
}

}  // namespace sinew::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
SINEW_KERNEL(void, ChebyshevKernel, (const ChebyshevStep& step, std::size_t begin, std::size_t end),
             ChebyshevStepRows, (step, begin, end))
#endif
