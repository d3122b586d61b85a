#include "core/metrics/binding_bones.h"

#include <algorithm>
#include <cmath>

#include "core/base/segment.h"

namespace sinew::metrics {
namespace {

constexpr double kNoLength = 1e-6;  // of the bounding-box diagonal
// Directions whose unit vectors sum to less are opposite: no bisecting plane.
constexpr double kOpposed = 1e-3;

struct Sum {
  Vec3d sum;
  double count = 0;
  void Add(const Vec3d& p) {
    sum = sum + p;
    ++count;
  }
  Vec3d Mean() const { return (1 / count) * sum; }
};

Vec3d UnitOrZero(const Vec3d& v, double no_length) {
  const double length = Length(v);
  return length > no_length ? (1 / length) * v : Vec3d{};
}

}  // namespace

bool IsFlat(const AffineD& skin) {
  constexpr double kFlat = 1e-4;
  const Mat3d linear = Linear(skin);
  double sum = 0;
  for (const double v : linear.m) sum += v * v;
  return !(std::abs(Determinant(linear)) > kFlat * std::pow(sum / 3, 1.5));
}

double BindingBone::Distance(const Vec3d& p) const {
  return Length((p - from) - NearestOnSegment(from, to, p).place * (to - from));
}

double BindingBone::DistanceFromAxis(const Vec3d& p) const {
  return Length((p - from) - Station(p) * UnitOrZero(to - from, 0));
}

double BindingBone::Station(const Vec3d& p) const {
  return Dot(p - from, UnitOrZero(to - from, 0));
}

BindingBones::BindingBones(const Rig& rig, const Surface& surface) {
  const std::size_t points = surface.welded.points(), bindings = rig.bindings().size();
  const double no_length = kNoLength * surface.diagonal;
  std::vector<Sum> children(rig.joints());  // in the joint's space
  for (std::size_t j = 0; j < rig.joints(); ++j) {
    const std::uint32_t parent = rig.skeleton().joint(j).parent;
    if (parent != kNoParent) children[parent].Add(Translation(rig.skeleton().rest_local()[j]));
  }
  std::vector<Sum> vertices(bindings);
  for (std::size_t p = 0; p < points; ++p) {
    strongest.push_back(rig.influences().bindings(surface.welded.first[p])[0]);
    vertices[strongest[p]].Add(surface.rest[p]);
  }
  std::vector<std::vector<std::uint32_t>> of_joint(
      rig.joints());  // bindings with a known bone, per joint
  for (std::uint32_t e = 0; e < bindings; ++e) {
    const Binding& binding = rig.bindings()[e];
    BindingBone& bone = bones.emplace_back();
    if (vertices[e].count == 0 || Determinant(Linear(binding.inverse_bind)) == 0) continue;
    bone.known = true;
    of_joint[binding.joint].push_back(e);
    const AffineD bind = Inverse(binding.inverse_bind);
    const Sum& ends = children[binding.joint];
    bone.from = Translation(bind);
    bone.to = ends.count > 0 ? Apply(bind, ends.Mean()) : bone.from;
    if (Length(bone.to - bone.from) <= no_length) bone.to = vertices[e].Mean();
  }
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    std::uint32_t above = rig.skeleton().joint(j).parent;
    while (above != kNoParent && of_joint[above].empty())
      above = rig.skeleton().joint(above).parent;
    if (above == kNoParent) continue;
    for (std::size_t k = 0; k < of_joint[j].size(); ++k) {
      const std::uint32_t child = of_joint[j][k];
      const std::uint32_t parent = of_joint[above][std::min(k, of_joint[above].size() - 1)];
      const Vec3d centre = bones[child].from;
      const Vec3d leads = UnitOrZero(centre - bones[parent].from, no_length);
      const Vec3d goes = UnitOrZero(bones[child].to - centre, no_length);
      Vec3d normal = UnitOrZero(leads + goes, kOpposed);
      if (Length(normal) == 0) normal = Length(goes) > 0 ? goes : leads;
      if (Length(normal) > 0) joints.push_back({parent, child, centre, normal});
    }
  }
}

}  // namespace sinew::metrics
