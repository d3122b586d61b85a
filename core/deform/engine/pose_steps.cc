#include "core/deform/engine/pose_steps.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/rig/signed_rotation.h"

namespace sinew {
namespace {

// tolerance for rounding of the poses, in steps
constexpr double kSlack = 1e-3;

// Mirrors of the whole figure are no motion: no step leads from one side to the other.
double SignOfRoot(std::span<const Affine> joints) {
  return SignOf(Linear(ToDouble(joints.front())));
}

double StepsOf(const PoseDistance& distance, double degrees, double step_length) {
  double steps = std::max(distance.degrees / degrees, distance.stretch / kStepStretch);
  if (step_length > 0) steps = std::max(steps, distance.length / step_length);
  return std::max(1.0, std::ceil(steps - kSlack));
}

}  // namespace

PoseSteps::PoseSteps(const PosedRigTables& tables, const StreamState& state, const Pose& to,
                     double step_length)
    : to_(to), from_joints_(state.joints), from_controls_(state.controls) {
  double steps = 0;
  if (!state.empty() && SignOfRoot(state.joints) == SignOfRoot(to.joints)) {
    path_.emplace_back(tables.parent, start(), to_);
    steps = StepsOf(path_.back().Distance(), kStepDegrees, step_length);
  }
  replays_ = !(steps > 0 && steps <= static_cast<double>(kMaxSteps));
  if (replays_) {
    path_.clear();
    from_joints_.clear();
    for (const AffineD& joint : tables.rest) from_joints_.push_back(ToFloat(joint));
    if (SignOfRoot(from_joints_) != SignOfRoot(to.joints)) {
      for (Affine& joint : from_joints_) {
        for (float& v : joint.m) v = -v;
      }
    }
    from_controls_ = tables.control_defaults;
    path_.emplace_back(tables.parent, start(), to_);
    steps = std::min(StepsOf(path_.back().Distance(), kReplayDegrees, step_length),
                     static_cast<double>(kMaxReplaySteps));
  }
  count_ = static_cast<std::size_t>(steps);
}

Pose PoseSteps::At(std::size_t step) {
  if (step >= count_) return to_;
  auto& joints = joints_[step % 2];
  auto& controls = controls_[step % 2];
  path_.front().At(static_cast<double>(step) / static_cast<double>(count_), joints, controls);
  return {.joints = joints, .controls = controls};
}

}  // namespace sinew
