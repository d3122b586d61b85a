// unused_parameters.h - parameters that were set but have no effect beside others.
#pragma once

#include <vector>

#include "core/base/problem.h"
#include "core/deform/engine/params.h"

namespace sinew {

// Parameters with a value other than their default that the stage does not read because of the
// values of others, as warnings of fields such as "stages[1].ddm.lambda". In the order of stages
// and their Fields.
std::vector<Problem> UnusedParameters(const Recipe& recipe);

// Stages ("muscle") and parameters of `recipe` that have no effect on a rig without muscles.
std::vector<Problem> UnusedWithoutMuscles(const Recipe& recipe);

}  // namespace sinew
