#include "core/deform/implicit/limb_bones.h"

#include <algorithm>
#include <cmath>

#include "core/base/median.h"
#include "core/base/segment.h"
#include "core/base/vectors.h"
#include "core/rig/bones.h"

namespace sinew {
namespace {

// Limits of the support radius, relative to the median radius.
constexpr double kLeast = 0.75, kMost = 2;

std::vector<Vec3d> PointsOf(const LimbSurface& surface, std::uint32_t joint) {
  std::vector<Vec3d> points;
  for (const std::uint32_t v : surface.VerticesOf(joint)) points.push_back(surface.points[v]);
  return points;
}

// False if all vertices are on the bone. Also computes the largest distance, for the support
// radius.
bool Measure(const LimbSurface& surface, LimbBone& bone) {
  std::vector<double> distances;
  for (const std::uint32_t v : surface.VerticesOf(bone.joint)) {
    distances.push_back(Length(surface.points[v] - bone.Nearest(surface.points[v])));
  }
  bone.flesh = Median(distances);
  const double farthest = *std::max_element(distances.begin(), distances.end());
  bone.radius = std::clamp(farthest, kLeast * bone.flesh, kMost * bone.flesh);
  return bone.flesh > 0 && std::isfinite(farthest);
}

void LinkParents(const Skeleton& skeleton, std::vector<LimbBone>& bones) {
  // The bone of each joint or of its nearest ancestor.
  std::vector<std::int32_t> nearest(skeleton.joints(), -1);
  for (std::size_t b = 0; b < bones.size(); ++b) {
    nearest[bones[b].joint] = static_cast<std::int32_t>(b);
  }
  for (std::uint32_t j = 0; j < skeleton.joints(); ++j) {
    const std::uint32_t parent = skeleton.joint(j).parent;
    const std::int32_t above = parent == kNoParent ? -1 : nearest[parent];
    if (nearest[j] < 0) {
      nearest[j] = above;
    } else {
      bones[static_cast<std::size_t>(nearest[j])].parent = above;
    }
  }
}

// Ends of the bones, see core/rig/bones.h.
void FindEnds(const Bones& skeleton, const LimbSurface& surface, std::vector<LimbBone>& bones) {
  for (LimbBone& bone : bones) {
    bone.root = skeleton.origin(bone.joint);
    bone.tip = skeleton.tip(bone.joint);
    if (!skeleton.IsPoint(bone.joint)) {
      bone.direction = (1 / Length(bone.tip - bone.root)) * (bone.tip - bone.root);
      continue;
    }
    const std::vector<Vec3d> part = PointsOf(surface, bone.joint);
    bone.direction = skeleton.DirectionInto(bone.joint, part);
    if (bone.direction == Vec3d{}) bone.direction = {1, 0, 0};
    const double reach = skeleton.is_leaf(bone.joint) ? Reach(bone.root, bone.direction, part) : 0;
    bone.tip = bone.root + reach * bone.direction;
  }
}

// Adjacent parts share one end plane. Sections across each bone would be apart on the outer side of
// a joint that is bent at bind, and intersect on the inner side.
void FindPlanes(std::vector<LimbBone>& bones) {
  constexpr double kOpposed = 1e-6;
  const auto unit_or = [](const Vec3d& v, const Vec3d& otherwise) {
    return Length(v) > kOpposed ? Unit(v) : otherwise;
  };
  std::vector<Vec3d> through(bones.size());  // sums
  for (LimbBone& bone : bones) {
    bone.out_root = -1.0 * bone.direction;
    if (bone.parent < 0) continue;
    const auto parent = static_cast<std::size_t>(bone.parent);
    const Vec3d leads = Unit(bone.root - bones[parent].root);
    bone.out_root = -1.0 * unit_or(leads + bone.direction, bone.direction);
    through[parent] = through[parent] - bone.out_root;
    bones[parent].last = false;
  }
  for (std::size_t b = 0; b < bones.size(); ++b) {
    bones[b].out_tip = unit_or(through[b], bones[b].direction);
  }
}

}  // namespace

Vec3d LimbBone::Nearest(const Vec3d& p) const {
  return NearestOnSegment(root, tip, p).point;
}

std::vector<LimbBone> MakeLimbBones(const Rig& rig, const LimbSurface& surface) {
  std::vector<LimbBone> bones;
  std::vector<std::uint8_t> carriers(rig.joints(), 0);
  for (const std::uint32_t j : JointsByPlace(rig.skeleton(), surface.pose)) {
    if (surface.VerticesOf(j).size() < kFewestSamples) continue;
    if (Flattens(Linear(surface.pose[j]))) continue;
    bones.emplace_back().joint = j;
    carriers[j] = 1;
  }
  FindEnds(Bones(rig, surface.pose, carriers), surface, bones);
  std::erase_if(bones, [&](LimbBone& bone) { return !Measure(surface, bone); });
  LinkParents(rig.skeleton(), bones);
  FindPlanes(bones);
  return bones;
}

}  // namespace sinew
