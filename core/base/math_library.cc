#include "core/base/math_library.h"

#include <cmath>
#include <span>

#include "core/base/digest.h"

namespace sinew {
namespace {

constexpr int kInputs = 512;  // each function; the variants differ at one input in a few dozen

std::string Digest() {
  using Function = double (*)(double);
  // Each function over the range it is used in: (0, 1), or stretched to (0, 40).
  static constexpr Function kOfUnit[] = {
      [](double x) { return std::acos(x); },
      [](double x) { return std::asin(x); },
      [](double x) { return std::atan2(x, 1 - 2 * x); },
      [](double x) { return std::cbrt(x); },
      [](double x) { return std::hypot(x, 1 - x); },
      [](double x) { return std::pow(x, 1.0 / 3 + x); },
      [](double x) { return std::tan(x); },
  };
  static constexpr Function kOfLarge[] = {
      [](double x) { return std::cos(x); },  [](double x) { return std::exp(-x); },
      [](double x) { return std::exp2(x); }, [](double x) { return std::log(x); },
      [](double x) { return std::log2(x); }, [](double x) { return std::sin(x); },
  };
  Sha256 digest;
  const auto add = [&](std::span<const Function> functions, double range) {
    for (const Function function : functions) {
      for (int i = 1; i <= kInputs; ++i) {
        // volatile: constant folding in the compiler would round exactly.
        const volatile double x = range * i / (kInputs + 1.0);
        const double value = function(x);
        digest.Update({reinterpret_cast<const char*>(&value), sizeof value});
      }
    }
  };
  add(kOfUnit, 1);
  add(kOfLarge, 40);
  return digest.Hex();
}

}  // namespace

const std::string& MathLibraryDigest() {
  static const std::string digest = Digest();
  return digest;
}

}  // namespace sinew
