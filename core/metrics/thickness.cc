#include "core/metrics/thickness.h"

#include <algorithm>
#include <limits>

#include "core/base/median.h"

namespace sinew::metrics {
namespace {

constexpr double kNearest = 0.5;         // times the median distance of a bone's vertices
constexpr double kCarries = 0.5 - 1e-6;  // weight needed; allows for rounding
constexpr double kNoLength = 1e-6;       // times the bounding-box diagonal

}  // namespace

BoneDistances::BoneDistances(const BindingBones& bones, const Rig& rig, const Surface& surface)
    : bones_(bones) {
  std::vector<Carried> carried;
  std::vector<std::vector<double>> distances(bones.bones.size());
  for (std::uint32_t p = 0; p < surface.welded.points(); ++p) {
    const std::uint32_t e = bones.strongest[p];
    const bool carries = rig.influences().weights(surface.welded.first[p])[0] >= kCarries;
    if (!bones.bones[e].known || !carries) continue;
    carried.push_back({p, bones.bones[e].Distance(surface.rest[p])});
    distances[e].push_back(carried.back().distance);
  }
  std::vector<double> nearest(distances.size());
  for (std::size_t e = 0; e < distances.size(); ++e) {
    if (distances[e].empty()) continue;
    nearest[e] = std::max(kNearest * Median(distances[e]), kNoLength * surface.diagonal);
  }
  for (const Carried& c : carried) {
    if (c.distance > nearest[bones.strongest[c.point]]) carried_.push_back(c);
  }
}

std::optional<double> BoneDistances::Least(std::span<const Vec3d> points,
                                           std::span<const AffineD> skin, const Task& task) const {
  if (carried_.empty()) return std::nullopt;
  std::vector<BindingBone> posed;
  for (std::size_t e = 0; e < skin.size(); ++e) {
    const BindingBone& bone = bones_.bones[e];
    posed.push_back({Apply(skin[e], bone.from), Apply(skin[e], bone.to)});
  }
  struct Part {
    double least = std::numeric_limits<double>::infinity();
  };
  return SumOver<Part>(
             task, carried_.size(),
             [&](std::size_t i, Part& part) {
               const auto& [p, rest] = carried_[i];
               const double distance = posed[bones_.strongest[p]].Distance(points[p]);
               part.least = std::min(part.least, distance / rest);
             },
             [](Part& all, const Part& part) { all.least = std::min(all.least, part.least); })
      .least;
}

}  // namespace sinew::metrics
