#include "core/decompose/inside.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "core/base/segment.h"
#include "core/base/vectors.h"

namespace sinew::decompose {

namespace {

double DistanceTo(const std::array<Vec3d, 3>& triangle, const Vec3d& p) {
  const Vec3d normal = Cross(triangle[1] - triangle[0], triangle[2] - triangle[0]);
  double distance = std::numeric_limits<double>::infinity();
  bool above = Length(normal) > 0;  // the plane's nearest place is in the triangle
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3d &a = triangle[k], &b = triangle[(k + 1) % 3];
    above = above && Dot(Cross(b - a, p - a), normal) >= 0;
    distance = std::min(distance, Length(p - NearestOnSegment(a, b, p).point));
  }
  return above ? std::abs(Dot(p - triangle[0], Unit(normal))) : distance;
}

}  // namespace

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

double Inside::Depth(const Vec3d& place) const {
  if (!Has(place)) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (const std::array<Vec3d, 3>& triangle : triangles_) {
    least = std::min(least, DistanceTo(triangle, place));
  }
  return least;
}

}  // namespace sinew::decompose
