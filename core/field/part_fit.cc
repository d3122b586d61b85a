#include "core/field/part_fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <vector>

#include "core/base/vectors.h"
#include "core/field/part_reach.h"
#include "core/field/poisson_disk.h"

namespace sinew {
namespace {

constexpr std::size_t kCandidates = 40;  // for each sample
constexpr std::size_t kFaceGrid = 12;    // points along an edge of the box's faces
constexpr double kStep = 0.25;           // the box grows by, radii
constexpr double kFarthest = 4;          // from the samples, radii
constexpr double kPad = 0.02;            // of the box

Vec3d Unit(const Vec3d& v) {
  const double length = Length(v);
  return length > 0 ? (1 / length) * v : Vec3d{};
}

bool PointsToBone(const LimbBone& bone, const SurfaceSample& s) {
  const Vec3d out = s.point - bone.Nearest(s.point);
  return Dot(out, s.normal) < -1e-9 * Length(out);
}

struct Candidates {
  std::vector<SurfaceSample> samples;
  double area = 0;
  double folded = 0;
};

// Points drawn evenly over the part's triangles; where it has none, its vertices, or as many of
// them.
Candidates DrawCandidates(const LimbSurface& surface, const LimbBone& bone, std::size_t samples) {
  Candidates drawn;
  const auto triangles = surface.TrianglesOf(bone.joint);
  std::vector<double> areas;  // up to each triangle
  for (const auto& t : triangles) {
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
      const auto& t = triangles[static_cast<std::size_t>(place)];
      const double weights[3] = {1 - u, u * (1 - v), u * v};
      SurfaceSample sample{};
      for (std::size_t k = 0; k < 3; ++k) {
        sample.point = sample.point + weights[k] * surface.points[t[k]];
        sample.normal = sample.normal + weights[k] * surface.normals[t[k]];
      }
      drawn.samples.push_back({sample.point, Unit(sample.normal)});
    }
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

using Corners = std::array<std::uint32_t, 3>;

// The skin nearest along a ray; edges count.
struct SkinHit {
  double distance = INFINITY;  // none
  Vec3d normal;
};
SkinHit SkinAlong(const LimbSurface& surface, std::span<const Corners> triangles, const Vec3d& from,
                  const Vec3d& direction) {
  constexpr double kEdge = 1e-6;
  SkinHit nearest;
  for (const Corners& t : triangles) {
    const Vec3d a = surface.points[t[0]], ab = surface.points[t[1]] - a,
                ac = surface.points[t[2]] - a, p = Cross(direction, ac);
    const double det = Dot(ab, p);
    if (std::abs(det) <= 1e-12 * Length(ab) * Length(ac)) continue;
    const Vec3d s = from - a, q = Cross(s, ab);
    const double u = Dot(s, p) / det, v = Dot(direction, q) / det, at = Dot(ac, q) / det;
    if (!(u >= -kEdge && v >= -kEdge && u + v <= 1 + kEdge && at > 0)) continue;
    if (!(at < nearest.distance)) continue;
    nearest = {at, Unit((1 - u - v) * surface.normals[t[0]] + u * surface.normals[t[1]] +
                        v * surface.normals[t[2]])};
  }
  return nearest;
}

// Triangles of any one part (none has those between two) that may reach into a ball.
std::vector<Corners> TrianglesNear(const LimbSurface& surface, const Vec3d& centre, double radius) {
  std::vector<Corners> near;
  for (const Corners& t : surface.triangles) {
    const Vec3d& a = surface.points[t[0]];
    const double size =
        std::max(Length(surface.points[t[1]] - a), Length(surface.points[t[2]] - a));
    if (Length(a - centre) <= radius + size) near.push_back(t);
  }
  return near;
}

struct Fitting {
  std::vector<Vec3d> points, normals;  // radii
  void Add(const Vec3d& point, const Vec3d& normal) {
    points.push_back(point);
    normals.push_back(normal);
  }
  bool IsFree(const Vec3d& point, double distance) const {
    return std::ranges::none_of(points,
                                [&](const Vec3d& p) { return Length(p - point) < distance; });
  }
};

// Closes the limb in a dome where it goes on into other parts.
//   - Where its own skin does not reach the end, its section there is that of the skin of other
//     parts: so both parts of a joint meet in the skin, and do not leave a notch between them that
//     vertices would carry into a bend. Where the skin goes on to the side (a palm beside a finger,
//     a body beside an arm), the limb is closed there as thick as the end is.
//   - Half way up a ring follows the section, but in every direction no farther than it reaches in
//     the opposite one: a bend turns the side that is behind the bone out in front of it.
//   - The top.
void AddDome(const LimbSurface& surface, const LimbBone& bone, const Vec3d& centre,
             const Vec3d& end, const Vec3d& outward, double rho, Fitting& fitting) {
  const Vec3d middle = 0.5 * (bone.root + bone.tip);
  if (SkinAlong(surface, surface.TrianglesOf(bone.joint), middle, outward).distance < INFINITY) {
    return;
  }
  const auto add = [&](const Vec3d& point, const Vec3d& normal) {
    const Vec3d at = (1 / bone.radius) * (point - centre);
    if (fitting.IsFree(at, 0.25 * rho / bone.radius)) fitting.Add(at, Unit(normal));
  };
  add(end + rho * outward, outward);
  const Vec3d across = std::abs(outward.x) < 0.6 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d u = Unit(Cross(outward, across)), v = Cross(outward, u);
  const std::vector<Corners> near = TrianglesNear(surface, end, 2 * rho);
  std::array<Vec3d, kDomeRing> sides;
  std::array<SkinHit, kDomeRing> section;
  for (std::size_t k = 0; k < kDomeRing; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / kDomeRing;
    sides[k] = std::cos(angle) * u + std::sin(angle) * v;
    section[k] = SkinAlong(surface, near, end, sides[k]);
    const double width = section[k].distance;
    const bool limb = width >= 0.5 * rho && width <= 2 * rho;
    if (!limb || !(Dot(section[k].normal, sides[k]) > 0.5)) section[k] = {rho, sides[k]};
  }
  for (std::size_t k = 0; k < kDomeRing; ++k) {
    const SkinHit& opposite = section[(k + kDomeRing / 2) % kDomeRing];
    const double own =
        SkinAlong(surface, surface.TrianglesOf(bone.joint), end - (0.25 * rho) * outward, sides[k])
            .distance;
    if (!(own >= 0.5 * rho && own <= 2 * rho)) {
      add(end + section[k].distance * sides[k], section[k].normal);
    }
    const double width = std::min(section[k].distance, opposite.distance);
    const double half = std::numbers::sqrt2 / 2;
    add(end + (half * rho) * outward + (half * width) * sides[k],
        (1 / rho) * outward + (1 / width) * sides[k]);
  }
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
void Close(const Box& samples, const Vec3d& leak, double margin, Fitting& fitting) {
  const Triple to = ToTriple(leak);
  Triple p;
  for (std::size_t i = 0; i < 3; ++i) {
    p[i] = std::clamp(to[i], samples.least[i] - margin, samples.largest[i] + margin);
  }
  fitting.Add(ToVec(p), Unit(leak - ToVec(p)));
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
  Fitting fitting;
  for (const SurfaceSample& s : spread) {
    fitting.Add((1 / bone.radius) * (s.point - part.centre), s.normal);
  }
  const Box box = BoxOf(fitting.points);
  AddDome(surface, bone, part.centre, bone.root, -1.0 * bone.direction, bone.rho_root, fitting);
  AddDome(surface, bone, part.centre, bone.tip, bone.direction, bone.rho_tip, fitting);
  const double margin = 0.5 * bone.flesh / bone.radius;
  for (;; ++part.closing) {
    part.hrbf = {};
    if (task.cancelled()) return part;
    part.hrbf = FitHrbf(fitting.points, fitting.normals);
    if (part.hrbf.size() == 0) return part;
    FaceLow leak;
    if (const auto support = FindSupport(part.hrbf, BoxOf(fitting.points), leak)) {
      part.hrbf = OrderedForSums(part.hrbf);
      part.least = support->least;
      part.largest = support->largest;
      part.reach = FindReach(part.hrbf, part.least, part.largest);
      return part;
    }
    const std::size_t before = fitting.points.size();
    if (part.closing < kMostClosing) Close(box, leak.at, margin, fitting);
    if (fitting.points.size() == before ||
        std::ranges::any_of(std::span(fitting.points).first(before), [&](const Vec3d& p) {
          return Length(p - fitting.points.back()) < 0.1 * margin;
        })) {
      part.hrbf = {};
      part.open = true;
      return part;
    }
  }
}

}  // namespace sinew
