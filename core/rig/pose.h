// pose.h - converts poses as received to joint-to-model matrices.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/muscle/posed_muscle.h"
#include "core/rig/rig.h"

namespace sinew {

struct Pose {
  std::span<const Affine> joints;     // [J] joint to model space
  std::span<const float> controls{};  // [K], or empty = all defaults
};

// The rig's muscles in a pose.
std::vector<PosedMuscle> PoseMuscles(const Rig& rig, const Pose& pose);

enum class JointFormat : std::uint8_t {
  kMatrix3x4 = 1,  // 12 floats: 3x4 row-major
  kTrs = 2,        // 10 floats: translation xyz, unit quaternion xyzw, scale xyz
};
enum class PoseSpace : std::uint8_t { kModel = 1, kLocal = 2 };

// How to decode the bytes of poses. Created once, used for every pose.
class PoseFormat {
 public:
  // Empty name lists mean all, in rig order. kInvalidArgument: an unknown or duplicate name.
  static absl::StatusOr<PoseFormat> Create(const Rig& rig, JointFormat format, PoseSpace space,
                                           std::span<const std::string> joints,
                                           std::span<const std::string> controls);

  std::size_t joint_bytes() const { return joints_.size() * floats_per_joint() * sizeof(float); }
  std::size_t control_bytes() const { return controls_.size() * sizeof(float); }

  // Decodes one pose (little-endian float32). joints [J] and controls [K] are resized. A joint that
  // is not named keeps its rest transform relative to its parent, a control its default.
  // kInvalidArgument: wrong byte count, a value that is not finite, a zero quaternion.
  absl::Status Read(const Rig& rig, std::string_view joint_bytes, std::string_view control_bytes,
                    std::vector<Affine>& joints, std::vector<float>& controls) const;

 private:
  std::size_t floats_per_joint() const { return format_ == JointFormat::kTrs ? 10 : 12; }
  JointFormat format_ = JointFormat::kMatrix3x4;
  PoseSpace space_ = PoseSpace::kModel;
  bool rig_order_ = true;              // all joints, in rig order
  std::vector<std::uint32_t> joints_;  // [named] joint of each entry
  std::vector<std::uint32_t> controls_;
};

}  // namespace sinew
