#include "core/surface/muscle_footprint.h"

#include <algorithm>
#include <set>

#include "core/rig/bind_pose.h"

namespace sinew {
namespace {

// Joints a muscle is fixed to, and those from its ends up to their common ancestor.
std::set<std::uint32_t> JointsUnder(const Rig& rig, const Muscle& muscle) {
  const auto line = [&](std::uint32_t joint) {
    std::vector<std::uint32_t> up;
    for (; joint != kNoParent; joint = rig.skeleton().joint(joint).parent) up.push_back(joint);
    return up;
  };
  const auto from = line(muscle.origin.joint), to = line(muscle.insertion.joint);
  std::set<std::uint32_t> joints = {muscle.origin.joint, muscle.insertion.joint};
  for (const MusclePoint& via : muscle.via) joints.insert(via.joint);
  const auto meet =
      std::ranges::find_if(from, [&](std::uint32_t j) { return std::ranges::count(to, j) > 0; });
  if (meet == from.end()) return joints;
  joints.insert(from.begin(), meet);
  joints.insert(to.begin(), std::ranges::find(to, *meet));
  // If one end's joint is an ancestor of the other's, it is included itself.
  return joints;
}

}  // namespace

BindPoseSkin MakeBindPoseSkin(const Rig& rig) {
  BindPoseSkin skin;
  skin.pose = BindPose(rig);
  const std::vector<AffineD> to_pose = ToBindPose(rig, skin.pose);
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    skin.points.push_back(InBindPose(rig, to_pose, v));
    skin.joint.push_back(rig.bindings()[rig.influences().bindings(v).front()].joint);
  }
  return skin;
}

std::size_t MostUnderMuscles(const Rig& rig) {
  std::vector<std::size_t> of_joint(rig.joints(), 0);
  for (std::size_t v = 0; v < rig.vertices(); ++v) {
    ++of_joint[rig.bindings()[rig.influences().bindings(v).front()].joint];
  }
  std::size_t sum = 0;
  for (const Muscle& muscle : rig.muscles()) {
    for (const std::uint32_t joint : JointsUnder(rig, muscle)) sum += of_joint[joint];
  }
  return sum;
}

MuscleFootprint MakeFootprint(const Rig& rig, const BindPoseSkin& skin, std::size_t muscle) {
  const MuscleTables& tables = rig.muscle_tables();
  const MuscleRow& row = tables.rows[muscle];
  std::vector<float> controls;
  for (const Control& control : rig.controls()) controls.push_back(control.default_value);
  MuscleFootprint footprint;
  footprint.bound = PoseMuscle(tables, muscle, skin.pose, controls);
  footprint.shape = MakeMuscleShape(row, footprint.bound);
  const auto joints = JointsUnder(rig, rig.muscles()[muscle]);
  for (std::size_t v = 0; v < skin.joint.size(); ++v) {
    if (joints.contains(skin.joint[v])) {
      footprint.vertices.push_back(static_cast<std::uint32_t>(v));
    }
  }
  for (std::size_t begin = 0; begin < footprint.vertices.size(); begin += kLanes) {
    const std::size_t count = std::min(kLanes, footprint.vertices.size() - begin);
    PointBlock points;
    FieldBlock field;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint32_t v = footprint.vertices[begin + std::min(i, count - 1)];
      points.Set(i, ToFloat(skin.points[v]));
    }
    EvaluateMuscle(footprint.shape, 0, points, field);
    footprint.values.insert(footprint.values.end(), field.value, field.value + count);
  }
  if (!footprint.values.empty()) {
    footprint.fat = *std::min_element(footprint.values.begin(), footprint.values.end());
  }
  if (row.fat >= 0) footprint.fat = std::max(footprint.fat, row.fat);
  return footprint;
}

}  // namespace sinew
