// field_reference.h - the distances of a bound field in double, directly from the formulas.
#pragma once

#include <span>
#include <vector>

#include "core/deform/implicit/field.h"
#include "tests/reference/implicit_reference.h"

namespace sinew::reference {

// The distances of its parts, without muscles, from the bind pose to a pose; `field` outlives it.
LimbDistances DistancesOf(const LimbField& field, std::vector<Affine> bind,
                          std::span<const Affine> joints);

}  // namespace sinew::reference
