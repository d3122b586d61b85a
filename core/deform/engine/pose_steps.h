// pose_steps.h - how a recipe with state goes from the pose it stands at to the next: small steps,
// or all the way from rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rig/pose_path.h"
#include "core/rig/posed_rig.h"

namespace sinew {

// What a stream of poses carries from frame to frame (recipes with stateful stages only). Belongs
// to one stream; empty = nothing came yet.
struct StreamState {
  std::vector<Affine> joints;  // [J] of the pose evaluated last
  std::vector<float> controls;
  std::vector<float> floats;  // of the stages, at that pose

  bool empty() const { return joints.empty(); }
};

// Within a step no joint turns by more than this relative to its parent, moves farther than the
// stages allow, or stretches by more than a quarter.
inline constexpr double kStepDegrees = 5, kStepStretch = 0.25;
// A pose that is more steps away than this does not follow from the one before: it is reached from
// rest, in shorter steps. Their number is what a single pose can cost at most.
inline constexpr std::size_t kMaxSteps = 12, kMaxReplaySteps = 90;
inline constexpr double kReplayDegrees = 2;

class PoseSteps {
 public:
  // All borrowed. to.controls has K values. step_length: scene units; 0 = no limit.
  PoseSteps(const PosedRigTables& tables, const StreamState& state, const Pose& to,
            double step_length);

  // True: from rest, not from the pose of the state.
  bool replays() const { return replays_; }
  // 1 or more.
  std::size_t count() const { return count_; }
  // Where the way starts.
  Pose start() const { return {.joints = from_joints_, .controls = from_controls_}; }
  // The pose after `step` steps, 1 .. count(); the last is `to`. Valid until the call after next.
  Pose At(std::size_t step);

 private:
  const Pose to_;
  std::vector<Affine> from_joints_;
  std::vector<float> from_controls_;
  bool replays_ = false;
  std::size_t count_ = 1;
  std::vector<PosePath> path_;  // one
  std::vector<Affine> joints_[2];
  std::vector<float> controls_[2];
};

}  // namespace sinew
