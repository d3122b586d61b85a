#include "client/rig/rig_units.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "client/rig/rest_pose.h"

namespace sinew::client {
namespace {

// Beyond this ratio of sizes, different units are more likely than a skeleton of part of the mesh.
// Own clips of characters pose them 0.7 to 1.1 times as large as at rest.
constexpr double kDoubtfulRatio = 5;
constexpr double kHidden = 1e-6;  // of the size at rest

constexpr Bounds kEmpty = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};

void Extend(std::size_t axis, double value, Bounds& bounds) {
  bounds[axis] = std::min(bounds[axis], value);
  bounds[axis + 3] = std::max(bounds[axis + 3], value);
}

bool IsDoubtful(double ratio) {
  return ratio > kDoubtfulRatio || ratio < 1 / kDoubtfulRatio;
}

double LikelyFactor(double ratio) {
  return std::pow(10, std::round(std::abs(std::log10(ratio))));
}

double Size(const Bounds& b) {
  return std::hypot(b[3] - b[0], b[4] - b[1], b[5] - b[2]);
}

}  // namespace

Bounds JointBounds(const client::RigData& rig) {
  Bounds bounds = kEmpty;
  const std::vector<float> joints = RestJoints(rig);
  for (std::size_t at = 0; at < joints.size(); at += 12) {
    for (std::size_t r = 0; r < 3; ++r) {
      Extend(r, joints[at + r * 4 + 3], bounds);
    }
  }
  return bounds;
}

std::string SuspiciousUnits(const Bounds& mesh, const Bounds& skeleton) {
  const double ratio = Size(mesh) / Size(skeleton);
  if (!std::isfinite(ratio) || ratio <= 0 || !IsDoubtful(ratio)) return {};
  return absl::StrFormat(
      "the mesh is %.3g across and its skeleton %.3g: most likely they are in different units, by "
      "a factor of %.0f",
      Size(mesh), Size(skeleton), LikelyFactor(ratio));
}

std::string SuspiciousSize(const client::RigData& rig, const client::ClipData& clip) {
  const std::size_t floats = rig.joints.size() * 12;
  if (clip.frames == 0 || clip.joint_transforms.size() != clip.frames * floats) return {};
  const auto size_of = [](const std::vector<float>& points) {
    Bounds bounds = kEmpty;
    for (std::size_t k = 0; k < points.size(); ++k) Extend(k % 3, points[k], bounds);
    return Size(bounds);
  };
  const double rest = size_of(RestPositions(rig));
  double nearest = INFINITY;
  for (const std::size_t frame : {std::size_t{0}, clip.frames / 2, clip.frames - 1}) {
    const auto joints = std::span(clip.joint_transforms).subspan(frame * floats, floats);
    const double ratio = size_of(PosedPositions(rig, joints)) / rest;
    if (!std::isfinite(ratio) || ratio < kHidden || !IsDoubtful(ratio)) return {};
    if (std::abs(std::log(ratio)) < std::abs(std::log(nearest))) nearest = ratio;
  }
  return absl::StrFormat(
      "clip '%s' poses the character %.3g across, at rest it is %.3g: most likely the clip and the "
      "rig are in different units, by a factor of %.0f, or a node above the joints is scaled",
      clip.name, nearest * rest, rest, LikelyFactor(nearest));
}

std::string SuspiciousUnits(const client::RigData& rig) {
  const bool bound =
      std::ranges::any_of(rig.meshes, [](const client::Mesh& mesh) { return !mesh.skin.empty(); });
  if (bound || rig.joints.empty() || rig.vertices() == 0) return {};
  return SuspiciousUnits(CountRig(rig).bounds, JointBounds(rig));
}

}  // namespace sinew::client
