#include "core/metrics/bulge.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sinew::metrics {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostBeside = 16;  // neighbours of a bone that are looked at

}  // namespace

Bulge::Bulge(const Rig& rig, const BindingBones& bones, const LimbRadii& radii,
             const Surface& surface)
    : bones_(bones), points_(radii.points()) {
  std::vector<std::vector<std::uint32_t>> beside(bones.bones.size());
  for (const BoneJoint& joint : bones.joints) {  // a bone's parent comes before its children
    for (const auto& [of, other] :
         {std::pair(joint.child, joint.parent), {joint.parent, joint.child}}) {
      if (beside[of].size() < kMostBeside) beside[of].push_back(other);
    }
  }
  offsets_.push_back(0);
  for (const auto& [point, binding, radius] : points_) {
    std::vector<std::uint32_t> carriers = beside[binding];
    for (const std::uint32_t e : rig.influences().bindings(surface.welded.first[point])) {
      if (bones.bones[e].known) carriers.push_back(e);
    }
    std::ranges::sort(carriers);
    carriers.erase(std::unique(carriers.begin(), carriers.end()), carriers.end());
    distances_.push_back(bones.bones[binding].Distance(surface.rest[point]));
    carriers_.insert(carriers_.end(), carriers.begin(), carriers.end());
    offsets_.push_back(carriers_.size());
  }
}

std::optional<double> Bulge::Measure(std::span<const Vec3d> points, std::span<const AffineD> skin,
                                     const Task& task) const {
  if (points_.empty()) return std::nullopt;
  std::vector<AffineD> back(skin.size());
  std::vector<bool> flat(skin.size());
  for (std::size_t e = 0; e < skin.size(); ++e) {
    flat[e] = IsFlat(skin[e]);
    if (!flat[e]) back[e] = Inverse(skin[e]);
  }
  return SumOver<double, 256>(
      task, points_.size(),
      [&](std::size_t i, double& part) {
        if (flat[points_[i].binding]) return;
        double nearest = kInfinite;
        for (std::size_t k = offsets_[i]; k < offsets_[i + 1]; ++k) {
          const std::uint32_t e = carriers_[k];
          if (flat[e]) continue;
          nearest =
              std::min(nearest, bones_.bones[e].Distance(Apply(back[e], points[points_[i].point])));
        }
        if (nearest < kInfinite) {
          part = std::max(part, (nearest - distances_[i]) / points_[i].radius);
        }
      },
      [](double& all, double part) { all = std::max(all, part); });
}

}  // namespace sinew::metrics
