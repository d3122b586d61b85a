#include "core/deform/implicit/project/level_ray.h"

#include <algorithm>
#include <cmath>

namespace sinew {
namespace {

constexpr double kConverged = 1e-5;  // |T|
constexpr double kLeastSlope = 0.2;  // of T in a Newton step
constexpr double kLongestStep = 0.5;
constexpr double kSameWay = 1e-7;  // shorter steps may end on the bracket
// Longest inward move, alone and relative to the point's room: a ray without a zero within it ends
// there. At half of them more deep folds overlap; at twice its room a point would come out on the
// other side of a limb that another one passes through.
constexpr double kLongestWay = 1, kLongestInRoom = 1.5;
// Longest move relative to |T| at the start. A ray along which T changes slowly belongs to skin
// that bridges two limbs, such as the web of a thumb, or that lies beside another limb instead of
// touching it. Contact with a limb as thick as the owner needs more, because in deep folds the
// rays are oblique; one with a finger must not push a chest aside.
constexpr double kReach = 1.5, kReachInContact = 3;

struct SoftMinimum {
  double value, of_a;  // and the share of a in its slope
};

// Exact where a and b are at least k apart, and never above the smaller one.
SoftMinimum SoftMinimumOf(double a, double b, double k) {
  const double e = std::max(0.0, 1 - std::abs(a - b) / k);
  return {std::min(a, b) - k / 4 * e * e, a <= b ? 1 - e / 2 : e / 2};
}

}  // namespace

LevelContact ContactOf(std::uint16_t part, float lead, float contact) {
  LevelContact made = {.part = part, .contact = contact};
  made.softness = std::clamp(lead, kLeastSoftness, kSoftness);
  made.slack = std::max(0.0f, made.softness - lead);
  return made;
}

void LevelValue::Meet(const LevelValue& lead, const LevelContact& contact) {
  const SoftMinimum least = SoftMinimumOf(value, lead.value, double{contact.softness});
  const double trust = double{contact.trust * contact.contact};
  of_lead = of_lead || (trust > 0.5 && least.of_a < 0.5);
  slope += trust * (1 - least.of_a) * (lead.slope - slope);
  value += trust * (least.value - value);
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
  if (std::abs(at.value) < (starts ? kAtLevel : kConverged)) {
    done = true;
    return;
  }
  (at.value < 0 ? below_ : above_) = {t, at.value, true};
  double next =
      t - std::clamp(at.value / std::max(at.slope, kLeastSlope), -kLongestStep, kLongestStep);
  if (below_.known && above_.known) {
    const auto [low, high] = std::minmax(below_.t, above_.t);
    if (!(next > low && next < high) && std::abs(next - t) > kSameWay) {
      next = below_.t + (above_.t - below_.t) * below_.value / (below_.value - above_.value);
    }
  }
  t = next;
}

double LevelRay::Way(double outward) const {
  double thickest = 0;
  for (const LevelContact& contact : contacts) {
    thickest = std::max(thickest, double{contact.trust * contact.size});
  }
  const double depth = std::abs(first);
  const double reach = t < 0 ? kReach * depth
                             : std::min({kLongestWay, kLongestInRoom * double{room},
                                         (kReach + kReachInContact * thickest) * depth});
  if (!(reach > 0)) return 0;
  // Exact up to the depth at the start, and inward up to half the longest move.
  const double soft = t < 0 ? (1 - 1 / kReach) * reach : 0.5 * reach;
  const double way = SoftMinimumOf(std::abs(t), reach, soft).value;
  return t < 0 ? -outward * way : way;
}

}  // namespace sinew
