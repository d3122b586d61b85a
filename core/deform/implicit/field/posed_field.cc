#include "core/deform/implicit/field/posed_field.h"

#include <algorithm>
#include <cmath>

namespace sinew {

float PosedField::Scale() const {
  double sum = 0;
  for (const Affine& frame : PartFrames()) {
    sum += std::cbrt(std::abs(Determinant(Linear(ToDouble(frame)))));
  }
  const double mean = sum / static_cast<double>(std::max<std::size_t>(1, PartFrames().size()));
  return mean > 1e-30 && mean < 1e30 ? static_cast<float>(mean) : 1.0f;
}

}  // namespace sinew
