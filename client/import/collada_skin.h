// collada_skin.h - rewrites the skins of a COLLADA file as Assimp understands them.
#pragma once

#include <absl/status/status.h>

#include <vector>

#include "client/import/collada_document.h"
#include "sinew/problem.h"

namespace sinew::client {

// Assimp 5.2 misreads legal skins, without an error:
//   - It takes the first node that has the name or sid of a joint, whatever the skeleton: of two
//     characters with equal joints one would follow the other. Names become the ids of their nodes.
//   - Without a <bind_shape_matrix> it multiplies with zeros. The identity is written.
//   - It reads joint -1, the bind shape, as joint 0, and shifts all numbers behind it. Such weights
//     are left out: a vertex that has no others has none. Numbers are written without white space
//     before them, which shifts them too, joint before weight.
//   - It does not check indices of joints and weights, and drops negative weights.
//   - Of sources with one id it takes the last. They are refused.
//
// Source: COLLADA 1.4.1, <skeleton>, <skin> and <vertex_weights>: a name is the sid of a node in a
// skeleton of the <instance_controller>. Names that are none are left to Assimp.
// `problems` gets what of the weights is left out.
// kInvalidArgument, with the controller: it is instanced with different skeletons; its geometry is
// not in the file; ids of its sources repeat; matrices or weights are fewer than joints or vertices
// need, or no numbers; the last row of a matrix is not 0 0 0 1. With the vertex too: no joint or
// weight of an index; joints and the bind shape hold it together; a weight below -1e-3 or not
// finite.
absl::Status PrepareColladaSkins(ColladaDocument& document, std::vector<Problem>& problems);

}  // namespace sinew::client
