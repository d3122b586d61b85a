#include "core/deform/implicit/project/stray_points.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sinew {
namespace {

constexpr float kOffLevel = 0.01f;  // of F: fits of adjacent parts differ by less
constexpr float kEqual = 3e-3f;     // tolerance for the equality of two parts
constexpr int kSteps = 12;

// The fields of a point's own part and of the largest other part.
struct PartSample {
  float value = 0;
  Vec3f gradient{};
};
struct Parts {
  PartSample own, other;
};

Parts PartsAt(const PartBlocks& blocks, std::uint32_t own, std::size_t i) {
  Parts parts;
  for (const PartBlock& block : blocks) {
    PartSample& to = block.part == own ? parts.own : parts.other;
    if (!(block.value[i] > to.value)) continue;
    to = {block.value[i], {block.x[i], block.y[i], block.z[i]}};
  }
  return parts;
}

// Another part matters only if its field is larger than the point's own, so the largest is enough.
PartBlocks Evaluate(const SkinSurface& skin, const PosedField& field,
                    std::span<const StrayPoint> points) {
  std::array<std::uint32_t, kLanes> own;
  for (std::size_t i = 0; i < points.size(); ++i) own[i] = skin.PartOf(points[i].point);
  const PointBlock block = BlockOf(points.size(), [&](std::size_t i) { return points[i].at; });
  return field.EvaluateStrongest(block, std::span(own).first(points.size()));
}

}  // namespace

void FindStrays(const SkinSurface& skin, const PosedField& field, std::span<StrayPoint> points) {
  const PartBlocks blocks = Evaluate(skin, field, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::uint32_t p = points[i].point;
    const Parts parts = PartsAt(blocks, skin.PartOf(p), i);
    points[i].found =
        parts.other.value > parts.own.value && parts.own.value < skin.potential[p] - kOffLevel;
  }
}

void ReturnStrays(const SkinSurface& skin, const PosedField& field, float longest,
                  float least_gradient, std::span<StrayPoint> points) {
  std::array<bool, kLanes> stopped{};
  std::array<float, kLanes> gone{};
  std::array<std::uint32_t, kLanes> own_part{};
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].found = false;
    own_part[i] = skin.PartOf(points[i].point);
  }
  bool moving = true;
  for (int k = 0; k < kSteps && moving; ++k) {
    const PartBlocks blocks = Evaluate(skin, field, points);
    moving = false;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (stopped[i]) continue;
      StrayPoint& point = points[i];
      const auto [own, other] = PartsAt(blocks, own_part[i], i);
      const Vec3f g = {own.gradient.x - other.gradient.x, own.gradient.y - other.gradient.y,
                       own.gradient.z - other.gradient.z};
      const float short_of = other.value - own.value;
      const float length = std::sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
      stopped[i] = short_of <= kEqual || !(length > least_gradient);
      if (stopped[i]) {
        point.found = short_of <= kEqual && gone[i] <= point.farthest &&
                      own.value >= skin.potential[point.point] - kOffLevel;
        continue;
      }
      const float step = std::min(short_of / length, longest) / length;
      gone[i] += step * length;
      point.at = {point.at.x + step * g.x, point.at.y + step * g.y, point.at.z + step * g.z};
      moving = true;
    }
  }
}

}  // namespace sinew
