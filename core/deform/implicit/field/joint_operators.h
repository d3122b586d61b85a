// joint_operators.h - parses implicit.joints: operators of single joints.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/deform/implicit/field/field_options.h"
#include "core/rig/skeleton.h"

namespace sinew {

struct NamedOperator {
  std::string joint;
  FieldOperator op = FieldOperator::kMax;
  FieldController controller = FieldController::kElbow;
};

// 'forearm_l blend elbow; thumb_1 bulge': entries separated by semicolons, each a joint name (which
// may contain spaces), an operator, and an optional controller (default `controller`). Empty
// entries are skipped. kInvalidArgument names implicit.joints, the entry and what is allowed.
absl::StatusOr<std::vector<NamedOperator>> ParseJointOperators(std::string_view text,
                                                               FieldController controller);

// kInvalidArgument: an unknown or duplicate joint.
absl::StatusOr<std::vector<JointOperator>> FindJointOperators(
    const std::vector<NamedOperator>& named, const Skeleton& skeleton);

}  // namespace sinew
