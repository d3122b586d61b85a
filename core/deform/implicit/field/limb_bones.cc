#include "core/deform/implicit/field/limb_bones.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/median.h"
#include "core/base/segment.h"
#include "core/base/vectors.h"
#include "core/rig/bones.h"

namespace sinew {
namespace {

constexpr double kAlike = 1.6;  // ratio of median radii up to which parts share a support radius
constexpr double kEnd = 0.25;   // of a bone's length, measured as its end
constexpr double kCapNormal = 0.7;  // |normal . bone| of vertices that close an end
constexpr double kThinnest = 0.5,
                 kThickest = 1.5;  // limits of an end's radius, relative to the median radius
constexpr double kLeast = 0.75,
                 kMost = 2;  // limits of the support radius, relative to the median radius

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

// Radius at both ends: distance of the nearest vertex that does not close the end.
void MeasureEnds(const LimbSurface& surface, LimbBone& bone) {
  const double infinite = std::numeric_limits<double>::infinity();
  double root = infinite, tip = infinite;
  for (const std::uint32_t v : surface.VerticesOf(bone.joint)) {
    if (std::abs(Dot(surface.normals[v], bone.direction)) >= kCapNormal) continue;
    double place = 0;
    const double distance = Length(surface.points[v] - bone.Nearest(surface.points[v], &place));
    if (place <= kEnd) root = std::min(root, distance);
    if (place >= 1 - kEnd) tip = std::min(tip, distance);
  }
  const auto bounded = [&](double rho) {
    return std::clamp(rho == infinite ? bone.flesh : rho, kThinnest * bone.flesh,
                      kThickest * bone.flesh);
  };
  bone.rho_root = bounded(root);
  bone.rho_tip = bounded(tip);
}

void LinkParents(const Skeleton& skeleton, std::vector<LimbBone>& bones) {
  std::vector<std::int32_t> nearest(skeleton.joints(),
                                    -1);  // for the joint or its nearest ancestor
  std::size_t next = 0;
  for (std::uint32_t j = 0; j < skeleton.joints(); ++j) {
    const std::uint32_t parent = skeleton.joint(j).parent;
    nearest[j] = parent == kNoParent ? -1 : nearest[parent];
    if (next == bones.size() || bones[next].joint != j) continue;
    bones[next].parent = nearest[j];
    nearest[j] = static_cast<std::int32_t>(next++);
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

// An end with child parts has their radius. A part on a thinner one (a head on its neck) extends
// into it by the thinner one's radius.
void MeetChildren(std::vector<LimbBone>& bones) {
  for (LimbBone& bone : bones) {
    if (bone.parent < 0) continue;
    const LimbBone& below = bones[static_cast<std::size_t>(bone.parent)];
    bone.rho_root = std::max(std::min(bone.rho_root, below.rho_tip), 0.25 * bone.flesh);
  }
  std::vector<double> sums(bones.size()), children(bones.size());
  for (const LimbBone& bone : bones) {
    if (bone.parent >= 0) bones[static_cast<std::size_t>(bone.parent)].last = false;
  }
  for (std::size_t b = 0; b < bones.size(); ++b) {
    if (bones[b].parent < 0 || bones[b].last) continue;
    sums[static_cast<std::size_t>(bones[b].parent)] += bones[b].rho_root;
    ++children[static_cast<std::size_t>(bones[b].parent)];
  }
  for (std::size_t b = 0; b < bones.size(); ++b) {
    if (children[b] > 0) {
      bones[b].rho_tip =
          std::clamp(sums[b] / children[b], kThinnest * bones[b].flesh, kThickest * bones[b].flesh);
    }
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
  }
  for (std::size_t b = 0; b < bones.size(); ++b) {
    bones[b].out_tip = unit_or(through[b], bones[b].direction);
  }
}

// One support radius for adjacent, similar parts: groups grow along joints, the most similar first.
void ShareRadii(std::vector<LimbBone>& bones) {
  struct Group {
    double thinnest, thickest, radius;
  };
  std::vector<Group> groups;
  std::vector<std::size_t> group(bones.size()), edges;
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto ratio = [&](std::size_t b) {
    const double a = bones[b].flesh, c = bones[static_cast<std::size_t>(bones[b].parent)].flesh;
    return std::max(a, c) / std::min(a, c);
  };
  for (std::size_t b = 0; b < bones.size(); ++b) {
    groups.push_back({bones[b].flesh, bones[b].flesh, bones[b].radius});
    if (bones[b].parent >= 0) edges.push_back(b);
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [&](std::size_t a, std::size_t b) { return ratio(a) < ratio(b); });
  const auto find = [&](std::size_t b) {
    while (group[b] != b) b = group[b] = group[group[b]];
    return b;
  };
  for (const std::size_t b : edges) {
    const std::size_t to = find(static_cast<std::size_t>(bones[b].parent)), from = find(b);
    const Group both = {std::min(groups[to].thinnest, groups[from].thinnest),
                        std::max(groups[to].thickest, groups[from].thickest),
                        std::max(groups[to].radius, groups[from].radius)};
    if (to == from || both.thickest > kAlike * both.thinnest) continue;
    groups[to] = both;
    group[from] = to;
  }
  for (std::size_t b = 0; b < bones.size(); ++b) {
    const Group& of = groups[find(b)];
    bones[b].radius = std::clamp(of.radius, kLeast * of.thickest, kMost * of.thinnest);
  }
}

}  // namespace

Vec3d LimbBone::Nearest(const Vec3d& p, double* place) const {
  const OnSegment nearest = NearestOnSegment(root, tip, p);
  if (place != nullptr) *place = nearest.place;
  return nearest.point;
}

std::vector<LimbBone> MakeLimbBones(const Rig& rig, const LimbSurface& surface) {
  std::vector<LimbBone> bones;
  std::vector<std::uint8_t> carriers(rig.joints(), 0);
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    if (surface.VerticesOf(j).size() < kFewestSamples) continue;
    if (Flattens(Linear(surface.pose[j]))) continue;
    bones.emplace_back().joint = j;
    carriers[j] = 1;
  }
  FindEnds(Bones(rig, surface.pose, carriers), surface, bones);
  std::erase_if(bones, [&](LimbBone& bone) { return !Measure(surface, bone); });
  LinkParents(rig.skeleton(), bones);
  for (LimbBone& bone : bones) MeasureEnds(surface, bone);
  MeetChildren(bones);
  ShareRadii(bones);
  FindPlanes(bones);
  return bones;
}

}  // namespace sinew
