// toes.h - where the feet of a body point, which tells its front from its back.
#pragma once

#include <span>

#include "core/base/types.h"
#include "core/fit/body.h"
#include "core/fit/skeleton_template.h"

namespace sinew::fit {

// How far the feet reach forwards from their ankles, as a part of the length of their legs;
// negative if backwards. It is the mean of the feet that stand on the ground, 0 without any. A foot
// reaches farther in front of the ankle than behind it: of real characters this is .02 to .1. A
// body without feet has about 0. places: [joints] in unit space.
double Toes(const Body& body, const SkeletonTemplate& skeleton, std::span<const Vec3d> places,
            const Vec3d& up, const Vec3d& forward);

}  // namespace sinew::fit
