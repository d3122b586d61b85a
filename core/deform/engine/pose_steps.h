// pose_steps.h - how a stateful recipe gets from its current pose to the next: by small steps, or
// by replay from rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rig/pose_path.h"
#include "core/rig/posed_rig.h"

namespace sinew {

// State of a pose stream (stateful recipes only). Belongs to one stream; empty = at the start.
struct StreamState {
  std::vector<Affine> joints;  // [J] joints of the last evaluated pose
  std::vector<float> controls;
  std::vector<float> floats;  // of the stages, at that pose

  bool empty() const { return joints.empty(); }
};

// Limits of one step: rotation of a joint relative to its parent, and change of stretch;
// translation is limited by the stages.
inline constexpr double kStepDegrees = 5, kStepStretch = 0.25;
// A pose more than kMaxSteps away, or mirrored relative to the last, is reached from rest instead,
// in at most kMaxReplaySteps steps, which limits the cost of one pose. Where the pose mirrors the
// root, so does the rest pose.
inline constexpr std::size_t kMaxSteps = 12, kMaxReplaySteps = 90;
inline constexpr double kReplayDegrees = 2;

class PoseSteps {
 public:
  // Arguments must outlive it. to.controls has K values. step_length: scene units; 0 = no limit.
  PoseSteps(const PosedRigTables& tables, const StreamState& state, const Pose& to,
            double step_length);

  // Whether the steps start at rest rather than at the state's pose.
  bool replays() const { return replays_; }
  // At least 1.
  std::size_t count() const { return count_; }
  // The pose before the first step.
  Pose start() const { return {.joints = from_joints_, .controls = from_controls_}; }
  // The pose after step 1 .. count(); the last is `to`. Valid until the call after next.
  Pose At(std::size_t step);

 private:
  const Pose to_;
  std::vector<Affine> from_joints_;
  std::vector<float> from_controls_;
  bool replays_ = false;
  std::size_t count_ = 1;
  std::vector<PosePath> path_;  // at most one
  std::vector<Affine> joints_[2];
  std::vector<float> controls_[2];
};

}  // namespace sinew
