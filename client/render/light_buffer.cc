#include "client/render/light_buffer.h"

#include <algorithm>
#include <cmath>

namespace sinew::client {
namespace {

using Eigen::Vector3f;

constexpr float kSameNormal =
    0.9f;                        // cosine below which two pixels are different pieces of surface
constexpr float kSamePlane = 4;  // pixels' widths off the tangent plane beyond which they differ

// Weight of `other` for the light at `centre`, [0, 1].
float Likeness(const Layer& centre, const Layer& other, float footprint) {
  const float cosine = centre.normal.dot(other.normal);
  if (cosine < kSameNormal) return 0;
  const float off_plane = std::abs(centre.normal.dot(other.point - centre.point));
  if (off_plane > kSamePlane * footprint) return 0;
  return (cosine - kSameNormal) / (1 - kSameNormal);
}

Vector3f ResolveLayer(const LightBuffer& buffer, std::int64_t x, std::int64_t y,
                      const Layer LitPixel::*layer) {
  const LitPixel& pixel = buffer.At(x, y);
  const Layer& centre = pixel.*layer;
  if (centre.samples == 0) return Vector3f::Zero();
  float visible = centre.visible, open = centre.open, samples = centre.samples;
  const auto low_x = std::max<std::int64_t>(0, x - kSmoothingRadius);
  const auto high_x = std::min(buffer.width - 1, x + kSmoothingRadius);
  const auto low_y = std::max<std::int64_t>(0, y - kSmoothingRadius);
  const auto high_y = std::min(buffer.height - 1, y + kSmoothingRadius);
  for (std::int64_t near_y = low_y; near_y <= high_y; ++near_y) {
    for (std::int64_t near_x = low_x; near_x <= high_x; ++near_x) {
      const Layer& other = buffer.At(near_x, near_y).*layer;
      if (other.samples == 0 || (near_x == x && near_y == y)) continue;
      const float likeness = Likeness(centre, other, pixel.footprint);
      visible += likeness * other.visible;
      open += likeness * other.open;
      samples += likeness * other.samples;
    }
  }
  return centre.key * (visible / samples) + centre.ambient * (open / samples);
}

}  // namespace

Vector3f Resolve(const LightBuffer& buffer, std::int64_t x, std::int64_t y) {
  return buffer.At(x, y).plain + ResolveLayer(buffer, x, y, &LitPixel::mesh) +
         ResolveLayer(buffer, x, y, &LitPixel::inside) +
         ResolveLayer(buffer, x, y, &LitPixel::ground);
}

}  // namespace sinew::client
