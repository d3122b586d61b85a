// motion.h - a character in motion, with the checksum of every frame, and clients that check them.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/models/models.h"
#include "sinew/client.h"

namespace sinew::testing {

// A rig and a recipe, poses, and the checksum of the frame of each. Frame n of a stream has pose
// n - 1, modulo their number.
struct Motion {
  client::RigData rig;
  std::string recipe;
  std::size_t poses = 0;
  std::vector<float> joints;        // of all poses
  std::vector<std::uint64_t> sums;  // of their frames, computed as a clip

  std::span<const float> Pose(std::uint64_t frame) const;
  std::uint64_t Sum(std::uint64_t frame) const { return sums[(frame - 1) % poses]; }
  client::ClipPoses Clip() const { return {.joint_transforms = joints, .frames = poses}; }
};

// Without checksums.
Motion MotionOf(client::Model model, std::string recipe);
// Computes the clip in this session and keeps the checksums. With state, frames depend on all poses
// before.
absl::Status RecordSums(const client::Client& client, const std::string& session, Motion& motion);

// Positions and normals.
client::OutputOptions CheckedOutput();
// The checksum of all bytes that CheckedOutput asks for.
std::uint64_t SumOf(const client::FrameView& frame);

// The bytes of the rig with a label of its own, which gives it another name.
std::string LabelledRig(client::RigData rig, const std::string& label);

// The options of a client that gives up at once, and of one that repeats for a minute.
client::ClientOptions Direct(const std::string& address);
client::ClientOptions Patient(const std::string& address);

}  // namespace sinew::testing
