// morph_targets.h - gathers the offsets of one morph target over a mesh and stores them sparsely.
#pragma once

#include <vector>

#include "sinew/rig_data.h"

namespace sinew::client {

// One target while it is being read: dense, in vertex order.
struct DenseTarget {
  std::vector<float> offsets;         // [V * 3]
  std::vector<float> normal_offsets;  // [V * 3] or empty
};

// Keeps the vertices that move, or all of them if most do. A target that moves nothing keeps vertex
// 0.
ShapeTarget MakeShapeTarget(const DenseTarget& dense);

}  // namespace sinew::client
