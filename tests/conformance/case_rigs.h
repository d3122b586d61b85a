// case_rigs.h - the characters of the conformance cases, with their poses.
//
// Every number is a multiple of a power of two, so that all machines make equal bytes. The rigs are
// laid out as the Blender add-on lays them out: every mesh lists all joints, in the same order.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/rig/rig.h"

namespace sinew::conformance {

struct CasePose {
  std::string name;  // of the frame
  std::vector<Affine> joints;
  std::vector<float> controls;
};

struct CaseRig {
  std::string name;
  std::string bytes;  // a serialised sinew.v1.Rig
  Rig rig;            // as the server reads it
  std::vector<CasePose> poses;
  std::string not_in_blender;  // why its objects cannot be made there; empty = they can
};

// kInternal: a rig that cannot be made.
absl::StatusOr<std::vector<CaseRig>> MakeCaseRigs();

}  // namespace sinew::conformance
