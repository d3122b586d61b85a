// limb_union.h - the union of a posed character's limbs as one field: the least distance of all
// parts.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "core/base/point_block.h"
#include "core/base/types.h"
#include "core/deform/implicit/field.h"

namespace sinew {

inline constexpr std::uint16_t kNoPart = 0xffff;

// The union at one point. Beyond the support of every part f is infinite.
struct UnionValue {
  float f = std::numeric_limits<float>::infinity();  // in units
  Vec3d gradient;                                    // about 1 at the surface
  std::uint16_t part = kNoPart;                      // the first with the least f
};

// likely: of each point the part that probably has the least f, or any other; saves evaluations and
// does not change the result. The bits of a lane depend on its own point alone. Thread-safe.
std::array<UnionValue, kLanes> UnionAt(const PosedField& field, const PointBlock& points,
                                       const std::array<std::uint16_t, kLanes>& likely);

}  // namespace sinew
