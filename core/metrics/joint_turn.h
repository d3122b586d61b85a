// joint_turn.h - how far the joints of a skeleton turn between two poses.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/types.h"

namespace sinew::metrics {

// Largest rotation of any joint relative to its parent, in degrees, 0 to 180. Joint 0 is left out,
// because its motion moves the whole character; other roots turn relative to it. A joint that is
// flat in a pose carries no children, which then turn in model space. Where a joint's rotation is
// not unique, or only one of the poses mirrors it, it does not count.
//
//    parent    [J] kNoParent = a root; parents before children
//    from, to  [J] joint to model space
double LargestTurn(std::span<const std::uint32_t> parent, std::span<const Affine> from,
                   std::span<const Affine> to);

}  // namespace sinew::metrics
