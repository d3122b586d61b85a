// unused_parameters.h - finds parameters that are set but have no effect.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/problem.h"
#include "core/deform/engine/params.h"

namespace sinew {

// Warnings for non-default parameters that the stage ignores because of other parameters, with
// fields such as "stages[1].ddm.lambda", in the order of stages and Fields.
std::vector<Problem> UnusedParameters(const Recipe& recipe);

// Warnings for stages ("muscle") and parameters of `recipe` without effect on a rig without
// muscles.
std::vector<Problem> UnusedWithoutMuscles(const Recipe& recipe);

// Warnings for stages of `recipe` whose coefficients the rig lacks: they blend by its weights.
// columns: of the rig's coefficients, 0 = none.
std::vector<Problem> WithoutCoefficients(const Recipe& recipe, std::uint32_t columns);

}  // namespace sinew
