#include "core/rig/bind_pose.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/rig/bones.h"

namespace sinew {
namespace {

// (mesh part, binding) of all vertices, sorted by part; bindings without vertices come last.
std::vector<std::pair<std::size_t, std::size_t>> BindingsOfParts(const Rig& rig) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  const auto parts = rig.mesh().parts();
  std::vector<std::size_t> last(rig.bindings().size(), parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::uint32_t v = 0; v < parts[p].vertex_count; ++v) {
      for (const std::uint16_t e : rig.influences().bindings(parts[p].vertex_offset + v)) {
        if (last[e] == p) continue;
        last[e] = p;
        pairs.emplace_back(p, e);
      }
    }
  }
  std::ranges::sort(pairs);
  for (std::size_t e = 0; e < last.size(); ++e) {
    if (last[e] == parts.size()) pairs.emplace_back(parts.size(), e);
  }
  return pairs;
}

class Placing {
 public:
  explicit Placing(const Rig& rig)
      : rig_(rig),
        pose_(rig.skeleton().rest_model().begin(), rig.skeleton().rest_model().end()),
        placed_(rig.joints()) {}

  // Part space to the pose's space, via a joint already placed, or via the rest pose.
  std::optional<AffineD> MapOf(const Binding& binding) const {
    if (placed_[binding.joint]) return Compose(pose_[binding.joint], binding.inverse_bind);
    return std::nullopt;
  }
  AffineD MapByAncestor(const Binding& binding) const {
    const auto rest = rig_.skeleton().rest_model();
    for (std::uint32_t a = binding.joint; a != kNoParent; a = rig_.skeleton().joint(a).parent) {
      if (!placed_[a] || Flattens(Linear(rest[a]))) continue;
      return Compose(Compose(pose_[a], Inverse(rest[a])),
                     Compose(rest[binding.joint], binding.inverse_bind));
    }
    return {};
  }
  void Place(const Binding& binding, const AffineD& map) {
    if (placed_[binding.joint]) return;
    pose_[binding.joint] = Compose(map, Inverse(binding.inverse_bind));
    placed_[binding.joint] = true;
  }
  std::vector<AffineD> Finish() && {
    const Skeleton& skeleton = rig_.skeleton();
    for (std::uint32_t j = 0; j < rig_.joints(); ++j) {  // parents come first
      const std::uint32_t parent = skeleton.joint(j).parent;
      if (placed_[j] || parent == kNoParent) continue;
      pose_[j] = skeleton.ToModel(j, pose_[parent], skeleton.rest_local()[parent],
                                  skeleton.rest_local()[j]);
    }
    return std::move(pose_);
  }

 private:
  const Rig& rig_;
  std::vector<AffineD> pose_;
  std::vector<bool> placed_;
};

}  // namespace

std::vector<AffineD> BindPose(const Rig& rig) {
  Placing placing(rig);
  auto pairs = BindingsOfParts(rig);
  std::erase_if(pairs, [&](const auto& pair) {
    return !TryInverse(rig.bindings()[pair.second].inverse_bind);
  });
  for (std::size_t begin = 0; begin < pairs.size();) {
    std::size_t end = begin;
    std::optional<AffineD> map;
    for (; end < pairs.size() && pairs[end].first == pairs[begin].first; ++end) {
      if (!map) map = placing.MapOf(rig.bindings()[pairs[end].second]);
    }
    if (!map && begin > 0) map = placing.MapByAncestor(rig.bindings()[pairs[begin].second]);
    if (pairs[begin].first == rig.mesh().parts().size()) map = AffineD{};
    for (; begin < end; ++begin) {
      placing.Place(rig.bindings()[pairs[begin].second], map.value_or(AffineD{}));
    }
  }
  return std::move(placing).Finish();
}

std::vector<AffineD> ToBindPose(const Rig& rig, const std::vector<AffineD>& bind_pose) {
  std::vector<AffineD> to;
  to.reserve(rig.bindings().size());
  for (const Binding& binding : rig.bindings()) {
    to.push_back(Compose(bind_pose[binding.joint], binding.inverse_bind));
  }
  return to;
}

Vec3d InBindPose(const Rig& rig, std::span<const AffineD> to_pose, std::size_t vertex) {
  const Vec3d p = ToDouble(rig.mesh().positions()[vertex]);
  const auto bindings = rig.influences().bindings(vertex);
  const auto weights = rig.influences().weights(vertex);
  Vec3d sum;
  for (std::size_t k = 0; k < bindings.size(); ++k) {
    sum = sum + weights[k] * Apply(to_pose[bindings[k]], p);
  }
  return sum;
}

}  // namespace sinew
