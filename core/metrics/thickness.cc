#include "core/metrics/thickness.h"

#include <algorithm>
#include <limits>

namespace sinew::metrics {
namespace {

constexpr double kNearest = 0.5;         // of the median distance of a bone's vertices
constexpr double kCarries = 0.5 - 1e-6;  // weight
constexpr double kNoLength = 1e-6;       // of the bounding-box diagonal

double DistanceToSegment(const Vec3d& p, const Vec3d& from, const Vec3d& to) {
  const Vec3d axis = to - from, d = p - from;
  const double squared = Dot(axis, axis);
  const double along = squared > 0 ? std::clamp(Dot(d, axis) / squared, 0.0, 1.0) : 0.0;
  return Length(d - along * axis);
}

struct Sum {
  Vec3d sum;
  double count = 0;
  void Add(const Vec3d& p) {
    sum = sum + p;
    ++count;
  }
  Vec3d Mean() const { return (1 / count) * sum; }
};

}  // namespace

BoneDistances::BoneDistances(const Rig& rig, const Surface& surface) {
  const std::size_t points = surface.welded.points(), bindings = rig.bindings().size();
  const auto strongest = [&](std::size_t p) {
    return rig.influences().bindings(surface.welded.first[p])[0];
  };
  std::vector<Sum> children(rig.joints());  // in the joint's own space
  for (std::size_t j = 0; j < rig.joints(); ++j) {
    const std::uint32_t parent = rig.skeleton().joint(j).parent;
    if (parent != kNoParent) children[parent].Add(Translation(rig.skeleton().rest_local()[j]));
  }
  std::vector<Sum> vertices(bindings);
  for (std::size_t p = 0; p < points; ++p) vertices[strongest(p)].Add(surface.rest[p]);

  std::vector<bool> known(bindings);
  for (std::size_t e = 0; e < bindings; ++e) {
    const Binding& binding = rig.bindings()[e];
    Bone& bone = bones_.emplace_back();
    if (vertices[e].count == 0 || Determinant(Linear(binding.inverse_bind)) == 0) continue;
    known[e] = true;
    const AffineD bind = Inverse(binding.inverse_bind);
    const Sum& ends = children[binding.joint];
    bone.from = Translation(bind);
    bone.to = ends.count > 0 ? Apply(bind, ends.Mean()) : bone.from;
    if (Length(bone.to - bone.from) <= kNoLength * surface.diagonal) bone.to = vertices[e].Mean();
  }

  std::vector<std::vector<std::uint32_t>> of_joint(rig.joints());  // bindings with a bone
  for (std::uint32_t e = 0; e < bindings; ++e) {
    joined_.push_back({e});
    if (known[e]) of_joint[rig.bindings()[e].joint].push_back(e);
  }
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    std::uint32_t above = rig.skeleton().joint(j).parent;
    while (above != kNoParent && of_joint[above].empty())
      above = rig.skeleton().joint(above).parent;
    if (above == kNoParent) continue;
    for (const std::uint32_t child : of_joint[j]) {
      for (const std::uint32_t parent : of_joint[above]) {
        joined_[child].push_back(parent);
        joined_[parent].push_back(child);
      }
    }
  }

  std::vector<Carried> carried;
  std::vector<std::vector<double>> distances(bindings);
  for (std::uint32_t p = 0; p < points; ++p) {
    const std::uint32_t e = strongest(p);
    if (!known[e] || rig.influences().weights(surface.welded.first[p])[0] < kCarries) continue;
    const double distance = DistanceToSegment(surface.rest[p], bones_[e].from, bones_[e].to);
    carried.push_back({p, e, distance, Nearest(surface.rest[p], e, bones_)});
    distances[e].push_back(distance);
  }
  std::vector<double> nearest(bindings);
  for (std::size_t e = 0; e < bindings; ++e) {
    if (distances[e].empty()) continue;
    const auto middle = distances[e].begin() + static_cast<std::ptrdiff_t>(distances[e].size() / 2);
    std::nth_element(distances[e].begin(), middle, distances[e].end());
    nearest[e] = std::max(kNearest * *middle, kNoLength * surface.diagonal);
  }
  for (const Carried& c : carried) {
    if (c.distance > nearest[c.binding]) carried_.push_back(c);
  }
}

double BoneDistances::Nearest(const Vec3d& p, std::uint32_t binding,
                              std::span<const Bone> bones) const {
  double nearest = std::numeric_limits<double>::infinity();
  for (const std::uint32_t e : joined_[binding]) {
    nearest = std::min(nearest, DistanceToSegment(p, bones[e].from, bones[e].to));
  }
  return nearest;
}

std::optional<BoneDistances::Extremes> BoneDistances::Measure(std::span<const Vec3d> points,
                                                              std::span<const AffineD> skin,
                                                              const Task& task) const {
  if (carried_.empty()) return std::nullopt;
  std::vector<Bone> posed;
  for (std::size_t e = 0; e < bones_.size(); ++e) {
    posed.push_back({Apply(skin[e], bones_[e].from), Apply(skin[e], bones_[e].to)});
  }
  struct Part {
    double least = std::numeric_limits<double>::infinity(), most = 0;
  };
  const Part found = SumOver<Part>(
      task, carried_.size(),
      [&](std::size_t i, Part& part) {
        const Carried& c = carried_[i];
        const Bone& bone = posed[c.binding];
        const Vec3d& p = points[c.point];
        const double distance = DistanceToSegment(p, bone.from, bone.to);
        part.least = std::min(part.least, distance / c.distance);
        if (c.nearest > 0) {
          part.most = std::max(part.most, Nearest(p, c.binding, posed) / c.nearest);
        }
      },
      [](Part& all, const Part& part) {
        all.least = std::min(all.least, part.least);
        all.most = std::max(all.most, part.most);
      });
  return Extremes{found.least, found.most > 0 ? found.most : 1};
}

}  // namespace sinew::metrics
