#include "core/field/part_fit.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "core/base/vectors.h"
#include "core/field/part_dome.h"
#include "core/field/part_reach.h"
#include "core/field/poisson_disk.h"
#include "core/geometry/rounded_face.h"

namespace sinew {
namespace {

constexpr std::size_t kCandidates = 40;                 // for each sample
constexpr double kCarried = 0.5, kCarriedBehind = 0.9;  // of its weight: skin that is a joint's
constexpr double kWeightRounding = 1e-6;
// Skin of less than this many times flesh^2, a limb around its bone has 6 and more, is a patch that
// does not tell where the limb is.
constexpr double kPatch = 1;
constexpr std::size_t kFaceGrid = 12;  // points along an edge of the box's faces
constexpr double kStep = 0.25;         // the box grows by, radii
constexpr double kFarthest = 4;        // from the samples, radii
constexpr double kPad = 0.02;          // of the box

bool PointsToBone(const LimbBone& bone, const SurfaceSample& s) {
  const Vec3d out = s.point - bone.Nearest(s.point);
  return Dot(out, s.normal) < -1e-9 * Length(out);
}

struct Candidates {
  std::vector<SurfaceSample> samples;
  double area = 0;
  double folded = 0;
};

// Before the joints at the bone's ends; all skin of a bone shorter than its flesh is thick, which
// has no skin of its own between them.
bool IsAlong(const LimbBone& bone, const Vec3d& at) {
  if (Length(bone.tip - bone.root) < bone.flesh) return true;
  const double station = Dot(at - bone.root, bone.direction);
  return station >= 0 && (bone.last || station <= Dot(bone.tip - bone.root, bone.direction));
}

// Points drawn evenly over the skin that the joint carries; where it has no triangles, its
// vertices, or as many of them. Skin that joints share follows none of them, and a part that held
// it would push it out of the body as it turns; more so behind a joint, where a turn goes the other
// way and the dome stands for it.
Candidates DrawCandidates(const LimbSurface& surface, const LimbBone& bone, std::size_t samples) {
  Candidates drawn;
  const auto skin = surface.SkinOf(bone.joint);
  std::vector<double> areas;  // up to each triangle
  areas.reserve(skin.size());
  for (const LimbSurface::Skin& s : skin) {
    const auto& t = surface.triangles[s.triangle];
    const Vec3d& a = surface.points[t[0]];
    drawn.area += 0.5 * Length(Cross(surface.points[t[1]] - a, surface.points[t[2]] - a));
    areas.push_back(drawn.area);
  }
  if (drawn.area > 0) {
    CounterRandom random(0x51e3u + bone.joint);
    for (std::size_t i = 0; i < kCandidates * samples; ++i) {
      const double at = random.Next() * drawn.area, u = std::sqrt(random.Next());
      const double v = random.Next();
      const auto found = std::upper_bound(areas.begin(), areas.end(), at);
      const auto place = std::min<std::ptrdiff_t>(found - areas.begin(),
                                                  static_cast<std::ptrdiff_t>(areas.size()) - 1);
      const LimbSurface::Skin& s = skin[static_cast<std::size_t>(place)];
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
      const double needed = IsAlong(bone, sample.point) ? kCarried : kCarriedBehind;
      if (carried < needed - kWeightRounding) continue;
      const Vec3d rounding = ToRoundedFace(corners, normals, weights, sample.point);
      drawn.samples.push_back({sample.point + rounding, Unit(sample.normal)});
    }
    const double carried = drawn.area * static_cast<double>(drawn.samples.size()) /
                           static_cast<double>(kCandidates * samples);
    if (carried < kPatch * bone.flesh * bone.flesh) drawn.samples.clear();
  } else {
    const auto vertices = surface.VerticesOf(bone.joint);
    const std::size_t stride = vertices.size() / (kCandidates * samples) + 1;
    for (std::size_t i = 0; i < vertices.size(); i += stride) {
      drawn.samples.push_back({surface.points[vertices[i]], surface.normals[vertices[i]]});
    }
  }
  std::erase_if(drawn.samples,
                [](const SurfaceSample& s) { return Dot(s.normal, s.normal) < 0.5; });
  const auto folded = std::ranges::count_if(
      drawn.samples, [&](const SurfaceSample& s) { return PointsToBone(bone, s); });
  if (drawn.samples.empty()) return drawn;
  drawn.folded = static_cast<double>(folded) / static_cast<double>(drawn.samples.size());
  // A bone that lies outside of its part (a jaw's, clothes') cannot judge.
  if (drawn.folded <= 0.5) {
    std::erase_if(drawn.samples, [&](const SurfaceSample& s) { return PointsToBone(bone, s); });
  }
  return drawn;
}

using Triple = std::array<double, 3>;

Triple ToTriple(const Vec3d& v) {
  return {v.x, v.y, v.z};
}
Vec3d ToVec(const Triple& t) {
  return {t[0], t[1], t[2]};
}

// Least value of the field on a face of a box, and where.
struct FaceLow {
  double value = INFINITY;
  Vec3d at;
};
FaceLow LowestOn(const Hrbf& hrbf, const Triple& least, const Triple& largest, std::size_t face) {
  const std::size_t axis = face / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
  FaceLow low;
  Triple p;
  p[axis] = face % 2 == 0 ? least[axis] : largest[axis];
  for (std::size_t i = 0; i <= kFaceGrid; ++i) {
    p[u] = least[u] + (largest[u] - least[u]) * static_cast<double>(i) / kFaceGrid;
    for (std::size_t k = 0; k <= kFaceGrid; ++k) {
      p[v] = least[v] + (largest[v] - least[v]) * static_cast<double>(k) / kFaceGrid;
      const double value = hrbf.Value(ToVec(p));
      if (value < low.value) low = {value, ToVec(p)};
    }
  }
  return low;
}

struct Box {
  Triple least, largest;
};

Box BoxOf(const std::vector<Vec3d>& points) {
  Box box = {ToTriple(points.front()), ToTriple(points.front())};
  for (const Vec3d& point : points) {
    const Triple p = ToTriple(point);
    for (std::size_t i = 0; i < 3; ++i) {
      box.least[i] = std::min(box.least[i], p[i]);
      box.largest[i] = std::max(box.largest[i], p[i]);
    }
  }
  return box;
}

// Grows the box of the samples until f >= 1 all over its faces. Where it stays lower up to the
// farthest, `leak` is the lowest place.
std::optional<Box> FindSupport(const Hrbf& hrbf, const Box& samples, FaceLow& leak) {
  Box box = samples;
  for (std::size_t i = 0; i < 3; ++i) {
    box.least[i] -= 0.75;
    box.largest[i] += 0.75;
  }
  for (bool grown = true; grown;) {
    grown = false;
    leak = {};
    for (std::size_t face = 0; face < 6; ++face) {
      const FaceLow low = LowestOn(hrbf, box.least, box.largest, face);
      if (low.value >= 1) continue;
      const std::size_t axis = face / 2;
      double& side = face % 2 == 0 ? box.least[axis] : box.largest[axis];
      const double from = face % 2 == 0 ? samples.least[axis] : samples.largest[axis];
      const double next = side + (face % 2 == 0 ? -kStep : kStep);
      // Samples that lie so far out that a step is lost in rounding are not closed.
      if (std::abs(side - from) >= kFarthest || next == side) {
        if (low.value < leak.value) leak = low;
        continue;
      }
      side = next;
      grown = true;
    }
  }
  if (leak.value < 1) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    const double pad = kPad * (box.largest[i] - box.least[i]);
    box.least[i] -= pad;
    box.largest[i] += pad;
  }
  return box;
}

// A sample that closes the field towards a leak: on the samples' box, a little outside.
void Close(const Box& samples, const Vec3d& leak, double margin, Constraints& constraints) {
  const Triple to = ToTriple(leak);
  Triple p;
  for (std::size_t i = 0; i < 3; ++i) {
    p[i] = std::clamp(to[i], samples.least[i] - margin, samples.largest[i] + margin);
  }
  constraints.Add(ToVec(p), Unit(leak - ToVec(p)));
}

}  // namespace

PartFit FitPart(const LimbSurface& surface, const LimbBone& bone, std::size_t samples,
                const Task& task) {
  PartFit part;
  const Candidates drawn = DrawCandidates(surface, bone, samples);
  part.folded = drawn.folded;
  const auto spread = SpreadSamples(drawn.samples, drawn.area, samples);
  part.samples = spread.size();
  if (spread.size() < kFewestSamples) return part;
  for (const SurfaceSample& s : spread) {
    part.centre = part.centre + (1.0 / static_cast<double>(spread.size())) * s.point;
  }
  Constraints constraints;
  for (const SurfaceSample& s : spread) {
    constraints.Add((1 / bone.radius) * (s.point - part.centre), s.normal);
  }
  const Box box = BoxOf(constraints.points);
  AddDome(surface, bone, part.centre, BoneEnd::kRoot, constraints, task);
  AddDome(surface, bone, part.centre, BoneEnd::kTip, constraints, task);
  const double margin = 0.5 * bone.flesh / bone.radius;
  for (;; ++part.closing) {
    part.hrbf = {};
    if (task.cancelled()) return part;
    part.hrbf = FitHrbf(constraints.points, constraints.normals);
    if (part.hrbf.size() == 0) return part;
    FaceLow leak;
    if (const auto support = FindSupport(part.hrbf, BoxOf(constraints.points), leak)) {
      part.hrbf = OrderedForSums(part.hrbf);
      part.least = support->least;
      part.largest = support->largest;
      part.reach = FindReach(part.hrbf, part.least, part.largest);
      return part;
    }
    const std::size_t before = constraints.points.size();
    if (part.closing < kMostClosing) Close(box, leak.at, margin, constraints);
    if (constraints.points.size() == before ||
        std::ranges::any_of(std::span(constraints.points).first(before), [&](const Vec3d& p) {
          return Length(p - constraints.points.back()) < 0.1 * margin;
        })) {
      part.hrbf = {};
      part.open = true;
      return part;
    }
  }
}

}  // namespace sinew
