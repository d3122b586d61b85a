// small_gltf.h - a tiny good character as glTF JSON, to be damaged by tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sinew::testing {

// Two triangles, two joints, one clip of one second. The buffer is a data URI; its float32 and
// uint16 arrays lie in the order of the accessors: 0 positions, 1 joints (u16 x 4), 2 weights, 3
// indices, 4 inverse binds, 5 times, 6 rotations.
nlohmann::json SmallGltf();

// Overwrites the float32 number `index` of accessor `accessor`.
void SetFloat(nlohmann::json& gltf, std::size_t accessor, std::size_t index, float value);

}  // namespace sinew::testing
