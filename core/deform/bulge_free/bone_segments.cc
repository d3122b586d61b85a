#include "core/deform/bulge_free/bone_segments.h"

#include <cmath>

namespace sinew {

BoneSegments::BoneSegments(const Rig& rig, const Vec3d& centre)
    : rig_(rig), order_(rig.skeleton()), bones_(rig, rig.skeleton().rest_model()) {
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
    segments_.push_back({Apply(to_bind_.back(), bones_.origin(binding.joint)) - centre,
                         Apply(to_bind_.back(), bones_.tip(binding.joint)) - centre});
  }
}

bool BoneSegments::IsAncestor(std::size_t upper, std::size_t lower) const {
  const std::uint16_t above = rig_.bindings()[upper].joint, below = rig_.bindings()[lower].joint;
  return above != below && order_.IsOrDescends(below, above);
}

BoneCouple BoneSegments::Couple(std::size_t upper, std::size_t lower) const {
  const std::uint32_t from = rig_.bindings()[upper].joint, to = rig_.bindings()[lower].joint;
  Vec3d along = bones_.origin(to) - bones_.origin(from);
  if (std::sqrt(Dot(along, along)) <= bones_.no_length()) along = bones_.Direction(from);
  return {ToBind(upper, along), ToBind(lower, bones_.Direction(to))};
}

Vec3d BoneSegments::ToBind(std::size_t e, const Vec3d& rest_direction) const {
  const Vec3d bind = Multiply(Linear(to_bind_[e]), rest_direction);
  const double length = std::sqrt(Dot(bind, bind));
  return length > 0 ? (1 / length) * bind : Vec3d{};
}

}  // namespace sinew
