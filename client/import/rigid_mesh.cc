#include "client/import/rigid_mesh.h"

#include <algorithm>
#include <span>

namespace sinew::client {
namespace {

// Index into skin.joints of a joint with this inverse bind; skin.joints.size() if there is none.
std::uint32_t FindSlot(const Skin& skin, std::uint32_t joint, const Affine& inverse_bind) {
  std::uint32_t slot = 0;
  for (; slot < skin.joints.size(); ++slot) {
    if (skin.joints[slot] == joint &&
        std::ranges::equal(inverse_bind.m, std::span(skin.inverse_bind).subspan(slot * 12, 12))) {
      break;
    }
  }
  return slot;
}

}  // namespace

Carrier FindCarrier(const AnimatedScene& scene, std::uint32_t node,
                    const std::vector<bool>& is_joint, const std::vector<bool>& is_animated) {
  Carrier carrier{.node = node, .to_carrier = {}};
  for (;;) {
    const SceneNode& at = scene.nodes[carrier.node];
    if (is_joint[carrier.node]) return carrier;
    if (is_animated[carrier.node]) return {.node = node, .to_carrier = {}};
    if (at.parent < 0) return carrier;
    carrier.to_carrier = Compose(at.Local(), carrier.to_carrier);
    carrier.node = static_cast<std::uint32_t>(at.parent);
  }
}

void BindToCarrier(const Carrier& carrier, std::uint32_t joint, std::size_t first, Mesh& mesh) {
  Skin& skin = mesh.skin;
  const Affine to_carrier = ToFloat(carrier.to_carrier);
  const std::uint32_t slot = FindSlot(skin, joint, to_carrier);
  if (slot == skin.joints.size()) {
    skin.joints.push_back(joint);
    skin.inverse_bind.insert(skin.inverse_bind.end(), to_carrier.m.begin(), to_carrier.m.end());
  }
  const std::size_t count = mesh.vertices() - first;
  skin.influence_counts.insert(skin.influence_counts.end(), count, 1u);
  skin.influence_joints.insert(skin.influence_joints.end(), count, slot);
  skin.influence_weights.insert(skin.influence_weights.end(), count, 1.0f);
}

}  // namespace sinew::client
