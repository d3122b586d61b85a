// rig_lint.h - suspicious content of a valid rig, whatever file it came from.
#pragma once

#include <string>
#include <vector>

#include "sinew/problem.h"
#include "sinew/rig_data.h"

namespace sinew::client {

// How many joints of the skin have a singular inverse bind matrix, which flattens what they move;
// empty if none has.
std::string SingularBindText(const client::Skin& skin);

// Faces that repeat a vertex, vertices without faces or weights, seams whose two sides have
// weights that differ by more than rounding, mirrored and singular bind matrices, units that do not
// fit, and morph targets. Field: "mesh 'NAME'", or empty. `rig` must be one that a server accepts.
// Cost O(size of the rig).
std::vector<client::Problem> Lint(const client::RigData& rig);

}  // namespace sinew::client
