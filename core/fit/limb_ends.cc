#include "core/fit/limb_ends.h"

#include <algorithm>
#include <cmath>
namespace sinew::fit {
namespace {

constexpr double kThick = 0.9;  // of the depth at the joint: less is the rounded end of the limb
constexpr double kStepToEnd = 0.5;  // in cells
// Depths at mirrored places that differ by more do not belong to a symmetric body; of its longest
// side.
constexpr double kSameDepth = 0.02;
constexpr double kMostOffset = 0.25;    // of the plane from the body's centre, of its longest side
constexpr std::size_t kSeveral = 4000;  // medial points that tell the plane
constexpr double kSameShare = 0.9;  // of the medial points; one arm that is held otherwise has .07
constexpr double kMostLean =
    0.85;  // cosine of the angle between a leaning plane and an upright one
// A plane that leans is found by turns of its normal, about in radians, and must be better by far.
constexpr double kFirstTurn = 0.03, kLastTurn = 0.002, kMuchBetter = 0.7;
constexpr int kStepsOfTurn = 4;
constexpr double kFarFromMirror = 0.1;  // of the longest side
// Joints of a template that are farther from its middle are beside it; of the distance between its
// first joint and the farthest.
constexpr double kInMiddle = 0.01;

// Whether the body is about as thick at `there` as where its depth is `here`, as far as cells tell.
bool AsThick(const Body& body, const Vec3d& there, double here) {
  const double least = kThick * here - body.cell();
  return body.Depth(there) >= (here > 0 ? std::max(least, 0.0) : least);
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

Vec3d SideOf(const SkeletonTemplate& skeleton, std::span<const Vec3d> places, const Vec3d& side) {
  Vec3d sum;
  for (std::size_t j = 0; j < places.size(); ++j) {
    const TemplateJoint& joint = skeleton.joints[j];
    if (joint.partner == kNone || joint.partner < j) continue;
    const Vec3d across = places[j] - places[joint.partner];
    const bool is_left = joint.place.x > skeleton.joints[joint.partner].place.x;
    sum = sum + (is_left ? 1.0 : -1.0) * across;
  }
  return Dot(sum, side) > kMostLean * Length(sum) ? Unit(sum) : side;
}

std::optional<Mirror> FindMirror(const Body& body, const Vec3d& side, const Vec3d& leaning) {
  const std::vector<MedialPoint>& medial = body.medial();
  const auto off = [&](const MedialPoint& point, const Mirror& mirror) {
    const double there = body.Depth(mirror(point.place));
    return std::min(std::abs(there - point.radius), kSameDepth * kLongestSide);
  };
  const std::size_t stride = 1 + medial.size() / kSeveral;
  const auto all_off = [&](const Mirror& mirror) {
    double sum = 0;
    for (std::size_t k = 0; k < medial.size(); k += stride) sum += off(medial[k], mirror);
    return sum;
  };
  // Mirrored centres of cells are in centres of cells again, if the plane is across an axis.
  const double step = 0.5 * body.cell();
  double least = 0;  // of the last plane that was found
  const auto across = [&](const Vec3d& normal, double from, int steps) {
    Mirror mirror{normal, from};
    least = all_off(mirror);
    for (int k = 1; k <= steps; ++k) {
      for (const double offset : {from + k * step, from - k * step}) {
        const double reached = all_off({normal, offset});
        if (reached >= least) continue;
        least = reached;
        mirror.offset = offset;
      }
    }
    return mirror;
  };
  const int all_steps = static_cast<int>(kMostOffset * kLongestSide / step);
  Mirror mirror = across(side, 0, all_steps);
  const double upright = least;
  // From the direction that is about right, by smaller and smaller turns.
  Mirror tilted = across(leaning, 0, all_steps);
  double best = least;
  const Vec3d one =
      Unit(Cross(leaning, std::abs(leaning.x) < 0.8 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0}));
  const Vec3d other = Cross(leaning, one);
  for (double turn = kFirstTurn; turn > kLastTurn; turn *= 0.5) {
    for (const Vec3d& way : {one, -1 * one, other, -1 * other}) {
      const Mirror next = across(Unit(tilted.side + turn * way), tilted.offset, kStepsOfTurn);
      if (least >= best) continue;
      best = least;
      tilted = next;
    }
  }
  least = upright;
  if (best < kMuchBetter * upright) {
    mirror = tilted;
    least = best;
  }
  if (mirror.offset != 0) {  // between the steps: what is off grows evenly on both sides
    const double before = all_off({mirror.side, mirror.offset - step});
    const double after = all_off({mirror.side, mirror.offset + step});
    const double rise = std::max(before, after) - least;
    if (rise > 0) mirror.offset += 0.5 * step * (before - after) / rise;
  }
  const auto same = std::ranges::count_if(medial, [&](const MedialPoint& point) {
    return off(point, mirror) < kSameDepth * kLongestSide;
  });
  if (static_cast<double>(same) < kSameShare * static_cast<double>(medial.size())) {
    return std::nullopt;
  }
  return mirror;
}

std::vector<std::uint32_t> MakeSymmetric(const Body& body, const SkeletonTemplate& skeleton,
                                         const Mirror& mirror, std::span<const std::uint8_t> fixed,
                                         std::span<Vec3d> places) {
  const std::vector<TemplateJoint>& joints = skeleton.joints;
  const std::vector<std::uint8_t> in_middle = InMiddle(skeleton);
  const std::vector<Vec3d> before(places.begin(), places.end());
  std::vector<std::uint32_t> far;
  std::vector<std::uint8_t> stays(joints.size(), 0);
  for (std::uint32_t j = 0; j < joints.size(); ++j) {
    const bool paired = joints[j].partner != kNone;
    const std::uint32_t partner = paired ? joints[j].partner : j;
    if (partner < j) continue;
    if (!paired && !in_middle[j]) stays[j] = 1;
    if (stays[j] || fixed[j] || fixed[partner]) continue;
    const double mine = body.Depth(before[j]), its = body.Depth(before[partner]);
    const Vec3d mirrored = mirror(before[partner]), mean = 0.5 * (before[j] + mirrored);
    const bool same = AsThick(body, mirror(before[j]), mine) && AsThick(body, mirrored, its);
    const double least = std::min(mine, its);
    const bool inside =
        !paired || (AsThick(body, mean, least) && AsThick(body, mirror(mean), least));
    const bool apart = paired && Length(mirrored - before[j]) > kFarFromMirror * kLongestSide;
    if (same && apart) far.push_back(partner);
    if (!same || !inside || apart) stays[j] = stays[partner] = 1;
  }
  // Whole limbs: what is above in the same limb, then all that is below.
  for (std::uint32_t j = static_cast<std::uint32_t>(joints.size()); j-- > 1;) {
    const std::uint32_t parent = joints[j].parent;
    if (stays[j] && joints[j].partner != kNone && joints[parent].partner != kNone)
      stays[parent] = 1;
  }
  for (std::uint32_t j = 1; j < joints.size(); ++j) {
    if (stays[joints[j].parent]) stays[j] = 1;
  }
  for (std::uint32_t j = 0; j < joints.size(); ++j) {
    const std::uint32_t partner = joints[j].partner == kNone ? j : joints[j].partner;
    if (stays[j] || stays[partner] || fixed[j] || fixed[partner]) continue;
    places[j] = 0.5 * (before[j] + mirror(before[partner]));
  }
  return far;
}

}  // namespace sinew::fit
