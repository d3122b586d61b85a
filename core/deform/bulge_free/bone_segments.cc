#include "core/deform/bulge_free/bone_segments.h"

#include <cmath>

namespace sinew {
namespace {

constexpr double kNoLength = 1e-6;  // of the mesh's diagonal
constexpr double kFlat = 1e-9;      // |det| / |A|_F^3 of a matrix that flattens space

bool Flattens(const Mat3d& a) {
  double sum = 0;
  for (const double v : a.m) sum += v * v;
  return !(std::abs(Determinant(a)) > kFlat * sum * std::sqrt(sum));
}

double Length(const Vec3d& v) {
  return std::sqrt(Dot(v, v));
}

}  // namespace

BoneSegments::BoneSegments(const Rig& rig, const Vec3d& centre)
    : rig_(rig), order_(rig.skeleton()), no_length_(kNoLength * rig.mesh().diagonal()) {
  std::vector<std::size_t> children(rig.joints());
  std::vector<Vec3d> sums(rig.joints());
  bone_above_.reserve(rig.joints());
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    const std::uint32_t parent = rig.skeleton().joint(j).parent;
    const bool moves = parent != kNoParent && Length(Origin(j) - Origin(parent)) > no_length_;
    bone_above_.push_back(parent == kNoParent || moves ? parent : bone_above_[parent]);
    if (parent == kNoParent) continue;
    sums[parent] = sums[parent] + Origin(j);
    ++children[parent];
  }
  tips_.reserve(rig.joints());
  for (std::uint32_t j = 0; j < rig.joints(); ++j) {
    tips_.push_back(children[j] == 0 ? Origin(j)
                                     : (1.0 / static_cast<double>(children[j])) * sums[j]);
  }
  to_bind_.reserve(rig.bindings().size());
  segments_.reserve(rig.bindings().size());
  for (const Binding& binding : rig.bindings()) {
    const AffineD at_rest =
        Compose(rig.skeleton().rest_model()[binding.joint], binding.inverse_bind);
    if (Flattens(Linear(at_rest))) {
      to_bind_.push_back({{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
      segments_.emplace_back();
      continue;
    }
    to_bind_.push_back(Inverse(at_rest));
    segments_.push_back({Apply(to_bind_.back(), Origin(binding.joint)) - centre,
                         Apply(to_bind_.back(), tips_[binding.joint]) - centre});
  }
}

bool BoneSegments::IsAncestor(std::size_t upper, std::size_t lower) const {
  const std::uint16_t above = rig_.bindings()[upper].joint, below = rig_.bindings()[lower].joint;
  return above != below && order_.IsOrDescends(below, above);
}

BoneCouple BoneSegments::Couple(std::size_t upper, std::size_t lower) const {
  const std::uint32_t from = rig_.bindings()[upper].joint, to = rig_.bindings()[lower].joint;
  Vec3d along = Origin(to) - Origin(from);
  if (Length(along) <= no_length_) along = RestDirection(from);
  return {ToBind(upper, along), ToBind(lower, RestDirection(to))};
}

Vec3d BoneSegments::Origin(std::uint32_t joint) const {
  return Translation(rig_.skeleton().rest_model()[joint]);
}

Vec3d BoneSegments::RestDirection(std::uint32_t joint) const {
  const Vec3d origin = Origin(joint);
  Vec3d along = tips_[joint] - origin;
  const std::uint32_t above = bone_above_[joint];
  if (Length(along) <= no_length_ && above != kNoParent) along = origin - Origin(above);
  return Length(along) <= no_length_ ? Vec3d{} : along;
}

Vec3d BoneSegments::ToBind(std::size_t e, const Vec3d& rest_direction) const {
  const Vec3d bind = Multiply(Linear(to_bind_[e]), rest_direction);
  const double length = Length(bind);
  return length > 0 ? (1 / length) * bind : Vec3d{};
}

}  // namespace sinew
