// The cylinder: a tube of two bones whose joint bends degree by degree.
#include <Eigen/Geometry>
#include <numbers>
#include <utility>
#include <vector>

#include "client/models/joint_chain.h"
#include "client/models/models.h"
#include "core/base/smooth_step.h"

namespace sinew::client {
namespace {

using Eigen::Quaterniond;

constexpr double kRadius = 0.1, kLength = 10 * kRadius, kJoint = kLength / 2;
constexpr std::uint32_t kLargestBend = 150;  // degrees

void AddWeights(double y, Skin& skin) {
  const double upper = 1 - SmoothStep(kJoint - kRadius, kJoint + kRadius, y);
  std::uint32_t count = 0;
  for (const auto& [joint, weight] : {std::pair(0u, upper), std::pair(1u, 1 - upper)}) {
    if (!(weight > 0)) continue;
    skin.influence_joints.push_back(joint);
    skin.influence_weights.push_back(static_cast<float>(weight));
    ++count;
  }
  skin.influence_counts.push_back(count);
}

}  // namespace

Model Cylinder() {
  Model tube = Tube({.rings = 81,
                     .segments = 32,
                     .joints = 1,
                     .radius = kRadius,
                     .length = kLength,
                     .influences = 1,
                     .frames = 1});
  Mesh& mesh = tube.rig.meshes[0];
  mesh.name = "cylinder";
  mesh.skin = {};
  Model model;
  model.rig.label = "cylinder";
  const std::vector<ChainJoint> joints = {{"upper", 0}, {"lower", kJoint}};
  AddJoints(joints, model.rig, mesh.skin);
  for (std::size_t v = 0; v < mesh.vertices(); ++v) {
    AddWeights(mesh.positions[v * 3 + 1], mesh.skin);
  }
  model.rig.meshes.push_back(std::move(mesh));
  model.clip.name = "bend";
  for (std::uint32_t frame = 0; frame < 2 * kLargestBend; ++frame) {
    const std::uint32_t degrees = frame <= kLargestBend ? frame : 2 * kLargestBend - frame;
    const Quaterniond bend(
        Eigen::AngleAxisd(degrees * std::numbers::pi / 180, Eigen::Vector3d::UnitX()));
    AppendFrame(joints, {Quaterniond::Identity(), bend}, model.clip);
  }
  return model;
}

}  // namespace sinew::client
