#include "core/deform/implicit/part_skin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/vectors.h"
#include "core/surface/rounded_face.h"

namespace sinew {
namespace {

constexpr std::size_t kCandidates = 40;  // per sample
constexpr double kCarried = 0.5,
                 kCarriedBehind = 0.9;           // minimum weight of skin that belongs to a joint
constexpr double kWeightRounding = kTiedWeight;  // rings midway between two joints
// Area relative to the median radius squared. A limb around its bone has 6 and more; below this it
// is a patch that does not determine the limb.
constexpr double kPatch = 1;

bool PointsToBone(const LimbBone& bone, const SurfaceSample& s) {
  const Vec3d out = s.point - bone.Nearest(s.point);
  return Dot(out, s.normal) < -1e-9 * Length(out);
}

// Between the joints at the bone's ends. For a bone shorter than its radius, which has no skin in
// between, all skin.
bool IsAlong(const LimbBone& bone, const Vec3d& at) {
  if (Length(bone.tip - bone.root) < bone.flesh) return true;
  return Dot(at - bone.root, bone.out_root) <= 0 &&
         (bone.last || Dot(at - bone.tip, bone.out_tip) <= 0);
}

// Skin shared between joints follows none of them, and a part containing it would push it out of
// the body when rotating. Stricter beyond a joint, where a rotation goes the other way and the end
// cap represents the limb.
bool Carries(const LimbBone& bone, const Vec3d& at, double weight) {
  return weight >= (IsAlong(bone, at) ? kCarried : kCarriedBehind) - kWeightRounding;
}

// A point of a triangle, of those drawn uniformly over all triangles.
struct Draw {
  double order = 0;  // among all of them
  std::size_t skin = 0;
  double u = 0, v = 0;  // uniform in [0, 1)
};

// Numbers of one triangle. Steele, Lea & Flood 2014, splitmix64.
class TriangleNumbers {
 public:
  explicit TriangleNumbers(std::uint32_t triangle) : state_(std::uint64_t{triangle} << 32) {}
  // Uniform in [0, 1).
  double Next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53;
  }

 private:
  std::uint64_t state_;
};

// About `count` points. Each triangle has its own numbers, and its points come at equal distances
// of 1 / area in the common order: triangles that join or leave the skin change no other point and
// no order.
std::vector<Draw> DrawPoints(const LimbSurface& surface, std::span<const LimbSurface::Skin> skin,
                             std::span<const double> areas, double count) {
  const double total = std::accumulate(areas.begin(), areas.end(), 0.0);
  std::vector<Draw> draws;
  for (std::size_t i = 0; i < skin.size(); ++i) {
    TriangleNumbers numbers(surface.number[skin[i].triangle]);
    const double first = numbers.Next();
    for (std::size_t k = 0; first + static_cast<double>(k) < areas[i] / total * count; ++k) {
      const double u = numbers.Next(), v = numbers.Next();
      draws.push_back({(first + static_cast<double>(k)) / areas[i], i, u, v});
    }
  }
  std::ranges::stable_sort(draws, {}, &Draw::order);
  return draws;
}

}  // namespace

PartSkin DrawSkin(const LimbSurface& surface, const LimbBone& bone, std::size_t samples) {
  PartSkin part;
  const auto skin = surface.SkinOf(bone.joint);
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
        DrawPoints(surface, skin, areas, static_cast<double>(kCandidates * samples));
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
                           static_cast<double>(kCandidates * samples);
    if (carried < kPatch * bone.flesh * bone.flesh) part.drawn.clear();
  } else {
    const auto vertices = surface.VerticesOf(bone.joint);
    const std::size_t stride = vertices.size() / (kCandidates * samples) + 1;
    for (std::size_t i = 0; i < vertices.size(); i += stride) {
      part.drawn.push_back({surface.points[vertices[i]], surface.normals[vertices[i]]});
    }
  }
  std::erase_if(part.drawn, [](const SurfaceSample& s) { return Dot(s.normal, s.normal) < 0.5; });
  const auto folded = std::ranges::count_if(
      part.drawn, [&](const SurfaceSample& s) { return PointsToBone(bone, s); });
  if (part.drawn.empty()) return part;
  part.folded = static_cast<double>(folded) / static_cast<double>(part.drawn.size());
  // A bone outside its part (a jaw's, clothes') cannot decide.
  if (part.folded <= 0.5) {
    std::erase_if(part.drawn, [&](const SurfaceSample& s) { return PointsToBone(bone, s); });
  }
  return part;
}

}  // namespace sinew
