// clip.h - a whole clip in one call: its poses, what the caller wants of them, and the frames.
//
// Included by sinew/client.h.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sinew/stream.h"

namespace sinew::client {

// Poses of a clip, one after the other; borrowed during the call.
struct ClipPoses {
  std::span<const float> joint_transforms;  // [frames * joints * 12 or 10]
  std::span<const float> controls = {};     // [frames * controls] or empty
  std::size_t frames = 0;
  std::uint64_t first_frame = 1;       // number of the first pose; the others follow
  std::span<const double> times = {};  // [frames] s, or empty
  // DeformClip: rising indices of the poses whose frames are wanted; empty = all.
  std::span<const std::size_t> outputs = {};
};

// Called after each wanted pose with the number of poses up to it and of all poses, from the thread
// that called DeformClip.
using ClipProgress = std::function<void(std::size_t done, std::size_t total)>;

// Options of DeformClip.
struct ClipOptions {
  PoseLayout layout = {};
  OutputOptions output = {};
  ClipProgress progress = {};
};

// Called once for each wanted pose, in order. An error ends the call with that error.
using ClipSink = std::function<absl::Status(const StreamItem&)>;

}  // namespace sinew::client
