#include "core/deform/implicit/project/level_ray.h"

#include <algorithm>
#include <cmath>

#include "core/deform/implicit/project/constants.h"

namespace sinew {
namespace {

// A step this short is kept even if rounding takes it to an end of the bracket.
constexpr double kSameWay = 1e-7;

struct SoftMinimum {
  double value, of_a;  // and the share of a in its slope
};

// Exact where a and b are at least k apart, and never above the smaller one.
SoftMinimum SoftMinimumOf(double a, double b, double k) {
  const double e = std::max(0.0, 1 - std::abs(a - b) / k);
  return {std::min(a, b) - k / 4 * e * e, a <= b ? 1 - e / 2 : e / 2};
}

}  // namespace

void LevelContact::SoftenBy(float gap) {
  softness = std::clamp(gap, kLeastSoftness, kSoftness);
  slack = std::max(0.0f, softness - gap);
}

void LevelValue::Meet(const LevelValue& gap, const LevelContact& with) {
  const SoftMinimum least = SoftMinimumOf(value, gap.value, double{with.softness});
  const double strength = double{with.strength};
  of_gap = of_gap || (strength > 0.5 && least.of_a < 0.5);
  slope += strength * (1 - least.of_a) * (gap.slope - slope);
  value += strength * (least.value - value);
}

void LevelRay::Step(const LevelValue& at) {
  const bool starts = !below_.known && !above_.known;
  if (starts) first = at.value;
  last = at.value;
  touches = at.of_gap;
  sunk = touches && at.depth > kOnLevel;
  done = std::abs(at.value) < kAtLevel;
  if (starts && done) return;
  (at.value < 0 ? below_ : above_) = {t, at.value, true};
  double next = t - at.value / std::max(at.slope, kLeastSlope);
  if (below_.known && above_.known) {
    const auto [low, high] = std::minmax(below_.t, above_.t);
    if (!(next > low && next < high) && std::abs(next - t) > kSameWay) {
      next = below_.t + (above_.t - below_.t) * below_.value / (below_.value - above_.value);
    }
  }
  next = std::clamp(next, -std::min(kLongestMove, double{outward}),
                    MostInward(std::max(contact, inward)));
  done = done || next == t;
  t = next;
}

double LevelRay::RestoringMove() const {
  return std::min(t, MostInward(inward));
}

double LevelRay::Move() const {
  if (t <= 0) return t;
  // Contact is exact up to three quarters of the longest move. If it is exact only up to half of
  // it, up to forty times as much overlaps; if up to seven eighths, no figure changes by a tenth.
  const double most = MostInward(contact);
  const double soft = most > 0 ? SoftMinimumOf(t, most, 0.25 * most).value : 0;
  return std::max(soft, RestoringMove());
}

}  // namespace sinew
