// skeleton.h - the joints of a rig: names, parents and rest pose.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"

namespace sinew {

inline constexpr std::uint32_t kNoParent = 0xffffffffu;
inline constexpr std::size_t kMaxJoints = 65535;

struct SkeletonJoint {
  std::string name;
  std::uint32_t parent = kNoParent;
  // The parent's own scale does not affect this joint's linear part.
  bool compensates_scale = false;
};

class Skeleton {
 public:
  // rest_local [J], relative to the parent. kInvalidArgument: no joints, more than 65,535, an empty
  // or duplicate name, a parent after its child, a matrix that is not finite.
  static absl::StatusOr<Skeleton> Create(std::vector<SkeletonJoint> joints,
                                         std::vector<AffineD> rest_local);

  std::size_t joints() const { return joints_.size(); }
  const SkeletonJoint& joint(std::size_t j) const { return joints_[j]; }
  std::span<const AffineD> rest_local() const { return rest_local_; }
  // Joint to model space in the rest pose.
  std::span<const AffineD> rest_model() const { return rest_model_; }
  // Index of a name, or kNoParent.
  std::uint32_t Find(std::string_view name) const;

  // Model transform of joint j from its parent's model transform and its own local one. A joint
  // with compensates_scale ignores the scale (column lengths) of `parent_local`.
  AffineD ToModel(std::size_t j, const AffineD& parent_model, const AffineD& parent_local,
                  const AffineD& local) const;

 private:
  Skeleton() = default;
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  std::vector<SkeletonJoint> joints_;
  std::vector<AffineD> rest_local_, rest_model_;
};

// [J] joints by their place in the skeleton and in a pose, not by their index: by number of
// ancestors, then by origin (x, y, z), then by axes. Joints that agree in all of them are in the
// order of the file.
//
//    pose  [J] joint to model space; numbers that are not finite count as 0
std::vector<std::uint32_t> JointsByPlace(const Skeleton& skeleton, std::span<const AffineD> pose);

}  // namespace sinew
