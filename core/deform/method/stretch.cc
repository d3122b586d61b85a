#include "core/deform/method/stretch.h"

#include <algorithm>
#include <cmath>

#include "core/rig/posed_rig.h"

namespace sinew {

bool FillStretch(const PosedRig& posed, std::span<const float> signs, std::span<float> stretch) {
  constexpr float kRigid = 2e-6f;  // |M - R| of matrices composed in float32
  bool any = false;
  for (std::size_t e = 0; e < posed.skin.size(); ++e) {
    const std::span<float> s = stretch.subspan(e * kStretchFloats, kStretchFloats);
    const float sign = signs.empty() ? 1.0f : signs[e];
    float largest = 0;
    for (std::size_t i = 0; i < 9; ++i) {
      s[i] = posed.skin[e].m[i / 3 * 4 + i % 3] - sign * posed.rotations[e].m[i];
      largest = std::max(largest, std::abs(s[i]));
    }
    s[9] = largest > kRigid ? 1.0f : 0.0f;
    any = any || largest > kRigid;
  }
  return any;
}

}  // namespace sinew
