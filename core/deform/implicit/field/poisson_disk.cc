#include "core/deform/implicit/field/poisson_disk.h"

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cmath>
#include <numbers>
#include <tuple>

namespace sinew {
namespace {

constexpr int kBisections = 24;
constexpr double kDuplicate = 0.05;    // relative to the mean spacing
constexpr double kMinDistance = 1e-9;  // relative to the bounding box

// Approximate squared distance along the surface: longer than the chord if the normals lean along
// it.
double SurfaceDistance2(const SurfaceSample& a, const SurfaceSample& b) {
  const Vec3d chord = b.point - a.point;
  const double length2 = Dot(chord, chord), length = std::sqrt(length2);
  if (length == 0) return 0;
  const double c1 = std::clamp(Dot(a.normal, chord) / length, -1.0, 1.0);
  const double c2 = std::clamp(Dot(b.normal, chord) / length, -1.0, 1.0);
  if (std::abs(c1 - c2) < 1e-4) return length2;
  return length2 * (std::asin(c1) - std::asin(c2)) / (c1 - c2);
}

// Accepts candidates at `distance` or more from the accepted ones.
class DartThrow {
 public:
  DartThrow(std::span<const SurfaceSample> candidates, double distance)
      : candidates_(candidates), distance_(distance) {
    double widest = 1;
    for (const SurfaceSample& c : candidates) widest = std::max(widest, c.spacing);
    cell_ = widest * distance;
  }

  std::vector<std::size_t> Taken(std::size_t most) {
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < candidates_.size() && taken.size() < most; ++i) {
      const Cell at = CellOf(candidates_[i].point);
      if (!IsFree(i, at)) continue;
      cells_[at].push_back(i);
      taken.push_back(i);
    }
    return taken;
  }

 private:
  using Cell = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  Cell CellOf(const Vec3d& p) const {
    const Vec3d d = (1 / cell_) * (p - candidates_.front().point);
    return {static_cast<std::int64_t>(std::floor(d.x)), static_cast<std::int64_t>(std::floor(d.y)),
            static_cast<std::int64_t>(std::floor(d.z))};
  }
  bool IsFree(std::size_t i, const Cell& at) const {
    const auto [x, y, z] = at;
    for (int n = 0; n < 27; ++n) {
      const auto found = cells_.find(Cell{x + n % 3 - 1, y + n / 3 % 3 - 1, z + n / 9 - 1});
      if (found == cells_.end()) continue;
      for (const std::size_t other : found->second) {
        const double least =
            0.5 * distance_ * (candidates_[other].spacing + candidates_[i].spacing);
        if (SurfaceDistance2(candidates_[other], candidates_[i]) < least * least) {
          return false;
        }
      }
    }
    return true;
  }

  std::span<const SurfaceSample> candidates_;
  double distance_, cell_ = 0;
  absl::flat_hash_map<Cell, std::vector<std::size_t>> cells_;
};

}  // namespace

std::vector<SurfaceSample> SpreadSamples(std::span<const SurfaceSample> candidates, double area,
                                         std::size_t count) {
  if (candidates.empty() || count == 0) return {};
  // Candidates that are vertices may have zero area: use their bounding box.
  Vec3d least = candidates.front().point, largest = least;
  for (const SurfaceSample& sample : candidates) {
    const Vec3d& p = sample.point;
    least = {std::min(least.x, p.x), std::min(least.y, p.y), std::min(least.z, p.z)};
    largest = {std::max(largest.x, p.x), std::max(largest.y, p.y), std::max(largest.z, p.z)};
  }
  const double size2 = Dot(largest - least, largest - least);
  if (!(size2 > 0)) return {candidates.front()};
  const double densest = 2 / (std::numbers::sqrt3 * static_cast<double>(count));
  double low = kDuplicate * std::sqrt(densest * (area > 0 ? std::min(area, size2) : size2));
  // Limits the number of cells for slivers, whose area is tiny.
  low = std::max(low, kMinDistance * std::sqrt(size2));
  double high = std::sqrt(size2), distance = 0.8 * std::sqrt(densest * (area > 0 ? area : size2));
  distance = std::clamp(distance, low, high);
  std::vector<std::size_t> taken;
  for (int step = 0; step < kBisections; ++step) {
    taken = DartThrow(candidates, distance).Taken(2 * count);
    if (taken.size() * 10 >= count * 9 && taken.size() * 10 <= count * 11) break;
    (taken.size() > count ? low : high) = distance;
    if (distance <= low && taken.size() < count) break;
    distance = 0.5 * (low + high);
  }
  std::vector<SurfaceSample> samples;
  for (const std::size_t i : taken) samples.push_back(candidates[i]);
  return samples;
}

// Steele, Lea and Flood 2014 (SplitMix64).
double CounterRandom::Next() {
  state_ += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

}  // namespace sinew
