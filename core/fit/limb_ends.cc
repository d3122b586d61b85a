#include "core/fit/limb_ends.h"

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"

namespace sinew::fit {
namespace {

constexpr double kThick = 0.9;  // of the depth at the joint: less is the rounded end of the limb
constexpr double kStepToEnd = 0.5;  // in cells
// Depths at mirrored places that differ by more do not belong to a symmetric body; of its longest
// side.
constexpr double kSameDepth = 0.02;
constexpr double kSameShare = 0.98;     // of the medial points
constexpr double kFarFromMirror = 0.1;  // of the longest side
// Joints of a template that are farther from its middle are beside it; of the distance between its
// first joint and the farthest.
constexpr double kInMiddle = 0.01;

Vec3d Mirrored(const Vec3d& p, const Vec3d& side) {
  return p - 2 * Dot(p, side) * side;
}

// [joints] whether they are midway between the sides of the template, as its pairs tell.
std::vector<std::uint8_t> InMiddle(const SkeletonTemplate& skeleton) {
  std::vector<std::uint8_t> in_middle(skeleton.joints.size(), 0);
  double size = 0, sum = 0, count = 0;
  for (const TemplateJoint& joint : skeleton.joints) {
    size = std::max(size, Length(joint.place - skeleton.joints[0].place));
    if (joint.partner == kNone) continue;
    sum += joint.place.x;
    ++count;
  }
  if (count == 0) return in_middle;
  for (std::size_t j = 0; j < in_middle.size(); ++j) {
    const TemplateJoint& joint = skeleton.joints[j];
    in_middle[j] =
        joint.partner == kNone && std::abs(joint.place.x - sum / count) <= kInMiddle * size;
  }
  return in_middle;
}

}  // namespace

void MoveToEnds(const Body& body, const SkeletonTemplate& skeleton, std::span<Vec3d> places,
                std::span<std::uint8_t> fixed) {
  std::vector<std::uint8_t> inner(places.size(), 0);
  for (std::size_t j = 1; j < places.size(); ++j) inner[skeleton.joints[j].parent] = 1;
  const double step = kStepToEnd * body.cell();
  for (std::size_t j = 1; j < places.size(); ++j) {
    if (inner[j] || fixed[j]) continue;
    const Vec3d along = Unit(places[j] - places[skeleton.joints[j].parent]);
    const double depth = body.Depth(places[j]);
    if (!(depth > 0)) continue;
    double moved = 0;
    while (moved < depth && body.Depth(places[j] + (moved + step) * along) >= kThick * depth) {
      moved += step;
    }
    places[j] = places[j] + moved * along;
    fixed[j] = 1;
  }
}

bool IsSymmetric(const Body& body, const Vec3d& side) {
  const auto same = std::ranges::count_if(body.medial(), [&](const MedialPoint& point) {
    return std::abs(body.Depth(Mirrored(point.place, side)) - point.radius) <=
           kSameDepth * kLongestSide;
  });
  return static_cast<double>(same) >= kSameShare * static_cast<double>(body.medial().size());
}

std::vector<std::uint32_t> MakeSymmetric(const SkeletonTemplate& skeleton, const Vec3d& side,
                                         std::span<const std::uint8_t> fixed,
                                         std::span<Vec3d> places) {
  const std::vector<Vec3d> before(places.begin(), places.end());
  const std::vector<std::uint8_t> in_middle = InMiddle(skeleton);
  std::vector<std::uint32_t> far;
  for (std::uint32_t j = 0; j < places.size(); ++j) {
    const bool paired = skeleton.joints[j].partner != kNone;
    const std::uint32_t partner = paired ? skeleton.joints[j].partner : j;
    if (fixed[j] || fixed[partner]) continue;
    if (!paired && !in_middle[j]) continue;
    const Vec3d mirrored = Mirrored(before[partner], side);
    if (paired && Length(mirrored - before[j]) > kFarFromMirror * kLongestSide) {
      if (partner < j) far.push_back(j);
    } else {
      places[j] = 0.5 * (before[j] + mirrored);
    }
  }
  return far;
}

}  // namespace sinew::fit
