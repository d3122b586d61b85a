#include "core/deform/implicit/project/level_ray.h"

#include <algorithm>
#include <cmath>

namespace sinew {
namespace {

// |T| at which the search ends, and at which one more step is exact to about its square.
constexpr double kConverged = 1e-5, kLastStep = 1e-3;
constexpr double kLeastSlope = 0.2;  // of T in a Newton step
constexpr double kLongestStep = 0.5;
constexpr double kSameWay = 1e-7;  // shorter steps may end on the bracket
// Longest inward move, alone and relative to the point's room: a ray without a zero within it ends
// there. At half of them more deep folds overlap; at twice its room a point would come out on the
// other side of a limb that another one passes through.
constexpr double kLongestWay = 1, kLongestInRoom = 1.5;
// Longest way up to a contact, relative to how far it has begun and to |T| at the start: in deep
// folds rays are oblique. At half of it folds stay open; at double single points are dragged along
// other limbs.
constexpr double kReachInContact = 4.5;

struct SoftMinimum {
  double value, of_a;  // and the share of a in its slope
};

// Exact where a and b are at least k apart, and never above the smaller one.
SoftMinimum SoftMinimumOf(double a, double b, double k) {
  const double e = std::max(0.0, 1 - std::abs(a - b) / k);
  return {std::min(a, b) - k / 4 * e * e, a <= b ? 1 - e / 2 : e / 2};
}

}  // namespace

void LevelContact::SoftenBy(float lead) {
  softness = std::clamp(lead, kLeastSoftness, kSoftness);
  slack = std::max(0.0f, softness - lead);
}

void LevelValue::Meet(const LevelValue& lead, const LevelContact& with) {
  const SoftMinimum least = SoftMinimumOf(value, lead.value, double{with.softness});
  const double strength = double{with.strength};
  of_lead = of_lead || (strength > 0.5 && least.of_a < 0.5);
  slope += strength * (1 - least.of_a) * (lead.slope - slope);
  value += strength * (least.value - value);
}

LevelContact* LevelRay::ContactWith(std::uint32_t part) {
  const auto at = std::ranges::find(contacts, part, &LevelContact::part);
  return at == contacts.end() ? nullptr : &*at;
}

const LevelContact* LevelRay::ContactWith(std::uint32_t part) const {
  const auto at = std::ranges::find(contacts, part, &LevelContact::part);
  return at == contacts.end() ? nullptr : &*at;
}

void LevelRay::Step(const LevelValue& at) {
  const bool starts = !below_.known && !above_.known;
  if (starts) first = at.value;
  last = at.value;
  touches = at.of_lead;
  presses = touches && at.depth > kNear;
  done = std::abs(at.value) < (at.slope < kLeastSlope ? kConverged : kLastStep);
  if (starts && std::abs(at.value) < kAtLevel) return;
  (at.value < 0 ? below_ : above_) = {t, at.value, true};
  double next =
      t - std::clamp(at.value / std::max(at.slope, kLeastSlope), -kLongestStep, kLongestStep);
  if (below_.known && above_.known) {
    const auto [low, high] = std::minmax(below_.t, above_.t);
    if (!(next > low && next < high) && std::abs(next - t) > kSameWay) {
      next = below_.t + (above_.t - below_.t) * below_.value / (below_.value - above_.value);
    }
  }
  next = std::clamp(next, -MostOutward(), MostInward());
  done = done || next == t;
  t = next;
}

double LevelRay::Room() const {
  return std::min(kLongestWay, kLongestInRoom * double{room});
}

// Contact with a thin limb, such as a finger, does not push a chest aside.
double LevelRay::MostInContact() const {
  double most = 0;
  for (const LevelContact& with : contacts) {
    const double begun = std::min(double{with.begun}, std::abs(first));
    most = std::max(most, double{with.strength * with.size} * begun);
  }
  return std::min(Room(), kReachInContact * most);
}

// A move without contact changes the distance from the bone by at most what the pose has changed
// it: between two limbs their surfaces have valleys, and where several joints share the skin it
// has slid off its level, though it is as thick as at rest.
double LevelRay::MostInward() const {
  return std::max(MostInContact(), std::min(Room(), -double{lost}));
}

double LevelRay::MostOutward() const {
  return std::max(0.0, double{lost});
}

double LevelRay::Way() const {
  if (t <= 0) return t;
  // Contact is exact up to half of the longest move.
  const double most = MostInContact();
  const double soft = most > 0 ? SoftMinimumOf(t, most, 0.5 * most).value : 0;
  return std::max(soft, std::min({t, Room(), -double{lost}}));
}

}  // namespace sinew
