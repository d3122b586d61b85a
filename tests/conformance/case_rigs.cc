#include "tests/conformance/case_rigs.h"

#include <absl/strings/str_cat.h>

#include <cmath>
#include <utility>

#include "core/base/status.h"
#include "server/base/config.h"
#include "server/convert/rig.h"
#include "tests/conformance/rig_bytes.h"
#include "tests/support/rounded_limb.h"
#include "tests/support/small_rigs.h"
#include "tests/support/tube.h"

namespace sinew::conformance {
namespace {

using testing::BendPose;
using testing::Moved;
using testing::RestPose;
using testing::RigidMotion;
using testing::ScaleMotion;
using testing::TubeOptions;
using testing::TubeSource;
using testing::TubeWeights;
using testing::TurnPose;
using testing::TwistPose;

// Five joints one unit apart, and one at the end without skin, so that the last bone has a length.
constexpr TubeOptions kChain = {.rings = 31,
                                .around = 12,
                                .joints = 5,
                                .length = 5,
                                .weights = TubeWeights::kFour,
                                .origin = {0, 0, 0}};

void AddEnd(RigSource& source) {
  const auto last = static_cast<std::uint32_t>(source.joints.size() - 1);
  source.joints.push_back({.name = "end", .parent = last});
  source.rest_local.push_back({{1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0}});
}

MeshRange Whole(const std::string& name, const RigSource& source) {
  return {name, 0, source.mesh.positions.size(), 0, source.mesh.face_offsets.size() - 1};
}

// A wider tube of quads around the first one, as another mesh.
MeshRange AddSleeve(RigSource& source) {
  TubeOptions options = kChain;
  options.rings = 16;
  options.radius = 0.625;
  options.quads = true;
  const RigSource sleeve = TubeSource(options);
  MeshSource& mesh = source.mesh;
  const MeshRange range = {"sleeve", mesh.positions.size(), sleeve.mesh.positions.size(),
                           mesh.face_offsets.size() - 1, sleeve.mesh.face_offsets.size() - 1};
  const auto first = static_cast<std::uint32_t>(range.first_vertex);
  const auto first_corner = static_cast<std::uint32_t>(mesh.face_vertices.size());
  const std::uint64_t first_weight = source.influences.weights.size();
  mesh.positions.insert(mesh.positions.end(), sleeve.mesh.positions.begin(),
                        sleeve.mesh.positions.end());
  for (const std::uint32_t v : sleeve.mesh.face_vertices) mesh.face_vertices.push_back(v + first);
  for (std::size_t f = 1; f < sleeve.mesh.face_offsets.size(); ++f) {
    mesh.face_offsets.push_back(sleeve.mesh.face_offsets[f] + first_corner);
  }
  for (std::size_t v = 1; v < sleeve.influences.offsets.size(); ++v) {
    source.influences.offsets.push_back(sleeve.influences.offsets[v] + first_weight);
  }
  source.influences.bindings.insert(source.influences.bindings.end(),
                                    sleeve.influences.bindings.begin(),
                                    sleeve.influences.bindings.end());
  source.influences.weights.insert(source.influences.weights.end(),
                                   sleeve.influences.weights.begin(),
                                   sleeve.influences.weights.end());
  return range;
}

// One target at 1 that moves every vertex of the range away from the axis.
void AddShape(const std::string& control, const MeshRange& range, RigSource& source) {
  ShapeTarget target;
  for (std::size_t v = range.first_vertex; v < range.first_vertex + range.vertices; ++v) {
    const Vec3f& p = source.mesh.positions[v];
    target.vertices.push_back(static_cast<std::uint32_t>(v));
    target.offsets.push_back({0.0625F * p.y, 0.25F * p.y, 0.125F * p.z});
  }
  source.shapes.push_back({.control = static_cast<std::uint32_t>(source.controls.size()),
                           .targets = {std::move(target)}});
  source.controls.push_back({.name = control});
}

std::vector<Affine> Rounded(std::vector<Affine> pose) {
  constexpr float kUnit = 0x1p-20F;
  for (Affine& joint : pose) {
    for (float& x : joint.m) x = std::round(x / kUnit) * kUnit + 0.0F;  // no -0
  }
  return pose;
}

CasePose PoseOf(const std::string& name, std::vector<Affine> joints,
                std::vector<float> controls = {}) {
  return {name, Rounded(std::move(joints)), std::move(controls)};
}

// The last joint that moves skin also scales.
std::vector<Affine> Scaled(const Rig& rig) {
  std::vector<Affine> pose = TurnPose(rig, {0, 1, 1}, 20);
  Affine& joint = pose[pose.size() - 2];
  joint = ToFloat(Compose(ToDouble(joint), ScaleMotion({1.5, 0.5, 1.25})));
  return pose;
}

std::vector<CasePose> ChainPoses(const Rig& rig) {
  const AffineD motion = RigidMotion({1, 1, 0}, 200, {3, -2, 1});
  return {PoseOf("rest", RestPose(rig)),
          PoseOf("bend", BendPose(rig, 35)),
          PoseOf("twist", TwistPose(rig, 40)),
          PoseOf("turn", TurnPose(rig, {1, 2, 3}, -30)),
          PoseOf("moved", Moved(motion, BendPose(rig, 25))),
          PoseOf("scaled", Scaled(rig))};
}

absl::StatusOr<CaseRig> Make(const std::string& name, const RigSource& source,
                             const std::vector<MeshRange>& meshes) {
  SINEW_ASSIGN_OR_RETURN(std::string bytes, RigBytes(name, source, meshes));
  SINEW_ASSIGN_OR_RETURN(const server::ConvertedRig converted,
                         server::ConvertRig(bytes, server::RigConfig()));
  return CaseRig{.name = name,
                 .bytes = std::move(bytes),
                 .rig = *converted.rig,
                 .poses = {},
                 .not_in_blender = {}};
}

absl::StatusOr<CaseRig> Chain() {
  RigSource source = TubeSource(kChain);
  AddEnd(source);
  SINEW_ASSIGN_OR_RETURN(CaseRig made, Make("chain", source, {Whole("tube", source)}));
  made.poses = ChainPoses(made.rig);
  return made;
}

absl::StatusOr<CaseRig> TwoMeshes() {
  RigSource source = TubeSource(kChain);
  AddEnd(source);
  const MeshRange body = Whole("body", source);
  AddShape("body/wide", body, source);
  const MeshRange sleeve = AddSleeve(source);
  SINEW_ASSIGN_OR_RETURN(CaseRig made, Make("two_meshes", source, {body, sleeve}));
  const Rig& rig = made.rig;
  made.poses = {PoseOf("rest", RestPose(rig), {0}), PoseOf("wide", RestPose(rig), {1}),
                PoseOf("bend", BendPose(rig, 30), {0.5F}),
                PoseOf("twist", TwistPose(rig, 40), {0.25F}),
                PoseOf("scaled", Scaled(rig), {0.75F})};
  return made;
}

absl::StatusOr<CaseRig> Shapes() {
  const RigSource source = testing::TubeWithShapesSource();
  SINEW_ASSIGN_OR_RETURN(CaseRig made, Make("shapes", source, {Whole("tube", source)}));
  const auto bend = BendPose(made.rig, 65);
  made.poses = {PoseOf("rest", RestPose(made.rig), {0, 0, 0}),
                PoseOf("pinch", bend, {0, 0, 1}),
                PoseOf("between", bend, {0, 0.25F, 0}),
                PoseOf("hollow", bend, {0, -0.5F, 0}),
                PoseOf("all", bend, {0.875F, 0.75F, 0.625F}),
                PoseOf("beyond", TwistPose(made.rig, 80), {-2, 1.75F, -3})};
  made.not_in_blender = "shape keys of Blender have no targets in between";
  return made;
}

absl::StatusOr<CaseRig> Muscles() {
  const RigSource source = testing::TubeWithMusclesSource();
  SINEW_ASSIGN_OR_RETURN(CaseRig made, Make("muscles", source, {Whole("tube", source)}));
  const auto bend = BendPose(made.rig, 60);
  made.poses = {PoseOf("rest", RestPose(made.rig), {0}), PoseOf("tense", RestPose(made.rig), {1}),
                PoseOf("bend", bend, {0}), PoseOf("tense_bend", bend, {1}),
                PoseOf("twist", TwistPose(made.rig, 80), {0.5F})};
  made.not_in_blender = "Blender has no muscles";
  return made;
}

// A closed limb with parts that meet when it bends.
absl::StatusOr<CaseRig> Limb() {
  const RigSource source = testing::CanonicalCylinderSource();
  SINEW_ASSIGN_OR_RETURN(CaseRig made, Make("limb", source, {Whole("cylinder", source)}));
  made.poses = {PoseOf("rest", RestPose(made.rig)), PoseOf("bend60", BendPose(made.rig, 60)),
                PoseOf("bend100", BendPose(made.rig, 100)),
                PoseOf("twist", TwistPose(made.rig, 90))};
  return made;
}

}  // namespace

absl::StatusOr<std::vector<CaseRig>> MakeCaseRigs() {
  std::vector<CaseRig> rigs;
  for (auto make : {Chain, TwoMeshes, Shapes, Muscles, Limb}) {
    SINEW_ASSIGN_OR_RETURN(CaseRig made, make());
    rigs.push_back(std::move(made));
  }
  return rigs;
}

}  // namespace sinew::conformance
