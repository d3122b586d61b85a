#include "core/metrics/limb_radii.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/median.h"

namespace sinew::metrics {
namespace {

constexpr double kNothing = 1e-6;      // times the bounding-box diagonal: smaller radii are ignored
constexpr std::size_t kStations = 16;  // samples of the radius along a bone

// The radius along a bone: at each station the median of the points within one limb radius of it.
class Radii {
 public:
  struct Sample {
    double station, distance;
  };
  explicit Radii(const std::vector<Sample>& samples) {
    std::vector<double> near;
    for (const Sample& s : samples) {
      near.push_back(s.distance);
      least_ = std::min(least_, s.station);
      largest_ = std::max(largest_, s.station);
    }
    const double whole = Median(near);
    const double window = std::max(whole, Step());
    for (std::size_t i = 0; i <= kStations; ++i) {
      const double station = least_ + static_cast<double>(i) * Step();
      near.clear();
      for (const Sample& s : samples) {
        if (std::abs(s.station - station) <= window) near.push_back(s.distance);
      }
      radius_[i] = near.empty() ? whole : Median(near);
    }
  }
  double At(double station) const {
    if (!(Step() > 0)) return radius_[0];
    const double place = (station - least_) / Step();
    const auto i = static_cast<std::size_t>(std::clamp(place, 0.0, kStations - 1.0));
    const double t = std::clamp(place - static_cast<double>(i), 0.0, 1.0);
    return (1 - t) * radius_[i] + t * radius_[i + 1];
  }

 private:
  double Step() const { return (largest_ - least_) / kStations; }
  double least_ = std::numeric_limits<double>::infinity();
  double largest_ = -std::numeric_limits<double>::infinity();
  double radius_[kStations + 1] = {};
};

}  // namespace

LimbRadii::LimbRadii(const BindingBones& bones, const Surface& surface) {
  std::vector<std::vector<std::uint32_t>> carried(bones.bones.size());
  for (std::uint32_t p = 0; p < surface.rest.size(); ++p) {
    carried[bones.strongest[p]].push_back(p);
  }
  for (std::uint32_t e = 0; e < carried.size(); ++e) {
    const BindingBone& bone = bones.bones[e];
    if (carried[e].empty() || !bone.known) continue;
    std::vector<Radii::Sample> samples;
    for (const std::uint32_t p : carried[e]) {
      samples.push_back({bone.Station(surface.rest[p]), bone.DistanceFromAxis(surface.rest[p])});
    }
    const Radii radii(samples);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double radius = radii.At(samples[i].station);
      if (radius > kNothing * surface.diagonal) points_.push_back({carried[e][i], e, radius});
    }
  }
}

}  // namespace sinew::metrics
