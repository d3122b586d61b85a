// motions.h - the characters that the faults disturb, and the frames that an undisturbed server
// computes for them.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sinew/client.h"
#include "tests/fault/suite.h"
#include "tests/integration/server/sinewd_process.h"

namespace sinew::testing {

// Tubes of 66, 322, 4,002 and 40,002 vertices.
enum class Size { kSmall, kMedium, kLarge, kHuge };

// A rig and a recipe, poses, and the checksum of the frame of each. Frame n of a stream has pose
// n - 1, modulo their number.
struct Motion {
  client::RigData rig;
  std::string recipe;
  std::size_t poses = 0;
  std::vector<float> joints;        // of all poses
  std::vector<std::uint64_t> sums;  // of the undisturbed frames

  std::span<const float> Pose(std::uint64_t frame) const;
  std::uint64_t Sum(std::uint64_t frame) const { return sums[(frame - 1) % poses]; }
  client::ClipPoses Clip() const { return {.joint_transforms = joints, .frames = poses}; }
};

// A server that meets no fault. Thread-safe.
class Undisturbed {
 public:
  explicit Undisturbed(Suite& suite);
  // Evaluated the first time. The frames are those of a clip: with state, they depend on all poses
  // before.
  const Motion& Get(Size size, const std::string& recipe);

 private:
  Suite& suite_;
  SinewdProcess server_;
  client::Client client_;
  std::mutex mutex_;
  std::map<std::pair<Size, std::string>, Motion> motions_;
};

// Positions and normals.
client::OutputOptions CheckedOutput();
// Of all bytes that CheckedOutput asks for.
std::uint64_t SumOf(const client::FrameView& frame);

// The bytes of the rig with a label of its own, which gives it another name.
std::string LabelledRig(client::RigData rig, const std::string& label);

// The options of a client that gives up at once, and of one that repeats for a minute.
client::ClientOptions Direct(const std::string& address);
client::ClientOptions Patient(const std::string& address);
client::Client Connected(Suite& suite, const client::ClientOptions& options);

}  // namespace sinew::testing
