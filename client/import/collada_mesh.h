// collada_mesh.h - rewrites the meshes of a COLLADA file as Assimp understands them.
#pragma once

#include <absl/status/status.h>

#include "client/import/collada_document.h"

namespace sinew::client {

// Assimp 5.2 misreads legal and damaged meshes, without an error:
//   - It finds the numbers of a position or texture coordinate by the names of their params, X Y Z
//     or S T, and takes the first number instead of one that it does not find. Params of other
//     names are renamed, in their order.
//   - It takes a negative index as 0, reads on behind the end of an array, and leaves out
//     primitives without a count. All of them are refused.
// Normals, tangents and colours are not used.
//
// Source: COLLADA 1.4.1, <mesh>, <input> and <accessor>.
// kInvalidArgument, with the geometry: these, positions of fewer than three numbers, texture
// coordinates of fewer than two, indices that are no numbers, an input that Assimp does not know
// behind all others.
absl::Status PrepareColladaMeshes(ColladaDocument& document);

}  // namespace sinew::client
