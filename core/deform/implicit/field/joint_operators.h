// joint_operators.h - the text of implicit.joints: operators of single joints.
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

// 'forearm_l blend elbow; thumb_1 bulge': entries separated by semicolons; a joint's name (which
// may hold spaces), an operator, and a controller or none = `controller`. Empty entries are
// skipped. kInvalidArgument: names implicit.joints, what was got and what is allowed.
absl::StatusOr<std::vector<NamedOperator>> ParseJointOperators(std::string_view text,
                                                               FieldController controller);

// kInvalidArgument: a joint that the skeleton lacks, or one that is named twice.
absl::StatusOr<std::vector<JointOperator>> FindJointOperators(
    const std::vector<NamedOperator>& named, const Skeleton& skeleton);

}  // namespace sinew
