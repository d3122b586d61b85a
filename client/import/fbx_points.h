// fbx_points.h - the control points of FBX meshes, in the order of the file.
//
// Assimp hands out face corners and forgets which control point each was. The file says so in two
// arrays, which are read here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sinew::client {

struct FbxPoints {
  std::size_t count = 0;               // control points of the mesh
  std::vector<std::uint32_t> corners;  // the control point of every face corner, each < count
};

// By the name of the model (the node) that shows the mesh. Models that share their name, or show
// several meshes, are left out. Empty for text files, for versions before 7.0 and for damaged
// files. Source of the layout: Blender Foundation, "FBX binary file format specification", 2013.
std::unordered_map<std::string, FbxPoints> ReadFbxPoints(std::string_view bytes);

}  // namespace sinew::client
