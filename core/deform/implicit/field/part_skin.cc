#include "core/deform/implicit/field/part_skin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "core/base/vectors.h"
#include "core/surface/rounded_face.h"

namespace sinew {
namespace {

constexpr std::size_t kCandidates = 40;  // per sample
constexpr double kCarried = 0.5,
                 kCarriedBehind = 0.9;  // minimum weight of skin that belongs to a joint
constexpr double kWeightRounding = 1e-6;
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

}  // namespace

PartSkin DrawSkin(const LimbSurface& surface, const LimbBone& bone, std::size_t samples) {
  PartSkin part;
  const auto skin = surface.SkinOf(bone.joint);
  std::vector<double> areas;  // cumulative, per triangle
  areas.reserve(skin.size());
  for (const LimbSurface::Skin& s : skin) {
    const auto& t = surface.triangles[s.triangle];
    const Vec3d& a = surface.points[t[0]];
    part.area += 0.5 * Length(Cross(surface.points[t[1]] - a, surface.points[t[2]] - a));
    areas.push_back(part.area);
  }
  if (part.area > 0) {
    std::mt19937_64 random(0x51e3u + bone.joint);  // the same numbers everywhere
    const auto next = [&] { return static_cast<double>(random() >> 11) * 0x1.0p-53; };
    for (std::size_t i = 0; i < kCandidates * samples; ++i) {
      const double at = next() * part.area, u = std::sqrt(next());
      const double v = next();
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
