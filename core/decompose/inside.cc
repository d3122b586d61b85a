#include "core/decompose/inside.h"

#include <cmath>
#include <cstdint>
#include <numbers>

#include "core/base/vectors.h"

namespace sinew::decompose {

Inside::Inside(const Mesh& rest, const Vec3d& centre)
    : low_(rest.minimum() - centre), high_(rest.maximum() - centre) {
  ForEachTriangle(rest, [&](const std::array<std::uint32_t, 3>& corners) {
    std::array<Vec3d, 3>& triangle = triangles_.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) {
      triangle[k] = ToDouble(rest.positions()[corners[k]]) - centre;
    }
  });
}

bool Inside::InBox(const Vec3d& p) const {
  return p.x >= low_.x && p.y >= low_.y && p.z >= low_.z && p.x <= high_.x && p.y <= high_.y &&
         p.z <= high_.z;
}

bool Inside::Has(const Vec3d& place) const {
  if (!InBox(place)) return false;
  double sum = 0;  // of halves of solid angles, after van Oosterom and Strackee 1983
  for (const std::array<Vec3d, 3>& triangle : triangles_) {
    const Vec3d a = triangle[0] - place, b = triangle[1] - place, c = triangle[2] - place;
    const double la = Length(a), lb = Length(b), lc = Length(c);
    sum += std::atan2(Dot(a, Cross(b, c)),
                      la * lb * lc + Dot(a, b) * lc + Dot(b, c) * la + Dot(c, a) * lb);
  }
  return std::abs(sum) > std::numbers::pi;
}

}  // namespace sinew::decompose
