#include "core/deform/implicit/spread_samples.h"

#include <algorithm>
#include <cmath>

#include "core/base/vectors.h"

namespace sinew {
namespace {

constexpr int kBisections = 24;
constexpr double kDuplicate = 0.01;  // least distance, relative to the largest one

// Whether b is at least as far from a along the surface, which is longer than the chord where the
// normals lean along it.
bool IsApart(const SurfaceSample& a, const SurfaceSample& b, double squared) {
  const Vec3d chord = b.point - a.point;
  const double length2 = Dot(chord, chord), length = std::sqrt(length2);
  if (length2 >= squared) return length > 0;
  if (length == 0) return false;
  const double c1 = std::clamp(Dot(a.normal, chord) / length, -1.0, 1.0);
  const double c2 = std::clamp(Dot(b.normal, chord) / length, -1.0, 1.0);
  if (std::abs(c1 - c2) < 1e-4) return false;
  return length2 * (std::asin(c1) - std::asin(c2)) / (c1 - c2) >= squared;
}

// Candidates that far from all earlier ones, at most `most`.
std::vector<SurfaceSample> Apart(std::span<const SurfaceSample> candidates, double distance,
                                 std::size_t most) {
  std::vector<SurfaceSample> taken;
  for (const SurfaceSample& candidate : candidates) {
    if (taken.size() == most) break;
    if (std::ranges::all_of(taken, [&](const SurfaceSample& other) {
          return IsApart(candidate, other, distance * distance);
        })) {
      taken.push_back(candidate);
    }
  }
  return taken;
}

}  // namespace

std::vector<SurfaceSample> SpreadSamples(std::span<const SurfaceSample> candidates,
                                         std::size_t count, double unit) {
  double extent = 0;
  for (const SurfaceSample& sample : candidates) {
    extent = std::max(extent, Length(sample.point - candidates.front().point));
  }
  double high = extent > 0 ? unit * std::exp2(std::ceil(std::log2(extent / unit))) : 0;
  double low = kDuplicate * high;
  std::vector<SurfaceSample> samples = Apart(candidates, low, 2 * count);
  for (int step = 0; step < kBisections && samples.size() * 10 > count * 11; ++step) {
    const double distance = 0.5 * (low + high);
    std::vector<SurfaceSample> next = Apart(candidates, distance, 2 * count);
    (next.size() * 10 < count * 9 ? high : low) = distance;
    if (low == distance) samples = std::move(next);
  }
  return samples;
}

}  // namespace sinew
