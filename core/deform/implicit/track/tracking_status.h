// tracking_status.h - what became of each point that was tracked.
#pragma once

#include <cstdint>
#include <vector>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"
#include "core/parallel/task.h"

namespace sinew {

// [P][4] padded to whole blocks of 16 points, model space.
struct TrackedPoints {
  const float *at, *skinned;  // where they are, and where the stages before have them
};

// [P] VertexStatus: kGradientDivergence on a surface of contact, which is not there where the
// larger field wins; kIterationLimit off its level by more than 2 % of `unit`; kNotDisplaced and
// kFitted on it.
std::vector<std::uint8_t> TrackedVertexStatus(const SkinSurface& skin, const PosedField& field,
                                              Contact contact, float unit,
                                              const TrackedPoints& points, const Task& task);

}  // namespace sinew
