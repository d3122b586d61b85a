// unused_parameters.h - parameters that were set but have no effect beside others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/deform/engine/params.h"

namespace sinew {

struct UnusedParameter {
  std::size_t stage = 0;  // of the recipe
  std::string path;       // "ddm.lambda", or "muscle" if it is the whole stage
  std::string what;       // "got 2, which has no effect: radius is set"
};

// Parameters with a value other than their default that the stage does not read because of the
// values of others. In the order of stages and their Fields.
std::vector<UnusedParameter> UnusedParameters(const Recipe& recipe);

// Stages ("muscle") and parameters of `recipe` that have no effect on a rig without muscles.
std::vector<UnusedParameter> UnusedWithoutMuscles(const Recipe& recipe);

}  // namespace sinew
