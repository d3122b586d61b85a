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

std::vector<Carrier> FindCarriers(const AnimatedScene& scene, const std::vector<bool>& is_joint,
                                  const std::vector<bool>& moves_alone) {
  std::vector<Carrier> carriers(scene.nodes.size());
  for (const std::uint32_t n : scene.order) {
    const SceneNode& node = scene.nodes[n];
    carriers[n].node = n;
    if (is_joint[n] || moves_alone[n] || node.parent < 0) continue;
    const Carrier& above = carriers[static_cast<std::size_t>(node.parent)];
    carriers[n] = {above.node, Compose(above.to_carrier, node.Local())};
  }
  return carriers;
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
