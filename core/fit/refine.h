// refine.h - moves joints so that bones lie deep in the body, with the template's directions.
//
// The continuous refinement of Baran and Popovic 2007, section 5, with the true gradient.
#pragma once

#include <span>
#include <vector>

#include "core/base/types.h"
#include "core/fit/body.h"
#include "core/fit/skeleton_template.h"

namespace sinew::fit {

// bones: [joints] from the parent to the joint in the template, in unit space. fixed: [joints] 1
// for joints that stay. Returns the refined places; their energy is at most that of `places`.
std::vector<Vec3d> Refine(const Body& body, const SkeletonTemplate& skeleton,
                          std::span<const Vec3d> bones, std::span<const std::uint8_t> fixed,
                          std::vector<Vec3d> places);

}  // namespace sinew::fit
