// The tube: rings of vertices around a chain of joints.
#include <absl/strings/str_cat.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "client/models/joint_chain.h"
#include "client/models/models.h"

namespace sinew::client {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kBend = 100 * kTurn / 360,
                 kTwist = 120 * kTurn / 360;  // of the whole tube, at the extremes

void AddSurface(const TubeOptions& o, Mesh& mesh) {
  for (std::uint32_t ring = 0; ring < o.rings; ++ring) {
    const double y = o.length * ring / (o.rings - 1);
    for (std::uint32_t s = 0; s < o.segments; ++s) {
      const double angle = kTurn * s / o.segments;
      for (const double x : {o.radius * std::sin(angle), y, o.radius * std::cos(angle)}) {
        mesh.positions.push_back(static_cast<float>(x));
      }
    }
  }
  for (const double y : {0.0, o.length}) {
    for (const double x : {0.0, y, 0.0}) mesh.positions.push_back(static_cast<float>(x));
  }
  const std::uint32_t bottom = o.rings * o.segments, top = bottom + 1, last = bottom - o.segments;
  const auto face = [&](std::initializer_list<std::uint32_t> vertices) {
    mesh.face_sizes.push_back(static_cast<std::uint32_t>(vertices.size()));
    mesh.face_vertices.insert(mesh.face_vertices.end(), vertices);
  };
  for (std::uint32_t s = 0; s < o.segments; ++s) {
    const std::uint32_t next = (s + 1) % o.segments;
    face({bottom, next, s});
    for (std::uint32_t below = 0; below < last; below += o.segments) {
      face({below + s, below + next, below + o.segments + next, below + o.segments + s});
    }
    face({top, last + s, last + next});
  }
}

// Weights of a vertex at height y: a smooth bump around the middle of every bone, as wide as the
// number of influences allows, so that at most that many overlap.
void AddWeights(const TubeOptions& o, double y, Skin& skin) {
  const double bone = o.length / o.joints;
  const double reach = bone * o.influences / 2;
  std::vector<std::pair<std::uint32_t, double>> weights;
  double sum = 0;
  const double at = std::clamp(
      y, bone / 2, o.length - bone / 2);  // the end bones hold what lies beyond their middle
  for (std::uint32_t j = 0; j < o.joints; ++j) {
    const double u = 1 - std::abs(at - (j + 0.5) * bone) / reach;
    if (o.influences == 1 ? (j == std::min(o.joints - 1, static_cast<std::uint32_t>(at / bone)))
                          : u > 1e-9) {
      weights.emplace_back(j, o.influences == 1 ? 1 : u * u * (3 - 2 * u));
      sum += weights.back().second;
    }
  }
  skin.influence_counts.push_back(static_cast<std::uint32_t>(weights.size()));
  for (const auto& [joint, weight] : weights) {
    skin.influence_joints.push_back(joint);
    skin.influence_weights.push_back(static_cast<float>(weight / sum));
  }
}

}  // namespace

Model Tube(const TubeOptions& options) {
  std::vector<ChainJoint> joints;
  for (std::uint32_t j = 0; j < options.joints; ++j) {
    joints.push_back({absl::StrCat("joint_", j), options.length * j / options.joints});
  }
  Model model;
  model.rig.label = "tube";
  Mesh mesh;
  mesh.name = "tube";
  AddSurface(options, mesh);
  AddJoints(joints, model.rig, mesh.skin);
  for (std::size_t v = 0; v < mesh.vertices(); ++v)
    AddWeights(options, mesh.positions[v * 3 + 1], mesh.skin);
  model.rig.meshes.push_back(std::move(mesh));

  model.clip.name = "bend_and_twist";
  const double share = options.joints > 1 ? 1.0 / (options.joints - 1) : 1;
  for (std::uint32_t frame = 0; frame < options.frames; ++frame) {
    const double phase = kTurn * frame / options.frames;
    const Eigen::Quaterniond turn(
        Eigen::AngleAxisd(kBend * share * std::sin(phase), Eigen::Vector3d::UnitX()) *
        Eigen::AngleAxisd(kTwist * share * std::sin(2 * phase), Eigen::Vector3d::UnitY()));
    std::vector<Eigen::Quaterniond> local(joints.size(), turn);
    if (options.joints > 1) local[0] = Eigen::Quaterniond::Identity();
    AppendFrame(joints, local, model.clip);
  }
  return model;
}

}  // namespace sinew::client
