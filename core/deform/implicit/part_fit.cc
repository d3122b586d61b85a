#include "core/deform/implicit/part_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/vectors.h"
#include "core/deform/implicit/part_dome.h"
#include "core/deform/implicit/part_sides.h"
#include "core/deform/implicit/part_skin.h"
#include "core/deform/implicit/spread_samples.h"

namespace sinew {
namespace {

// Share of the samples that is spread uniformly; the others go where the fit error is largest.
constexpr double kSpread = 0.6;
constexpr std::size_t kRounds = kFits - 1;
constexpr double kNear = 0.005;  // times the median radius: on the skin
// Distance of these samples from others, relative to the mean distance.
constexpr double kApart = 0.35;
constexpr std::size_t kFaceGrid = 12;  // points along an edge of the support box
constexpr double kStep = 0.25;         // radii by which the box grows
constexpr double kFarthest = 4;        // radii from the samples
constexpr double kPad = 0.02;          // margin of the box

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
  for (std::size_t i = 0; i <= kFaceGrid; ++i) {
    p[u] = box.least[u] + (box.largest[u] - box.least[u]) * static_cast<double>(i) / kFaceGrid;
    for (std::size_t k = 0; k <= kFaceGrid; ++k) {
      p[v] = box.least[v] + (box.largest[v] - box.least[v]) * static_cast<double>(k) / kFaceGrid;
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
    box.least[i] -= 0.75;
    box.largest[i] += 0.75;
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t face = 0; face < 6; ++face) {
      if (LowestOn(hrbf, box, face) >= 1) continue;
      const std::size_t axis = face / 2;
      double& side = face % 2 == 0 ? box.least[axis] : box.largest[axis];
      const double from = face % 2 == 0 ? samples.least[axis] : samples.largest[axis];
      const double next = side + (face % 2 == 0 ? -kStep : kStep);
      // Samples so far out that a step is lost to rounding cannot be closed.
      if (std::abs(side - from) >= kFarthest || next == side) return std::nullopt;
      side = next;
      grown = true;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const double pad = kPad * (box.largest[i] - box.least[i]);
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
  const double apart = kApart * std::sqrt(skin.area / static_cast<double>(samples)) / bone.radius;
  for (std::size_t round = 0; round < kRounds && have < samples && !task.cancelled(); ++round) {
    const Hrbf hrbf = FitHrbf(constraints.points, constraints.normals);
    if (hrbf.size() == 0) break;
    std::vector<Off> off;
    for (const SurfaceSample& s : skin.drawn) {
      const Vec3d p = (1 / bone.radius) * (s.point - centre);
      off.push_back({std::abs(hrbf.Value(p)), p, s.normal});
    }
    std::ranges::stable_sort(off, std::greater(), &Off::distance);
    const std::size_t rounds = kRounds - round,
                      until = have + (samples - have + rounds - 1) / rounds;
    for (const Off& o : off) {
      if (have == until || o.distance * bone.radius < kNear * bone.flesh) break;
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
      std::ceil((skin.area > 0 ? kSpread : 1) * static_cast<double>(samples)));
  const auto spread = SpreadSamples(skin.drawn, evenly, surface.diagonal);
  part.samples = spread.size();
  if (spread.size() < kFewestSamples) return part;
  for (const SurfaceSample& s : spread) {
    part.centre = part.centre + (1.0 / static_cast<double>(spread.size())) * s.point;
  }
  Constraints constraints;
  for (const SurfaceSample& s : spread) {
    constraints.Add((1 / bone.radius) * (s.point - part.centre), s.normal);
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
