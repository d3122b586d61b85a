#include "core/deform/implicit/field/trust_grid.h"

#include <algorithm>
#include <cmath>

#include "core/deform/implicit/field/posed_field.h"

namespace sinew {
namespace {

constexpr float kMiddle = 128, kStep = kMostLead / 127;

}  // namespace

std::uint8_t PackedLead(float lead) {
  const float steps = std::round(std::clamp(lead, -kMostLead, kMostLead) / kStep);
  return static_cast<std::uint8_t>(kMiddle + steps);
}

float TrustOfGrid(const std::uint8_t* leads, const Vec3f& at) {
  constexpr auto kLast = static_cast<float>(kTrustSide - 1);
  if (!(at.x >= 0 && at.x <= kLast && at.y >= 0 && at.y <= kLast && at.z >= 0 && at.z <= kLast)) {
    return 0;
  }
  const auto cell = [](float v) { return std::min(std::floor(v), kLast - 1); };
  const float x = cell(at.x), y = cell(at.y), z = cell(at.z);
  const float u = at.x - x, v = at.y - y, w = at.z - z;
  const std::uint8_t* const corner =
      leads +
      (static_cast<std::size_t>(z) * kTrustSide + static_cast<std::size_t>(y)) * kTrustSide +
      static_cast<std::size_t>(x);
  const auto row = [&](std::size_t offset) {
    const auto a = static_cast<float>(corner[offset]), b = static_cast<float>(corner[offset + 1]);
    return a + u * (b - a);
  };
  const auto layer = [&](std::size_t offset) {
    const float a = row(offset), b = row(offset + kTrustSide);
    return a + v * (b - a);
  };
  const float near = layer(0), far = layer(kTrustSide * kTrustSide);
  return TrustOfLead(kStep * (near + w * (far - near) - kMiddle));
}

}  // namespace sinew
