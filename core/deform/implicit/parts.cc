#include "core/deform/implicit/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "core/base/median.h"
#include "core/base/segment.h"
#include "core/base/vectors.h"
#include "core/rig/bind_pose.h"
#include "core/rig/bones.h"
#include "core/surface/part_triangles.h"
#include "core/surface/rounded_face.h"

namespace sinew {

namespace {

float WeightOf(const Rig& rig, std::uint32_t v, std::uint32_t joint) {
  double sum = 0;
  const auto bindings = rig.influences().bindings(v);
  for (std::size_t k = 0; k < bindings.size(); ++k) {
    if (rig.bindings()[bindings[k]].joint == joint) sum += rig.influences().weights(v)[k];
  }
  return static_cast<float>(sum);
}

double Diagonal(std::span<const Vec3d> points) {
  Vec3d least = points.front(), largest = points.front();
  for (const Vec3d& p : points) {
    least = {std::min(least.x, p.x), std::min(least.y, p.y), std::min(least.z, p.z)};
    largest = {std::max(largest.x, p.x), std::max(largest.y, p.y), std::max(largest.z, p.z)};
  }
  return Length(largest - least);
}

void AddSkin(const Rig& rig, LimbSurface& surface) {
  surface.skin = CollectRows<LimbSurface::Skin>(rig.joints(), [&](auto add) {
    for (std::uint32_t i = 0; i < surface.triangles.size(); ++i) {
      const Corners& t = surface.triangles[i];
      for (std::size_t c = 0; c < 3; ++c) {
        const std::uint16_t joint = surface.joint[t[c]];
        const bool again =
            (c > 0 && surface.joint[t[0]] == joint) || (c > 1 && surface.joint[t[1]] == joint);
        if (!again) add(joint, {.triangle = i});
      }
    }
  });
  for (std::uint32_t joint = 0; joint < rig.joints(); ++joint) {
    for (std::uint64_t at = surface.skin.offsets[joint]; at < surface.skin.offsets[joint + 1];
         ++at) {
      LimbSurface::Skin& skin = surface.skin.values[at];
      for (std::size_t k = 0; k < 3; ++k) {
        skin.weight[k] = WeightOf(rig, surface.triangles[skin.triangle][k], joint);
      }
    }
  }
}

}  // namespace

LimbSurface MakeLimbSurface(const Rig& rig, const WeldedPoints& welded) {
  LimbSurface surface;
  const Mesh& mesh = rig.mesh();
  surface.pose = BindPose(rig);
  const std::vector<AffineD> to_pose = ToBindPose(rig, surface.pose);
  for (std::uint32_t v = 0; v < rig.vertices(); ++v) {
    const std::uint16_t binding = StrongestBinding(rig, v);
    surface.joint.push_back(rig.bindings()[binding].joint);
    surface.points.push_back(Apply(to_pose[binding], ToDouble(mesh.positions()[v])));
  }
  surface.vertices = CollectRows<std::uint32_t>(rig.joints(), [&](auto add) {
    for (std::uint32_t v = 0; v < rig.vertices(); ++v) {
      if (welded.first[welded.point[v]] == v) add(surface.joint[v], v);
    }
  });

  const std::vector<Vec3d> normals = OutwardNormals(mesh, welded, surface.points);
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    surface.normals.push_back(normals[welded.point[v]]);
  }
  const std::size_t triangles = mesh.face_vertices().size() - 2 * mesh.faces();
  surface.triangles.reserve(triangles);
  surface.number.reserve(triangles);
  for (const MeshPart& part : mesh.parts()) {
    std::uint32_t number = 0;
    ForEachTriangle(mesh, part, [&](const Corners& t) {
      surface.triangles.push_back(t);
      surface.number.push_back(number++);
    });
  }
  surface.tree = SkinTree(surface.points, surface.triangles);
  surface.diagonal = Diagonal(surface.points);
  AddSkin(rig, surface);
  return surface;
}

std::size_t LimbSurfaceBytes(const Rig& rig) {
  const std::size_t corners = rig.mesh().face_vertices().size();
  // Points, normals, sums, joints, rows, welding tables; triangles, with at most one row entry per
  // corner, and their tree.
  return rig.vertices() * (3 * sizeof(Vec3d) + 160) +
         corners * (16 + 3 * sizeof(LimbSurface::Skin)) + SkinTree::Bytes(corners) +
         rig.joints() * (24 + 2 * sizeof(AffineD)) + rig.bindings().size() * sizeof(AffineD) +
         rig.influences().size() * 16;
}

namespace {

std::vector<Vec3d> PointsOf(const LimbSurface& surface, std::uint32_t joint) {
  std::vector<Vec3d> points;
  for (const std::uint32_t v : surface.vertices.row(joint)) points.push_back(surface.points[v]);
  return points;
}

// False if all vertices are on the bone. Also computes the largest distance, for the reach.
bool Measure(const LimbSurface& surface, LimbBone& bone) {
  std::vector<double> distances;
  for (const std::uint32_t v : surface.vertices.row(bone.joint)) {
    distances.push_back(Length(surface.points[v] - bone.Nearest(surface.points[v])));
  }
  bone.size = Median(distances);
  const double farthest = *std::max_element(distances.begin(), distances.end());
  bone.reach = std::clamp(farthest, kLeastReach * bone.size, kMostReach * bone.size);
  return bone.size > 0 && std::isfinite(farthest);
}

// The last bones: those that are the nearest above no other.
void FindLast(const Skeleton& skeleton, std::vector<LimbBone>& bones) {
  std::vector<LimbBone*> bone_of(skeleton.joints());
  for (LimbBone& bone : bones) bone_of[bone.joint] = &bone;
  for (const LimbBone& bone : bones) {
    std::uint32_t above = skeleton.joint(bone.joint).parent;
    while (above != kNoParent && bone_of[above] == nullptr) above = skeleton.joint(above).parent;
    if (above != kNoParent) bone_of[above]->last = false;
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

}  // namespace

Vec3d LimbBone::Nearest(const Vec3d& p) const {
  return NearestOnSegment(root, tip, p).point;
}

std::vector<LimbBone> MakeLimbBones(const Rig& rig, const LimbSurface& surface) {
  std::vector<LimbBone> bones;
  std::vector<std::uint8_t> carriers(rig.joints(), 0);
  for (const std::uint32_t j : JointsByPlace(rig.skeleton(), surface.pose)) {
    if (surface.vertices.row(j).size() < kFewestSamples) continue;
    if (Flattens(Linear(surface.pose[j]))) continue;
    bones.emplace_back().joint = j;
    carriers[j] = 1;
  }
  FindEnds(Bones(rig, surface.pose, carriers), surface, bones);
  std::erase_if(bones, [&](LimbBone& bone) { return !Measure(surface, bone); });
  FindLast(rig.skeleton(), bones);
  return bones;
}

namespace {

constexpr int kBisections = 24;

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

namespace {

constexpr double kWeightRounding = kTiedWeight;  // rings midway between two joints

bool PointsToBone(const LimbBone& bone, const SurfaceSample& s) {
  const Vec3d out = s.point - bone.Nearest(s.point);
  return Dot(out, s.normal) < -1e-9 * Length(out);
}

// Between the joints at the bone's ends. For a bone shorter than its size, which has no skin in
// between, all skin.
bool IsAlong(const LimbBone& bone, const Vec3d& at) {
  if (Length(bone.tip - bone.root) < bone.size) return true;
  return Dot(at - bone.root, bone.direction) >= 0 &&
         (bone.last || Dot(at - bone.tip, bone.direction) <= 0);
}

// Skin shared between joints follows none of them, and a part containing it would push it out of
// the body when rotating. Stricter beyond a joint, where a rotation goes the other way and the end
// cap represents the limb.
bool Carries(const LimbBone& bone, const Vec3d& at, double weight) {
  return weight >= (IsAlong(bone, at) ? kCarriedAlong : kCarriedBeyond) - kWeightRounding;
}

// A point of a triangle, of those drawn uniformly over all triangles.
struct Draw {
  double order = 0;  // among all of them
  std::size_t skin = 0;
  double u = 0, v = 0;  // uniform in [0, 1)
};

// Number k of a triangle, uniform in [0, 1). Steele, Lea & Flood 2014, splitmix64.
double NumberOf(std::uint32_t triangle, std::uint64_t k) {
  std::uint64_t z = (std::uint64_t{triangle} << 32) + (k + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
}

// About `count` points. Each triangle has its own numbers, and its points come at equal distances
// of 1 / area in the common order: triangles that join or leave the skin change no other point and
// no order.
std::vector<Draw> DrawPoints(const LimbSurface& surface, std::span<const LimbSurface::Skin> skin,
                             std::span<const double> areas, double count) {
  const double total = std::accumulate(areas.begin(), areas.end(), 0.0);
  std::vector<Draw> draws;
  for (std::size_t i = 0; i < skin.size(); ++i) {
    const std::uint32_t triangle = surface.number[skin[i].triangle];
    const double first = NumberOf(triangle, 0);
    for (std::size_t k = 0; first + static_cast<double>(k) < areas[i] / total * count; ++k) {
      draws.push_back({(first + static_cast<double>(k)) / areas[i], i,
                       NumberOf(triangle, 2 * k + 1), NumberOf(triangle, 2 * k + 2)});
    }
  }
  std::ranges::stable_sort(draws, {}, &Draw::order);
  return draws;
}

}  // namespace

PartSkin DrawSkin(const LimbSurface& surface, const LimbBone& bone, std::size_t samples) {
  PartSkin part;
  const auto skin = surface.skin.row(bone.joint);
  std::vector<double> areas;
  areas.reserve(skin.size());
  for (const LimbSurface::Skin& s : skin) {
    const auto& t = surface.triangles[s.triangle];
    const Vec3d& a = surface.points[t[0]];
    areas.push_back(0.5 * Length(Cross(surface.points[t[1]] - a, surface.points[t[2]] - a)));
    part.area += areas.back();
  }
  if (part.area > 0) {
    const std::vector<Draw> draws =
        DrawPoints(surface, skin, areas, static_cast<double>(kDrawnPerSample * samples));
    for (const Draw& draw : draws) {
      const LimbSurface::Skin& s = skin[draw.skin];
      const double u = std::sqrt(draw.u), v = draw.v;
      const std::array<double, 3> weights = {1 - u, u * (1 - v), u * v};
      std::array<Vec3d, 3> corners, normals;
      SurfaceSample sample{};
      double carried = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        corners[k] = surface.points[surface.triangles[s.triangle][k]];
        normals[k] = surface.normals[surface.triangles[s.triangle][k]];
        sample.point = sample.point + weights[k] * corners[k];
        sample.normal = sample.normal + weights[k] * normals[k];
        carried += weights[k] * static_cast<double>(s.weight[k]);
      }
      if (!Carries(bone, sample.point, carried)) continue;
      const Vec3d rounding = ToRoundedFace(corners, normals, weights, sample.point);
      part.drawn.push_back({sample.point + rounding, Unit(sample.normal)});
    }
    const double carried = part.area * static_cast<double>(part.drawn.size()) /
                           static_cast<double>(kDrawnPerSample * samples);
    if (carried < kLeastArea * bone.size * bone.size) part.drawn.clear();
  } else {
    const auto vertices = surface.vertices.row(bone.joint);
    const std::size_t stride = vertices.size() / (kDrawnPerSample * samples) + 1;
    for (std::size_t i = 0; i < vertices.size(); i += stride) {
      part.drawn.push_back({surface.points[vertices[i]], surface.normals[vertices[i]]});
    }
  }
  std::erase_if(part.drawn, [](const SurfaceSample& s) { return Dot(s.normal, s.normal) < 0.5; });
  const auto folded = std::ranges::count_if(
      part.drawn, [&](const SurfaceSample& s) { return PointsToBone(bone, s); });
  if (part.drawn.empty()) return part;
  part.folded = static_cast<double>(folded) / static_cast<double>(part.drawn.size());
  if (part.folded <= kMostFacing) {
    std::erase_if(part.drawn, [&](const SurfaceSample& s) { return PointsToBone(bone, s); });
  }
  return part;
}

}  // namespace sinew
