// tracking_status.h - status of each tracked point.
#pragma once

#include <cstdint>
#include <vector>

#include "core/deform/implicit/field/posed_field.h"
#include "core/deform/implicit/surface/skin_surface.h"
#include "core/parallel/task.h"

namespace sinew {

// [P][4] padded to whole blocks of 16 points, model space.
struct TrackedPoints {
  const float *at, *skinned;  // tracked position, and position of the previous stage
};

// [P] VertexStatus: kGradientDivergence on a contact surface (only if contact is on);
// kIterationLimit off its level by more than 2 % of `unit`; else kNotDisplaced or kFitted.
std::vector<std::uint8_t> TrackedVertexStatus(const SkinSurface& skin, const PosedField& field,
                                              Contact contact, float unit,
                                              const TrackedPoints& points, const Task& task);

}  // namespace sinew
