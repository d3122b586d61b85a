#include "core/deform/implicit/posed_field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/smooth_step.h"

namespace sinew {

float Beside(float f, float reach) {
  // Part of its reach over which a part ends; half and double change no figure by a tenth.
  constexpr float kEnding = 0.25f;
  if (!(f < reach)) return std::numeric_limits<float>::infinity();
  const float left = (reach - f) / (kEnding * reach);
  return left < 1 ? f + 1 - static_cast<float>(SmoothStep(double{left})) : f;
}

float TrustOfGap(float gap) {
  return static_cast<float>(SmoothStep(double{gap / kTrustWidth}));
}

float PosedField::Scale() const {
  double sum = 0;
  for (const Affine& frame : PartFrames()) {
    sum += std::cbrt(std::abs(Determinant(Linear(ToDouble(frame)))));
  }
  const double mean = sum / static_cast<double>(std::max<std::size_t>(1, PartFrames().size()));
  return mean > 1e-30 && mean < 1e30 ? static_cast<float>(mean) : 1.0f;
}

}  // namespace sinew
