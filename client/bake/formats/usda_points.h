// usda_points.h - reads back the points of a .usda layer that CreateUsdFile wrote.
#pragma once

#include <absl/status/statusor.h>

#include <string_view>

#include "client/bake/formats/npy.h"

namespace sinew::bake {

// The time samples of the points of all meshes, one mesh after the other. A layer of another
// program may say more about its points, such as transforms, which is not read: check the result
// against a manifest. kInvalidArgument: no samples, meshes with different times, samples of
// different sizes, or text that is not as this program writes it.
absl::StatusOr<PointArray> ReadUsdaPoints(std::string_view layer);

}  // namespace sinew::bake
