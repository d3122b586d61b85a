// march_rules.h - what a user chooses of the march, see march.h.
#pragma once

#include <cstdint>

namespace sinew {

struct MarchRules {
  std::uint32_t max_iterations = 250;  // steps of a point
  float gradient_threshold = 0.5736f;  // cosine: 55 degrees
  float step_length = 0.05f;           // in units of the pose, see PosedField::unit
  bool potential_pit = true;           // points stop where the field leads away from their level
  std::uint32_t smoothing = 7;         // passes
};

}  // namespace sinew
