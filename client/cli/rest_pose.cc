#include "client/cli/rest_pose.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sinew::cli {
namespace {

// a after b, both 3x4 row-major.
void Compose(const float* a, const float* b, float* out) {
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 4; ++column) {
      double sum = column == 3 ? a[row * 4 + 3] : 0;
      for (std::size_t k = 0; k < 3; ++k) sum += double{a[row * 4 + k]} * b[k * 4 + column];
      out[row * 4 + column] = static_cast<float>(sum);
    }
  }
}

}  // namespace

std::vector<float> RestPositions(const client::RigData& rig) {
  std::vector<float> positions;
  positions.reserve(rig.vertices() * 3);
  for (const client::Mesh& mesh : rig.meshes) {
    const std::array<float, 12>& bind = mesh.skin.geometry_bind;
    for (std::size_t v = 0; v < mesh.vertices(); ++v) {
      const float* p = mesh.positions.data() + v * 3;
      for (std::size_t row = 0; row < 3; ++row) {
        positions.push_back(bind[row * 4] * p[0] + bind[row * 4 + 1] * p[1] +
                            bind[row * 4 + 2] * p[2] + bind[row * 4 + 3]);
      }
    }
  }
  return positions;
}

std::vector<float> RestJoints(const client::RigData& rig) {
  const std::size_t joints = std::min(rig.joints.size(), rig.rest_local.size() / 12);
  std::vector<float> model(joints * 12);
  for (std::size_t j = 0; j < joints; ++j) {
    const float* local = rig.rest_local.data() + j * 12;
    const std::int32_t parent = rig.joints[j].parent;
    if (parent >= 0 && static_cast<std::size_t>(parent) < j) {
      Compose(model.data() + static_cast<std::size_t>(parent) * 12, local, model.data() + j * 12);
    } else {
      std::copy_n(local, 12, model.data() + j * 12);
    }
  }
  return model;
}

}  // namespace sinew::cli
