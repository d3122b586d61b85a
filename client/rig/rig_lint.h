// rig_lint.h - suspicious content of a valid rig, whatever file it came from.
#pragma once

#include <vector>

#include "sinew/problem.h"
#include "sinew/rig_data.h"

namespace sinew::cli {

// Faces that repeat a vertex, vertices without faces or weights, seams whose two sides have
// weights that differ by more than rounding, mirrored and singular bind matrices, units that do not
// fit, and morph targets. Field: "mesh 'NAME'", or empty. `rig` must be one that a server accepts.
// Cost O(size of the rig).
std::vector<client::Problem> Lint(const client::RigData& rig);

}  // namespace sinew::cli
