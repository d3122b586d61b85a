#include "core/deform/implicit/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/types.h"
#include "core/base/vectors.h"
#include "core/parallel/task.h"

namespace sinew {
namespace {

// Points and normals that a field interpolates, relative to the part's centre and divided by the
// reach.
struct Constraints {
  std::vector<Vec3d> points, normals;  // unit normals

  void Add(const Vec3d& point, const Vec3d& normal) {
    points.push_back(point);
    normals.push_back(normal);
  }
  bool IsFree(const Vec3d& point, double distance) const {
    return std::ranges::none_of(points,
                                [&](const Vec3d& p) { return Length(p - point) < distance; });
  }
};

// The nearest skin along a ray.
struct SkinHit {
  double distance = INFINITY;  // none
  Vec3d normal;                // interpolated unit vertex normal
};

// Nearest hit among the triangles that `counts`, edges included; of equal ones the first triangle.
// `direction` must be a unit vector.
template <class Counts>
SkinHit SkinAlong(const LimbSurface& surface, const Vec3d& from, const Vec3d& direction,
                  const Counts& counts) {
  constexpr double kEdge = 1e-6;
  SkinHit nearest;
  surface.tree.VisitAlong(from, direction, nearest.distance, [&](std::uint32_t i) {
    const Corners& t = surface.triangles[i];
    const Vec3d a = surface.points[t[0]], ab = surface.points[t[1]] - a,
                ac = surface.points[t[2]] - a, p = Cross(direction, ac);
    const double det = Dot(ab, p);
    if (std::abs(det) <= 1e-12 * Length(ab) * Length(ac)) return;
    const Vec3d s = from - a, q = Cross(s, ab);
    const double u = Dot(s, p) / det, v = Dot(direction, q) / det, at = Dot(ac, q) / det;
    if (!(u >= -kEdge && v >= -kEdge && u + v <= 1 + kEdge && at > 0)) return;
    if (!(at < nearest.distance) || !counts(t)) return;
    nearest = {at, Unit((1 - u - v) * surface.normals[t[0]] + u * surface.normals[t[1]] +
                        v * surface.normals[t[2]])};
  });
  return nearest;
}

// Two unit vectors perpendicular to an axis, which is a unit vector.
struct AxesAround {
  explicit AxesAround(const Vec3d& axis) : along(axis) {
    const Vec3d across = std::abs(axis.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
    u = Unit(Cross(axis, across));
    v = Cross(axis, u);
  }

  Vec3d Side(double angle) const { return std::cos(angle) * u + std::sin(angle) * v; }

  Vec3d along, u, v;
};

enum class BoneEnd { kRoot, kTip };

// Whether a triangle has a corner within a radius or may reach into it. Borrows its members.
struct IsNear {
  bool operator()(const Corners& t) const {
    const Vec3d& a = surface.points[t[0]];
    const double size =
        std::max(Length(surface.points[t[1]] - a), Length(surface.points[t[2]] - a));
    return Length(a - centre) <= radius + size;
  }
  const LimbSurface& surface;
  const Vec3d& centre;
  double radius;
};

// Radius of the largest ball about the end that fits into the skin, at most `rho`.
double LargestBall(const LimbSurface& surface, const IsNear& near, const Vec3d& end,
                   const AxesAround& axes, double least, double rho, const Task& task) {
  for (std::size_t i = 0; i < kCapLevels; ++i) {
    const double sine = kSteepestCapRay * (2.0 * static_cast<double>(i) / (kCapLevels - 1) - 1);
    const double cosine = std::sqrt(1 - sine * sine);
    for (std::size_t k = 0; k < kCapDirections && !task.cancelled(); ++k) {
      // Every other level is rotated by half a step.
      const double step = static_cast<double>(k) + 0.5 * static_cast<double>(i % 2);
      const Vec3d way =
          sine * axes.along + cosine * axes.Side(2 * std::numbers::pi * step / kCapDirections);
      const SkinHit hit = SkinAlong(surface, end, way, near);
      if (hit.distance < rho) rho = std::max(hit.distance, least);
    }
  }
  return rho;
}

// Adds an end cap at an end of the bone, unless the part's own skin closes it there.
//
// - Where the part's own skin does not reach the end, its section there follows the skin of
//   other parts. Both parts of a joint then meet in the skin, without a notch between them that
//   vertices would carry into a bend. Where the skin continues to the side (a palm beside a finger,
//   a torso beside an arm), the section is as thick as the limb's end.
// - Top and ring lie on the largest ball about the joint that fits into the skin. A joint may
//   rotate in any direction, and anything outside that ball would stick out of the skin.
//
// Casts about 70 rays. Returns early once the task is cancelled.
void AddDome(const LimbSurface& surface, const LimbBone& bone, const Vec3d& centre, BoneEnd at,
             Constraints& constraints, const Task& task) {
  const Vec3d end = at == BoneEnd::kRoot ? bone.root : bone.tip;
  const AxesAround axes((at == BoneEnd::kRoot ? -1.0 : 1.0) * bone.direction);
  const auto own_skin = [&](const Corners& t) {
    return std::ranges::all_of(t, [&](std::uint32_t v) { return surface.joint[v] == bone.joint; });
  };
  const Vec3d middle = 0.5 * (bone.root + bone.tip);
  if (SkinAlong(surface, middle, axes.along, own_skin).distance < INFINITY) return;

  const IsNear near = {surface, end, kCapSearch * bone.size};
  const double rho = LargestBall(surface, near, end, axes, kLeastCap * bone.size, bone.size, task);
  const auto add = [&](const Vec3d& point, const Vec3d& normal) {
    const Vec3d p = (1 / bone.reach) * (point - centre);
    if (constraints.IsFree(p, kCapSpacing * rho / bone.reach)) constraints.Add(p, Unit(normal));
  };
  const auto fits = [&](double width) {
    return width >= kLeastSection * rho && width <= kMostSection * rho;
  };
  add(end + rho * axes.along, axes.along);
  for (std::size_t k = 0; k < kCapRing && !task.cancelled(); ++k) {
    const Vec3d side = axes.Side(2 * std::numbers::pi * static_cast<double>(k) / kCapRing);
    const Vec3d before = end - (kBeforeCap * rho) * axes.along;
    if (!fits(SkinAlong(surface, before, side, own_skin).distance)) {
      SkinHit section = SkinAlong(surface, end, side, near);
      const bool limb = fits(section.distance) && Dot(section.normal, side) > kSectionCosine;
      if (!limb) section = {rho, side};
      add(end + section.distance * side, section.normal);
    }
    const Vec3d ring = std::sin(kCapTilt) * axes.along + std::cos(kCapTilt) * side;
    add(end + rho * ring, ring);
  }
}

// Extent of the skin to one side of the bone's axis at `at`; 0 = none.
double ExtentOf(std::span<const SurfaceSample> skin, const LimbBone& bone, const Vec3d& at,
                const Vec3d& side) {
  double extent = 0;
  for (const SurfaceSample& s : skin) {
    const Vec3d d = s.point - at;
    const double along = Dot(d, bone.direction);
    if (std::abs(along) > kSideSlice * bone.size) continue;
    const double aside = Dot(d, side);
    if (aside > kSideCosine * Length(d - along * bone.direction)) extent = std::max(extent, aside);
  }
  return extent;
}

// A bone of a palm has skin above and below, but none at its sides, where its neighbours begin.
// Unconstrained, the fit would extend far into them and lift their skin as soon as they move.
// Wherever a ring of directions around the bone meets no skin of the part, the field is closed at
// the extent of its skin.
//
//    skin  drawn from the part's own, model space
//
// Casts about 40 rays. Returns early once the task is cancelled.
void AddSides(const LimbSurface& surface, const LimbBone& bone, std::span<const SurfaceSample> skin,
              const Vec3d& centre, Constraints& constraints, const Task& task) {
  const auto own = [&](const Corners& t) {
    return std::ranges::any_of(t, [&](std::uint32_t v) { return surface.joint[v] == bone.joint; });
  };
  const AxesAround axes(bone.direction);
  const Vec3d along = bone.tip - bone.root;
  const auto rings = static_cast<std::size_t>(
      std::clamp<double>(std::round(Length(along) / bone.size), 1, kMaxSideRings));
  // Rings, and halfway between them, where the field of a flat part would continue.
  for (std::size_t place = 1; place < 2 * rings && !task.cancelled(); ++place) {
    const Vec3d at =
        bone.root + (0.5 * static_cast<double>(place) / static_cast<double>(rings)) * along;
    const auto side = [&](std::size_t k) {
      return axes.Side(2 * std::numbers::pi * static_cast<double>(k) / kSideRing);
    };
    std::array<double, kSideRing> distance;
    for (std::size_t k = 0; k < kSideRing; ++k) {
      distance[k] = SkinAlong(surface, at, side(k), own).distance;
    }
    const double thinnest = *std::ranges::min_element(distance);
    if (thinnest == INFINITY) continue;  // the bone is outside its skin
    for (std::size_t k = 0; k < kSideRing; ++k) {
      if (distance[k] < INFINITY) continue;
      const double extent = ExtentOf(skin, bone, at, side(k));
      const double end =
          extent > 0 ? std::clamp(extent, kLeastSide * thinnest, kMostSide * thinnest) : thinnest;
      if (place % 2 == 0 && end < kFlatSide * thinnest) continue;
      const Vec3d p = (1 / bone.reach) * (at + end * side(k) - centre);
      if (constraints.IsFree(p, kSideSpacing * thinnest / bone.reach)) constraints.Add(p, side(k));
    }
  }
}

using Triple = std::array<double, 3>;

Triple ToTriple(const Vec3d& v) {
  return {v.x, v.y, v.z};
}

// Minimum of the field on a face of a box.
double LowestOn(const Hrbf& hrbf, const GridBox& box, std::size_t face) {
  const std::size_t axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
  double low = INFINITY;
  Triple p;
  p[axis] = face % 2 == 0 ? box.least[axis] : box.largest[axis];
  for (std::size_t i = 0; i <= kFaceTests; ++i) {
    p[u] = box.least[u] + (box.largest[u] - box.least[u]) * static_cast<double>(i) / kFaceTests;
    for (std::size_t k = 0; k <= kFaceTests; ++k) {
      p[v] = box.least[v] + (box.largest[v] - box.least[v]) * static_cast<double>(k) / kFaceTests;
      low = std::min(low, hrbf.Value({p[0], p[1], p[2]}));
    }
  }
  return low;
}

GridBox BoxOf(const std::vector<Vec3d>& points) {
  GridBox box = {ToTriple(points.front()), ToTriple(points.front())};
  for (const Vec3d& point : points) {
    const Triple p = ToTriple(point);
    for (std::size_t i = 0; i < 3; ++i) {
      box.least[i] = std::min(box.least[i], p[i]);
      box.largest[i] = std::max(box.largest[i], p[i]);
    }
  }
  return box;
}

// Grows the box of the samples until f >= 1 on all faces; nullopt if that fails up to the maximum
// size.
std::optional<GridBox> FindSupport(const Hrbf& hrbf, const GridBox& samples) {
  GridBox box = samples;
  for (std::size_t i = 0; i < 3; ++i) {
    box.least[i] -= kFirstMargin;
    box.largest[i] += kFirstMargin;
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t face = 0; face < 6; ++face) {
      if (LowestOn(hrbf, box, face) >= 1) continue;
      const std::size_t axis = face / 2;
      double& side = face % 2 == 0 ? box.least[axis] : box.largest[axis];
      const double from = face % 2 == 0 ? samples.least[axis] : samples.largest[axis];
      const double next = side + (face % 2 == 0 ? -kMarginStep : kMarginStep);
      // Samples so far out that a step is lost to rounding cannot be closed.
      if (std::abs(side - from) >= kMostMargin || next == side) return std::nullopt;
      side = next;
      grown = true;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const double pad = kBoxMargin * (box.largest[i] - box.least[i]);
    box.least[i] -= pad;
    box.largest[i] += pad;
  }
  return box;
}

// Adds samples where the current fit is farthest off the skin, until there are `samples` of `have`.
// Returns their number.
std::size_t AddWhereOff(const PartSkin& skin, const LimbBone& bone, const Vec3d& centre,
                        std::size_t samples, std::size_t have, Constraints& constraints,
                        const Task& task) {
  struct Off {
    double distance = 0;
    Vec3d point, normal;
  };
  const double apart =
      kRefineSpacing * std::sqrt(skin.area / static_cast<double>(samples)) / bone.reach;
  for (std::size_t round = 0; round < kFits - 1 && have < samples && !task.cancelled(); ++round) {
    const Hrbf hrbf = FitHrbf(constraints.points, constraints.normals);
    if (hrbf.size() == 0) break;
    std::vector<Off> off;
    for (const SurfaceSample& s : skin.drawn) {
      const Vec3d p = (1 / bone.reach) * (s.point - centre);
      off.push_back({std::abs(hrbf.Value(p)), p, s.normal});
    }
    std::ranges::stable_sort(off, std::greater(), &Off::distance);
    const std::size_t rounds = kFits - 1 - round,
                      until = have + (samples - have + rounds - 1) / rounds;
    for (const Off& o : off) {
      if (have == until || o.distance * bone.reach < kFittedError * bone.size) break;
      if (!constraints.IsFree(o.point, apart)) continue;
      constraints.Add(o.point, o.normal);
      ++have;
    }
  }
  return have;
}

}  // namespace

PartFit FitPart(const LimbSurface& surface, const LimbBone& bone, std::size_t samples,
                const Task& task) {
  PartFit part;
  const PartSkin skin = DrawSkin(surface, bone, samples);
  part.folded = skin.folded;
  const auto evenly = static_cast<std::size_t>(
      std::ceil((skin.area > 0 ? kEvenShare : 1) * static_cast<double>(samples)));
  const auto spread = SpreadSamples(skin.drawn, evenly, surface.diagonal);
  part.samples = spread.size();
  if (spread.size() < kFewestSamples) return part;
  for (const SurfaceSample& s : spread) {
    part.centre = part.centre + (1.0 / static_cast<double>(spread.size())) * s.point;
  }
  Constraints constraints;
  for (const SurfaceSample& s : spread) {
    constraints.Add((1 / bone.reach) * (s.point - part.centre), s.normal);
  }
  AddDome(surface, bone, part.centre, BoneEnd::kRoot, constraints, task);
  AddDome(surface, bone, part.centre, BoneEnd::kTip, constraints, task);
  AddSides(surface, bone, skin.drawn, part.centre, constraints, task);
  if (skin.area > 0) {
    part.samples = AddWhereOff(skin, bone, part.centre, samples, spread.size(), constraints, task);
  }
  if (task.cancelled()) return part;
  Hrbf hrbf = FitHrbf(constraints.points, constraints.normals);
  if (hrbf.size() == 0) return part;
  const std::optional<GridBox> support = FindSupport(hrbf, BoxOf(constraints.points));
  part.open = !support.has_value();
  if (part.open) return part;
  part.box = *support;
  part.cell_bound = BoundCells(hrbf, part.box);
  part.hrbf = std::move(hrbf);
  return part;
}

}  // namespace sinew
