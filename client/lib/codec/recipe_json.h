// recipe_json.h - parses the JSON form of a recipe.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "sinew/v1/recipe.pb.h"

namespace sinew::client {

// kInvalidArgument: not a recipe. The field is a path such as recipe.stages[1].implicit.samples,
// or "recipe".
absl::StatusOr<v1::Recipe> ParseRecipeJson(const std::string& text);

}  // namespace sinew::client
