// compare.h - distances and bits.
#pragma once

#include <cstring>
#include <iterator>
#include <ranges>
#include <type_traits>

#include "core/base/types.h"
#include "core/base/vectors.h"

namespace sinew::testing {

inline double Distance(const Vec3d& a, const Vec3d& b) {
  return Length(a - b);
}

// Unlike ==, tells -0 from 0 and finds a NaN equal to itself.
template <std::ranges::contiguous_range A, std::ranges::contiguous_range B>
bool SameBits(const A& a, const B& b) {
  using Value = std::ranges::range_value_t<A>;
  static_assert(std::is_same_v<Value, std::ranges::range_value_t<B>>);
  static_assert(std::is_trivially_copyable_v<Value>);
  return std::size(a) == std::size(b) &&
         (std::empty(a) ||
          std::memcmp(std::data(a), std::data(b), std::size(a) * sizeof(Value)) == 0);
}

}  // namespace sinew::testing
