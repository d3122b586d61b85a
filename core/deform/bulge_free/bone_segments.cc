#include "core/deform/bulge_free/bone_segments.h"

#include <algorithm>

#include "core/base/vectors.h"

namespace sinew {
BoneSegments::BoneSegments(const Rig& rig, const WeldedPoints& welded, const Vec3d& centre)
    : rig_(rig), order_(rig.skeleton()), bones_(rig, rig.skeleton().rest_model()) {
  to_bind_.reserve(rig.bindings().size());
  segments_.reserve(rig.bindings().size());
  std::vector<AffineD> at_rest;  // [E] bind space to the rest pose
  at_rest.reserve(rig.bindings().size());
  for (const Binding& binding : rig.bindings()) {
    at_rest.push_back(Compose(rig.skeleton().rest_model()[binding.joint], binding.inverse_bind));
  }
  const std::vector<Vec3d> tips = FindTips(welded, at_rest);
  for (std::size_t e = 0; e < at_rest.size(); ++e) {
    if (Flattens(Linear(at_rest[e]))) {
      to_bind_.push_back({{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
      segments_.emplace_back();
      continue;
    }
    const std::uint16_t joint = rig.bindings()[e].joint;
    to_bind_.push_back(Inverse(at_rest[e]));
    segments_.push_back({Apply(to_bind_.back(), bones_.origin(joint)) - centre,
                         Apply(to_bind_.back(), tips[joint]) - centre});
  }
}

std::vector<Vec3d> BoneSegments::FindTips(const WeldedPoints& welded,
                                          std::span<const AffineD> at_rest) const {
  std::vector<std::vector<Vec3d>> skin(rig_.joints());  // of bones that are points
  for (const std::uint32_t v : welded.first) {
    const std::uint16_t e = StrongestBinding(rig_, v), joint = rig_.bindings()[e].joint;
    if (!bones_.IsPoint(joint) || Flattens(Linear(at_rest[e]))) continue;
    skin[joint].push_back(Apply(at_rest[e], ToDouble(rig_.mesh().positions()[v])));
  }
  std::vector<Vec3d> tips;
  for (std::uint32_t j = 0; j < rig_.joints(); ++j) {
    tips.push_back(skin[j].empty() ? bones_.tip(j) : bones_.LimbTip(j, skin[j]));
  }
  return tips;
}

bool BoneSegments::IsAncestor(std::size_t upper, std::size_t lower) const {
  const std::uint16_t above = rig_.bindings()[upper].joint, below = rig_.bindings()[lower].joint;
  return above != below && order_.IsOrDescends(below, above);
}

BoneCouple BoneSegments::Couple(std::size_t upper, std::size_t lower) const {
  const std::uint32_t from = rig_.bindings()[upper].joint, to = rig_.bindings()[lower].joint;
  Vec3d along = bones_.origin(to) - bones_.origin(from);
  if (Length(along) <= bones_.no_length()) along = bones_.Direction(from);
  return {ToBind(upper, along), ToBind(lower, bones_.Direction(to))};
}

Vec3d BoneSegments::ToBind(std::size_t e, const Vec3d& rest_direction) const {
  return Unit(Multiply(Linear(to_bind_[e]), rest_direction));
}

}  // namespace sinew
