// The arm: capsules around three bones, polygonised, with the two muscles that bend and stretch the
// elbow.
#include <absl/strings/str_cat.h>

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "client/models/capsule.h"
#include "client/models/joint_chain.h"
#include "client/models/models.h"
#include "client/models/surface_nets.h"

namespace sinew::client {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;

constexpr double kElbow = 0.30, kWrist = 0.56;              // along +Y from the shoulder
constexpr double kElbowWidth = 0.045, kWristWidth = 0.030;  // of the weights, to either side
constexpr double kFlexion = 120 * std::numbers::pi / 180;
constexpr double kHeight = 0.86;  // of the box the surface is sampled in
const Vector3d kLow(-0.085, -0.10, -0.085), kHigh(0.085, kLow.y() + kHeight, 0.085);

double ArmField(const Vector3d& p) {
  static const Capsule kUpper = {{0, 0, 0}, {0, kElbow, 0}, 0.050, 0.042};
  static const Capsule kFore = {{0, kElbow, 0}, {0, kWrist, 0}, 0.043, 0.027};
  static const std::array<Capsule, 2> kHand = {
      {{{-0.018, kWrist + 0.03, 0}, {-0.024, kWrist + 0.12, 0}, 0.019, 0.016},
       {{0.018, kWrist + 0.03, 0}, {0.024, kWrist + 0.12, 0}, 0.019, 0.016}}};
  const double limb = SmoothMin(kUpper.Distance(p), kFore.Distance(p), 0.004);
  const double hand = SmoothMin(kHand[0].Distance(p), kHand[1].Distance(p), 0.030);
  return SmoothMin(limb, hand, 0.030);
}

std::vector<ChainJoint> MakeJoints() {
  const auto at = [](double y) {
    return Frame(Vector3d(0, y, 0), Vector3d::UnitY(), Vector3d::UnitZ());
  };
  return {{"upper_arm", -1, at(0)}, {"forearm", 0, at(kElbow)}, {"hand", 1, at(kWrist)}};
}

// The arm is straight at rest, so the height alone decides.
void AddWeights(double y, Skin& skin) {
  const double fore = SmoothStep(kElbow - kElbowWidth, kElbow + kElbowWidth, y);
  const double hand = SmoothStep(kWrist - kWristWidth, kWrist + kWristWidth, y);
  const std::array<double, 3> weights = {1 - fore, fore - hand, hand};
  std::uint32_t count = 0;
  for (std::uint32_t j = 0; j < weights.size(); ++j) {
    if (!(weights[j] > 0)) continue;
    skin.influence_joints.push_back(j);
    skin.influence_weights.push_back(static_cast<float>(weights[j]));
    ++count;
  }
  skin.influence_counts.push_back(count);
}

// Both bend in the plane of the elbow: the biceps in front passes a point on the upper arm before
// the joint, so that it stays at the bone; the triceps slides around the end of the humerus.
std::vector<Muscle> MakeMuscles() {
  Muscle biceps;
  biceps.name = "biceps";
  biceps.origin = {0, {0, 0.03f, 0.016f}};
  biceps.via = {{0, {0, 0.255f, 0.028f}}};
  biceps.insertion = {1, {0, 0.03f, 0.016f}};
  biceps.origin_tendon = 0.04f;
  biceps.insertion_tendon = 0.105f;
  biceps.width = 0.022f;
  biceps.depth = 0.02f;
  biceps.activation = "biceps_tension";
  Muscle triceps;
  triceps.name = "triceps";
  triceps.origin = {0, {0, 0.05f, -0.018f}};
  triceps.insertion = {1, {0, 0.03f, -0.026f}};
  MuscleWrap wrap;
  wrap.joint = 0;
  wrap.centre = {0, static_cast<float>(kElbow), 0};
  wrap.axis = {1, 0, 0};
  wrap.radius = 0.022f;
  triceps.wrap = wrap;
  triceps.origin_tendon = 0.04f;
  triceps.insertion_tendon = 0.09f;
  triceps.width = 0.024f;
  triceps.depth = 0.03f;
  triceps.profile = MuscleProfile::kRootSine;
  return {std::move(biceps), std::move(triceps)};
}

// The elbow bends and stretches; the biceps tenses as it bends.
ClipData MakeClip(const std::vector<ChainJoint>& joints, std::uint32_t frames) {
  ClipData clip;
  clip.name = "curl";
  for (std::uint32_t frame = 0; frame < frames; ++frame) {
    const double bent = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * frame / frames);
    std::vector<Quaterniond> local(joints.size(), Quaterniond::Identity());
    local[1] = Eigen::AngleAxisd(kFlexion * bent, Vector3d::UnitX());
    local[2] = Eigen::AngleAxisd(0.3 * bent, Vector3d::UnitX());
    AppendFrame(joints, local, clip);
    clip.controls.push_back(static_cast<float>(bent));
  }
  return clip;
}

}  // namespace

absl::StatusOr<Model> Arm(const ArmOptions& options) {
  if (options.resolution < 60 || options.resolution > 400) {
    return absl::InvalidArgumentError(
        absl::StrCat("arm.resolution: got ", options.resolution, ", need 60 to 400"));
  }
  if (options.frames < 1 || options.frames > 100'000) {
    return absl::InvalidArgumentError(
        absl::StrCat("arm.frames: got ", options.frames, ", need 1 to 100000"));
  }
  const QuadMesh surface = SurfaceNets(ArmField, kLow, kHigh, kHeight / options.resolution);
  Model model;
  model.rig.label = "arm";
  Mesh mesh;
  mesh.name = "arm";
  const std::vector<ChainJoint> joints = MakeJoints();
  AddJoints(joints, model.rig, mesh.skin);
  for (const Vector3d& p : surface.vertices) {
    for (int axis = 0; axis < 3; ++axis) mesh.positions.push_back(static_cast<float>(p[axis]));
    AddWeights(p.y(), mesh.skin);
  }
  mesh.face_sizes.assign(surface.quads.size(), 4);
  for (const auto& quad : surface.quads) {
    mesh.face_vertices.insert(mesh.face_vertices.end(), quad.begin(), quad.end());
  }
  model.rig.meshes.push_back(std::move(mesh));
  model.rig.controls = {
      {.name = "biceps_tension", .minimum = 0.0f, .maximum = 1.0f, .default_value = 0}};
  model.rig.muscles = MakeMuscles();
  model.clip = MakeClip(joints, options.frames);
  return model;
}

}  // namespace sinew::client
