// assimp_guard.h - refuses files on which Assimp would overflow the stack or never end.
//
// Assimp 5.2 descends recursively into nested records and into the node graph, and follows a graph
// with cycles or with ever doubling instances as long as it can. This looks at the bytes first,
// without recursion.
#pragma once

#include <absl/status/status.h>

#include <string>

namespace sinew::client {

// FBX, binary or ASCII. kInvalidArgument: records that leave the file, nesting over 64, models in a
// cycle or with several parents.
absl::Status CheckFbxStructure(const std::string& bytes);

// COLLADA. kInvalidArgument: elements nested over 512, counts beyond the file's size, index lists
// that hold anything but integers, nodes that instance themselves, over a million instances.
absl::Status CheckColladaStructure(const std::string& bytes);

}  // namespace sinew::client
