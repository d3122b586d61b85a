#include "client/rig/rig_units.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "client/rig/rest_pose.h"

namespace sinew::client {
namespace {

// Beyond this ratio of sizes, different units are more likely than a skeleton of part of the mesh.
constexpr double kDoubtfulRatio = 5;

double Size(const Bounds& b) {
  return std::hypot(b[3] - b[0], b[4] - b[1], b[5] - b[2]);
}

}  // namespace

Bounds JointBounds(const client::RigData& rig) {
  Bounds bounds = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
  const std::vector<float> joints = RestJoints(rig);
  for (std::size_t at = 0; at < joints.size(); at += 12) {
    for (std::size_t r = 0; r < 3; ++r) {
      const double value = joints[at + r * 4 + 3];
      bounds[r] = std::min(bounds[r], value);
      bounds[r + 3] = std::max(bounds[r + 3], value);
    }
  }
  return bounds;
}

std::string SuspiciousUnits(const Bounds& mesh, const Bounds& skeleton) {
  const double ratio = Size(mesh) / Size(skeleton);
  if (!std::isfinite(ratio) || ratio <= 0) return {};
  if (ratio <= kDoubtfulRatio && ratio >= 1 / kDoubtfulRatio) return {};
  return absl::StrFormat(
      "the mesh is %.3g across and its skeleton %.3g: most likely they are in different units, by "
      "a factor of %.0f",
      Size(mesh), Size(skeleton), std::pow(10, std::round(std::abs(std::log10(ratio)))));
}

std::string SuspiciousUnits(const client::RigData& rig) {
  const bool bound =
      std::ranges::any_of(rig.meshes, [](const client::Mesh& mesh) { return !mesh.skin.empty(); });
  if (bound || rig.joints.empty() || rig.vertices() == 0) return {};
  return SuspiciousUnits(CountRig(rig).bounds, JointBounds(rig));
}

}  // namespace sinew::client
