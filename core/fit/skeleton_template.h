// skeleton_template.h - the kind of skeleton that is fitted into a mesh: joints, and how they
// relate to the body.
//
// After Baran and Popovic 2007, "Automatic rigging and animation of 3D characters" (Pinocchio).
// Lengths and directions of the template guide the fit; its place and size do not matter.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/types.h"

namespace sinew::fit {

inline constexpr std::uint32_t kNone = 0xffffffff;

struct TemplateJoint {
  std::string name;
  std::uint32_t parent = kNone;  // of the first joint; an earlier joint for all others
  // Up is +y, the character faces +z, and its left is +x.
  Vec3d place;
  bool wide = false;              // inside one of the body's widest places, such as a chest
  bool foot = false;              // stands on the ground
  std::uint32_t partner = kNone;  // the same joint of the other side
};

struct SkeletonTemplate {
  std::string name;
  std::vector<TemplateJoint> joints;  // parents first
};

inline constexpr std::size_t kMaxTemplateJoints = 64;

// kInvalidArgument names the joint: no joints or too many, a parent that does not come before, a
// repeated name, partners that do not name each other, coordinates that are not finite, a bone
// without length.
absl::Status CheckTemplate(const SkeletonTemplate& skeleton);

// The built-in templates: human, quadruped, horse, centaur.
std::span<const std::string_view> BuiltInTemplates();
// kInvalidArgument lists the names.
absl::StatusOr<SkeletonTemplate> BuiltInTemplate(std::string_view name);

}  // namespace sinew::fit
