#include "client/rig/rest_pose.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "client/rig/vertex_influences.h"

namespace sinew::cli {
namespace {

using Matrix = std::array<float, 12>;
constexpr Matrix kIdentity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

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

// [J] bind space to the rest pose of each joint; the identity for joints outside the skin.
std::vector<Matrix> Carried(const client::Skin& skin, std::span<const float> rest) {
  std::vector<Matrix> carried(rest.size() / 12, kIdentity);
  const std::size_t slots = std::min(skin.joints.size(), skin.inverse_bind.size() / 12);
  for (std::size_t s = 0; s < slots; ++s) {
    const std::uint32_t joint = skin.joints[s];
    if (joint >= carried.size()) continue;
    Compose(rest.data() + std::size_t{joint} * 12, skin.inverse_bind.data() + s * 12,
            carried[joint].data());
  }
  return carried;
}

// The blend of the joints of a vertex; the identity if it has none.
Matrix Blended(std::span<const JointWeight> row, const std::vector<Matrix>& carried) {
  std::array<double, 12> sum = {};
  double weight = 0;
  for (const JointWeight& entry : row) {
    if (entry.joint >= carried.size()) continue;
    weight += double{entry.weight};
    for (std::size_t i = 0; i < 12; ++i) sum[i] += double{entry.weight} * carried[entry.joint][i];
  }
  if (!(weight > 0)) return kIdentity;
  Matrix blended;
  for (std::size_t i = 0; i < 12; ++i) blended[i] = static_cast<float>(sum[i] / weight);
  return blended;
}

}  // namespace

std::vector<float> RestPositions(const client::RigData& rig) {
  std::vector<float> positions;
  positions.reserve(rig.vertices() * 3);
  const std::vector<float> rest = RestJoints(rig);
  const RigInfluences influences = ReadInfluences(rig);
  std::size_t vertex = 0;
  for (const client::Mesh& mesh : rig.meshes) {
    const std::vector<Matrix> carried = Carried(mesh.skin, rest);
    for (std::size_t v = 0; v < mesh.vertices(); ++v, ++vertex) {
      Matrix m;
      Compose(Blended(influences.Of(vertex), carried).data(), mesh.skin.geometry_bind.data(),
              m.data());
      const float* p = mesh.positions.data() + v * 3;
      for (std::size_t row = 0; row < 3; ++row) {
        positions.push_back(m[row * 4] * p[0] + m[row * 4 + 1] * p[1] + m[row * 4 + 2] * p[2] +
                            m[row * 4 + 3]);
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
