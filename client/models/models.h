// models.h - rigged characters for demos, tests and benchmarks.
//
// Every model is one watertight mesh with outward faces, weights that sum to 1, a skeleton whose
// rest pose undoes its inverse binds, and a clip that loops: the frame after the last equals the
// first. All lengths are in metres.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sinew/rig_data.h"

namespace sinew::client {

struct Model {
  RigData rig;
  ClipData clip;  // joint-to-model matrices; controls if the rig has any
};

// A closed tube along +Y from the origin; quads with a fan of triangles at each end.
struct TubeOptions {
  std::uint32_t rings = 41;      // of vertices along the length, 2 to 1,000,000
  std::uint32_t segments = 24;   // around, 3 to 10,000
  std::uint32_t joints = 5;      // in a chain, 1 to 1,000
  double radius = 0.25;          // > 0
  double length = 2;             // > 0
  std::uint32_t influences = 2;  // per vertex at most, 1 to 16, no more than joints
  std::uint32_t frames = 48;     // of the clip, which bends and twists, at 24 fps; 1 to 100,000
};

// Vertices: rings * segments + 2, at most 16,777,216.
Model Tube(const TubeOptions& options = {});

// The cylinder of the figures in papers: along +Y, ten radii long, a joint in its
// middle, weights that change over one radius to either side of it. Its clip bends the joint by one
// degree a frame, so that frame 90 is bent by 90 degrees: to 150 degrees and back.
Model Cylinder();

// Names for Make: "arm", "cylinder", "hand", "tube".
std::vector<std::string> ModelNames();

// The model of that name with its defaults. The arm and the hand are files, see assets/README.md:
//   arm   A right arm along +Y from the shoulder, elbow bending towards +Z, 0.7 long, all quads. 3
//         joints: upper_arm, forearm, hand; at most 2 influences. Two muscles: the biceps with a
//         via point near the elbow, and the triceps wrapped around it; the control
//         "biceps_tension" tenses the biceps.
//   hand  A right hand, palm towards +Z, fingers along +Y, thumb towards +X, 0.19 from wrist to the
//         tip of the middle finger, all quads. 20 joints: wrist, three of the thumb, four of each
//         finger; at most 4 influences. Its clip closes into a fist and opens.
// kNotFound: no such model, the message lists them.
absl::StatusOr<Model> Make(const std::string& name);

// The clip at another rate: frame k is the time k / fps, from 0 to the clip's last frame. Between
// two frames of the clip, each joint is interpolated in its parent's space: translation and scale
// linearly, rotation along the shortest arc. Frames at the times of the clip's own are copied.
// fps: finite and more than 0. frame_numbers: these frames instead of all, within the clip.
ClipData Resampled(const ClipData& clip, const RigData& rig, double fps,
                   const std::vector<double>& frame_numbers = {});

}  // namespace sinew::client
