// posed_scene.h - scenes whose clips are functions of time, for readers outside of this folder.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <functional>
#include <vector>

#include "sinew/import.h"

namespace sinew::client {

// The pose of a rig with J joints and K controls at one time.
struct RigPose {
  std::vector<double> joints;   // [J * 12] joint to model space, 3x4 row-major
  std::vector<float> controls;  // [K]
};

struct PosedClip {
  ClipInfo info;  // its name is unique among the clips
  // Fills `pose`, which has the rest pose, for a time on the clip's own axis. Called from the
  // thread that samples the clip. An error ends the sampling.
  std::function<absl::Status(double seconds, RigPose& pose)> evaluate;
};

// A scene of a rig and its clips. SampleClip and RestPose work as for a file; MeshExtras and
// problems are the caller's. kInvalidArgument: `rest_local` does not fit the joints, or a parent
// does not precede its child.
absl::StatusOr<ImportedScene> MakePosedScene(RigData rig, std::vector<PosedClip> clips);

}  // namespace sinew::client
