#include "core/fit/toes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/segment.h"
#include "core/base/vectors.h"

namespace sinew::fit {
namespace {

constexpr std::size_t kMostFeet = 8;  // that are looked at
constexpr int kSteps = 20;            // in the reach

// These are parts of the length of the leg.
constexpr double kReach = 0.4;        // around the foot: what is looked at
constexpr double kFootHeight = 0.12;  // of the foot, about
// Heights above the ground, in those of the foot, from which slabs of the leg reach up.
constexpr double kAnkle = 1.2, kShin = 2, kKnee = 2.8;
constexpr int kSamples = 6;  // in the height of the foot

// Up to where the legs meet.
double LegOf(const SkeletonTemplate& skeleton, std::span<const Vec3d> places, std::uint32_t foot) {
  double length = 0;
  for (std::uint32_t j = foot; skeleton.joints[j].partner != kNone; j = skeleton.joints[j].parent) {
    length += Length(places[j] - places[skeleton.joints[j].parent]);
  }
  return length;
}

// Whether the nearest bone is one of the leg.
bool BelongsToLeg(const SkeletonTemplate& skeleton, std::span<const Vec3d> places,
                  std::uint32_t foot, const Vec3d& p) {
  std::uint32_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t j = 1; j < places.size(); ++j) {
    const Vec3d root = places[skeleton.joints[j].parent];
    const double apart = Length(p - NearestOnSegment(root, places[j], p).point);
    if (apart >= least) continue;
    least = apart;
    nearest = j;
  }
  for (std::uint32_t j = foot; skeleton.joints[j].partner != kNone; j = skeleton.joints[j].parent) {
    if (j == nearest) return true;
  }
  return false;
}

// The middle of the points between two heights.
std::optional<Vec3d> Middle(std::span<const Vec3d> points, const Vec3d& up, double low,
                            double high) {
  Vec3d sum;
  double count = 0;
  for (const Vec3d& p : points) {
    if (Dot(p, up) < low || Dot(p, up) >= high) continue;
    sum = sum + p;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return (1 / count) * sum;
}

struct Foot {
  double ground = std::numeric_limits<double>::infinity();  // its lowest point
  double height = 0;
  Vec3d from_ankle{}, from_axis{};  // to its middle: from above it, and from the axis of the shin
};

Foot Measure(std::span<const Vec3d> inside, const Vec3d& up, double height) {
  Foot measured{.height = height};
  for (const Vec3d& p : inside) measured.ground = std::min(measured.ground, Dot(p, up));
  const auto slab = [&](double low, double high) {
    return Middle(inside, up, measured.ground + low * height, measured.ground + high * height);
  };
  const auto foot = slab(0, 1), ankle = slab(kAnkle, kShin), shin = slab(kShin, kKnee);
  if (!foot || !ankle || !shin) return measured;
  measured.from_ankle = *foot - *ankle;
  const Vec3d axis = *shin - *ankle;
  measured.from_axis = measured.from_ankle - (Dot(measured.from_ankle, up) / Dot(axis, up)) * axis;
  return measured;
}

}  // namespace

double Toes(const Body& body, const SkeletonTemplate& skeleton, std::span<const Vec3d> places,
            const Vec3d& up, const Vec3d& forward) {
  std::vector<std::uint32_t> feet;
  for (std::uint32_t j = 0; j < places.size(); ++j) {
    if (skeleton.joints[j].foot && feet.size() < kMostFeet) feet.push_back(j);
  }
  std::vector<Foot> measured;
  double lowest = std::numeric_limits<double>::infinity();
  for (const std::uint32_t foot : feet) {
    const double leg = LegOf(skeleton, places, foot), height = kFootHeight * leg;
    if (!(leg > 0)) continue;
    const double step = height / kSamples, reach = kReach * leg;
    std::vector<Vec3d> inside;
    for (int x = -kSteps; x <= kSteps; ++x) {
      for (int y = -kSteps; y <= kSteps; ++y) {
        for (int z = -kSteps; z <= kSteps; ++z) {
          const Vec3d offset =
              step * Vec3d{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
          const Vec3d p = places[foot] + offset;
          if (Length(offset) > reach || body.Depth(p) <= 0) continue;
          if (BelongsToLeg(skeleton, places, foot, p)) inside.push_back(p);
        }
      }
    }
    measured.push_back(Measure(inside, up, height));
    lowest = std::min(lowest, measured.back().ground);
  }
  // Toes of a raised foot point anywhere.
  double from_ankle = 0, from_axis = 0, standing = 0;
  for (const Foot& foot : measured) {
    if (!(foot.ground <= lowest + foot.height)) continue;
    from_ankle += kFootHeight / foot.height * Dot(foot.from_ankle, forward);
    from_axis += kFootHeight / foot.height * Dot(foot.from_axis, forward);
    ++standing;
  }
  // A foot shows in both measures. Where a straight leg leans, only the middle moves from the
  // ankle; where a leg is bent, its axis says nothing.
  if (!(from_ankle * from_axis > 0)) return 0;
  return std::copysign(std::min(std::abs(from_ankle), std::abs(from_axis)), from_ankle) / standing;
}

}  // namespace sinew::fit
